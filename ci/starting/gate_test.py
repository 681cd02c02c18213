"""gate.sh of a project that `fusegate init` writes, with fakes of cmake and fusegate: what is compared with what."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["FUSEGATE_PROGRAM"]
FAKES = {"cmake": '[[ $1 == -S ]] && echo "-- fusegate: no GPU is here"; echo "-- Configuring done"',
         "fusegate": 'echo "fusegate $*" >>"$CALLS"; exit ${FAKE_GATE:-0}'}


class Gate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        self.project, self.calls = root / "demo", root / "calls"
        subprocess.run([PROGRAM, "init", self.project], check=True, capture_output=True)
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


if __name__ == "__main__":
    unittest.main()
