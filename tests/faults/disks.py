"""Disks that are full, and stores that cannot be written: the reason is said, and what was there stays."""

import contextlib
import subprocess
import sys

from kills import stored_in
from programs import FinishedFiles, Lost, Programs, require_no_leftovers

PAGE = 4096


class NoMount(Exception):
    """This machine lets us mount nothing."""


def fill(filler, pages_left):
    """Takes all room but so many pages."""
    with open(filler, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while file.write(bytes(PAGE)):
                pass
        file.truncate(max(filler.stat().st_size - pages_left * PAGE, 0))


class Work:
    """A run and a baseline, to be added to and to be replaced."""

    def __init__(self, programs, folder):
        self._programs, self.run, self.store = programs, folder / "run", folder / "store"
        programs.measure(self.run, "--processes=2").must_be(0)
        programs.accept(self.run, self.store, "before").must_be(0)
        self.finished_files = FinishedFiles()
        self.finished_files.read(self.run)
        self.finished_files.add(stored_in(self.store))

    def both(self, code, words="", faults=""):
        self._programs.measure(self.run, "--append", faults=faults).must_be(code, words)
        self._programs.accept(self.run, self.store, "after", faults=faults).must_be(code, words)

    def check(self):
        self.finished_files.read(self.run)
        require_no_leftovers(self.run.parent)


def full_disk(programs, pages=(0, 1, 2, 3, 5)):
    """A file system (tmpfs of 1 MiB) that has no room but for so many pages. Raises NoMount, and Lost."""
    folder = programs.home / "disk"
    folder.mkdir(exist_ok=True)
    # In a name space of mounts, where nobody else sees it: this file as a program.
    script = 'mount -t tmpfs -o size=1m tmpfs "$1" && echo mounted && shift && exec "$@"'
    try:
        ended = subprocess.run(
            ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", folder, sys.executable, __file__,
             programs.fusegate.parent, folder, *map(str, pages)], capture_output=True, text=True, check=False, timeout=300)
    except FileNotFoundError as error:
        raise NoMount("unshare was not found; install util-linux") from error
    if not ended.stdout.startswith("mounted\n"):
        raise NoMount(ended.stderr.strip() or "nothing can be mounted")
    if ended.returncode != 0:
        raise Lost(ended.stderr)


def fill_and_work(binaries, disk, *pages):
    programs = Programs(binaries, disk)
    work = Work(programs, programs.home)
    for left in map(int, pages):
        filler = programs.home / "filler"
        fill(filler, left)
        work.both(2, "No space left on device")
        work.check()
        filler.unlink()
    programs.measure(work.run, "--append").must_be(0)
    work.check()


def room_runs_out(programs, random, times=5):
    """The same where nothing can be mounted: writes fail after so many bytes, in the middle of a file."""
    folder = programs.home / "room"
    work = Work(programs, folder)
    for _ in range(times):
        # A process's own file alone takes more: it is written several times.
        work.both(2, "No space left on device", faults=f"room={random.randint(0, 2000)}")
        work.check()
    programs.measure(work.run, "--append").must_be(0)
    work.check()


def readonly_store(programs):
    """Reading goes on; what would write says why it does not."""
    work = Work(programs, programs.home / "readonly")
    faults = f"readonly={work.store}"
    gate = ["gate", f"--candidate={work.run}", f"--store={work.store}"]
    programs.measure(work.run, "--append").must_be(0)
    free, bound = (programs.run(programs.fusegate, *gate, faults=given) for given in ("", faults))
    if (free.code, free.out) != (bound.code, bound.out):
        raise Lost(f"the gate judges otherwise by a store that cannot be written:\n{bound.out}{bound.err}")
    programs.accept(work.run, work.store, "after", faults=faults).must_be(2, "Read-only file system")
    programs.accept(work.run, work.store, "after", "--if-missing", faults=faults).must_be(0, "kept ")
    programs.measure(work.run, "--append", faults=f"readonly={work.run}").must_be(2, "Read-only file system")
    work.check()


if __name__ == "__main__":
    try:
        fill_and_work(*sys.argv[1:])
    except Lost as lost:
        sys.exit(str(lost))
