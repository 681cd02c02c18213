"""fusegate bisect from end to end: repositories with real commits of a kernel, whose program takes the time that it says."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

FUSEGATE = os.environ["FUSEGATE_PROGRAM"]
NAME = "mlp/fused"

# The benchmark program. The kernel beside it has a line "time NS", and may have "code WORD", by which it says what it
# launches, and "crash".
BENCH = """#!{python} -SE
import json, os, pathlib, re, signal, sys, time
flags = dict((flag + "=").split("=", 1) for flag in sys.argv[1:])
flags = {{name: value[:-1] for name, value in flags.items()}}
here = pathlib.Path(__file__).resolve().parent
lines = [line.split() for line in (here / "kernel").read_text().splitlines() if line and line[0] != "#"]
kernel = {{words[0]: words[-1] for words in lines}}
environment = {{"device": "NVIDIA H200"}}
context = {{"schema_version": 1, "environment": environment, "suite": "smoke", "finished": True}}
if "--environment" in flags:
    print(json.dumps({{"environment": environment}}))
    sys.exit()
def identity(code):
    return {{"launches": [{{"kernel": "void k()", "code": code, "launch": "grid 4x1x1", "arguments": "77"}}], "order": "5d"}}
codes = {{{name!r}: kernel.get("code", ""), "copy/plain": "c0"}}
if "--identify" in flags:
    if "code" not in kernel:
        sys.exit("unknown flag --identify=")
    pathlib.Path(flags["--identify"]).write_text(json.dumps(
        {{"fusegate_identities": 1, "fusegate": context, "benchmarks": {{name: identity(code) for name, code in codes.items()}}}}))
    sys.exit()
if "crash" in kernel:
    sys.exit("the kernel is out of bounds")
calls = pathlib.Path(os.environ["CALLS"])
with calls.open("a") as file:
    file.write(flags["--out"] + "\\n")
if len(calls.read_text().splitlines()) == int(os.environ.get("SLEEP_AT", 0)):
    time.sleep(60)
number = int(pathlib.Path(flags["--out"]).stem)
noise = 1 + 2e-4 * ((number + len(flags["--out"])) % 3 - 1) + 1e-6 * number + 1e-7 * (hash(here.parent.name) % 100)
entries = []
for name, ns in {{{name!r}: float(kernel["time"]), "copy/plain": 5000.0}}.items():
    if not re.search(flags.get("--benchmark_filter", "."), name):
        continue
    more = {{"details": {{"identity": identity(codes[name])}}}} if "code" in kernel else {{}}
    for i in range(5):
        entries.append({{"name": name, "run_name": name, "run_type": "iteration", "iterations": 1, "time_unit": "ns",
                        "real_time": ns * noise, "cpu_time": ns, "sm_clock_hz": 1.98e9, **(more if i == 0 else {{}})}})
