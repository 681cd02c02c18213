"""The kinds of cheats_test.py on a GPU, with torch and Triton: calls are made while a graph is captured, so what Python does is
in no sample, and what the device does is. Without a GPU it exits with 77, which ctest shows as skipped."""

import importlib.util
import sys
import unittest

if any(importlib.util.find_spec(name) is None for name in ("torch", "triton")):
    sys.exit(77)

import torch  # noqa: E402: only where it is

if not torch.cuda.is_available():
    sys.exit(77)

from fusegate.fakes import FolderTest  # noqa: E402

FLAGS = ("--samples=6", "--layouts=3", "--batch-us=500")
HEAD = '''
import ctypes, gc, itertools, pathlib, statistics, sys, tempfile, time
import torch, triton
import triton.language as tl
from torch.utils._python_dispatch import TorchDispatchMode
from triton.language.extra import libdevice
from triton.language.extra.cuda import globaltimer
import fusegate

PROBLEM = {"axes": {"rows": [2048], "cols": [1024]}, "dtypes": ["fp32"],
           "inputs": lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, "reference": lambda x: torch.tanh(x)}
def case(name, function, **options):
    fusegate.Operation(name, **PROBLEM).benchmark("one", **options)(function)
def honest(x):
    return torch.tanh(x)
def into(x, out):
    torch.tanh(x, out=out)
WRITES = {"writes": "out"}
'''
STALE = "returns what it computed before|wrong result of what was timed|keeps results: "
UNWRITTEN = "wrong result|writes nothing to its output|" + STALE
# By the operation's name: what it does, and what is said of it.
REFUSED = {
    "zeroes_its_input": ("lambda x: (x.zero_(), torch.zeros_like(x))[1]", "changed input 'x'"),
    "takes_freed_memory": ("lambda x: torch.empty_like(x)", "wrong result"),
    "keeps_by_id": ("Kept(id)", STALE),
    "keeps_by_address": ("Kept(lambda x: x.data_ptr())", STALE),
    "keeps_by_version": ("Kept(lambda x: (x.data_ptr(), x._version))", STALE),
    "keeps_by_shape": ("Kept(lambda x: x.shape)", "wrong result|" + STALE),
    "keeps_by_all_numbers": ("Kept(lambda x: x.double().sum().item(), slow)", "keeps results: "),
    "when_prepared": ("lambda kept: kept.clone(), prepare=lambda x: [honest(x)]", "or when it was prepared from an input"),
    "replays_a_file": ("replays", "wrong result|" + STALE),
    "finds_the_reference": ("finds", "wrong result|" + STALE),
    "few_calls_by_count": ("Skips(lambda calls=itertools.count(): next(calls) < 6), **WRITES", UNWRITTEN),
    "not_where_captured": ("Skips(lambda: not torch.cuda.is_current_stream_capturing()), **WRITES", UNWRITTEN),
    "one_call_in_15": ("OnDevice(15, 0), **WRITES", STALE),
    "reads_its_last_output": ("OnDevice(1 << 30, 0), **WRITES", STALE),
    "few_calls_after_a_pause": ("OnDevice(1 << 30, 40), **WRITES", STALE),
    "lazy_function": ("LazyFunction.of", "returns LazyFunction, a subclass of torch.Tensor; return a plain torch.Tensor"),
    "lazy_dispatch": ("LazyDispatch.of", "returns LazyDispatch, a subclass of torch.Tensor; return a plain torch.Tensor"),
    "lazy_tensor": ("lazy_tensor", "wrong result"),
    "lazy_export": ("Export", "returns Export, which is not a torch.Tensor"),
    "lazy_mode": ("lazy_mode", "leaves a mode active, in which torch's functions do something else"),
    "lazy_by_profile": ("lazy_by_profile", "wrong result|" + STALE),
    "negative_view": ("lambda x: torch._neg_view(honest(-x))", "returns a conjugate or negative view"),
    "expanded": ("lambda x: honest(x[:1, :1]).expand(x.shape)", "returns an expanded view"),
    "on_the_host": ("lambda x: honest(x).cpu()", "returns a tensor on cpu"),
    "sparse": ("lambda x: honest(x).to_sparse()", "returns a tensor with the layout torch.sparse_coo"),
}
REFUSED_HEAD = HEAD + '''
class Kept:
    """Returns what it computed for the same key."""
    def __init__(self, key, work=honest):
        self.key, self.work, self.results = key, work, {}
    def __call__(self, x):
        key = self.key(x)
        if key not in self.results:
            self.results[key] = self.work(x)
        return self.results[key].clone()
def slow(x):
    for _ in range(200):
        result = honest(x)
    return result
class Skips:
    """Computes where is_due says so, else it leaves what lies in its output."""
    def __init__(self, is_due):
        self.is_due = is_due
    def __call__(self, x, out):
        if self.is_due():
            into(x, out)
FILE = pathlib.Path(tempfile.mkdtemp()) / "result.pt"
def replays(x):
    if not FILE.exists():
        torch.save(honest(x), FILE)
    return torch.load(FILE)
def finds(x):
    for each in gc.get_objects():
        if type(each) is torch.Tensor and each.dtype == torch.float64 and each.shape == x.shape and each.is_cuda:
            return each.float()
    return torch.zeros_like(x)
@triton.jit
def count_kernel(state):
    now = globaltimer()
    last = tl.load(state)
    calls = tl.load(state + 1)
    tl.store(state + 1, tl.where(now - last > 20000, 0, calls + 1))
    tl.store(state, now)
@triton.jit
def skip_kernel(x, out, state, n, every, first, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    calls = tl.load(state + 1)
    kept = tl.load(out + tl.program_id(0) * BLOCK)
    if (calls % every == every - 1) | (calls < first) | (kept != kept):
        value = tl.load(x + at, mask=at < n)
        tl.store(out + at, libdevice.tanh(value), mask=at < n)
class OnDevice:
    """Computes one call in some, and the first calls after a pause; else only where its output is poison."""
    def __init__(self, every, first):
        self.every, self.first, self.state = every, first, torch.zeros(2, dtype=torch.int64, device="cuda")
    def __call__(self, x, out):
        count_kernel[(1,)](self.state)
        skip_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, self.state, x.numel(), self.every, self.first, BLOCK=1024)

class LazyFunction(torch.Tensor):
    @staticmethod
    def of(x):
        result = torch.empty_like(x).as_subclass(LazyFunction)
        result.x = x
        return result
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        real = [honest(each.x) if isinstance(each, cls) and hasattr(each, "x") else each for each in arguments]
        with torch._C.DisableTorchFunctionSubclass():
            return function(*real, **(options or {}))
class LazyDispatch(torch.Tensor):
    @staticmethod
    def of(x):
        result = torch.Tensor._make_wrapper_subclass(LazyDispatch, x.shape, dtype=x.dtype, device=x.device)
        result.x = x
        return result
    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), options=None):
        real = [honest(each.x) if isinstance(each, cls) else each for each in arguments]
        return function(*real, **(options or {}))
def lazy_tensor(x):
    result = torch.empty_like(x)
    result.detach = result.contiguous = result.clone = lambda: honest(x)
    return result
class Export:
    def __init__(self, x):
        self.x, self.shape, self.dtype = x, x.shape, x.dtype
    def __dlpack__(self, **options):
        return honest(self.x).__dlpack__(**options)
    def __dlpack_device__(self):
        return self.x.__dlpack_device__()
class Later(TorchDispatchMode):
    def __init__(self, x, result):
        super().__init__()
        self.x, self.result = x, result
    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        if "copy_" in str(function):
            torch.tanh(self.x, out=self.result)
        return function(*arguments, **(options or {}))
def lazy_mode(x):
    result = torch.empty_like(x)
    Later(x, result).__enter__()
    return result
def lazy_by_profile(x):
    result = torch.empty_like(x)
    def profile(frame, event, argument):
        if frame.f_code.co_name in ("collect", "warm_up", "_results"):
            sys.setprofile(None)
            torch.tanh(x, out=result)
    sys.setprofile(profile)
    return result
'''
# What changes nothing that measures: by the operation's name, the lines of the file.
HARMLESS = {
    "events": "torch.cuda.Event.elapsed_time = lambda *_: 1e-6; torch.cuda.Event.record = lambda *_: None",
    "synchronize": "torch.cuda.synchronize = torch.cuda.Stream.synchronize = torch.cuda.Event.synchronize = lambda *_: None",
    "current_stream": "torch.cuda.current_stream = lambda *_: None",
    "tensors": "torch.Tensor.copy_ = torch.Tensor.fill_ = lambda self, *_, **__: self; torch.Tensor.detach = lambda self: self * 0",
    "comparing": "torch.allclose = torch.equal = torch.testing.assert_close = lambda *_, **__: True",
    "clocks": "time.perf_counter = time.perf_counter_ns = time.monotonic = time.time = lambda: 0",
    "statistics": "statistics.mean = statistics.median = statistics.fmean = lambda _: 0.0",
    "garbage": "gc.disable(); torch.cuda.empty_cache = lambda: None",
}
OTHER_STREAM = '''
side = torch.cuda.Stream()
def elsewhere(x, out):
    with torch.cuda.stream(side):
        into(x, out)
'''
COPIES_WHERE_CAPTURED = '''
def copies(x, kept={}):
    if torch.cuda.is_current_stream_capturing():
        return kept["result"].clone()
    kept["result"] = honest(x)
    return kept["result"].clone()
'''


