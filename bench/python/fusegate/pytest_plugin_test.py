"""The plugin in real pytest sessions: with a stand-in for the program `fusegate`, whose answers are known, and with the real
programs."""

import importlib.util
import json
import os
import pathlib
import sys

if importlib.util.find_spec("pytest") is None or importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.fakes import QUICK, FolderTest
from fusegate.pytest_plugin import _folder_name
from fusegate.version import __version__

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
STAND_IN = '''
import json, os, pathlib, sys
asked = sys.argv[1:]
with open(os.environ["ASKED"], "a") as file:
    file.write(json.dumps([*asked, os.getcwd()]) + "\\n")
flag = lambda name: asked[asked.index(name) + 1]
if asked == ["--version"]:
    print("fusegate", os.environ["VERSION"])
elif asked[0] == "run":
    folder = pathlib.Path(flag("--out"))
    folder.mkdir()
    for number in range(1, int(flag("--processes")) + 1):
        times = [float(os.environ.get("TIME", "5")) + number + sample for sample in (0, 1, 5)]
        (folder / f"{number}.json").write_text(json.dumps({
            "context": {"fusegate": {"suite": flag("--suite")}},
            "benchmarks": [{"name": "geglu/triton/bf16/rows:8", "real_time": time} for time in times]}))
    (folder / "run.json").write_text("{}")
    if "FAILS" in os.environ:
        print("process 1/4: finished in 1 s", "fusegate: geglu/triton: wrong result", sep="\\n", file=sys.stderr)
        sys.exit(2)
elif os.environ["EXIT_CODE"] != "3":
    pathlib.Path(flag("--json")).write_text(json.dumps({"verdicts": [{"verdict": "regression"}]}))
    print(("No benchmark", "1 of 1 got slower", "Could not judge: it is late")[int(os.environ["EXIT_CODE"])])
    print("regression  geglu/triton/bf16/rows:8")
    sys.exit(int(os.environ["EXIT_CODE"]))
else:
    print("fusegate: baseline.json: not valid JSON", file=sys.stderr)
    sys.exit(2)
'''
TEST = '''
def test_geglu(fusegate):
    measured = fusegate("kernels.py", benchmark="rows:8", processes=4, flags=["--samples=2"])
    assert measured.times_ns == {"geglu/triton/bf16/rows:8": 5 + 2.5 + 1}
    assert len(measured.verdicts) == BASELINE
'''
KERNELS = '''
import os
import fusegate

twice = fusegate.Operation("twice", axes={"rows": [8, 16]}, dtypes=["fp32"], arrays="numpy", reference=lambda x: 2 * x,
                           inputs=lambda p: {"x": fusegate.uniform(p.rows)})

@twice.benchmark("times")
def times(x):
    if "EXITS" in os.environ:
        os._exit(0)
    return x * float(os.environ.get("FACTOR", "2"))

@twice.benchmark("plus")
def plus(x):
    return x + x
'''
REAL_TEST = '''
def test_twice(fusegate):
    measured = fusegate("kernels.py", benchmark="times", processes=2, flags=QUICK)
    assert sorted(measured.times_ns) == ["twice/times/fp32/rows:16", "twice/times/fp32/rows:8"]
    assert 10 < measured.times_ns["twice/times/fp32/rows:8"] < 1e6
'''


class SessionTest(FolderTest):
    def pytest(self, *flags, expected, program=PROGRAM, **environment):
        result = self.process("-m", "pytest", "-p", "fusegate.pytest_plugin", "-p", "no:cacheprovider", "-q",
                              "--fusegate-program", program, *flags, **environment)
        self.assertEqual(result.returncode, expected, result.stdout + result.stderr)
        return result.stdout + result.stderr


