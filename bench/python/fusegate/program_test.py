"""The program as people and fusegate call it: real processes on the CPU, with NumPy."""

import dataclasses
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate import options
from fusegate.measuring import protocol
from fusegate.measuring.fakes import FolderTest
from fusegate.measuring.protocol import Protocol
from fusegate.version import __version__

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
KERNELS = '''
import os, sys, time
import numpy
import fusegate

scale = fusegate.Operation(
    "scale", axes={"rows": [64], "cols": [32, 64]}, dtypes=["fp32"], arrays="numpy", reference=lambda x: 2 * x,
    inputs=lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, flops=lambda p: p.rows * p.cols)

@scale.benchmark()
def plain(x):
    return 2 * x

@scale.benchmark(writes="out")
def into(x, out):
    numpy.multiply(x, FACTOR, out=out)

FACTOR = 2
'''
QUICK = ("--samples=2", "--idle-us=0", "--batch-us=50")
NAMES = [f"scale/{name}/fp32/rows:64/cols:{cols}" for cols in (32, 64) for name in ("plain", "into")]


class ProgramTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.kernels = self.write("kernels.py", KERNELS)
        self.out = self.folder / "run" / "1.json"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def process(self, *arguments, **environment):
        return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                              check=False, cwd=self.folder, env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})

    def run_kernels(self, *flags, **environment):
        return self.process("-m", "fusegate", "run", self.kernels.name, *QUICK, *flags, **environment)

    def read(self):
        return json.loads(self.out.read_text(encoding="utf-8"))

    def assert_refused(self, result, expected):
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, f"^fusegate: {expected}")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_prints_a_line_for_each_benchmark(self):
        result = self.run_kernels()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in result.stdout.splitlines()], NAMES)

    def test_a_relative_out_lies_where_the_program_was_started(self):
        moved = KERNELS.replace("    return 2 * x", "    os.chdir('/')\n    return 2 * x")
        for text, command in ((f"{moved}\nos.chdir('/')", ("-m", "fusegate", "run", "kernels.py")),
                              (f"{moved}\nos.chdir('/')\nfusegate.main()", ("kernels.py",))):
            self.kernels.write_text(text, encoding="utf-8")
            result = self.process(*command, *QUICK, "--out=run/1.json", "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(self.read()["context"]["fusegate"]["finished"])
            self.out.unlink()

    def test_a_module_and_a_file_that_calls_main_do_the_same(self):
        self.assertEqual(len(self.process("-m", "fusegate", "run", "kernels", *QUICK).stdout.splitlines()), 4)
        self.kernels.write_text(KERNELS + "\nfusegate.main()\n", encoding="utf-8")
        result = self.process("kernels.py", *QUICK, "--filter=plain")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 2), result.stderr)

    def test_writes_a_run_file_and_progress_for_fusegate(self):
        result = self.run_kernels(f"--out={self.out}", "--process=3", "--seed=7", "--progress", "--suite=all")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line.split(" ", 1)[1]) for line in result.stdout.splitlines()]
        self.assertEqual((events[0]["event"], events[0]["total"], events[-1]["index"]), ("start", 8, 8))
        run_file = self.read()
        fusegate = run_file["context"]["fusegate"]
        self.assertEqual((fusegate["suite"], fusegate["process"], fusegate["seed"], fusegate["finished"]),
                         ("all", 3, 7, True))
        self.assertEqual(set(fusegate["environment"]), {"device", "threads", "cycles"})
        self.assertEqual({entry["name"] for entry in run_file["benchmarks"]}, set(NAMES))
        self.assertGreater(run_file["benchmarks"][0]["sm_clock_hz"], 0)
        self.assertEqual((fusegate["controls"], fusegate["compared_with"]), ([], {"scale": ["plain"]}))

    def test_takes_flags_and_files_of_before(self):
        self.assertEqual(self.run_kernels(f"--out={self.out}", "--invocation=3", "--places=1").returncode, 0)
        old = self.read()
        fusegate = old["context"]["fusegate"]
        self.assertEqual((fusegate["process"], fusegate["protocol"]["layouts"]), (3, 1))
        fusegate["invocation"] = fusegate.pop("process")
        fusegate["protocol"]["places"] = fusegate["protocol"].pop("layouts")
        self.out.write_text(json.dumps(old), encoding="utf-8")
        for flag in ("--resume", "--seed=1"):
            result = self.run_kernels(f"--out={self.out}", "--process=3", "--layouts=1", flag)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("invocation", self.process("-m", "fusegate", "run", "--help").stdout)

    def test_says_which_benchmarks_are_controls(self):
        copy = KERNELS.replace('"scale", axes', '"scale", control=True, axes')
        self.kernels.write_text(copy, encoding="utf-8")
        self.assertEqual(self.run_kernels(f"--out={self.out}").returncode, 0)
        self.assertEqual(self.read()["context"]["fusegate"]["controls"], sorted(NAMES))
        self.kernels.write_text(KERNELS, encoding="utf-8")
        suite = self.write("suites/mine.json", json.dumps({
            "name": "mine", "gate": {"cpu": {"allow": 0.3}}, "controls": ["/plain/.*cols:32"], "sweeps": [{}]}))
        self.assertEqual(self.run_kernels(f"--out={self.out}", f"--suite={suite}", "--force").returncode, 0)
        fusegate = self.read()["context"]["fusegate"]
        self.assertEqual((fusegate["controls"], fusegate["protocol"]["allow"]), (NAMES[:1], 0.3))

    def test_a_wrong_implementation_fails_and_the_others_are_measured(self):
        self.kernels.write_text(KERNELS + "\nFACTOR = 3\n", encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}")
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"fusegate: {NAMES[1]}: wrong result: relative error 5.00e-01", result.stderr)
        self.assertIn("fusegate: scale/into: 1 more failed in the same way: fp32/rows:64/cols:64\n", result.stderr)
        self.assertEqual(result.stderr.count("wrong result"), 1)
        failed = {entry["name"] for entry in self.read()["benchmarks"] if entry.get("error_occurred")}
        self.assertEqual(failed, {NAMES[1], NAMES[3]})
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_resumes_a_run_file_and_replaces_another_only_with_force(self):
        self.assertEqual(self.run_kernels(f"--out={self.out}", "--seed=7").returncode, 0)
        whole = self.read()
        cut = {**whole, "benchmarks": [entry for entry in whole["benchmarks"] if entry["name"] != NAMES[2]]}
        self.out.write_text(json.dumps(cut), encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}", "--seed=7", "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        resumed = self.read()["benchmarks"]
        self.assertEqual(resumed[:len(cut["benchmarks"])], cut["benchmarks"])
        self.assertEqual({entry["name"] for entry in resumed[len(cut["benchmarks"]):]}, {NAMES[2]})
        before = self.out.read_bytes()
        self.assert_refused(self.run_kernels(f"--out={self.out}", "--samples=3"),
                              r'\S+1.json: context.fusegate.protocol.layouts: is 2 in the file and 3 now; --force replaces')
        self.assert_refused(self.run_kernels(f"--out={self.out}", "--samples=3", "--resume"),
                              r"\S+1.json: context.fusegate.protocol.layouts: is 2 in the file and 3 now; --resume needs")
        self.assertEqual(self.out.read_bytes(), before)
        self.assertEqual(self.run_kernels(f"--out={self.out}", "--samples=3", "--force").returncode, 0)

    def test_after_a_benchmark_that_never_ends_a_new_process_measures_the_others(self):
        self.kernels.write_text(KERNELS + '''
@scale.benchmark()
def stuck(x):
    while True:
        time.sleep(0.1)
''', encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}", "--stuck-after-s=1", "--axis=cols=32", "--force")
        self.assertEqual(result.returncode, 2)
        self.assertIn("scale/stuck/fp32/rows:64/cols:32: did not end within 1 s", result.stderr)
        entries = self.read()["benchmarks"]
        self.assertEqual([entry["error_message"] for entry in entries if entry.get("error_occurred")],
                         ["did not end within 1 s"])
        self.assertEqual({entry["name"] for entry in entries if not entry.get("error_occurred")}, set(NAMES[:2]))
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_after_a_lost_device_a_new_process_measures_the_others(self):
        self.kernels.write_text(KERNELS + '''
from fusegate.measuring.numpy_device import NumpyDevice

@scale.benchmark()
def broken(x):
    NumpyDevice.synchronize = lost
    raise RuntimeError("CUDA error: an illegal memory access was encountered")

def lost(_):
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
''', encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}", "--axis=cols=32,64")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the device was lost: RuntimeError: CUDA error: an illegal memory access", result.stderr)
        entries = self.read()["benchmarks"]
        self.assertEqual(sorted(entry["name"] for entry in entries if entry.get("error_occurred")),
                         [f"scale/broken/fp32/rows:64/cols:{cols}" for cols in (32, 64)])
        self.assertEqual({entry["name"] for entry in entries if not entry.get("error_occurred")}, set(NAMES))
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_after_a_signal_the_run_file_has_the_samples_so_far(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([sys.executable, "-m", "fusegate", "run", self.kernels.name, "--idle-us=50000",
                                        "--batch-us=50", f"--out={self.out}", "--force", "--progress"], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "PYTHONPATH": str(PACKAGE)})
            for _ in range(6):
                process.stdout.readline()
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2)
            self.assertIn("fusegate: interrupted; with --out, the run file has the samples so far", errors)
            run_file = self.read()
            self.assertFalse(run_file["context"]["fusegate"]["finished"])
            self.assertGreaterEqual(len(run_file["benchmarks"]), 4)

    def test_axes_problems_and_suites(self):
        self.write("suites/pr.json", '{"name": "pr", "sweeps": [{"implementations": ["into"], "cols": [16]}]}')
        for flags, expected in ((["--axis=cols=8,16", "--implementation=plain"], [8, 16]),
                                (["--problem=rows:64/cols:5", "--implementation=plain"], [5]),
                                (["--suite=pr"], [16])):
            result = self.run_kernels(*flags)
            self.assertEqual([int(line.split()[0].rpartition(":")[2]) for line in result.stdout.splitlines()], expected,
                             result.stderr)

    def test_axes_of_names_fractions_and_switches(self):
        self.kernels.write_text(KERNELS.replace('"cols": [32, 64]', '"cols": [32], "kind": ["gelu", "relu"], "p": [0.5, 0.9], '
                                                                    '"causal": [True, False]'), encoding="utf-8")
        self.write("suites/pr.json", json.dumps({"name": "pr", "sweeps": [
            {"implementations": ["plain"], "kind": ["relu"], "p": [0.25], "causal": [True]}]}))
        for flags, expected in ((["--axis=kind=silu", "--axis=p=0.125", "--axis=causal=true"], "kind:silu/p:0.125/causal:true"),
                                (["--problem=rows:4/cols:5/kind:relu/p:1e-05/causal:false"], "kind:relu/p:1e-05/causal:false"),
                                (["--suite=pr"], "kind:relu/p:0.25/causal:true")):
            result = self.run_kernels("--implementation=plain", *flags)
            self.assertEqual([line.split()[0].split("/", 5)[5] for line in result.stdout.splitlines()], [expected],
                             result.stderr)
        self.assertEqual(len(self.run_kernels("--implementation=plain").stdout.splitlines()), 8)

    def test_names_implementations_in_no_suite(self):
        self.write("suites/pr.json", '{"name": "pr", "sweeps": [{"implementations": ["into"], "cols": [16]}]}')
        self.write("suites/broken.json", "{")
        expected = "no suite names scale/plain, so that no gate judges it; add it to a suite, or measure with --suite all"
        result = self.run_kernels("--suite=pr", "--progress", f"--out={self.out}")
        self.assertEqual((result.returncode, result.stderr.splitlines()[0]), (0, f"fusegate: {expected}"))
        note, start = [json.loads(line.split(" ", 1)[1]) for line in result.stdout.splitlines()[:2]]
        self.assertEqual(note, {"event": "note", "text": expected})
        self.assertEqual((start["event"], start["left_out"]), ("start", ["scale/plain"]))
        self.assertNotIn("no suite", self.run_kernels().stderr)
        self.write("suites/nightly.json", '{"name": "nightly", "sweeps": [{"operations": ["scale"]}]}')
        self.assertNotIn("no suite", self.run_kernels("--suite=pr").stderr)

    def test_prints_the_plan_and_the_environment(self):
        plan = json.loads(self.run_kernels("--plan").stdout)
        self.assertEqual([each["name"] for each in plan["work"]], NAMES)
        environment = json.loads(self.run_kernels("--environment").stdout)
        self.assertEqual((environment["device_kind"], sorted(environment["libraries"])), ("cpu", ["numpy"]))

    def test_says_in_a_line_what_is_wrong(self):
        broken = self.write("broken.py", "import fusegate\nimport nowhere_to_be_found\n")
        twice = self.write("twice.py", KERNELS + "\nscale.benchmark('plain')(plain)\n")
        for arguments, expected in (
                (["run", "nope.py"], "nope.py: no such file"),
                (["run", "nope"], "nope: cannot be loaded: ModuleNotFoundError: No module named 'nope'"),
                (["run", broken.name], "broken.py: cannot be loaded: ModuleNotFoundError: No module named "
                                       "'nowhere_to_be_found', at line 2"),
                (["run", self.write("odd.py", "1 +\n").name], "odd.py: cannot be loaded: SyntaxError: .*, at line 1"),
                (["run", self.write("empty.py", "import fusegate").name], "empty.py: registers no benchmark; decorate"),
                (["run", self.write("ends.py", "raise SystemExit(3)").name], r"ends.py: cannot be loaded: .*sys.exit\(3\), at line 1"),
                (["run", twice.name], r"twice.py:\d+: scale.plain: is registered already, at twice.py:\d+"),
                (["run", "kernels.py", "--suite=nope"], "nope: no such suite; known: all; or name a .json file"),
                (["run", "kernels.py", "--speed=3"], "the command line: unrecognized arguments: --speed=3"),
                (["run", "kernels.py", "--filter=["], r"--filter: '\[' is not a regular expression"),
                (["run", "kernels.py", f"--filter={'(' * 3000}{')' * 3000}"], r"--filter: '\(.*is not a regular expression"),
                (["run", "kernels.py", "--samples=0"], "suite all: protocol.samples: must be a whole number from 1"),
                (["run", "kernels.py", "--samples=x"], "--samples: invalid int value: 'x'"),
                (["run", "kernels.py", "--axis=heads=3"], "--axis heads: no measured operation has this axis; known: scale: "
                                                          "rows, cols"),
                (["run", "kernels.py", "--axis=cols"], "--axis: 'cols' is not NAME=VALUE"),
                (["run", "kernels.py", "--problem=cols:3"], "--problem: no measured operation has these axes"),
                (["run", "kernels.py", "--problem=cols"], "--problem: 'cols' is not AXIS:VALUE"),
                (["run", "kernels.py", "--operation=nope"], "--operation: unknown name 'nope'; known: scale"),
                (["run", "kernels.py", "--implementation=nope"], "--implementation: unknown name 'nope'; known: into, plain"),
                (["run", "kernels.py", "--layout=numbered"], "suite all: protocol.layout: cannot be \"numbered\" on a CPU"),
                (["run", "kernels.py", "--resume"], "--resume: needs --out"),
                (["run", "kernels.py", "--identify=x.json"], "--identify=x.json: unknown flag; a Python program cannot"),
                (["run", "kernels.py", "--device=cuda"], "torch: cannot be imported|--device: torch \\S+ finds no CUDA"),
                (["measure"], "measure: unknown command; use `python -m fusegate run FILE_OR_MODULE`"),
                ([], "no command; use"),
                (["run", "a\x1b[2J::error::.py"], r"a\\x1b\[2J::error::.py: no such file")):
            with self.subTest(arguments):
                self.assert_refused(self.process("-m", "fusegate", *arguments), expected)

    def test_a_broken_operation_fails_its_own_benchmarks_alone(self):
        self.kernels.write_text(KERNELS.replace("reference=lambda x: 2 * x", "reference=lambda x: x / None") + '''
@fusegate.benchmark(operation="copy", axes={"n": [64]}, dtypes="fp32", arrays="numpy", reference=lambda x: x,
                    inputs=lambda p: {"x": fusegate.uniform(p.n)}, implementation="numpy")
def copy(x):
    return x.copy()
''', encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"scale/plain\S+: kernels.py:\d+: scale.reference: raised TypeError: unsupported "
                                        r"operand .* at kernels.py:\d+ for fp32/rows:64/cols:32")
        self.assertEqual([entry["name"] for entry in self.read()["benchmarks"] if not entry.get("error_occurred")],
                         ["copy/numpy/fp32/n:64"] * 2)

    def test_a_benchmark_that_exits_or_raises_oddly_fails_alone(self):
        self.kernels.write_text(KERNELS + '''
class NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")

class Skipped(BaseException):
    """As pytest.skip() raises one."""

@scale.benchmark()
def leaves(x):
    raise SystemExit(0)

@scale.benchmark()
def silent(x):
    raise NoText()

@scale.benchmark(choices=lambda p: sys.exit())
def skips(x):
    raise Skipped("not here")

@scale.benchmark(choices=lambda p: exit())
def chooses(x):
    return 2 * x
''', encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}", "--axis=cols=32")
        self.assertEqual(result.returncode, 2)
        for expected in ("scale/leaves/fp32/rows:64/cols:32: SystemExit: called sys.exit(0)",
                         "scale/silent/fp32/rows:64/cols:32: NoText: (no message: __str__ raised RuntimeError)",
                         "scale/skips/fp32/rows:64/cols:32: Skipped: not here",
                         "scale.chooses.choices: raised SystemExit: called sys.exit("):
            self.assertIn(expected, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertEqual({entry["name"] for entry in self.read()["benchmarks"] if not entry.get("error_occurred")},
                         set(NAMES[:2]))
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_wrong_flops_or_stages_fail_their_own_benchmarks_alone(self):
        self.kernels.write_text(KERNELS + '''
bad = fusegate.Operation("bad", axes={"n": [8]}, dtypes="fp32", arrays="numpy", reference=lambda x: x,
                         inputs=lambda p: {"x": fusegate.uniform(p.n)}, flops=lambda p: 1 / 0)
bad.benchmark("one")(lambda x: x)
scale.benchmark("staged", stages=lambda p: ["gelu"])(plain)
''', encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}", "--axis=cols=32")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"bad/one/fp32/n:8: kernels.py:\d+: bad.flops: raised ZeroDivisionError: division by "
                                        r"zero at kernels.py:\d+ for fp32/n:8")
        self.assertRegex(result.stderr, r"scale.staged.stages: must return a list of fusegate.Stage")
        self.assertEqual({entry["name"] for entry in self.read()["benchmarks"] if not entry.get("error_occurred")},
                         set(NAMES[:2]))

    def test_main_without_a_guard_is_named(self):
        self.kernels.write_text(KERNELS + "\nfusegate.main()\n", encoding="utf-8")
        for target in ("kernels.py", "kernels"):
            self.assert_refused(self.process("-m", "fusegate", "run", target, *QUICK),
                                  f"{target}: calls fusegate.main\\(\\) while it is being loaded; put the call under `if __name__ "
                                  "== \"__main__\":`")

    def test_prints_whatever_the_encoding(self):
        self.kernels.write_text(KERNELS.replace("    return 2 * x", "    print('\u2192 \u00e9')\n    return 2 * x"),
                                encoding="utf-8")
        result = subprocess.run([sys.executable, "-m", "fusegate", "run", "kernels.py", *QUICK, "--filter=plain"],
                                capture_output=True, check=False, cwd=self.folder,
                                env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONIOENCODING": "latin-1"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"\\u2192 \xe9\n", result.stdout)

    def test_closed_outputs_end_with_a_line_or_are_not_needed(self):
        def closed(arguments, redirections):
            return subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "fusegate",
                                   *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.folder,
                                  env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        for arguments in (["run", "kernels.py", *QUICK], ["--version"], ["run", "--help"]):
            result = closed(arguments, ">&-")
            self.assertEqual((result.returncode, result.stderr),
                             (2, "fusegate: standard output: cannot be written: Bad file descriptor\n"), arguments)
        result = closed(["run", "kernels.py", *QUICK, f"--out={self.out}"], "2>&- <&-")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 4))
        self.assertEqual(closed(["run", "nope.py"], ">&- 2>&- <&-").returncode, 2)
        self.assertEqual({entry["name"] for entry in self.read()["benchmarks"]}, set(NAMES))

    def test_help_and_version(self):
        for arguments, expected in ((["--version"], f"fusegate {__version__}\n"), (["--help"], "usage: python -m fusegate"),
                                    (["run", "--help"], "usage: python -m fusegate run"),
                                    (["run", "--version"], f"fusegate {__version__}\n")):
            result = self.process("-m", "fusegate", *arguments)
            self.assertEqual((result.returncode, result.stdout[:len(expected)]), (0, expected))

    def test_every_flag_has_help_and_its_default(self):
        parser = options._parser(True)  # pylint: disable=protected-access
        for action in parser._actions:  # pylint: disable=protected-access
            self.assertTrue(action.help, action.option_strings)
        self.assertIn("Example: python3 -m fusegate run kernels.py --axis", parser.format_help())
        defaults = dataclasses.asdict(Protocol())
        for key, (name, unit, *_) in protocol._NUMBERS.items():  # pylint: disable=protected-access
            if key != "spin_us":
                self.assertIn(f"default: {defaults[name] // unit})", protocol.FLAG_HELP[key])
        for key in ("regime", "order", "l2"):
            self.assertIn(f"{defaults[key]} (default", protocol.FLAG_HELP[key])

    def test_a_full_disk_behind_a_redirection_ends_with_2(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([sys.executable, "-m", "fusegate", "run", self.kernels, *QUICK], stdout=full,
                                    stderr=subprocess.PIPE, text=True, check=False,
                                    env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        self.assertEqual((result.returncode, result.stderr),
                         (2, "fusegate: standard output: cannot be written: No space left on device\n"))
