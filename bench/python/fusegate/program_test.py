"""The program as people and fusegate call it: real processes on the CPU, with NumPy."""

import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.fakes import PACKAGE, QUICK, FolderTest
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
    numpy.multiply(x, FACTOR, out=out)

FACTOR = 2
'''
NAMES = {f"scale/{name}/fp32/rows:64/cols:{cols}" for cols in (32, 64) for name in ("plain", "into")}


class ProgramTest(FolderTest):
    def setUp(self):
        super().setUp()
        self.kernels = self.write("kernels.py", KERNELS)

    def run_kernels(self, *flags, **environment):
        return self.bench("kernels.py", *QUICK, *flags, **environment)

    def planned(self, *flags):
        result = self.run_kernels("--plan", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {f"{swept['operation']}/{problem['name']}" for swept in json.loads(result.stdout)["work"]
                for problem in swept["problems"]}

    def assert_refused(self, result, expected):
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        self.assertRegex(result.stderr, f"^fusegate_bench: {expected}")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_prints_a_row_for_each_benchmark(self):
        result = self.run_kernels()
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in NAMES:
            self.assertIn(name, result.stdout)

    def test_writes_a_run_file_and_progress_for_fusegate(self):
        result = self.run_kernels(f"--out={self.out}", "--process=3", "--seed=7", "--progress", "--suite=all")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = [json.loads(line.split(" ", 1)[1]) for line in result.stdout.splitlines()]
        self.assertEqual((events[0]["event"], events[0]["total"]), ("start", 8))
        context = self.read()["context"]["fusegate"]
        self.assertEqual([context[key] for key in ("suite", "process", "seed", "finished", "controls", "compared_with")],
                         ["all", 3, 7, True, [], {"scale": ["plain"]}])
        self.assertIn("numpy", context["environment"])
        self.assertEqual(self.measured(), NAMES)

    def test_records_the_commit_of_the_kernels(self):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *arguments], cwd=self.folder, check=True,
                           capture_output=True)
        git("init", "-q")
        git("add", "kernels.py")
        git("commit", "-qm", "first")
        for text, dirty in ((KERNELS, False), (KERNELS + "\n", True)):
            self.kernels.write_text(text, encoding="utf-8")
            self.assertEqual(self.run_kernels(f"--out={self.out}", "--force").returncode, 0)
            provenance = self.read()["context"]["fusegate"]["provenance"]
            self.assertEqual((len(provenance["commit"]), provenance["dirty"]), (40, dirty))

    def test_a_relative_out_lies_where_the_program_was_started(self):
        moved = KERNELS.replace("    return 2 * x", "    os.chdir('/')\n    return 2 * x")
        for text, command in ((f"{moved}\nos.chdir('/')", ("-m", "fusegate.bench", "kernels.py")),
                              (f"{moved}\nos.chdir('/')\nfusegate.main()", ("kernels.py",))):
            self.kernels.write_text(text, encoding="utf-8")
            result = self.process(*command, *QUICK, "--out=run/1.json", "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(self.read()["context"]["fusegate"]["finished"])
            self.out.unlink()

    def test_a_module_and_a_file_that_calls_main_do_the_same(self):
        for command in (("-m", "fusegate.bench", "kernels"), ("kernels.py",), ("-m", "fusegate", "run", "kernels.py")):
            if command == ("kernels.py",):
                self.kernels.write_text(KERNELS + "\nif __name__ == '__main__':\n    fusegate.main()\n", encoding="utf-8")
            result = self.process(*command, *QUICK, f"--out={self.out}", "--force", "--benchmark_filter=plain")
            self.assertEqual((result.returncode, len(self.measured())), (0, 2), result.stderr)

    def test_a_wrong_implementation_fails_and_the_others_are_measured(self):
        self.kernels.write_text(KERNELS + "\nFACTOR = 3\n", encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}")
        self.assertEqual(result.returncode, 2)
        self.assertIn("fusegate_bench: scale/into/fp32/rows:64/cols:32: wrong result: relative error 5.00e-01", result.stderr)
        self.assertEqual(self.measured(), {name for name in NAMES if "plain" in name})

    def test_resumes_a_run_file_and_replaces_another_only_with_force(self):
        self.assertEqual(self.run_kernels(f"--out={self.out}", "--seed=7").returncode, 0)
        whole, lost = self.read(), "scale/plain/fp32/rows:64/cols:64"
        whole["benchmarks"] = [entry for entry in whole["benchmarks"] if entry["name"] != lost]
        whole["context"]["fusegate"]["finished"] = False
        self.out.write_text(json.dumps(whole), encoding="utf-8")
        result = self.run_kernels(f"--out={self.out}", "--seed=7", "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.measured(), NAMES)
        before = self.out.read_bytes()
        self.assertEqual(self.run_kernels(f"--out={self.out}", "--samples=3", "--axis=cols=8").returncode, 2)
        self.assertEqual(self.out.read_bytes(), before)

    def test_after_a_benchmark_that_never_ends_a_new_process_measures_the_others(self):
        stuck = KERNELS + "\n@scale.benchmark()\ndef stuck(x):\n    while True:\n        time.sleep(0.1)\n"
        for command, text in ((("-m", "fusegate.bench", "kernels.py"), stuck), (("kernels.py",), f"{stuck}\nfusegate.main()\n")):
            self.kernels.write_text(text, encoding="utf-8")
            result = self.process(*command, *QUICK, f"--out={self.out}", "--stuck-after-s=1", "--axis=cols=32", "--force")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(list(self.failures()), ["scale/stuck/fp32/rows:64/cols:32"])
            self.assertEqual(self.measured(), {name for name in NAMES if name.endswith(":32")})
            self.assertTrue(self.read()["context"]["fusegate"]["finished"])

    def test_after_a_signal_the_run_file_has_the_samples_so_far(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([sys.executable, "-m", "fusegate.bench", self.kernels.name, "--idle-us=50000",
                                        "--batch-us=50", f"--out={self.out}", "--force", "--progress"], cwd=self.folder,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "PYTHONPATH": str(PACKAGE)})
            for _ in range(6):
                process.stdout.readline()
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2)
            self.assertIn("fusegate_bench: interrupted; what was measured is in", errors)
            self.assertFalse(self.read()["context"]["fusegate"]["finished"])
            self.assertGreaterEqual(len(self.read()["benchmarks"]), 1)

    def test_axes_problems_and_suites(self):
        self.write("suites/pr.json", '{"name": "pr", "sweeps": [{"implementations": ["into"], "cols": [16]}]}')
        for flags, expected in (([], {32, 64}), (["--axis=cols=8,16"], {8, 16}), (["--problem=rows:64/cols:5"], {5}),
                                (["--suite=pr"], {16}), (["--suite=pr", "--axis=cols=7"], {7})):
            self.assertEqual(self.planned(*flags), {f"scale/fp32/rows:64/cols:{cols}" for cols in expected})
        result = self.run_kernels("--suite=pr", "--progress", f"--out={self.out}")
        note = "no suite names scale/plain: the gate will not judge it; add it to a suite"
        self.assertEqual((result.returncode, self.measured()), (0, {"scale/into/fp32/rows:64/cols:16"}))
        self.assertIn(f"fusegate_bench: {note}\n", result.stderr)

    def test_axes_of_names_fractions_and_switches(self):
        self.kernels.write_text(KERNELS.replace('"cols": [32, 64]', '"cols": [32], "kind": ["gelu", "relu"], "p": [0.5], '
                                                                    '"causal": [True, False]'), encoding="utf-8")
        self.write("suites/pr.json", json.dumps({"name": "pr", "sweeps": [{"kind": ["relu"], "p": [0.25], "causal": [True]}]}))
        self.assertEqual(len(self.planned()), 4)
        for flags, expected in ((["--axis=kind=silu", "--axis=p=0.125", "--axis=causal=true"], "kind:silu/p:0.125/causal:true"),
                                (["--problem=rows:64/cols:32/kind:relu/p:1e-05/causal:false"], "kind:relu/p:1e-05/causal:false"),
                                (["--suite=pr"], "kind:relu/p:0.25/causal:true")):
            self.assertEqual(self.planned(*flags), {f"scale/fp32/rows:64/cols:32/{expected}"})
            self.assertEqual(self.run_kernels(*flags).returncode, 0)

    def test_says_in_a_line_what_is_wrong(self):
        broken = self.write("broken.py", "import fusegate\nimport nowhere_to_be_found\n")
        twice = self.write("twice.py", KERNELS + "\nscale.benchmark('plain')(plain)\n")
        for arguments, expected in (
                (["nope.py"], "nope.py: no such file"),
                (["nope"], "nope: cannot be loaded: ModuleNotFoundError: No module named 'nope'"),
                ([broken.name], "broken.py: cannot be loaded: ModuleNotFoundError: No module named 'nowhere_to_be_found', at line 2"),
                ([self.write("odd.py", "1 +\n").name], "odd.py: cannot be loaded: SyntaxError: .*, at line 1"),
                ([self.write("empty.py", "import fusegate").name], "empty.py: registers no benchmark; decorate"),
                ([self.write("ends.py", "raise SystemExit(3)").name], r"ends.py: cannot be loaded: .*sys.exit\(3\), at line 1"),
                ([twice.name], r"twice.py:\d+: scale.plain: is registered already, at twice.py:\d+"),
                (["kernels.py", "--suite=nope"], "nope: no such suite: .*suites has none; name a .json file"),
                (["kernels.py", "--speed=3"], "--speed=3"),
                (["kernels.py", "--benchmark_filter=["], r"--benchmark_filter"),
                (["kernels.py", "--samples=0"], ".*samples.*: must be a whole number from 1"),
                (["kernels.py", "--axis=heads=3"], "--axis heads: no measured operation has this axis"),
                (["kernels.py", "--problem=cols:3"], "--problem: no operation has exactly these axes"),
                (["kernels.py", "--operation=nope"], ".*unknown name 'nope'; known: scale"),
                (["kernels.py", "--implementation=nope"], ".*unknown name 'nope'; known: .*into"),
                (["kernels.py", "--resume"], "--resume.*--out"),
                (["kernels.py", "--device=cuda"], "--device|no device|device"),
                (["--suite=all"], "the command line: names no file of kernels"),
                ([], "the command line: names no file of kernels"),
                (["a\x1b[2J::error::.py"], r"a\\x1b\[2J::error::.py: no such file")):
            with self.subTest(arguments):
                self.assert_refused(self.process("-m", "fusegate.bench", *arguments), expected)

    def test_an_engine_that_is_missing_or_anothers(self):
        self.assert_refused(self.run_kernels(FUSEGATE_ENGINE="nowhere.so"), "libfusegate_engine.so: not found at nowhere.so; install")
        self.assert_refused(self.run_kernels(FUSEGATE_ENGINE=str(self.kernels)), r"\S+kernels.py: cannot be loaded: ")
        copy = self.folder / "copy"
        subprocess.run(["cp", "-r", PACKAGE / "fusegate", self.folder / "fusegate"], check=True)
        (self.folder / "fusegate" / "version.py").write_text('__version__ = "9.9.9"\n', encoding="utf-8")
        environment = {"PYTHONPATH": str(self.folder), "FUSEGATE_ENGINE": os.environ.get("FUSEGATE_ENGINE", "")}
        self.assert_refused(self.run_kernels(**environment), rf"\S+: is the engine of fusegate {__version__}, and this package is 9.9.9")
        self.assertFalse(copy.exists())

    def test_main_without_a_guard_is_named(self):
        self.kernels.write_text(KERNELS + "\nfusegate.main()\n", encoding="utf-8")
        for target in ("kernels.py", "kernels"):
            self.assert_refused(self.bench(target, *QUICK), f"{target}: calls fusegate.main\\(\\) while it is being loaded; put the "
                                                            "call under `if __name__ == \"__main__\":`")

    def test_what_kernels_print_comes_between_the_engines_lines(self):
        self.kernels.write_text(KERNELS.replace("    return 2 * x", "    print('\u2192 \u00e9' * 3000)\n    return 2 * x"),
                                encoding="utf-8")
        result = self.process("-m", "fusegate.bench", "kernels.py", *QUICK, "--progress", f"--out={self.out}", text=False,
                              PYTHONIOENCODING="latin-1")
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in result.stdout.splitlines():
            self.assertTrue(line.startswith((b"@fusegate {", b"\\u2192 \xe9")), line[:40])

    def test_closed_and_full_outputs_end_with_a_line(self):
        def closed(arguments, redirections):
            return subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "fusegate.bench",
                                   *map(str, arguments)], capture_output=True, text=True, check=False, cwd=self.folder,
                                  env={**os.environ, "PYTHONPATH": str(PACKAGE)})
        for redirection, why in ((">&-", ""), (">/dev/full", "cannot be written")):
            result = closed(["kernels.py", *QUICK], redirection)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(f"standard output: {why}", result.stderr)
        self.assertEqual(closed(["kernels.py", *QUICK, f"--out={self.out}"], "2>&- <&-").returncode, 0)
        self.assertEqual(self.measured(), NAMES)

    def test_help_and_version(self):
        for arguments, expected in ((["--version"], f"fusegate {__version__}\n"), (["--help"], "usage: fusegate_bench FILE"),
                                    (["kernels.py", "--help"], ".*")):
            result = self.process("-m", "fusegate.bench", *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, expected)

    def test_fusegate_runs_shows_accepts_and_gates(self):
        def fusegate(*arguments):
            result = subprocess.run([os.environ["FUSEGATE_PROGRAM"], *map(str, arguments)], capture_output=True, text=True,
                                    check=False, cwd=self.folder, env={**os.environ, "PYTHONPATH": str(PACKAGE), "NO_COLOR": "1"})
            return result.returncode, result.stdout + result.stderr
        program = f"'{sys.executable}' -m fusegate.bench 'kernels.py'"
        code, text = fusegate("run", "--program", program, "--suite", "all", "--processes", 2, "--out", "run", "--", *QUICK)
        self.assertEqual(code, 0, text)
        self.assertRegex(fusegate("show", "run")[1], r"scale/plain/fp32/rows:64/cols:32\s+[\d.]+ (ns|us)")
        self.assertEqual(fusegate("accept", "run", "--reason", "first", "--store", "store")[0], 0)
        code, text = fusegate("gate", "--candidate", "run", "--store", "store")
        self.assertIn(code, (0, 2), text)
        self.kernels.write_text(KERNELS + "\nFACTOR = 3\n", encoding="utf-8")
        code, text = fusegate("run", "--program", program, "--suite", "all", "--processes", 2, "--out", "wrong", "--", *QUICK)
        self.assertEqual(code, 2)
        self.assertIn("2 benchmarks failed in 2 of 2 processes", text)


if __name__ == "__main__":
    unittest.main()