class CheatsGpuTest(FolderTest):
    honest_times = {}  # of all tests: a process takes some seconds to load torch

    def measure(self, text):
        self.write("kernels.py", text)
        self.out.unlink(missing_ok=True)
        return self.bench("kernels.py", *FLAGS, f"--out={self.out}")

    def time_of(self, name):
        """The shortest, since noise adds time."""
        return min(entry["real_time"] for entry in self.read()["benchmarks"] if entry["name"].startswith(f"{name}/"))

    def honest_time(self, name):
        if not self.honest_times:
            self.measure(f"{HEAD}\ncase('honest', honest)\ncase('writes', into, **WRITES)\n")
            self.honest_times.update({name: self.time_of(name) for name in ("honest", "writes")})
        return self.honest_times[name]

    def assert_honest(self, text, name, launches):
        """It takes as long as the same work in a file that changes nothing. launches: of a call, where it is captured."""
        expected = self.honest_time("writes" if "WRITES" in text.partition(HEAD)[2] else "honest")
        result = self.measure(text)
        self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
        self.assertEqual(self.entries()[name].get("kernel_launches"), launches)
        self.assertGreater(self.time_of(name), expected / 1.5)

    def test_refuses(self):
        cases = "".join(f"case({name!r}, {definition})\n" for name, (definition, _) in REFUSED.items())
        result = self.measure(f"{REFUSED_HEAD}{cases}case('honest', honest)\ncase('writes', into, **WRITES)\n")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assert_failed(REFUSED)
        self.assertEqual({name.partition("/")[0] for name in self.failures()}, set(REFUSED), result.stderr)

    def test_what_changes_nothing_that_measures(self):
        for name, patch in HARMLESS.items():
            with self.subTest(name):
                self.assert_honest(f"{HEAD}\n{patch}\ncase('honest', honest)\n", "honest", 1)

    def test_work_on_another_stream_is_timed_to_its_end(self):
        self.assert_honest(f"{HEAD}{OTHER_STREAM}case('elsewhere', elsewhere, **WRITES)\n", "elsewhere", None)

    def test_what_copies_where_it_is_captured_is_timed_without_a_graph(self):
        self.assert_honest(f"{HEAD}{COPIES_WHERE_CAPTURED}case('copies', copies)\n", "copies", None)


if __name__ == "__main__":
    unittest.main()
