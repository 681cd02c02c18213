"""fusegate replay from end to end: a checkout with history, our scripts, and fakes for CMake and what it builds."""

import json
import os
import pathlib
import re
import subprocess
import sys

import jobs_test

FUSEGATE = os.environ["FUSEGATE_PROGRAM"]
NAMES = ["geglu/fused/bf16/batch:64/seq:128/dim:768/hidden:3072", "linear/addmm/bf16/batch:64/seq:128/dim:768/hidden:3072"]

# Replaces fusegate_bench: knows the flags of the oldest version, and refuses others.
BENCH = """#!{python}
import json, sys
flags = dict((flag + "=").split("=", 1) for flag in sys.argv[1:])
unknown = set(flags) - {{"--suite", "--out", "--invocation", "--seed", "--progress", "--environment", "--benchmark_filter"}}
if unknown:
    sys.exit(f"unknown flags: {{unknown}}")
environment = {{"device": "NVIDIA H200", "driver": {driver!r}}}
if "--environment" in flags:
    print(json.dumps({{"environment": environment}}))
    sys.exit()
number = int(flags["--invocation"].strip("="))
# The last term makes the folders' processes differ: copies would not count.
noise = 1 + 2e-4 * (number % 3 - 1) + 1e-6 * number + 1e-8 * len(flags["--out"])
entries = [{{"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "time_unit": "ns",
            "real_time": time * noise, "cpu_time": time, "sm_clock_hz": 1.98e9}}
           for name, time in {times!r}.items() for _ in range(5)]
with open(flags["--out"].strip("="), "w") as out:
    json.dump({{"context": {{"fusegate": {{"environment": environment, "suite": "smoke", "finished": True,
                                        "provenance": {{"commit": {commit!r}}}}}}}, "benchmarks": entries}}, out)
"""


class Replay(jobs_test.History):
    def setUp(self):
        super().setUp()
        self.baseline_commit = self.git("rev-parse", "HEAD^1")
        built = self.box.root.parent / "built" / "fusegate_bench"
        stored = self.bench("stored", {NAMES[0]: 10001, NAMES[1]: 20000}, driver="570.1", commit=self.baseline_commit)
        self.fusegate("run", "--suite", "smoke", "--program", stored, "--processes", "4", "--out", "stored-run")
        self.fusegate("accept", "stored-run", "--reason", "first", "--who", "somebody")
        # The new driver makes one of them slower.
        built.write_text(self.bench("base", {NAMES[0]: 10000, NAMES[1]: 20600}).read_text())
        self.box.forget_calls()

    def bench(self, name, times, driver="580.1", commit=""):
        path = self.box.root / name
        path.write_text(BENCH.format(python=sys.executable, times=times, driver=driver, commit=commit))
        path.chmod(0o755)
        return path

    def fusegate(self, *arguments, **environment):
        return subprocess.run([FUSEGATE, *arguments], cwd=self.box.root, env={**self.box.environment, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)

    def replay(self, head, **environment):
        out = f"runs-{len(list(self.box.root.glob('runs-*')))}"
        return self.fusegate("replay", "--suite", "smoke", "--program", head, "--processes", "4", "--out", out,
                             "--json", "gate.json", **environment)

    def builds(self):
        return sum(call.startswith("cmake --build") for call in self.box.calls())

    def result(self):
        return json.loads((self.box.root / "gate.json").read_text())

    def test_passes_what_only_the_driver_made_slower_and_builds_the_baseline_once(self):
        head = self.bench("head", {NAMES[0]: 10000, NAMES[1]: 20600})
        for _ in range(2):
            result = self.replay(head)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(self.builds(), 1)
        self.assertEqual((self.base_tree() / "kernel.cc").read_text(), "fast\n")
        self.assertIn("driver 570.1 to 580.1: 1 of 2 benchmarks changed, from +3.00 % to +3.00 %.", result.stdout)
        self.assertEqual([row["benchmark"] for row in self.result()["replay"]["rows"] if row["moved"]], [NAMES[1]])

    def test_fails_what_the_code_made_slower(self):
        result = self.replay(self.bench("head", {NAMES[0]: 10300, NAMES[1]: 20600}))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual({verdict["benchmark"]: verdict["verdict"] for verdict in self.result()["verdicts"]},
                         {NAMES[0]: "regression", NAMES[1]: "unchanged"})

    def test_judges_by_figures_what_does_not_build(self):
        result = self.replay(self.bench("head", {NAMES[0]: 10000, NAMES[1]: 20000}, driver="570.1"), FAKE_BUILD="broken")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        log = re.search(r"cannot be replayed: .*; see (\S+)$", result.stderr, re.MULTILINE)[1]
        self.assertIn("error: expected ';'", pathlib.Path(log).read_text())
        result = self.replay(self.bench("head", {NAMES[0]: 12000, NAMES[1]: 20000}, driver="570.1"), FAKE_BUILD="broken")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        result = self.replay(self.bench("head", {NAMES[0]: 10000, NAMES[1]: 20600}))  # that one can be built
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIsNotNone(self.result()["replay"])

    def test_judges_by_figures_where_the_commit_is_not_here(self):
        (self.box.root / "baselines" / "nvidia-h200" / "smoke.json").write_text(
            (self.box.root / "baselines" / "nvidia-h200" / "smoke.json").read_text().replace(self.baseline_commit, "0" * 40))
        result = self.replay(self.bench("head", {NAMES[0]: 10000, NAMES[1]: 20000}, driver="570.1"))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("is not a commit of this checkout", result.stderr)
