"""Callables that are fast where they are timed and right where they are checked, or that change what measures them: the kinds
that KernelBench and GPU MODE have met, and more. Each is refused by a line that names it, or its time is that of honest work.
With NumPy on the CPU, where each call is made; on a GPU: cheats_gpu_test.py. docs/evidence/cheats.md is the table."""

import importlib.util
import re
import sys
import unittest

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.fakes import FolderTest

FLAGS = ("--samples=6", "--layouts=3", "--batch-us=1000")
HEAD = '''
import atexit, gc, hashlib, itertools, json, os, pathlib, queue, signal, statistics, sys, tempfile, threading, time
import numpy
import fusegate

PROBLEM = {"axes": {"rows": [64], "cols": [256]}, "dtypes": ["fp32"], "arrays": "numpy",
           "inputs": lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, "reference": lambda x: numpy.tanh(x)}
def case(name, function, fields={}, **options):
    fusegate.Operation(name, **{**PROBLEM, **fields}).benchmark("one", **options)(function)
def honest(x):
    return numpy.tanh(x)
def into(x, out):
    numpy.tanh(x, out=out)
WRITES = {"writes": "out"}

class Kept:
    """Returns what it computed for the same key."""
    def __init__(self, key, work=honest):
        self.key, self.work, self.results = key, work, {}
    def __call__(self, x):
        key = self.key(x)
        if key not in self.results:
            self.results[key] = self.work(x)
        return self.results[key].copy()
def slow(x):
    for _ in range(20):
        result = honest(x)
    return result
class Skips:
    """Computes where is_due says so and where its output is poisoned, else it leaves what it wrote before."""
    def __init__(self, is_due):
        self.is_due = is_due
    def __call__(self, x, out):
        if self.is_due() or numpy.isnan(out[0, 0]):
            into(x, out)
'''
STALE = "returns what it computed before|wrong result of what was timed|keeps results: "
# What works on when its call has ended meets a check at any point: the first that it disturbs names it.
WORKS_ON = STALE + "|is written after its calls have ended|in another memory layout"
# By the operation's name: what it does, and what is said of it.
REFUSED = {
    "zeroes_its_input": ("lambda x: x.fill(0) or numpy.zeros_like(x)", "changed input 'x'"),
    "takes_freed_memory": ("lambda x: numpy.empty(x.shape, x.dtype)", "wrong result"),
    "does_nothing": ("lambda x, out: None, **WRITES", "NaN, infinite or were never written"),
    "keeps_by_id": ("Kept(id)", STALE),
    "keeps_by_address": ("Kept(lambda x: x.ctypes.data)", STALE),
    "keeps_by_shape": ("Kept(lambda x: x.shape)", "wrong result|" + STALE),
    "keeps_by_some_numbers": ("Kept(lambda x: x.ravel()[::997].tobytes())", STALE),
    "keeps_by_all_numbers": ("Kept(bytes, slow)", "keeps results: "),
    "when_prepared": ("lambda kept: kept.copy(), prepare=lambda x: [honest(x)]", "or when it was prepared from an input"),
    "replays_a_file": ("replays", "wrong result|" + STALE),
    "finds_the_reference": ("finds", "wrong result|" + STALE),
    "one_call_in_15": ("Skips(lambda calls=itertools.count(): next(calls) % 15 == 0), **WRITES", STALE),
    "few_calls_by_count": ("Skips(lambda calls=itertools.count(): next(calls) < 20), **WRITES", STALE),
    "reads_its_last_output": ("Skips(lambda: False), **WRITES", STALE),
    "after_a_pause": ("AfterPauses(1), **WRITES", STALE),
    "few_calls_after_a_pause": ("AfterPauses(60), **WRITES", STALE),
    "few_calls_in_place": ("lambda x, work=AfterPauses(60): work(x, x), {'outputs': 'x'}, writes='x'", STALE),
    "one_call_in_3": ("OneInThree()", STALE),
    "lazy_subclass": ("lambda x: numpy.empty_like(x).view(Lazy).of(x)", "returns Lazy, a subclass of numpy.ndarray; return a plain"),
    "lazy_export": ("Export", "returns Export, which is not a numpy.ndarray; return a plain numpy.ndarray"),
    "lazy_numbers": ("lazy_numbers", "returns an array of object"),
    "lazy_by_profile": ("lazy_by_profile", STALE + "|wrong result"),
    "expanded": ("lambda x: numpy.broadcast_to(honest(x[:1, :1]), x.shape)", "wrong result|several elements at one address"),
}
# These work where calls stand still before them or are few, which on a busy machine may be all that are timed.
MAY_WORK = {"after_a_pause", "few_calls_after_a_pause", "few_calls_in_place", "few_calls_by_count"}
# These write when their memory may be freed, which can end the process.
LATE = {
    "in_a_thread": "in_a_thread, **WRITES",
    "lazy_by_signal": "lazy_by_signal, **WRITES",
}
REFUSED_HEAD = HEAD + '''
FILE = pathlib.Path(tempfile.mkdtemp()) / "result.npy"
def replays(x):
    if not FILE.exists():
        numpy.save(FILE, honest(x))
    return numpy.load(FILE)
def finds(x):
    for each in gc.get_objects():
        if type(each) is numpy.ndarray and each.dtype == "float64" and each.shape == x.shape:
            return each.astype("float32")
    return numpy.zeros_like(x)
class AfterPauses:
    """Computes the first calls after a pause, which is from a call's end to the next, and where its output is poison."""
    def __init__(self, calls):
        self.calls, self.left, self.ended = calls, 0, 0
    def __call__(self, x, out):
        self.left = self.calls if time.perf_counter() - self.ended > 5e-5 else self.left - 1
        if self.left > 0 or numpy.isnan(out[0, 0]):
            into(x, out)
        self.ended = time.perf_counter()
class OneInThree:
    def __init__(self):
        self.calls, self.last = 0, None
    def __call__(self, x):
        self.calls += 1
        if self.calls % 3 == 0 or self.calls < 20:
            self.last = honest(x)
        return self.last.copy()
class Lazy(numpy.ndarray):
    def of(self, x):
        self.x = x
        return self
    def __array__(self, *_, **__):
        return numpy.tanh(self.x)
class Export:
    def __init__(self, x):
        self.x, self.shape, self.dtype = x, x.shape, x.dtype
    def __dlpack__(self, **_):
        return honest(self.x).__dlpack__()
    def __dlpack_device__(self):
        return self.x.__dlpack_device__()
class Number:
    def __init__(self, number):
        self.number = number
    def __float__(self):
        return float(numpy.tanh(self.number))
def lazy_numbers(x):
    result = numpy.empty(x.shape, object)
    result[...] = Number(0.5)
    return result
def worker():
    while True:
        x, out = jobs.get()
        for _ in range(40):
            into(x, out)
jobs = queue.SimpleQueue()
threading.Thread(target=worker, daemon=True).start()
def in_a_thread(x, out):
    if numpy.isnan(out[0, 0]):
        into(x, out)
    elif jobs.empty():
        jobs.put((x, out))
def lazy_by_profile(x):
    result = numpy.empty_like(x)
    def profile(frame, event, argument):
        if frame.f_code.co_name in ("collect", "warm_up", "_results"):
            sys.setprofile(None)
            numpy.tanh(x, out=result)
    sys.setprofile(profile)
    return result
def lazy_by_signal(x, out):
    if numpy.isnan(out[0, 0]):
        return into(x, out)
    signal.signal(signal.SIGALRM, lambda *_: into(x, out))
    signal.setitimer(signal.ITIMER_REAL, 1e-4)
'''
# What changes nothing that measures: by the operation's name, the lines of the file.
HARMLESS = {
    "clocks": "time.perf_counter = time.perf_counter_ns = time.monotonic = time.time = lambda: 0",
    "statistics": "statistics.mean = statistics.median = statistics.fmean = lambda _: 0.0",
    "numpy_functions": "numpy.copyto = numpy.asarray = numpy.array_equal = numpy.allclose = lambda *_, **__: True",
    "garbage": "gc.disable(); gc.callbacks.append(lambda *_: None)",
}
# Of this package: by name, the lines of the file, and what is named.
PATCHES = {
    "collect": ("fusegate.binding.PreparedCall.collect = lambda self: None", "binding.PreparedCall.collect"),
    "copy": ("fusegate.arrays.Arrays.copy = staticmethod(lambda target, source: None)", "arrays.Arrays.copy"),
    "callbacks": ("fusegate.engine.Callbacks = type('Callbacks', (fusegate.engine.Callbacks,), {})", "engine.Callbacks"),
    "library": ("fusegate.binding.library = lambda *_: None", "binding.library"),
    "code": ("fusegate.binding.PreparedCall.launch.__code__ = (lambda self: None).__code__", "binding.PreparedCall.launch"),
    "later": ("def honest(x):\n    fusegate.binding.PreparedCall._results = lambda *_: {}\n    return numpy.tanh(x)",
              "binding.PreparedCall._results"),
}

