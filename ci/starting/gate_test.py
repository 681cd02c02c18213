"""gate.sh of the projects that `fusegate init` writes, with fakes of cmake and fusegate: what is compared with what. And the
Python project as it is, on the CPU: a gate that passes and one that fails."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "python"
FAKES = {"cmake": '[[ $1 == -S ]] && echo "-- fusegate: no GPU is here"; echo "-- Configuring done"',
         "fusegate": 'echo "fusegate $*" >>"$CALLS"; exit ${FAKE_GATE:-0}'}


class ProjectTest(unittest.TestCase):
    """A project with two commits. KIND: the flags of init."""

    KIND = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name).resolve()
        self.project, self.calls = root / "demo", root / "calls"
        subprocess.run([PROGRAM, "init", *self.KIND, self.project], check=True, capture_output=True)
        for name, body in FAKES.items():
            path = root / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/bash\n{body}\n")
            path.chmod(0o755)
        # As in a container: no name, no home.
        self.environment = {"PATH": f"{root}/bin:{os.environ['PATH']}", "CALLS": str(self.calls)}
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit()
        self.first = self.git("rev-parse", "HEAD")
        self.commit()

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words], cwd=self.project, check=True,
                              capture_output=True, text=True, env=self.environment).stdout.strip()

    def commit(self):
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message=one more")

    def gate(self, *arguments, **environment):
        self.calls.unlink(missing_ok=True)
        ended = subprocess.run([self.project / "gate.sh", *arguments], env={**self.environment, **environment},
                               capture_output=True, text=True, check=False)
        return ended, self.calls.read_text().splitlines() if self.calls.exists() else []


class Gate(ProjectTest):
    def job(self, *more):
        return " ".join([f"fusegate job --suite {self.project}/suites/kernels.json",
                         f"--program {self.project}/build/demo_bench", *more])

    def by_commit(self):
        return self.job(f"--base {self.project}/build/base/demo_bench")

    def test_compares_with_the_first_run_and_prints_what_was_built(self):
        ended, calls = self.gate()
        self.assertEqual((ended.returncode, calls), (0, [self.job()]), ended.stderr)
        self.assertEqual(ended.stdout, "building in build\nno GPU is here\n")

    def test_compares_with_a_named_commit(self):
        ended, calls = self.gate("--base", "HEAD~1")
        self.assertEqual((ended.returncode, calls), (0, [self.by_commit()]), ended.stderr)
        self.assertEqual(self.git("-C", "build/base-tree", "rev-parse", "HEAD"), self.first)

    def test_a_night_without_an_accepted_commit_ends_with_2_and_advice(self):
        ended, calls = self.gate("--nightly")
        self.assertEqual((ended.returncode, calls), (2, []))
        self.assertIn("git rev-parse HEAD >baseline", ended.stderr)

    def test_a_night_is_compared_with_the_accepted_commit_without_a_cache(self):
        (self.project / "baseline").write_text(self.first + "\n")
        for _ in range(2):
            ended, calls = self.gate("--nightly")
            self.assertEqual((ended.returncode, calls), (0, [self.by_commit()]), ended.stderr)
            self.assertEqual(self.git("-C", "build/base-tree", "rev-parse", "HEAD"), self.first)
        nightly = (self.project / ".github" / "workflows" / "nightly.yml").read_text()
        self.assertIn("./gate.sh --nightly", nightly)
        self.assertIn("fetch-depth: 0", nightly)
        self.assertNotIn("cache", nightly)

    def test_names_an_unknown_commit(self):
        (self.project / "baseline").write_text("0" * 40 + "\n")
        for arguments in ("--nightly",), ("--base", "nonsense"):
            ended, calls = self.gate(*arguments)
            self.assertEqual((ended.returncode, calls), (2, []))
            self.assertIn("is not a commit of this checkout", ended.stderr)

    def test_ends_with_the_gate_s_code(self):
        for code in (0, 1, 2):
            self.assertEqual(self.gate(FAKE_GATE=str(code))[0].returncode, code)


class PythonGate(ProjectTest):
    KIND = ("--python",)

    @staticmethod
    def duet(base, head="fusegate_bench kernels.py"):
        return f"fusegate duet --suite kernels --base fusegate_bench '{base}' --head {head}"

    def test_compares_with_a_commit(self):
        self.git("tag", "first", self.first)
        for arguments, commit in ((), "HEAD"), (("--base", "first"), "first"), (("--base", "HEAD"), "HEAD"):
            ended, calls = self.gate(*arguments)
            self.assertEqual((ended.returncode, calls), (0, [self.duet(".fusegate/base/kernels.py")]), ended.stderr)
            self.assertEqual(self.git("-C", ".fusegate/base", "rev-parse", "HEAD"), self.git("rev-parse", commit))
        self.assertEqual(self.git("status", "--porcelain"), "")

    def test_finds_itself_below_a_checkout_s_root(self):
        self.project.joinpath("gpu").mkdir()
        self.git("mv", "kernels.py", "suites", "gate.sh", "gpu")
        self.commit()
        self.project /= "gpu"
        self.assertEqual(self.gate()[1], [self.duet(".fusegate/base/gpu/kernels.py")])
        self.assertTrue((self.project / ".fusegate/base/gpu/kernels.py").exists())

    def test_compares_with_itself_what_is_in_no_commit(self):
        shutil.rmtree(self.project / ".git")
        ended, calls = self.gate()
        self.assertEqual((ended.returncode, calls), (0, [self.duet("kernels.py")]))
        self.assertIn("comparing it with itself", ended.stderr)

    def test_breaks_the_new_side_alone(self):
        self.assertEqual(self.gate("--break")[1], [self.duet(".fusegate/base/kernels.py", "env SLOW_KERNEL=1 fusegate_bench kernels.py")])

    def test_names_what_is_wrong(self):
        for arguments, problem in ((("--base", "nonsense"), "nonsense is not a commit"), (("--nightly",), "unknown argument '--nightly'")):
            ended, calls = self.gate(*arguments)
            self.assertEqual((ended.returncode, calls), (2, []))
            self.assertIn(problem, ended.stderr)
        ended, _ = self.gate(FUSEGATE="no_such_program")
        self.assertEqual((ended.returncode, ended.stderr), (2, "gate.sh: fusegate is missing; pip install fusegate\n"))

    def test_ends_with_the_gate_s_code(self):
        for code in (0, 1, 2):
            self.assertEqual(self.gate(FAKE_GATE=str(code))[0].returncode, code)

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_passes_and_fails_by_the_name_of_the_kernel(self):
        suite = self.project / "suites" / "kernels.json"
        coarse = {"protocol": {"samples": 6, "layouts": 6, "batch_us": 500, "idle_us": 0}, "gate": {"cpu": {"min_effect": 0.5}}}
        suite.write_text(json.dumps({**json.loads(suite.read_text()), **coarse}))
        environment = {"FUSEGATE": PROGRAM, "FUSEGATE_BENCH": f"'{sys.executable}' -m fusegate.bench", "PYTHONPATH": str(PACKAGE)}
        passed, _ = self.gate(**environment)
        self.assertEqual(passed.returncode, 0, passed.stdout + passed.stderr)
        self.assertIn("No regression in 2 benchmarks", passed.stdout)
        failed, _ = self.gate("--break", **environment)
        self.assertEqual(failed.returncode, 1, failed.stdout + failed.stderr)
        self.assertRegex(failed.stdout, "2 of 2 benchmarks got slower, the most rms_norm/numpy/fp16/")


if __name__ == "__main__":
    unittest.main()
