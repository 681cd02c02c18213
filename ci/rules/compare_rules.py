#!/usr/bin/env python3
"""Compares the rules that tell a slower kernel from noise, on processes of unchanged code: what each calls
slower although nothing changed, and what it finds where the candidate's times are scaled up.

    compare_rules.py FOLDER... [--together] [--fusegate PROGRAM] [--markdown FILE] [--json FILE]

A FOLDER holds the run files of one protocol, Google Benchmark JSON, one file a process. Every rule gets the
same comparisons. Tools that take one file a side get one process against one, and again all repetitions of
several processes in one file; fusegate gets the processes as they are. Slower calls are counted, faster ones
are not. Exits 0 whatever the table says, 2 where something cannot be read.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

import draws
import fusegate_gate
import rules
import tally
from samples import InputError, family_of, read_groups

DEBIANS_COMPARE_PY = "/usr/share/benchmark"
BUILT_PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin" / "fusegate"


def main(arguments=None):
    options = parse_options(arguments)
    try:
        groups = read_groups(options.folders, options.together)
        results = [(group, tallies_of(group, options)) for group in groups]
        write_results(results, options)
    except (InputError, OSError) as error:
        print(f"compare_rules.py: {error}", file=sys.stderr)
        return 2
    return 0


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER", help="run files of one protocol, or folders of such")
    parser.add_argument("--together", action="store_true",
                        help="all folders are runs of the same code and protocol, drawn from together, card by card")
    parser.add_argument("--comparisons", type=_positive, default=200, metavar="N",
                        help="at most; all where there are no more (default: 200)")
    parser.add_argument("--side", type=_positive, default=5, metavar="N",
                        help="processes a side; half of a card's where none has twice as many (default: 5)")
    parser.add_argument("--slowdowns", type=_slowdowns, default=(0.005, 0.01, 0.02), metavar="LIST",
                        help="fractions, with commas between (default: 0.005,0.01,0.02)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the draws (default: 1)")
    parser.add_argument("--fusegate", type=pathlib.Path, default=BUILT_PROGRAM, metavar="PROGRAM",
                        help="the built program (default: build/release/bin/fusegate)")
    parser.add_argument("--compare-py", default=DEBIANS_COMPARE_PY, metavar="FOLDER",
                        help=f"where Google Benchmark's compare.py lies (default: {DEBIANS_COMPARE_PY})")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the table there too")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the counts there")
    return parser.parse_args(arguments)


def _positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def _slowdowns(text):
    values = tuple(float(part) for part in text.split(","))
    if not all(0 < value < 1 for value in values):
        raise argparse.ArgumentTypeError(f"{text}: not all between 0 and 1")
    return values


def tallies_of(group, options):
    pairs = draws.pairs(group, options.comparisons, options.seed)
    splits = draws.splits(group, options.side, options.comparisons, options.seed)
    tallies = []
    for rule in (rules.compare_tool(options.compare_py), rules.NvbenchRobust(), rules.MediansDiffer()):
        for sides, drawn in (("1 process", pairs), (_sides_text(splits), splits)):
            tallies.append(tally_of_rule(rule, sides, drawn, group, options.slowdowns))
    tallies.append(tally_of_gate(splits, group, options))
    return tallies


def _sides_text(splits):
    sizes = sorted({(len(draw.baseline), len(draw.candidate)) for draw in splits})
    return ", ".join(f"{left} against {right} processes" for left, right in sizes) or "several processes"


def tally_of_rule(rule, sides, drawn, group, slowdowns):
    """A rule that looks at one benchmark at a time: slowing one changes nothing for another."""
    result = tally.Tally(rule.name, sides, slowdowns)
    result.not_run = rule.missing or _why_nothing(drawn)
    if result.not_run:
        return result
    slowable = set(group.slowable)
    for draw in drawn:
        called = set()
        for benchmark in group.benchmarks:
            baseline, candidate = (rules.joined(side, benchmark) for side in (draw.baseline, draw.candidate))
            if rule.calls(baseline, candidate):
                called.add(benchmark)
            if benchmark not in slowable:
                continue
            for slowdown in slowdowns:
                found = rule.calls(baseline, candidate.slowed(1 + slowdown))
                result.add_slowed(slowdown, group.classes[benchmark], found)
        result.add_unchanged(called, group.benchmarks)
    return result


def _why_nothing(drawn):
    return "" if drawn else "too few processes of one card"


def tally_of_gate(splits, group, options):
    """A rule over the whole suite: one family is slowed at a time, as one slower kernel does."""
    result = tally.Tally(fusegate_gate.FusegateGate.name, _sides_text(splits), options.slowdowns)
    result.not_run = _why_nothing(splits)
    if not os.access(options.fusegate, os.X_OK):
        result.not_run = f"no program {options.fusegate}; name one with --fusegate"
    if result.not_run:
        return result
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        gate = fusegate_gate.FusegateGate(options.fusegate, scratch)
        for called in pool.map(gate.slower, splits):
            result.add_unchanged(called & set(group.benchmarks), group.benchmarks)
        add_slowed_families(gate, splits, group, options, pool, result)
    return result


def add_slowed_families(gate, splits, group, options, pool, result):
    families = sorted({family_of(benchmark) for benchmark in group.slowable})
    # In turn, and all of them with every split where that is no more than was asked for.
    turns = [(split, [families[i % len(families)]]) for i, split in enumerate(splits)]
    if len(splits) * len(families) <= options.comparisons:
        turns = [(split, families) for split in splits]
    tasks = [(split, [benchmark for benchmark in group.slowable if family_of(benchmark) == family], slowdown)
             for split, own in turns for family in own for slowdown in options.slowdowns]
    called = pool.map(lambda task: gate.slower(task[0], task[1], 1 + task[2]), tasks)
    for (_, slowed, slowdown), names in zip(tasks, called):
        for benchmark in slowed:
            result.add_slowed(slowdown, group.classes[benchmark], benchmark in names)


def write_results(results, options):
    text = "\n".join(tally.markdown(group, tallies, options.slowdowns) for group, tallies in results)
    print(text, end="")
    if options.markdown:
        write_atomically(options.markdown, text)
    if options.json:
        groups = [{"name": group.name, **group.facts(), "cards": sorted(group.cards),
                   "processes": len(group.invocations), "benchmarks": len(group.benchmarks),
                   "rules": [own.json() for own in tallies]} for group, tallies in results]
        write_atomically(options.json, json.dumps({"seed": options.seed, "groups": groups}, indent=1) + "\n")


def write_atomically(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
