"""The plugin in real pytest sessions: with the real gate, on times that are known, and with gates that misbehave."""

import importlib.util
import os
import pathlib
import subprocess
import sys

if importlib.util.find_spec("pytest") is None or importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.measuring.fakes import FolderTest
from fusegate.version import __version__

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
PACKAGE = pathlib.Path(__file__).resolve().parents[1]
# A fake GPU: one process after another is 0.02 % slower and faster, or by as much as NOISE says.
KERNELS = '''
import os, sys
import fusegate
from fusegate import program
from fusegate.measuring.fakes import FakeDevice, FakeMeter, FakeNvml

noise = float(os.environ.get("NOISE", "2e-4")) * (-1) ** int(sys.argv[sys.argv.index("--process") + 1])
call_ns = 36000.0 * (1 + float(os.environ.get("SLOWER", "0"))) * (1 + noise)
settings = {"driver": os.environ.get("DRIVER", "580.1")}
program.open_device = lambda *_: (FakeDevice(float(os.environ.get("ERROR", "0.001"))), FakeMeter(call_ns))
program.Nvml = type("Nvml", (), {"open": staticmethod(lambda: FakeNvml(settings=settings))})

@fusegate.benchmark(operation="geglu", axes={"rows": [8, 16]}, dtypes=["bf16"], reference=lambda x: x,
                    inputs=lambda p: {"x": fusegate.uniform(p.rows)}, implementation="triton")
def triton(x):
    return x
'''
TEST = '''
def test_geglu(fusegate):
    measured = fusegate("kernels.py", benchmark="rows:8", processes=4,
                        flags=["--samples=2", "--idle-us=0", "--profile=off"])
    assert list(measured.times_ns) == ["geglu/triton/bf16/rows:8"]
    assert 30e3 < measured.times_ns["geglu/triton/bf16/rows:8"] < 50e3
'''


