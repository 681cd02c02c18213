"""The program as people and fusegate call it: real processes on the CPU, with NumPy. bench/program/program_test.py holds what
is the engine's."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import unittest

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.fakes import ENVIRONMENT, PACKAGE, QUICK, FolderTest
from fusegate.version import __version__

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
    numpy.multiply(x, 2, out=out)
'''
NAMES = {f"scale/{name}/fp32/rows:64/cols:{cols}" for cols in (32, 64) for name in ("plain", "into")}
GUARDED = f"{KERNELS}\nif __name__ == '__main__':\n    fusegate.main()\n"
BENCH = ("-m", "fusegate.bench", "kernels.py")


class ProgramTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.kernels = self.write("kernels.py", KERNELS)

    def run_kernels(self, *flags, **environment):
        return self.bench("kernels.py", *QUICK, *flags, **environment)

    def measures(self, *arguments, text=KERNELS, code=0, expected=None):
        """Writes the text as kernels.py, and measures into self.out."""
        self.write("kernels.py", text)
        result = self.process(*arguments, *QUICK, f"--out={self.out.relative_to(self.folder)}", "--force")
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(self.measured(), NAMES if expected is None else expected)
        self.assertTrue(self.read()["context"]["fusegate"]["finished"])
        return result

    def planned(self, *flags):
        result = self.run_kernels("--plan", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {f"{swept['operation']}/{problem['name']}" for swept in json.loads(result.stdout)["work"]
                for problem in swept["problems"]}

    def assert_refused(self, result, expected):
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertRegex(result.stderr, f"^fusegate_bench: {expected}")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_a_file_a_module_and_a_file_that_calls_main_write_a_run_file(self):
        for command, text in ((BENCH, KERNELS), (("-m", "fusegate.bench", "kernels"), KERNELS),
                              (("-m", "fusegate", "run", "kernels.py"), KERNELS), (("kernels.py",), GUARDED)):
            self.measures(*command, "--process=3", text=text)
            context = self.read()["context"]["fusegate"]
            self.assertEqual([context[key] for key in ("suite", "process", "controls", "compared_with")],
                             ["all", 3, [], {"scale": ["plain"]}])
            self.assertIn("numpy", context["environment"])

    def test_identities_say_how_long_loading_takes(self):
        self.kernels.write_text(KERNELS + "\ntime.sleep(1)\n", encoding="utf-8")
        result = self.run_kernels(f"--identify={self.out}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.read()["load_s"], 1)

    def test_records_the_commit_of_the_kernels(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *arguments], cwd=self.folder, check=True,
                           capture_output=True)
        git("init", "-q")
        git("add", "kernels.py")
        git("commit", "-qm", "first")
        for text, dirty in ((KERNELS, False), (f"{KERNELS}\n", True)):
            self.measures(*BENCH, text=text)
            provenance = self.read()["context"]["fusegate"]["provenance"]
            self.assertEqual((len(provenance["commit"]), provenance["dirty"]), (40, dirty))

    def test_a_relative_out_lies_where_the_program_was_started(self):
        moved = KERNELS.replace("    return 2 * x", "    os.chdir('/')\n    return 2 * x") + "\nos.chdir('/')\n"
        self.measures(*BENCH, text=moved)
        self.out.unlink()
        self.measures("kernels.py", text=f"{moved}fusegate.main()")

    def test_after_a_benchmark_that_never_ends_a_new_process_measures_the_others(self):
        stuck = KERNELS + "\n@scale.benchmark()\ndef stuck(x):\n    while True:\n        time.sleep(0.1)\n"
        for command, text in ((BENCH, stuck), (("kernels.py",), f"{stuck}\nfusegate.main()\n")):
            self.measures(*command, "--stuck-after-s=1", "--axis=cols=32", text=text, code=2,
                          expected={name for name in NAMES if name.endswith(":32")})
            self.assertEqual(list(self.failures()), ["scale/stuck/fp32/rows:64/cols:32"])

    def test_after_a_signal_the_run_file_has_the_samples_so_far(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            command = [sys.executable, *BENCH, "--idle-us=50000", "--batch-us=50", f"--out={self.out}", "--force", "--progress"]
            process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env=ENVIRONMENT)
            for _ in range(6):
                process.stdout.readline()
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2)
            self.assertIn("fusegate_bench: interrupted; what was measured is in", errors)
            self.assertFalse(self.read()["context"]["fusegate"]["finished"])
            self.assertGreaterEqual(len(self.read()["benchmarks"]), 1)

    def test_suites_lie_beside_the_kernels_and_what_they_leave_out_is_reported(self):
        self.write("suites/pr.json", '{"name": "pr", "sweeps": [{"implementations": ["into"], "cols": [16]}]}')
        for flags, expected in (([], {32, 64}), (["--suite=pr"], {16}), (["--suite=pr", "--axis=cols=7"], {7})):
            self.assertEqual(self.planned(*flags), {f"scale/fp32/rows:64/cols:{cols}" for cols in expected})
        result = self.measures(*BENCH, "--suite=pr", "--progress", expected={"scale/into/fp32/rows:64/cols:16"})
        self.assertIn("fusegate_bench: no suite names scale/plain: the gate will not judge it; add it to a suite\n",
                      result.stderr)

    def test_axes_of_names_fractions_and_switches(self):
        self.kernels.write_text(KERNELS.replace('"cols": [32, 64]', '"cols": [32], "kind": ["gelu", "relu"], "p": [0.5], '
                                                                    '"causal": [True, False]'), encoding="utf-8")
        self.write("suites/pr.json", json.dumps({"name": "pr", "sweeps": [{"kind": ["relu"], "p": [0.25], "causal": [True]}]}))
        self.assertEqual(len(self.planned()), 4)
        for flags, expected in (
                (["--axis=kind=silu", "--axis=p=0.125", "--axis=causal=true"], "kind:silu/p:0.125/causal:true"),
                (["--problem=rows:64/cols:32/kind:relu/p:1e-05/causal:false"], "kind:relu/p:1e-05/causal:false"),
                (["--suite=pr"], "kind:relu/p:0.25/causal:true")):
            self.assertEqual(self.planned(*flags), {f"scale/fp32/rows:64/cols:32/{expected}"})
            self.assertEqual(self.run_kernels(*flags).returncode, 0)

    def test_says_in_a_line_what_is_wrong(self):
        for text, arguments, expected in (
                ("", ["nope.py"], "nope.py: no such file"),
                ("", ["a\x1b[2J::error::.py"], r"a\\x1b\[2J::error::.py: no such file"),
                ("", ["nope"], "nope: cannot be loaded: ModuleNotFoundError: No module named 'nope'"),
                ("", ["kernels.py"], "kernels.py: registers no benchmark; decorate"),
                ("def load():\n    import nowhere\nload()\n", ["kernels.py"],
                 "kernels.py: cannot be loaded: ModuleNotFoundError: No module named 'nowhere', at line 2"),
                ("1 +\n", ["kernels.py"], "kernels.py: cannot be loaded: SyntaxError: .*, at line 1"),
                ("import pathlib; pathlib.Path('odd.py').write_text('\\n\\n1 +')\nimport odd", ["kernels.py"],
                 "kernels.py: cannot be loaded: SyntaxError: .*, at line 2"),
                ("raise SystemExit(3)", ["kernels.py"], r"kernels.py: cannot be loaded: .*sys.exit\(3\), at line 1"),
                (f"{KERNELS}\nfusegate.Operation('odd', axes={{'n': 1}}, dtypes='fp32', inputs=len, reference=len)\n",
                 ["kernels.py"], "kernels.py:18: odd: has no implementation; decorate one"),
                (f"{KERNELS}\nscale.benchmark('plain')(plain)\n", ["kernels.py"],
                 "kernels.py:18: scale.plain: is registered already, at kernels.py:10"),
                (f"{KERNELS}\nfusegate.main()\n", ["kernels.py"],
                 r"kernels.py: calls fusegate.main\(\) while it is being loaded; put the call under "
                 "`if __name__ == \"__main__\":`"),
                (f"{KERNELS}\nfusegate.main()\n", ["kernels"], "kernels: calls fusegate.main"),
                (KERNELS, ["kernels.py", "--suite=nope"], "nope: no such suite: .*suites has none; name a .json file"),
                (KERNELS, ["kernels.py", "--speed=3"], "--speed=3"),
                (KERNELS, ["kernels.py", "--axis=heads=3"], "--axis heads: no measured operation has this axis"),
                (KERNELS, ["kernels.py", "--implementation=nope"], ".*unknown name 'nope'; known: .*into"),
                (KERNELS, ["kernels.py", "--device=cuda"], "--device|no device|device"),
                (KERNELS, ["--suite=all"], "the command line: names no file of kernels"),
                (KERNELS, [], "the command line: names no file of kernels")):
            with self.subTest(expected):
                self.kernels.write_text(text, encoding="utf-8")
                self.assert_refused(self.process("-m", "fusegate.bench", *arguments), expected)

    def test_an_engine_that_is_missing_or_anothers(self):
        self.assert_refused(self.run_kernels(FUSEGATE_ENGINE="nowhere.so"),
                            "libfusegate_engine.so: not found at nowhere.so; install")
        self.assert_refused(self.run_kernels(FUSEGATE_ENGINE=str(self.kernels)), r"\S+kernels.py: cannot be loaded: ")
        subprocess.run(["cp", "-r", PACKAGE / "fusegate", self.folder / "fusegate"], check=True)
        self.write("fusegate/version.py", '__version__, FOLDERS = "9.9.9", ()\n')
        environment = {"PYTHONPATH": str(self.folder), "FUSEGATE_ENGINE": os.environ["FUSEGATE_ENGINE"]}
        self.assert_refused(self.run_kernels(**environment),
                            rf"\S+: is the engine of fusegate {__version__}, and this package is 9.9.9")

    def test_what_kernels_print_comes_between_the_engines_lines(self):
        self.kernels.write_text(KERNELS.replace("    return 2 * x", "    print('\u2192 \u00e9' * 3000)\n    return 2 * x"),
                                encoding="utf-8")
        result = self.process(*BENCH, *QUICK, "--progress", f"--out={self.out}", text=False, PYTHONIOENCODING="latin-1")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in result.stdout.splitlines():
            self.assertTrue(line.startswith((b"@fusegate {", b"\\u2192 \xe9")), line[:40])

    def test_closed_and_full_outputs_end_with_a_line(self):
        for redirections, flags, code, expected in (
                (">&-", (), 2, "standard output: "), (">/dev/full", (), 2, "standard output: cannot be written"),
                ("2>&- <&-", (f"--out={self.out}",), 0, "")):
            result = subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, *BENCH, *QUICK, *flags],
                                    capture_output=True, text=True, check=False, cwd=self.folder, env=ENVIRONMENT)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(expected, result.stderr)
        self.assertEqual(self.measured(), NAMES)

    def test_help_and_version(self):
        for arguments, expected in ((["--version"], f"fusegate {__version__}\n"), (["--help"], "usage: fusegate_bench FILE"),
                                    (["kernels.py", "--help"], "--samples")):
            result = self.process("-m", "fusegate.bench", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(expected, result.stdout)

    @unittest.skipIf(sys.version_info < (3, 10), "Python 3.9 does not know which packages have a module")
    def test_records_the_version_of_the_package_that_has_the_module(self):
        for module, version in (("first", "1.1"), ("second", "2.2")):
            package = f"{module}_cu13-{version}.dist-info"
            for path, text in ((f"shared/{module}/code.py", ""), (f"{package}/RECORD", f"shared/{module}/code.py,,\n"),
                               (f"{package}/METADATA", f"Metadata-Version: 2.1\nName: {module}-cu13\nVersion: {version}\n")):
                self.write(path, text)
        self.write("kernels.py", KERNELS.replace("benchmark()", "benchmark(requires='shared.second')"))
        result = self.run_kernels("--environment")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["environment"]["shared.second"], "2.2")

    def test_fusegate_runs_shows_accepts_and_gates(self):
        def fusegate(*arguments):
            result = subprocess.run([os.environ["FUSEGATE_PROGRAM"], *map(str, arguments)], capture_output=True, text=True,
                                    check=False, cwd=self.folder, env=ENVIRONMENT)
            return result.returncode, result.stdout + result.stderr
        code, text = fusegate("run", "--program", f"'{sys.executable}' -m fusegate.bench 'kernels.py'", "--suite", "all",
                              "--processes", 2, "--out", "run", "--", *QUICK)
        self.assertEqual(code, 0, text)
        self.assertRegex(fusegate("show", "run")[1], r"scale/plain/fp32/rows:64/cols:32\s+[\d.]+ (ns|us)")
        self.assertEqual(fusegate("accept", "run", "--reason", "first", "--store", "store")[0], 0)
        code, text = fusegate("gate", "--candidate", "run", "--store", "store")
        self.assertIn(code, (0, 2), text)


if __name__ == "__main__":
    unittest.main()
