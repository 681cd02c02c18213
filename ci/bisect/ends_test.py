"""fusegate bisect where it is interrupted, and where it cannot say anything."""

import shutil
import signal
import subprocess
import time
import unittest

from repository import RepositoryTest


class GoesOn(RepositoryTest):
    def setUp(self):
        super().setUp()
        self.comments(3)
        self.slow = self.slower(0.05)
        self.comments(3)

    def end_at(self, call, by, **named):
        child = subprocess.Popen(self.command(**named), cwd=self.root, env={**self.environment, "SLEEP_AT": str(call)}, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(600):
            if self.calls() >= call:
                break
            time.sleep(0.1)
        child.send_signal(by)
        out, err = child.communicate(timeout=60)
        return child.returncode, out + err

    def interrupt_at(self, call, **named):
        code, err = self.end_at(call, signal.SIGINT, **named)
        self.assertEqual(code, 2, err)
        self.assertIn("interrupted after", err)
        self.assertIn("the same command goes on", err)
        self.assertTrue(self.result()["interrupted"])

    def test_after_an_interruption(self):
        whole = self.bisect()
        self.assertEqual(self.found(whole), [self.slow])
        in_one_go, first = self.calls(), len(list((self.state() / "00").rglob("[0-9]*.json")))
        shutil.rmtree(self.root / ".fusegate" / "bisect")
        self.calls_file.unlink()
        self.interrupt_at(first + 11)
        kept = sorted(path.name for path in self.state().glob("*.json"))
        self.assertIn("00.json", kept)
        before = self.calls()
        result = self.bisect()
        self.assertIn(f"going on after {len(kept)} step", self.errors)
        self.assertEqual(self.found(result), [self.slow])
        # All but the step that was interrupted is measured once.
        self.assertLess(self.calls(), in_one_go + 13)
        self.assertLess(self.calls() - before, in_one_go - first + 1)
        self.calls_file.unlink()
        self.assertEqual(self.found(self.bisect()), [self.slow])
        self.assertEqual(self.calls(), 0)
        self.bisect("--fresh")
        self.assertGreater(self.calls(), first)

    def test_where_the_machine_broke_no_commit_is_at_fault(self):
        self.expect_error("out/bench: does not run any more: exit code 1: the GPU has fallen off the bus", env={"BREAK_AT": "12"})
        self.assertEqual(self.found(self.bisect()), [self.slow])

    def test_after_it_was_killed(self):
        code, _ = self.end_at(12, signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(self.found(self.bisect()), [self.slow])
        self.assertIn("going on after 1 step", self.errors)

    def test_after_a_build_was_interrupted(self):
        build = ("--build", 'echo >> "$CALLS"; sleep 60', "--program", "out/bench")
        self.interrupt_at(1, build=build)
        self.assertEqual(list(self.state().glob("*.json")), [])

    def test_names_a_damaged_file_of_a_step(self):
        self.bisect()
        (self.state() / "01.json").write_text("{")
        self.expect_error("01.json", "--fresh")
        self.bisect("--fresh")

    def test_a_rewritten_history_is_another_one(self):
        old = self.git("rev-parse", "HEAD")
        self.bisect()
        self.git("commit", "--quiet", "--amend", "--message", "say it again")
        self.expect_error("--good: ", "is not an ancestor of --bad", "their last common one is", good=old)
        self.assertEqual(self.found(self.bisect()), [self.slow])
        for expire in (("reflog", "expire", "--expire=now", "--all"), ("worktree", "prune")):
            self.git(*expire)
        shutil.rmtree(self.root / ".fusegate")
        self.git("worktree", "prune")
        self.git("gc", "--quiet", "--prune=now")
        self.expect_error(f"--bad: {old} is not a commit of ", "if the history was rewritten", bad=old)


class Refuses(RepositoryTest):
    def test_revisions_that_make_no_line(self):
        later = self.comments(2)[-1]
        self.expect_error("--good: v9 is not a commit of ", "git fetch --unshallow", good="v9")
        self.expect_error("--bad: is the same commit as --good", bad=self.good)
        self.expect_error(f"--good: {later[:12]} is not an ancestor of --bad {self.good[:12]}", good=later, bad=self.good)
        self.expect_error("--good: ", " is not in a git checkout", cwd=self.root.parent)

    def test_what_it_cannot_build_or_find(self):
        self.slower(0.05)
        self.expect_error("--program: ", "has no ci/pipelines/build_commit.sh", build=())
        self.expect_error(f"--good: commit {self.good[:12]}: ", "does not build: ", "make: nothing", "; see ",
                          build=("--build", "echo make: nothing >&2; false", "--program", "out/bench"))
        self.expect_error("out/other is missing in its work tree", build=("--build", "sh build.sh", "--program", "out/other"))

    def test_an_unknown_benchmark(self):
        self.code = 1
        self.good = self.noise()
        self.slower(0.05)
        self.expect_error("--benchmark: neither commit has mlp/fuse in suite smoke; near: mlp/fused", name="mlp/fuse")
        self.code = None
        self.good = self.noise()
        self.slower(0.05)
        self.expect_error("mlp/fuse: was not measured: ", "measured no benchmark", name="mlp/fuse")

    def test_ends_that_do_not_differ(self):
        self.noise()
        result = self.bisect(code=2)
        self.assertIn("do not differ for certain in mlp/fused: unchanged", result["headline"])
        self.assertEqual(result["found"], [])
        self.assertIn("do not differ", self.output)

    def test_ends_of_identical_code(self):
        self.code = 1
        self.good = self.noise()
        self.comments(3)
        result = self.bisect(code=2)
        self.assertIn("identical", result["headline"])
        self.assertEqual(self.calls(), 0)


if __name__ == "__main__":
    unittest.main()