class PytestPluginTest(FolderTest):
    def setUp(self):
        super().setUp()
        (self.folder / "kernels.py").write_text(KERNELS, encoding="utf-8")
        (self.folder / "test_kernels.py").write_text(TEST, encoding="utf-8")

    def pytest(self, *flags, program=PROGRAM, **environment):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "fusegate.pytest_plugin", "-p", "no:cacheprovider", "-q",
             *(["--fusegate-program", program] if program else []), *map(str, flags)], cwd=self.folder, text=True,
            capture_output=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})

    def measured_baseline(self):
        result = self.pytest("--fusegate-out", "runs")
        self.assertEqual(result.returncode, 0, result.stdout)
        (baseline,) = (self.folder / "runs").iterdir()
        self.assertEqual(len(list(baseline.glob("*.json"))), 4)
        return baseline

    def test_passes_on_the_same_and_fails_on_a_regression_with_its_verdict(self):
        baseline = self.measured_baseline()
        same = self.pytest("--fusegate-baseline", baseline, SLOWER="0.0001")
        self.assertEqual(same.returncode, 0, same.stdout)
        result = self.pytest("--fusegate-baseline", baseline, SLOWER="0.1")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stdout, r"regression +\+(9|10)\.\d\d %  geglu/triton/bf16/rows:8: ")
        self.assertIn("1 failed", result.stdout)

    def test_an_undecided_test_fails_or_is_skipped_and_listed(self):
        baseline = self.measured_baseline()
        result = self.pytest("--fusegate-baseline", baseline, "--fusegate-undecided=skip", DRIVER="999.9")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("1 skipped", result.stdout)
        self.assertRegex(result.stdout, r"fusegate: could not judge =+\n\S*test_kernels.py::test_geglu: .*driver")
        result = self.pytest("--fusegate-baseline", baseline, NOISE="0.2")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("could not judge: ", result.stdout)
        result = self.pytest("--fusegate-baseline", self.folder / "test_kernels.py")
        self.assertRegex(result.stdout, "could not judge: .*test_kernels.py")

    def test_a_wrong_kernel_fails_without_any_baseline(self):
        result = self.pytest(ERROR="0.5")
        self.assertEqual(result.returncode, 1)
        self.assertIn("could not measure kernels.py (exit code 2)", result.stdout)
        self.assertIn("geglu/triton/bf16/rows:8: wrong result: relative error 5.00e-01", result.stdout)

    def test_an_earlier_run_stays_until_the_later_one_is_complete_and_is_never_overwritten_as_a_baseline(self):
        earlier = self.measured_baseline()
        before = (earlier / "1.json").read_bytes()
        for flags in (["--fusegate-out", "runs"], ["--fusegate-out", "."], ["--basetemp", "runs"]):
            result = self.pytest("--fusegate-baseline", earlier, *flags, SLOWER="3")
            self.assertEqual(result.returncode, 4, result.stdout)
            self.assertRegex(result.stderr, r"--fusegate-baseline \S+: lies in the folder of --(fusegate-out|basetemp) \S+, "
                                            r"where this session replaces earlier runs; copy it elsewhere")
        failed = self.pytest("--fusegate-out", "runs", ERROR="0.5")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("wrong result", failed.stdout)
        self.assertEqual((earlier / "1.json").read_bytes(), before)
        self.assertTrue((self.folder / "runs" / f"{earlier.name}.unfinished" / "1.json").is_file())
        self.assertEqual(self.pytest("--fusegate-out", "runs").returncode, 0)
        self.assertNotEqual((earlier / "1.json").read_bytes(), before)
        self.assertEqual([path.name for path in (self.folder / "runs").iterdir()], [earlier.name])

    def test_a_program_that_ends_with_0_before_it_finished_fails(self):
        (self.folder / "kernels.py").write_text(KERNELS.replace("return x\n", "os._exit(0)\n"), encoding="utf-8")
        result = self.pytest()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("could not measure kernels.py (exit code 0 before it finished)", result.stdout)

    def test_says_what_was_not_compared_and_what_is_never_measured(self):
        (self.folder / "kernels.py").write_text(
            KERNELS + 'fusegate.benchmark("geglu", "forgotten")(lambda x: x)\n', encoding="utf-8")
        (self.folder / "test_kernels.py").write_text(TEST.replace('benchmark="', 'benchmark="triton/.*'), encoding="utf-8")
        result = self.pytest()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, "fusegate: nothing was compared =+\n1 test measured without a baseline; pass a baseline "
                                        "with --fusegate-baseline PATH\n")
        self.assertRegex(result.stdout, "fusegate: never measured =+\nkernels.py: geglu/forgotten is registered, but no test "
                                        "of this session measures it\n")
        stored = self.folder / "baselines" / "nvidia-h200" / "all.json"
        stored.parent.mkdir(parents=True)
        stored.touch()
        result = self.pytest("test_kernels.py::test_geglu")
        self.assertIn(f"measured without a baseline; pass --fusegate-baseline {stored.resolve()}\n", result.stdout)
        self.assertNotIn("never measured", result.stdout, "of a part of the tests")

    def test_shows_output_of_any_encoding(self):
        (self.folder / "kernels.py").write_text(
            KERNELS + 'os.write(2, b"caf\\xe9\\n")\nsys.exit(3)\n', encoding="utf-8")
        result = self.pytest()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("caf\\xe9", result.stdout)

    def test_says_what_is_missing(self):
        baseline = self.folder / "kernels.py"  # exists, and is not read
        result = self.pytest("--fusegate-baseline", baseline, program="no_such_gate")
        self.assertEqual(result.returncode, 1)
        self.assertIn("needs the program no_such_gate, which was not found; install fusegate", result.stdout)
        other = self.folder / "fusegate"
        other.write_text("#!/bin/sh\necho fusegate 99.0.0\n", encoding="utf-8")
        other.chmod(0o755)
        result = self.pytest("--fusegate-baseline", baseline, program=str(other))
        self.assertIn(f'prints "fusegate 99.0.0", but the Python package is fusegate {__version__}', result.stdout)
        for flags, expected in ((["--fusegate-baseline", "nope"], "--fusegate-baseline nope: no such file or folder"),
                                (["--fusegate-processes", "0"], "--fusegate-processes 0: must be a whole number from 1")):
            result = self.pytest(*flags)
            self.assertEqual(result.returncode, 4)
            self.assertIn(expected, result.stderr)

    def test_names_a_missing_file_of_kernels(self):
        (self.folder / "kernels.py").unlink()
        self.assertIn("fusegate: kernels.py: no such file", self.pytest().stdout)