context |= {{"process": number, "process_id": os.getpid()}}
pathlib.Path(flags["--out"]).write_text(json.dumps({{"context": {{"fusegate": context}}, "benchmarks": entries}}))
"""
BUILD = """
if grep -q '^broken' kernel; then echo "kernel:2: error: expected a time" >&2; exit 1; fi
mkdir -p out && cp kernel out/ && cp bench.py out/bench
"""


class RepositoryTest(unittest.TestCase):
    """A checkout whose first commit takes 10 us; `slower` and the others commit on top of it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "kernels"
        self.calls_file = pathlib.Path(scratch.name) / "calls"
        self.environment = {**os.environ, "CALLS": str(self.calls_file), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
                            "PYTHONHASHSEED": "0"}
        self.root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "A U Thor")
        self.git("config", "user.email", "author@example.com")
        (self.root / ".gitignore").write_text("/.fusegate/\n/out/\n")
        (self.root / "bench.py").write_text(BENCH.format(python=sys.executable, name=NAME))
        (self.root / "bench.py").chmod(0o755)
        (self.root / "build.sh").write_text(BUILD)
        self.ns, self.code, self.number = 10000, None, 0
        self.good = self.commit("the first kernel")

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True,
                              env=self.environment).stdout.strip()

    def commit(self, subject, *lines):
        """Of a kernel that differs by a comment at least; lines: what else it has."""
        self.number += 1
        code = [] if self.code is None else [f"code {self.code:02x}"]
        (self.root / "kernel").write_text("\n".join([f"# {self.number}", f"time {self.ns}", *code, *lines]) + "\n")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)
        return self.git("rev-parse", "HEAD")

    def slower(self, by, subject="made slower"):
        self.ns *= 1 + by
        if self.code is not None:
            self.code += 1
        return self.commit(subject)

    def noise(self):
        """Other code, which takes the same time."""
        if self.code is not None:
            self.code += 1
        return self.commit("move a line")

    def comments(self, count=1):
        return [self.commit("say more") for _ in range(count)]

    def command(self, *more, good=None, bad="HEAD", build=("--build", "sh build.sh", "--program", "out/bench")):
        return [FUSEGATE, "bisect", "--good", good or self.good, "--bad", bad, "--benchmark", NAME, "--suite", "smoke",
                "--json", str(self.root.parent / "result.json"), *build, *more]

    def run_command(self, *more, cwd=None, env=None, **named):
        return subprocess.run(self.command(*more, **named), cwd=cwd or self.root, env={**self.environment, **(env or {})},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)

    def result(self):
        return json.loads((self.root.parent / "result.json").read_text())

    def bisect(self, *more, code=0, **named):
        ended = self.run_command(*more, **named)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        self.output = ended.stdout
        self.errors = ended.stderr
        result = self.result()
        self.assertEqual(result["exit_code"], code)
        return result

    def expect_error(self, *parts, **named):
        more = named.pop("more", ())
        ended = self.run_command(*more, **named)
        self.assertEqual(ended.returncode, 2, ended.stdout + ended.stderr)
        last = ended.stderr.splitlines()[-1]
        self.assertTrue(last.startswith("fusegate: "), ended.stderr)
        for part in parts:
            self.assertIn(part, last)
        self.assertEqual(self.result()["exit_code"], 2)
        self.assertEqual(self.result()["found"], [])

    def found(self, result):
        return [each["commit"]["hash"] for each in result["found"]]

    def calls(self):
        return len(self.calls_file.read_text().splitlines()) if self.calls_file.exists() else 0

    def state(self):
        [folder] = (self.root / ".fusegate" / "bisect").iterdir()
        return folder


class Finds(RepositoryTest):
    def test_the_slow_commit_among_noise_comments_and_one_that_does_not_build(self):
        self.comments()
        self.noise()
        broken = self.commit("break the build", "broken")
        slow = self.slower(0.05, "use 64-bit indices")
        self.noise()
        self.comments(3)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        [found] = result["found"]
        self.assertAlmostEqual(found["effect"], 0.05, delta=0.002)
        self.assertLess(found["interval"]["low"], 0.05)
        self.assertGreater(found["interval"]["high"], 0.05)
        self.assertEqual(found["verdict"], "regression")
        self.assertEqual([each["hash"] for each in found["or"]], [broken])
        self.assertEqual(found["commit"]["author"], "A U Thor")
        self.assertEqual(found["commit"]["subject"], "use 64-bit indices")
        [skipped] = [step for step in result["steps"] if step["decision"] == "skipped"]
        self.assertEqual(skipped["commit"]["hash"], broken)
        self.assertIn("does not build: kernel:2: error: expected a time; see ", skipped["how"])
        self.assertIn("expected a time", pathlib.Path(skipped["how"].split("see ")[1]).read_text())
        self.assertLessEqual(result["measured_steps"], 3)
        for text in (slow, "use 64-bit indices", "A U Thor", "[+", "skipped: does not build", "measured beside"):
            self.assertIn(text, self.output)

    def test_names_one_commit_where_those_around_the_broken_one_differ_not(self):
        self.commit("break the build", "broken")
        self.comments()
        slow = self.slower(0.05)
        self.comments(2)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        self.assertEqual(result["found"][0]["or"], [])
        self.assertIn(f"{slow[:12]} made {NAME} slower by ", result["headline"])

    def test_measures_identical_code_once(self):
        self.code = 0
        self.good = self.noise()
        self.comments(6)
        slow = self.slower(0.05)
        self.comments(8)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        self.assertEqual(result["measured_steps"], 0)
        self.assertIn("machine code of k changed", result["found"][0]["kernel_diff"])
        self.assertEqual({step["decision"] for step in result["steps"][1:]}, {"identical code"})

    def test_an_improvement(self):
        self.comments()
        fast = self.slower(-0.03)
        self.comments()
        result = self.bisect()
        self.assertEqual(self.found(result), [fast])
        self.assertIn("faster by", result["headline"])

    def test_64_commits_in_six_measured_steps(self):
        self.comments(40)
        slow = self.slower(0.03)
        self.comments(23)
        result = self.bisect()
        self.assertEqual(result["commits"], 64)
        self.assertEqual(self.found(result), [slow])
        self.assertLessEqual(result["measured_steps"], 6)
        self.assertEqual(sum(step["decision"] == "measured" for step in result["steps"]) - 1, result["measured_steps"])

    def test_both_commits_that_share_the_change(self):
        self.comments(2)
        first = self.slower(0.02)
        self.comments(4)
        second = self.slower(0.03)
        self.comments(2)
        result = self.bisect()
        self.assertEqual(self.found(result), [first, second])
        self.assertIn("2 commits share the change of mlp/fused: ", result["headline"])
        for found, effect in zip(result["found"], (0.02, 0.03)):
            self.assertAlmostEqual(found["effect"], effect, delta=0.002)

    def test_goes_round_what_cannot_run(self):
        self.comments()
        crashing = self.commit("index out of bounds", "crash")
        self.comments()
        slow = self.slower(0.05)
        result = self.bisect()
        self.assertEqual(self.found(result), [slow])
        [skipped] = [step for step in result["steps"] if step["decision"] == "skipped"]
        self.assertEqual(skipped["commit"]["hash"], crashing)
        self.assertIn("the kernel is out of bounds", skipped["how"])

    def test_a_merge_is_one_commit(self):
        self.git("checkout", "--quiet", "-b", "topic")
        self.comments(2)
        self.slower(0.05)
        self.git("checkout", "--quiet", "main")
        self.ns = 10000
        (self.root / "README").write_text("more\n")
        self.comments(0)
        self.git("add", "README")
        self.git("commit", "--quiet", "--message", "write a page")
        self.git("merge", "--quiet", "--no-ff", "--message", "merge the topic", "topic")
        merge = self.git("rev-parse", "HEAD")
        result = self.bisect()
        self.assertEqual(result["commits"], 2)
        self.assertEqual(self.found(result), [merge])
        self.assertIn("it merges a branch", self.output)

    def test_kernels_in_a_file_that_needs_no_build(self):
        self.comments()
        slow = self.slower(0.05)
        result = self.bisect(build=("--program", f"{sys.executable} bench.py"))
        self.assertEqual(self.found(result), [slow])


