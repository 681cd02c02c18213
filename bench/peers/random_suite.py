#!/usr/bin/env python3
"""Draws MLP problems that nobody tuned for, as a suite: `random_suite.py --seed 7 > random.json`, then
`fusegate run --suite random.json --peers --out run` and `fusegate report --candidate run --peers run-peers`."""

import argparse
import json
import math
import pathlib
import random

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
MOST_ROWS = 16384
STEP = 128  # dims and hiddens are multiples of it


def shapes(folder):
    """(dim, hidden) of every MLP of the models in the folder."""
    calls = [call for path in sorted(folder.glob("*.json")) for call in json.loads(path.read_text(encoding="utf-8"))["calls"]]
    return [(call["dim"], call["hidden"]) for call in calls if "hidden" in call]


def between(draw, low, high):
    """As likely from 1 to 2 as from 1000 to 2000."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def problem(draw, known):
    """rows, dim and hidden: within what the models have."""
    dims = [dim for dim, _ in known]
    times = [hidden / dim for dim, hidden in known]
    dim = STEP * round(between(draw, min(dims), max(dims)) / STEP)
    hidden = STEP * round(dim * between(draw, min(times), max(times)) / STEP)
    return {"batch": [1], "seq": [max(1, round(between(draw, 1, MOST_ROWS)))], "dim": [dim], "hidden": [hidden]}


def suite(seed, count, operation, known):
    draw = random.Random(seed)
    sweeps = [{"operations": [operation], "dtype": ["bf16"], **problem(draw, known)} for _ in range(count)]
    controls = {"dtype": ["bf16"], "batch": [64], "seq": [128], "dim": [768], "hidden": [3072]}
    return {"name": f"random-{seed}", "sweeps": [*sweeps, {"operations": ["control_copy", "control_gemm"], **controls}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True, help="the same seed draws the same problems")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--operation", default="geglu_mlp")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count: must be 1 or more")
    print(json.dumps(suite(options.seed, options.count, options.operation, shapes(MODELS)), indent=1))


if __name__ == "__main__":
    main()