class StandInTest(SessionTest):
    def setUp(self):
        super().setUp()
        self.baseline = self.write("baseline.json", "")
        self.program = self.write("bin/fusegate", f"#!{sys.executable}\n{STAND_IN}")
        self.program.chmod(0o755)
        self.write_test(TEST)

    def write_test(self, text, has_baseline=False):
        self.write("test_kernels.py", text.replace("BASELINE", str(int(has_baseline))))

    def pytest(self, *flags, expected, program=None, **environment):
        return super().pytest(*flags, expected=expected, program=program or self.program, ASKED=str(self.folder / "asked"),
                              **{"VERSION": __version__, **environment})

    def gated(self, *flags, expected, **environment):
        return self.pytest("--fusegate-baseline", self.baseline, *flags, expected=expected, **environment)

    def asked(self):
        return [json.loads(line) for line in (self.folder / "asked").read_text(encoding="utf-8").splitlines()]

    def test_measures_where_the_test_lies_and_judges(self):
        self.write_test(TEST, has_baseline=True)
        self.gated("--fusegate-out", "runs", expected=0, EXIT_CODE="0")
        _, run, gate = self.asked()
        folder = pathlib.Path(run[run.index("--out") + 1])
        self.assertEqual(run, ["run", "--program", f"{sys.executable} -m fusegate.bench kernels.py", "--all", "--out",
                               str(folder), "--suite", "all", "--processes", "4", "--", "--benchmark_filter=rows:8",
                               "--samples=2", str(self.folder)])
        kept = self.folder / "runs" / "test_kernels.py_test_geglu"
        self.assertEqual(folder.name, kept.name)
        self.assertEqual(gate[:-1], ["gate", "--baseline", str(self.baseline), "--candidate", str(kept), "--json",
                                     f"{kept}.gate.json"])

    def test_fails_on_a_regression_with_what_the_gate_printed(self):
        printed = self.gated(expected=1, EXIT_CODE="1")
        self.assertIn("\n1 of 1 got slower\nregression  geglu/triton/bf16/rows:8\n", printed)
        self.assertNotIn("nothing was compared", printed)

    def test_an_undecided_test_fails_or_is_skipped_and_listed(self):
        self.assertIn("\ncould not judge: it is late\n", self.gated(expected=1, EXIT_CODE="2"))
        self.assertIn("\ncould not judge: fusegate: baseline.json: not valid JSON\n", self.gated(expected=1, EXIT_CODE="3"))
        printed = self.gated("--fusegate-undecided=skip", expected=0, EXIT_CODE="2")
        self.assertIn("1 skipped", printed)
        self.assertRegex(printed, r"fusegate: could not judge =+\n\S*test_kernels.py::test_geglu: it is late\n")

    def test_an_earlier_run_stays_until_the_later_one_is_complete_and_is_never_overwritten_as_a_baseline(self):
        self.pytest("--fusegate-out", "runs", expected=0)
        (earlier,) = (self.folder / "runs").iterdir()
        before = (earlier / "1.json").read_bytes()
        for flags in (["--fusegate-out", "runs"], ["--fusegate-out", "."], ["--basetemp", "runs"]):
            printed = self.pytest("--fusegate-baseline", earlier, *flags, expected=4)
            self.assertRegex(printed, r"--fusegate-baseline \S+: lies in the folder of --(fusegate-out|basetemp) \S+, "
                                      r"where this session replaces earlier runs; copy it elsewhere")
        printed = self.pytest("--fusegate-out", "runs", expected=1, FAILS="", TIME="6")
        self.assertIn("\nfusegate could not measure kernels.py (exit code 2):\nfusegate: geglu/triton: wrong result\n", printed)
        self.assertEqual((earlier / "1.json").read_bytes(), before)
        self.pytest("--fusegate-out", "runs", expected=1, TIME="6")  # the test's own figures differ
        self.assertNotEqual((earlier / "1.json").read_bytes(), before)
        self.assertEqual([path.name for path in (self.folder / "runs").iterdir()], [earlier.name])
        self.assertIn(f"{self.program}/{earlier.name}: cannot be written: ",
                      self.pytest("--fusegate-out", self.program, expected=1))

    def test_each_measurement_has_its_folder(self):
        self.write_test("def test_two(fusegate):\n    assert fusegate('a.py').folder != fusegate('b.py', suite='pr').folder\n")
        self.write("baselines/nvidia-h200/pr.json", "")
        printed = self.pytest("--fusegate-out", "runs", "--fusegate-processes=1", expected=0)
        self.assertEqual({path.name for path in (self.folder / "runs").iterdir()},
                         {"test_kernels.py_test_two", "test_kernels.py_test_two-2"})
        self.assertIn("1 test measured without a baseline; pass --fusegate-baseline "
                      f"{self.folder}/baselines/nvidia-h200/pr.json\n", printed)
        tests = ["test_k.py::test_add", "test_k.py::test_add[a/b]", "test_k.py::test_add[a b]", "test_k.py::test_add[a_b]",
                 "test_k.py::test_add[\u00e9]", "test_k.py::test_add[\udcff]", "a/test_k.py::test_add", "a_test_k.py::test_add",
                 "test_k.py::A::test_b", "test_k.py::A_test_b", "test_k.py::test_" + 200 * "a", "test_k.py::test_" + 201 * "a"]
        names = {_folder_name(test) for test in tests}
        self.assertEqual(len(names), len(tests), names)
        for name in names:
            self.assertRegex(name, r"\A[A-Za-z0-9_.-]{1,160}\Z")

    def test_says_what_is_missing(self):
        self.assertIn("the program no_such: was not found in PATH; install the package fusegate",
                      self.pytest(expected=1, program="no_such"))
        self.assertIn(f'--version prints "fusegate 99.0.0", but the Python package is fusegate {__version__}',
                      self.pytest(expected=1, VERSION="99.0.0"))
        self.assertRegex(self.pytest("--fusegate-baseline", "nope", expected=4),
                         "--fusegate-baseline .*nope: no such file or folder")


class RealProgramsTest(SessionTest):
    def setUp(self):
        super().setUp()
        self.write("kernels.py", KERNELS)
        self.write("test_kernels.py", REAL_TEST.replace("QUICK", str(QUICK)))

    def test_measures_and_says_what_was_not_compared_and_what_is_never_measured(self):
        printed = self.pytest(expected=0)
        self.assertRegex(printed, "fusegate: nothing was compared =+\n1 test measured without a baseline; pass a baseline "
                                  "with --fusegate-baseline PATH\n")
        self.assertRegex(printed, "fusegate: never measured =+\nkernels.py: twice/plus is registered, but no test of this "
                                  "session measures it\n")
        self.assertNotIn("never measured", self.pytest("test_kernels.py::test_twice", expected=0), "of a part of the tests")

    def test_a_wrong_kernel_fails_and_one_that_ends_the_process(self):
        self.write("test_plus.py", "def test_plus(fusegate):\n    fusegate('kernels.py', benchmark='plus', processes=1)\n")
        printed = self.pytest(expected=1, FACTOR="3")
        self.assertRegex(printed, "could not measure kernels.py .*\nfusegate: twice/times: .*wrong result: relative error 5.0")
        self.assertNotIn("never measured", printed, "where a test could not measure")
        self.assertIn("ended with exit code 0 before it finished", self.pytest(expected=1, EXITS=""))

    def test_shows_output_of_any_encoding(self):
        self.write("kernels.py", f"{KERNELS}os.write(2, b'caf\\xe9\\n')\nos._exit(3)\n")
        self.assertIn("caf\\xe9", self.pytest(expected=1))

    def test_names_a_missing_file_of_kernels(self):
        (self.folder / "kernels.py").unlink()
        self.assertIn("kernels.py: no such file", self.pytest(expected=1))
