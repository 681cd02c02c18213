"""Two commands that write into one folder or store at once: each process reported as measured is there, each baseline
reported as recorded is there, and a refusal names the process that writes."""

import json

from kills import stored_in, two_accepted, without_acceptance
from programs import Lost, require_no_leftovers, run_files

PROCESSES = 3


def two_at_once(programs, *arguments):
    """The arguments of each; pairs of its number and how it ended."""
    started = [programs.start(programs.fusegate, *each) for each in arguments]
    ended = []
    for process in started:
        with process:
            out, err = process.communicate(timeout=120)
            ended.append((process.pid, process.returncode, out + err))
    return ended


def two_runs(programs, name, *flags):
    """Into one folder, where earlier ones may lie. How many were refused."""
    folder = programs.home / name
    before = len(run_files(folder))
    arguments = programs.measuring(folder, f"--processes={PROCESSES}", *flags)
    ended = two_at_once(programs, arguments, arguments)
    for pid, code, said in ended:
        others = [f"process {other} writes into this folder now" for other, *_ in ended if other != pid]
        if code not in (0, 2) or (code == 2 and others[0] not in said and "already has processes" not in said):
            raise Lost(f"ended with {code}, and not for the other's sake:\n{said}")
    measured = before + PROCESSES * sum(code == 0 for _, code, _ in ended)
    recorded = [each["file"] for each in json.loads((folder / "run.json").read_bytes())["processes"]]
    there = [path.name for path in run_files(folder)]
    if not len(there) == len(recorded) == measured or set(there) != set(recorded):
        raise Lost(f"{measured} processes were reported, {there} are there, and run.json has {recorded}")
    require_no_leftovers(folder)
    return sum(code == 2 for _, code, _ in ended)


def two_accepts(programs, rounds):
    """Of two different runs: one is the baseline, the other its anchor."""
    runs, whole = two_accepted(programs, programs.home / "accepted")
    for number in range(rounds):
        store = programs.home / "accepted" / f"store{number}"
        for _, code, said in two_at_once(programs, *(programs.accepting(run, store, "both") for run in runs)):
            if code != 0:
                raise Lost(f"ended with {code}:\n{said}")
        baseline = stored_in(store)
        both = [without_acceptance(path) for path in (baseline, baseline.with_suffix(".anchor.json"))]
        if both not in (whole, whole[::-1]):
            raise Lost(f"{baseline} and its anchor are not the two that were accepted")
        require_no_leftovers(store)
