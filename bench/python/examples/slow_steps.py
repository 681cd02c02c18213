#!/usr/bin/env python3
"""Measures how many steps make triton_geglu.py's kernel slower by a share on this GPU, and prints 1024:4,8192:80.

    slow_steps.py 0.03

Run it in a process of its own: its allocations move the tensors that the same process allocates later. On an H200 they
made all benchmarks slower, PyTorch's kernels too: by 5 % at 1,024 rows and by 1 % at 8,192.
"""

import statistics
import sys

import torch

from triton_geglu import geglu, with_slow_steps


def steps_for(wanted, measured):
    """Returns the number of steps whose measured share is nearest to the wanted one, and that share."""
    below, above = (0, 0.0), (64, measured(64))
    while above[1] < wanted and above[0] < 1 << 24:
        below, above = above, (2 * above[0], measured(2 * above[0]))
    best = min(below, above, key=lambda each: abs(each[1] - wanted))
    for _ in range(6):
        if above[0] - below[0] <= 1 or abs(best[1] - wanted) < 2e-4:
            break
        along = (wanted - below[1]) / max(above[1] - below[1], 1e-9)
        steps = min(max(below[0] + round(along * (above[0] - below[0])), below[0] + 1), above[0] - 1)
        between = (steps, measured(steps))
        best = min(best, between, key=lambda each: abs(each[1] - wanted))
        below, above = (between, above) if between[1] < wanted else (below, between)
    return best


def time_ratio(elements, steps, tensors):
    """Time with these steps over time without, minus one. Graphs of both run in turn, so that a drifting clock
    affects both."""
    graphs = []
    for each in (0, steps):
        launch = with_slow_steps(elements, each)
        launch(*tensors)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(40):
                launch(*tensors)
        graphs.append(graph)
    ratios = []
    for _ in range(15):
        plain_ms, slowed_ms = map(replay_ms, graphs)
        ratios.append(slowed_ms / plain_ms)
    return statistics.median(ratios) - 1


def replay_ms(graph):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def main(wanted):
    found = []
    for problem in geglu.problems("cuda"):
        tensors = [torch.ones(problem.rows, problem.hidden, dtype=problem.torch_dtype, device="cuda") for _ in range(3)]
        elements = problem.rows * problem.hidden
        steps, share = steps_for(wanted, lambda steps, of=elements, to=tensors: time_ratio(of, steps, to))
        print(f"{problem.name}: wanted {wanted:+.2%}, measured {share:+.2%} with {steps} steps", file=sys.stderr)
        found.append(f"{problem.rows}:{steps}")
    print(",".join(found))


if __name__ == "__main__":
    main(float(sys.argv[1]))
