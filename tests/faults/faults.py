#!/usr/bin/env python3
"""Puts faults on fusegate and fusegate_bench, on the CPU, and reads back what was finished before:

    tests/faults/faults.py [--bin build/release/bin] [--kills 200] [--seed N]

Kills at random points, full disks, stores that cannot be written, two writers at once, and system calls that are
interrupted or handle a part. Exits 0 where nothing was lost, 1 at the first loss. The seed decides where a program
is killed by its calls; how far it is at a moment is the machine's. docs/files.md says what is held.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

from disks import NoMount, full_disk, readonly_store, room_runs_out
from interrupted_calls import interrupted_calls
from kills import Kills, kill_at_every_call, kill_with_its_program
from programs import Lost, Programs
from writers import two_accepts, two_runs

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build" / "release" / "bin", help="folder of the programs")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as home:
        try:
            campaign(Programs(options.bin, home), random.Random(options.seed), options.kills)
        except Lost as lost:
            print(f"faults: {lost}", file=sys.stderr)
            return 1
    return 0


def campaign(programs, drawn, kills):
    for step in (lambda: kill(programs, drawn, kills), lambda: kill_in_order(programs), lambda: fill_disks(programs, drawn),
                 lambda: readonly_store(programs) or "a store that cannot be written: read as ever, nothing changed",
                 lambda: write_together(programs),
                 lambda: interrupted_calls(programs, drawn) or "interrupted and partial calls: the same results"):
        start = time.monotonic()
        print(f"{step()} ({time.monotonic() - start:.0f} s)", flush=True)


def kill(programs, drawn, kills):
    campaign_of_kills = Kills(programs, drawn)
    done = campaign_of_kills.campaign(kills)
    counts = ", ".join(f"{count} of {name}" for name, count in campaign_of_kills.counts.items())
    return (f"{done} kills ({counts}): nothing lost; after {campaign_of_kills.leaving} of them files were left behind, "
            "which the next start removed")


def kill_in_order(programs):
    kill_with_its_program(programs)
    with tempfile.TemporaryDirectory(dir=programs.home) as home:
        kills = kill_at_every_call(Programs(programs.fusegate.parent, home))
    return f"{kills} more kills, one before each call that changes a file: nothing lost"


def fill_disks(programs, drawn):
    room_runs_out(programs, drawn)
    try:
        full_disk(programs)
    except NoMount as error:
        return f"full disk: nothing lost, by refused writes alone ({error})"
    return "full disk: nothing lost"


def write_together(programs, rounds=3):
    refused = sum(two_runs(programs, f"fresh{number}") + two_runs(programs, "appended", "--append")
                  for number in range(rounds))
    two_accepts(programs, rounds)
    return f"two writers: nothing lost, {refused} of {2 * rounds} second runs refused"


if __name__ == "__main__":
    sys.exit(main())
