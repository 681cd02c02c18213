"""Runs that nobody measured, for tests of the installed gate: `fake_runs.py FOLDER SEED SLOWER` writes one."""

import json
import pathlib
import random
import sys


def write_run(folder: pathlib.Path, seed: int, slower: float = 1.0) -> pathlib.Path:
    """As Google Benchmark does: six processes of twelve benchmarks, of which the first takes so many times as long."""
    noise = random.Random(seed)
    folder.mkdir()
    for process in range(1, 7):
        times = {f"kernel/n:{n}": 50 * (slower if n == 1 else 1) for n in range(1, 13)}
        (folder / f"{process}.json").write_text(json.dumps({"context": {"date": "2026-11-21T01:46:00+00:00"}, "benchmarks": [
            {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 20, "repetition_index": index,
             "iterations": 10, "real_time": time * noise.gauss(1, 1e-3), "cpu_time": time, "time_unit": "us"}
            for name, time in times.items() for index in range(20)]}), encoding="utf-8")
    return folder


if __name__ == "__main__":
    write_run(pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
