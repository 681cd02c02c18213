"""The programs that faults are put upon, what they leave in folders, and what must hold of it."""

import json
import os
import pathlib
import signal
import subprocess
import time

# 0.2 s of the CPU: four benchmarks of 16 layouts, with a pause before each sample.
TINY = ["--device=cpu", "--batch=1", "--seq=4", "--dim=16", "--hidden=24", "--dtype=fp32", "--operation=geglu,linear",
        "--samples=16", "--layouts=16", "--batch-us=50", "--idle-us=2000"]


class Lost(Exception):
    """Something that was finished is not there any more, or is not what it was; or a fault left something behind."""


class Programs:
    """Those of one build, run in a folder of our own: no store and no history of anybody else is found there."""

    def __init__(self, binaries, home):
        binaries = pathlib.Path(binaries).resolve()
        self.fusegate, self.bench = binaries / "fusegate", binaries / "fusegate_bench"
        self.calls = binaries / "libfusegate_faulty_calls.so"
        for path in (self.fusegate, self.bench, self.calls):
            if not path.exists():
                raise SystemExit(f"faults: there is no {path}; build it first")
        self.home = pathlib.Path(home)

    def start(self, program, *arguments, faults=""):
        """faults: for faulty_calls.cc; empty: none."""
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        if faults:
            env.update(LD_PRELOAD=str(self.calls), FUSEGATE_FAULTS=faults)
        return subprocess.Popen([program, *map(str, arguments)], cwd=self.home, env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, program, *arguments, faults=""):
        """The exit code, negative for a signal, and all that was said."""
        with self.start(program, *arguments, faults=faults) as process:
            out, err = process.communicate(timeout=120)
        return Ended(process.returncode, out, err)

    def measure(self, out, *flags, **options):
        return self.run(self.fusegate, *self.measuring(out, *flags), **options)

    def measuring(self, out, *flags):
        """The arguments of `fusegate run` for one more process in the folder."""
        given = {flag.split("=")[0] for flag in flags}
        own = [] if "--processes" in given else ["--processes=1"]
        return ["run", "--suite=smoke", f"--program={self.bench}", f"--out={out}", f"--store={self.home / 'none'}",
                *own, *flags, "--", *TINY]

    def accept(self, run, store, reason, *flags, **options):
        return self.run(self.fusegate, *self.accepting(run, store, reason, *flags), **options)

    @staticmethod
    def accepting(run, store, reason, *flags):
        return ["accept", run, f"--store={store}", f"--reason={reason}", "--who=somebody", "--force", *flags]

    def show(self, *paths):
        return self.run(self.fusegate, "show", *paths)


class Ended:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def must_be(self, code, words=""):
        """Raises Lost for another exit code, or where what it said does not hold the words."""
        if self.code != code or words not in self.out + self.err:
            raise Lost(f"ended with {self.code} and not {code}, or without '{words}':\n{self.out}{self.err}")
        return self


def stop(process, how=signal.SIGKILL):
    """Sends the signal; the exit code, and what it had said by then."""
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    return Ended(process.returncode, out, err)


def processes_in(folder):
    """The numbers of live processes that were started with the folder on their command line."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue  # it has ended
        if str(folder).encode() in words and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def require_nobody_in(folder, within_s=1.0):
    end = time.monotonic() + within_s
    while alive := processes_in(folder):
        if time.monotonic() > end:
            raise Lost(f"process {alive[0]} still works in {folder}, {within_s} s after its parent was killed")
        time.sleep(0.005)


def leftovers(folder):
    return sorted(path.name for path in pathlib.Path(folder).rglob(".*fusegate-*"))


def require_no_leftovers(folder):
    if left := leftovers(folder):
        raise Lost(f"left behind in {folder}: {', '.join(left)}")


def run_files(folder):
    return sorted((path for path in pathlib.Path(folder).glob("*.json") if path.stem.isdigit()),
                  key=lambda path: int(path.stem))


def entries_of(text):
    """The lines of the entries, as they stand in the file."""
    lines = text.partition('"benchmarks": [\n')[2].splitlines()[:-2]
    return [line.rstrip(",") for line in lines if line]


class FinishedFiles:
    """The bytes of run files and baselines that were finished, which no fault may change."""

    def __init__(self):
        self._bytes = {}

    def __len__(self):
        return len(self._bytes)

    def read(self, folder):
        """Every run file of the folder must be whole, and every one that was finished must be as it was."""
        for path in run_files(folder):
            content = path.read_bytes()
            try:
                finished = json.loads(content)["context"]["fusegate"]["finished"]
            except (ValueError, KeyError, TypeError) as error:
                raise Lost(f"{path} is not a whole run file: {error!r}") from error
            if finished:
                self._bytes.setdefault(path, content)
        record = pathlib.Path(folder) / "run.json"
        if record.exists():
            try:
                json.loads(record.read_bytes())
            except ValueError as error:
                raise Lost(f"{record} is not whole: {error}") from error
        self.check()

    def add(self, path):
        self._bytes[pathlib.Path(path)] = pathlib.Path(path).read_bytes()

    def check(self):
        for path, content in self._bytes.items():
            if not path.exists():
                raise Lost(f"{path} was finished and is gone")
            if path.read_bytes() != content:
                raise Lost(f"{path} was finished and has changed")
