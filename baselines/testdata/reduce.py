#!/usr/bin/env python3
"""Reduces Google Benchmark files of many repetitions to the medians that the verdict uses.

    reduce.py h200-same-code OUT

reads h200-same-code/PROTOCOL/N.json and writes OUT/PROTOCOL/N.json, one entry a benchmark: the median
time of its samples, and the clock that makes time x clock the median number of cycles. The tests need
no more, because of each invocation only these two medians enter a verdict.
"""

import json
import pathlib
import statistics
import sys


def reduced(entries):
    entry = dict(entries[0])
    time = statistics.median(e["real_time"] for e in entries)
    cycles = statistics.median(e["real_time"] * e["sm_clock_hz"] for e in entries)
    entry.update(real_time=time, cpu_time=time, sm_clock_hz=cycles / time, repetitions=1)
    return entry


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    for path in sorted(source.glob("*/*.json")):
        run = json.loads(path.read_text())
        by_name = {}
        for entry in run["benchmarks"]:
            by_name.setdefault(entry["run_name"], []).append(entry)
        run["benchmarks"] = [reduced(entries) for entries in by_name.values()]
        out = target / path.relative_to(source)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(run, indent=1) + "\n")


if __name__ == "__main__":
    main()
