"""The C++ programs on top of the package: fusegate run, duet, gate and show start `python -m fusegate run` and read what
it writes. Times are a fake GPU's, so that verdicts are known; the last test measures on the real CPU."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.measuring.fakes import FolderTest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
PACKAGE = pathlib.Path(__file__).resolve().parents[1]
# Two implementations on two problems. SLOWER makes one of them take longer, by a share of its time. Processes differ
# by 0.02 %, as a seed decides.
KERNELS = '''
import os, random, sys
import fusegate
from fusegate import program
from fusegate.measuring.fake_torch import FakeProfiler
from fusegate.measuring.fakes import FakeDevice, FakeMeter, FakeNvml, UUID

EVENTS = [
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 100.0, "dur": 2.5, "args": {"correlation": 7}},
    {"ph": "X", "cat": "kernel", "name": "fused_kernel", "ts": 104.5, "dur": 35.0, "args": {
        "correlation": 7, "grid": [64, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 64}}]
TIMES = {"eager": 60000.0, "fused": 36000.0 * (1 + float(os.environ.get("SLOWER", "0")))}

class Device(FakeDevice):
    torch = FakeProfiler(EVENTS).torch()

class Meter(FakeMeter):
    def __init__(self):
        super().__init__(not_capturable=os.environ.get("NOT_CAPTURABLE", ""))
        self.noise = 1 + 2e-4 * random.Random(str(sys.argv)).uniform(-1, 1)

    def record(self, launch, calls, *rest):
        self.call_ns = TIMES[launch.func.__name__] * self.noise
        batch = super().record(launch, calls, *rest)
        call_ns = self.call_ns
        run = batch.run
        def timed():
            self.call_ns = call_ns
            return run()
        batch.run = timed
        return batch

program.open_device = lambda *_: (Device(), Meter())
program.Nvml = type("Nvml", (), {"open": staticmethod(lambda: FakeNvml(settings={"driver": "580.1", "ecc": True}))})
attention = fusegate.Operation("attention", axes={"heads": [16], "kv": [64, 4096]}, dtypes=["bf16"],
                               inputs=lambda p: {"x": fusegate.uniform(p.heads)}, reference=lambda x: x, flops=1e9)

@attention.benchmark()
def eager(x):
    return x

@attention.benchmark()
def fused(x):
    if os.environ.get("BROKEN"):
        raise RuntimeError("an illegal instruction was encountered")
    return x
'''
QUICK = ("--samples=4", "--layouts=2", "--idle-us=0")
FUSED = [f"attention/fused/bf16/heads:16/kv:{kv}" for kv in (4096, 64)]


class FusegateTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.kernels = self.folder / "my kernels.py"
        self.kernels.write_text(KERNELS, encoding="utf-8")

    def command(self, **variables):
        """A program with arguments of its own."""
        settings = " ".join(f"{name}={value}" for name, value in variables.items())
        return f"env {settings} '{sys.executable}' -m fusegate run 'my kernels.py'"

    def fusegate(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False,
                              cwd=self.folder, env={**os.environ, "PYTHONPATH": str(PACKAGE), "NO_COLOR": "1"})

    def measure(self, folder, processes=3, **variables):
        result = self.fusegate("run", "--program", self.command(**variables), "--suite", "all", "--processes",
                               processes, "--out", folder, "--", *QUICK)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def duet(self, *flags, **variables):
        return self.fusegate("duet", "--base", self.command(), "--head", self.command(**variables), "--suite", "all",
                             "--processes", 4, "--out", "runs", "--json", "gate.json", *flags, "--", *QUICK)

    def verdicts(self):
        gate = json.loads((self.folder / "gate.json").read_text(encoding="utf-8"))
        return {each["benchmark"]: each["verdict"] for each in gate["verdicts"]}

    def test_runs_and_shows_what_was_measured(self):
        self.measure("run")
        record = json.loads((self.folder / "run" / "run.json").read_text(encoding="utf-8"))
        self.assertEqual([each["failure"] for each in record["processes"]], [""] * 3)
        self.assertTrue(record["finished"])
        shown = self.fusegate("show", "run").stdout
        # 36 us, 0.02 % off at most.
        self.assertRegex(shown, r"attention/fused/bf16/heads:16/kv:64\s+(35\.99|36\.0[01]) us")
        self.assertIn("NVIDIA H200", shown)
        entry = json.loads((self.folder / "run" / "1.json").read_text(encoding="utf-8"))["benchmarks"][0]
        self.assertEqual(entry["kernel_launches"], 4)

    def test_what_is_launched_is_read_from_the_profile(self):
        self.measure("run", 1)
        entries = json.loads((self.folder / "run" / "1.json").read_text(encoding="utf-8"))["benchmarks"]
        (profile,) = [entry["details"]["profile"] for entry in entries
                      if entry["name"] == FUSED[1] and "profile" in entry.get("details", {})]
        self.assertEqual([(kernel["name"], kernel["stage"]) for kernel in profile["kernels"]], [("fused_kernel", "attention")])
        self.assertEqual(self.fusegate("show", "run").returncode, 0)

    def test_a_duet_names_what_got_slower_and_nothing_else(self):
        result = self.duet(SLOWER=0.03)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        verdicts = self.verdicts()
        self.assertEqual(sorted(name for name, verdict in verdicts.items() if verdict == "regression"), FUSED)
        self.assertEqual({verdict for name, verdict in verdicts.items() if name not in FUSED}, {"unchanged"})

    def test_a_duet_of_the_same_passes(self):
        result = self.duet("--no-aa")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(set(self.verdicts().values()), {"unchanged"})

    def test_gates_a_run_by_an_accepted_baseline(self):
        self.measure("base", 4)
        accepted = self.fusegate("accept", "base", "--reason", "first", "--store", "store")
        self.assertEqual(accepted.returncode, 0, accepted.stderr)
        for slower, code in ((0, 0), (0.03, 1)):
            self.measure(f"run-{slower}", 4, SLOWER=slower)
            result = self.fusegate("gate", "--candidate", f"run-{slower}", "--store", "store")
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)

    def test_a_failing_kernel_is_reported_and_cannot_pass(self):
        self.measure("base", 4)
        result = self.fusegate("run", "--program", self.command(BROKEN=1), "--suite", "all", "--processes", 4, "--out",
                               "run", "--", *QUICK)
        self.assertEqual(result.returncode, 2)
        self.assertIn("2 benchmarks failed in 4 of 4 processes, the first attention/fused/bf16/heads:16/kv:4096: "
                      "RuntimeError: an illegal instruction was encountered", result.stderr)
        self.assertEqual(self.fusegate("gate", "--baseline", "base", "--candidate", "run").returncode, 2)

    def test_what_cannot_be_captured_is_doubted_in_words(self):
        self.measure("run", NOT_CAPTURABLE="it-synchronises")
        entry = json.loads((self.folder / "run" / "1.json").read_text(encoding="utf-8"))["benchmarks"][0]
        self.assertEqual(entry["details"]["notes"], {"not_capturable": "it-synchronises"})
        self.assertEqual(entry["details"]["warnings"], ["not_capturable"])
        self.measure("same", NOT_CAPTURABLE="it-synchronises")
        gate = self.fusegate("gate", "--baseline", "run", "--candidate", "same", "--json", "gate.json")
        self.assertEqual(gate.returncode, 0, gate.stdout + gate.stderr)
        judged = json.loads((self.folder / "gate.json").read_text(encoding="utf-8"))["verdicts"]
        self.assertEqual([each["warnings"] for each in judged], [["not_capturable"]] * 4)

    def test_what_a_program_refuses_ends_the_run_with_its_own_words(self):
        result = self.fusegate("run", "--program", self.command(), "--suite", "nope", "--out", "run")
        self.assertEqual(result.returncode, 2)
        self.assertIn("exit code 2: fusegate: nope: no such suite; known: all", result.stderr)

    def test_a_file_that_calls_main_is_a_program_itself(self):
        path = self.folder / "bench"
        path.write_text(f"#!{sys.executable}\n{KERNELS}\nfusegate.main()\n", encoding="utf-8")
        path.chmod(0o755)
        result = self.fusegate("run", "--program", path, "--suite", "all", "--processes", 2, "--out", "run", "--", *QUICK)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("attention/eager", self.fusegate("show", "run").stdout)

    def test_measures_the_real_cpu(self):
        path = self.folder / "scale.py"
        path.write_text('''
import fusegate

@fusegate.benchmark(operation="scale", axes={"n": [4096]}, dtypes=["fp32"], arrays="numpy", reference=lambda x: 2 * x,
                    inputs=lambda p: {"x": fusegate.uniform(p.n)}, implementation="numpy")
def scale(x):
    return 2 * x
''', encoding="utf-8")
        result = self.fusegate("run", "--program", f"{sys.executable} -m fusegate run scale.py", "--suite", "all",
                               "--processes", 2, "--out", "run", "--", "--samples=3", "--batch-us=200")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(self.fusegate("show", "run").stdout, r"scale/numpy/fp32/n:4096\s+[\d.]+ (ns|us)")