class GoesOn(RepositoryTest):
    def setUp(self):
        super().setUp()
        self.comments(6)
        self.slow = self.slower(0.05)
        self.comments(6)

    def interrupt_at(self, call):
        child = subprocess.Popen(self.command(), cwd=self.root, env={**self.environment, "SLEEP_AT": str(call)}, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(600):
            if self.calls() >= call:
                break
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 2, out + err)
        self.assertIn("interrupted after", err)
        self.assertIn("the same command goes on", err)
        self.assertTrue(self.result()["interrupted"])

    def test_after_an_interruption(self):
        whole = self.bisect()
        self.assertEqual(self.found(whole), [self.slow])
        in_one_go, first = self.calls(), len(list((self.state() / "00").rglob("[0-9]*.json")))
        shutil.rmtree(self.root / ".fusegate" / "bisect")
        self.calls_file.unlink()
        self.interrupt_at(first + 15)
        kept = sorted(path.name for path in self.state().glob("*.json"))
        self.assertIn("00.json", kept)
        before = self.calls()
        result = self.bisect()
        self.assertIn(f"going on after {len(kept)} step", self.errors)
        self.assertEqual(self.found(result), [self.slow])
        # All but the step that was interrupted is measured once.
        self.assertLess(self.calls(), in_one_go + 40)
        self.assertLess(self.calls() - before, in_one_go - first + 1)
        self.calls_file.unlink()
        self.assertEqual(self.found(self.bisect()), [self.slow])
        self.assertEqual(self.calls(), 0)
        self.bisect("--fresh")
        self.assertGreater(self.calls(), first)

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
        self.code = 1
        self.good = self.noise()
        self.slower(0.05)
        command = ("--benchmark", "mlp/fuse")
        ended = self.run_command(*command)
        self.assertEqual(ended.returncode, 2)

    def test_an_unknown_benchmark(self):
        self.code = 1
        self.good = self.noise()
        self.slower(0.05)
        ended = subprocess.run([word if word != NAME else "mlp/fuse" for word in self.command()], cwd=self.root, env=self.environment,
                               capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("fusegate: --benchmark: neither commit has mlp/fuse in suite smoke; near: mlp/fused", ended.stderr)

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
