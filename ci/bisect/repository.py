"""For tests of fusegate bisect: a repository with real commits of a kernel, whose program takes the time that the kernel says."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FUSEGATE = os.environ["FUSEGATE_PROGRAM"]
NAME = "mlp/fused"

# The benchmark program. The kernel beside it has a line "time NS", and may have "code WORD", by which it says what it
# launches, "noise SHARE" and "crash".
BENCH = """#!{python} -SE
import json, os, pathlib, re, sys, time, zlib
flags = dict((flag + "=").split("=", 1) for flag in sys.argv[1:])
flags = {{name: value[:-1] for name, value in flags.items()}}
here = pathlib.Path(__file__).resolve().parent
source = (here / "kernel").read_text()
lines = [line.split() for line in source.splitlines() if line and line[0] != "#"]
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
        {{"fusegate_identities": 1, "fusegate": context, "benchmarks": {{name: identity(code) for name, code in codes.items()}},
         "choices": {{}}, "failures": {{}}}}))
    sys.exit()
if "crash" in kernel:
    sys.exit("the kernel is out of bounds")
calls = pathlib.Path(os.environ["CALLS"])
with calls.open("a") as file:
    file.write(flags["--out"] + "\\n")
count = len(calls.read_text().splitlines())
if count == int(os.environ.get("SLEEP_AT", 0)):
    time.sleep(60)
if count >= int(os.environ.get("BREAK_AT", 1000)):
    sys.exit("the GPU has fallen off the bus")
number = int(pathlib.Path(flags["--out"]).stem)
noise = 1 + float(kernel.get("noise", 1e-4)) * (zlib.crc32(f"{{source}} {{number}}".encode()) % 7 - 3)
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


class Repository:
    """A checkout whose first commit takes 10 us; `slower` and the others commit on top of it."""

    def create(self, folder):
        self.root = pathlib.Path(folder) / "kernels"
        self.calls_file = pathlib.Path(folder) / "calls"
        self.environment = {**os.environ, "CALLS": str(self.calls_file), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
                            "GIT_AUTHOR_DATE": "2026-11-26T03:00:00Z", "GIT_COMMITTER_DATE": "2026-11-26T03:00:00Z"}
        self.root.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "A U Thor")
        self.git("config", "user.email", "author@example.com")
        (self.root / ".gitignore").write_text("/out/\n")
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

    def command(self, *more, good=None, bad="HEAD", name=NAME, build=("--build", "sh build.sh", "--program", "out/bench")):
        return [FUSEGATE, "bisect", "--good", good or self.good, "--bad", bad, "--benchmark", name, "--suite", "smoke",
                "--processes", "4", "--max-processes", "4", "--json", str(self.root.parent / "result.json"), *build, *more]

    def run_command(self, *more, cwd=None, env=None, **named):
        return subprocess.run(self.command(*more, **named), cwd=cwd or self.root, env={**self.environment, **(env or {})},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)

    def result(self):
        return json.loads((self.root.parent / "result.json").read_text())

    def found(self, result):
        return [each["commit"]["hash"] for each in result["found"]]

    def calls(self):
        return len(self.calls_file.read_text().splitlines()) if self.calls_file.exists() else 0

    def state(self):
        [folder] = (self.root / ".fusegate" / "bisect").iterdir()
        return folder


class RepositoryTest(Repository, unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.create(scratch.name)

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