# What an operation says of its inputs is taken for true, and what a process writes is its own. By name, the lines of the file.
UNSEEN = {
    "fixed_inputs": """
FIXED = numpy.linspace(-1, 1, 64 * 256, dtype="float32").reshape(64, 256)
case("fixed_inputs", Kept(lambda x: x.shape, slow), {"inputs": lambda p: {"x": FIXED}})
""",
    "all_are_weights": """
case("all_are_weights", lambda kept: kept.copy(), {"weights": "x"}, prepare=lambda x: [slow(x)])
""",
    "forged_file": """
def forge():
    file = pathlib.Path(next(each for each in sys.argv if each.startswith("--out="))[6:])
    run = json.loads(file.read_text())
    for entry in run["benchmarks"]:
        entry["real_time"] /= 100
    file.write_text(json.dumps(run))
atexit.register(forge)
case("forged_file", slow)
""",
}


class CheatsTest(FolderTest):
    def measure(self, text):
        self.write("kernels.py", text)
        self.out.unlink(missing_ok=True)
        return self.bench("kernels.py", *FLAGS, f"--out={self.out}")

    def time_of(self, name):
        """The shortest, since noise adds time."""
        return min(entry["real_time"] for entry in self.read()["benchmarks"] if entry["name"].startswith(f"{name}/"))

    def honest_time(self):
        self.measure(f"{HEAD}\ncase('honest', honest)\n")
        return self.time_of("honest")

    def test_what_changes_nothing_that_measures(self):
        honest = self.honest_time()
        for name, patch in HARMLESS.items():
            with self.subTest(name):
                result = self.measure(f"{HEAD}\n{patch}\ncase('honest', honest)\n")
                self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
                self.assertGreater(self.time_of("honest"), honest / 4)

    def test_refuses_a_file_that_changes_the_package(self):
        for name, (patch, expected) in PATCHES.items():
            with self.subTest(name):
                result = self.measure(f"{HEAD}\nimport fusegate.binding, fusegate.arrays\n{patch}\ncase('honest', honest)\n")
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, f"replaces fusegate's {re.escape(expected)}; it must leave that as it is")
                self.assertFalse(self.out.exists() and self.measured())

    def test_refuses(self):
        cases = "".join(f"case({name!r}, {definition})\n" for name, (definition, _) in REFUSED.items())
        result = self.measure(f"{REFUSED_HEAD}{cases}case('honest', honest)\ncase('writes', into, **WRITES)\n")
        self.assertEqual(result.returncode, 2, result.stderr)
        failed = {name.partition("/")[0] for name in self.failures()}
        worked = {name for name in MAY_WORK - failed if self.time_of(name) > self.time_of("writes") / 2}
        self.assert_failed({name: REFUSED[name] for name in set(REFUSED) - worked})
        self.assertEqual(failed, set(REFUSED) - worked, result.stderr)

    def test_refuses_what_writes_when_its_calls_have_ended(self):
        for name, definition in LATE.items():
            with self.subTest(name):
                result = self.measure(f"{REFUSED_HEAD}case({name!r}, {definition})\n")
                self.assertNotEqual(result.returncode, 0, result.stderr)
                if result.returncode > 0:
                    self.assert_failed({name: (definition, WORKS_ON)})

    def test_what_does_not_show(self):
        honest = self.honest_time()
        for name, text in UNSEEN.items():
            with self.subTest(name):
                result = self.measure(f"{HEAD}{text}")
                self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
                self.assertLess(self.time_of(name), 5 * honest)


if __name__ == "__main__":
    unittest.main()
