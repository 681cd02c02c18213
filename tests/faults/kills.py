"""SIGKILL at random points of what writes: a run that adds to its folder, a run and one process that are resumed until
they are done, and the acceptance of baselines. After each kill, what was finished before is read back, byte for byte."""

import json
import re
import time

from programs import (TINY, FinishedFiles, Lost, entries_of, leftovers, processes_in, require_no_leftovers,
                      require_nobody_in, run_files, stop)

# As long as each takes on a fast machine, and half more: a later kill finds it ended.
LONGEST_S = {"run": 1.0, "resumed run": 1.0, "resume": 0.6, "accept": 0.15}
# How many of its calls change a file, about.
CALLS = {"run": 30, "resumed run": 30, "resume": 25, "accept": 12}


class Kills:
    """random: of where to kill. A kill that came too late is drawn again."""

    def __init__(self, programs, random):
        self._programs, self._random = programs, random
        self._kinds = [RunKills(programs), ResumedRunKills(programs), ResumeKills(programs), AcceptKills(programs)]
        self.counts = {kind.name: 0 for kind in self._kinds}
        self.leaving = 0  # kills after which there were temporary files or locks for a next start to remove

    def campaign(self, kills):
        """Raises Lost at the first loss, naming the kill."""
        while (done := sum(self.counts.values())) < kills:
            kind = self._kinds[done % len(self._kinds)]
            try:
                if self._kill(kind):
                    self.counts[kind.name] += 1
                    self.leaving += bool(leftovers(kind.folder))
                kind.check()
            except Lost as lost:
                raise Lost(f"kill {done + 1} of {kills} ({kind.name}): {lost}") from lost
        for kind in self._kinds:
            kind.finish()
            require_no_leftovers(kind.folder)
        return sum(self.counts.values())

    def _kill(self, kind):
        """At a moment, or before a call that changes a file. Whether it was killed."""
        arguments = kind.arguments()
        if self._random.random() < 0.5:
            faults = f"program={kind.program.name};kill={self._random.randint(1, CALLS[kind.name])}"
            return is_killed(kind, self._programs.run(kind.started, *arguments, faults=faults))
        process = self._programs.start(kind.started, *arguments)
        with process:
            time.sleep(self._random.uniform(0, LONGEST_S[kind.name]))
            kind.before_kill()
            return is_killed(kind, stop(process))


def kill_at_every_call(programs):
    """One kill before each call that changes a file, the last calls first: so that the earlier ones find a file that
    holds something already. How many kills."""
    kills = 0
    for kind in (ResumedRunKills(programs), ResumeKills(programs), AcceptKills(programs)):
        for number in range(CALLS[kind.name], 0, -1):
            ended = programs.run(kind.started, *kind.arguments(), faults=f"program={kind.program.name};kill={number}")
            kills += is_killed(kind, ended)
            kind.check()
        kind.finish()
        require_no_leftovers(kind.folder)
    return kills


def kill_with_its_program(programs):
    """A killed run leaves no process behind that goes on to measure, even where it reports nothing for long."""
    folder = programs.home / "with_its_program"
    # A layout takes three seconds and reports only at its end: a program that finds its reader gone ends anyhow.
    slow = {"--layouts=16": "--layouts=1", "--idle-us=2000": "--idle-us=200000"}
    arguments = [slow.get(flag, flag) for flag in programs.measuring(folder)]
    with programs.start(programs.fusegate, *arguments) as process:
        while not (folder / "1.json").exists():
            time.sleep(0.005)
        if len(processes_in(folder)) != 2:
            raise Lost(f"{processes_in(folder)} are not a run and its program")
        stop(process)
    require_nobody_in(folder)


def is_killed(kind, ended):
    kind.said(ended)
    if ended.code in (-9, 137):
        return True
    # The process that it started was, and it says so; or it came to its end.
    killed = "signal 9" in ended.err
    if ended.code != (2 if killed else 0):
        raise Lost(f"ended with {ended.code}:\n{ended.out}{ended.err}")
    return killed


class Killed:
    """Something that is started again and again."""

    def __init__(self, programs, name, program, started=None):
        self.name, self.program, self.started = name, program, started or program
        self._programs = programs
        self.folder = programs.home / name
        self.folder.mkdir()
        self.finished_files = FinishedFiles()

    def before_kill(self):
        self.finished_files.read(self.folder)

    def said(self, ended):
        pass


class RunKills(Killed):
    """`fusegate run --append`, which is killed itself, with the process that it measures by, or that one alone."""

    def __init__(self, programs):
        super().__init__(programs, "run", programs.fusegate)
        self._starts = 0

    def arguments(self):
        self._starts += 1
        # Every third time the benchmark program is the one that is killed before a call.
        self.program = self._programs.bench if self._starts % 3 == 0 else self._programs.fusegate
        self._before = len(self._finished())
        return self._programs.measuring(self.folder, "--append", "--processes=2")

    def _finished(self):
        return [path for path in run_files(self.folder)
                if json.loads(path.read_bytes())["context"]["fusegate"]["finished"]]

    def said(self, ended):
        """The file of each process that was reported as finished is there."""
        reported = len(re.findall(r"^process \d+/\d+: finished in", ended.err, re.MULTILINE))
        if (there := len(self._finished()) - self._before) < reported:
            raise Lost(f"{reported} processes were reported as finished, and {there} are there")

    def check(self):
        require_nobody_in(self.folder)
        self.finished_files.read(self.folder)

    def finish(self):
        self._programs.measure(self.folder, "--append").must_be(0)
        self.finished_files.read(self.folder)
        finished = len(self._finished())
        shown = self._programs.show(self.folder).must_be(0, f"{finished} processes on")
        unfinished = len(run_files(self.folder)) - finished
        if unfinished and f"{unfinished} process" not in shown.out:
            raise Lost(f"{unfinished} processes did not finish, and show does not report them:\n{shown.out}")
        for path in run_files(self.folder):
            self._programs.show("--unfinished", path)


class ResumedRunKills(Killed):
    """`fusegate run --resume` in one folder until it has its two processes, then in the next."""

    def __init__(self, programs):
        super().__init__(programs, "resumed run", programs.fusegate)
        self._runs = self.folder
        self._go_on()

    def _go_on(self):
        self.folder = self._runs / str(len(list(self._runs.iterdir())))
        self.folder.mkdir()

    def _is_done(self):
        record = self.folder / "run.json"
        return record.exists() and json.loads(record.read_bytes())["finished"]

    def arguments(self):
        if self._is_done():
            self._go_on()
        return self._programs.measuring(self.folder, "--resume", "--processes=2")

    def check(self):
        require_nobody_in(self.folder)
        self.finished_files.read(self.folder)

    def finish(self):
        for folder in self._runs.iterdir():
            self._programs.measure(folder, "--resume", "--processes=2").must_be(0)
            self._programs.show(folder).must_be(0, "2 processes on")
            require_no_leftovers(folder)
        self.check()


class ResumeKills(Killed):
    """`fusegate_bench --resume` on one file until that is finished, then the next file."""

    def __init__(self, programs):
        super().__init__(programs, "resume", programs.bench)
        self._number, self._entries = 1, []

    def _path(self):
        return self.folder / f"{self._number}.json"

    def arguments(self):
        if self._path().exists() and json.loads(self._path().read_bytes())["context"]["fusegate"]["finished"]:
            self._number, self._entries = self._number + 1, []
        return [*TINY, f"--out={self._path()}", f"--process={self._number}", "--resume"]

    def before_kill(self):
        super().before_kill()
        self._remember()

    def check(self):
        self.finished_files.read(self.folder)
        self._remember()

    def _remember(self):
        """What was measured stays, and comes first."""
        if not self._path().exists():
            return
        now = entries_of(self._path().read_text())
        if now[:len(self._entries)] != self._entries:
            raise Lost(f"{self._path()} held {len(self._entries)} entries, and now has {len(now)}, of which the first "
                       f"{sum(1 for pair in zip(self._entries, now) if pair[0] == pair[1])} are the same")
        self._entries = now

    def finish(self):
        self._programs.run(self._programs.bench, *self.arguments()).must_be(0)
        self.check()
        for path in run_files(self.folder):
            names = [json.loads(line)["name"] for line in entries_of(path.read_text())]
            counts = {name: names.count(name) for name in names}
            if set(counts.values()) != {16}:
                raise Lost(f"{path} does not have 16 samples of each benchmark: {counts}")


class AcceptKills(Killed):
    """`fusegate accept` of two runs in turn: the store has the one baseline or the other, whole, and the first anchor
    for good."""

    def __init__(self, programs):
        super().__init__(programs, "accept", programs.fusegate)
        self._store, self._turn = self.folder / "store", 0
        self._runs, self._whole = two_accepted(programs, self.folder)
        programs.accept(self._runs[0], self._store, "the first").must_be(0)
        self._anchor = stored_in(self._store).read_bytes()

    def arguments(self):
        self._turn += 1
        return self._programs.accepting(self._runs[self._turn % 2], self._store, f"turn {self._turn}")

    def check(self):
        baseline = stored_in(self._store)
        if without_acceptance(baseline) not in self._whole:
            raise Lost(f"{baseline} is neither of the two baselines")
        anchor = baseline.with_suffix(".anchor.json")
        if (anchor if anchor.exists() else baseline).read_bytes() != self._anchor:
            raise Lost(f"{anchor} is not the first baseline any more")

    def finish(self):
        self._programs.run(self.started, *self.arguments()).must_be(0)
        self.check()


def two_accepted(programs, folder):
    """Two different runs, and what is stored of each."""
    runs = [folder / name for name in "ab"]
    for run in runs:
        programs.measure(run, "--processes=2").must_be(0)
        programs.accept(run, run / "reference", "as it should be").must_be(0)
    return runs, [without_acceptance(stored_in(run / "reference")) for run in runs]


def stored_in(store):
    """The one baseline that is not an anchor."""
    found = [path for path in store.glob("*/*.json") if not path.name.endswith(".anchor.json")]
    if len(found) != 1:
        raise Lost(f"{len(found)} baselines in {store}")
    return found[0]


def without_acceptance(path):
    """All but who accepted it when and why."""
    try:
        baseline = json.loads(path.read_bytes())
    except ValueError as error:
        raise Lost(f"{path} is not whole: {error}") from error
    baseline.pop("acceptance")
    return baseline
