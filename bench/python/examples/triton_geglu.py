#!/usr/bin/env python3
"""A Triton kernel of the ladder beside PyTorch's own: gelu_tanh(gate) * up in one pass.

    python3 -m fusegate run triton_geglu.py
    fusegate run --program "python3 -m fusegate run triton_geglu.py" --suite all --out runs/today

FUSEGATE_EXAMPLE_SLOW_SHARE=0.03 in the environment makes the Triton kernel take 3 % longer, to watch the gate find it:
the blocks that end the grid take steps that lead nowhere, as many as come to that share here and now, by measuring.
(kernels/cuda/planted does the same to the kernels in CUDA, and says why so.)
"""

import os
import statistics
import sys

import torch
import triton
import triton.language as tl

import fusegate

BLOCK = 1024
SLOW_SHARE = float(os.environ.get("FUSEGATE_EXAMPLE_SLOW_SHARE", "0"))

geglu = fusegate.Operation(
    "geglu", axes={"rows": [1024, 8192], "hidden": [3072]}, dtypes=["bf16"],
    inputs=lambda p: {"gate": fusegate.uniform(p.rows, p.hidden, low=-4, high=4),
                      "up": fusegate.uniform(p.rows, p.hidden, low=-4, high=4)},
    reference=lambda gate, up: torch.nn.functional.gelu(gate, approximate="tanh") * up,
    flops=lambda p: 10 * p.rows * p.hidden, bytes=lambda p: 3 * p.rows * p.hidden * p.itemsize)


@geglu.benchmark("torch_eager")
def eager(gate, up):
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


@triton.jit(do_not_specialize=["first_slow", "steps"])
def geglu_kernel(gate_pointer, up_pointer, out_pointer, elements, first_slow, steps, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < elements
    gate = tl.load(gate_pointer + offsets, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_pointer + offsets, mask=mask, other=0.0).to(tl.float32)
    # 1 + tanh(z) is 2 sigmoid(2 z).
    result = gate * tl.sigmoid(1.5957691216057308 * (gate + 0.044715 * gate * gate * gate)) * up
    if program >= first_slow:
        chain = result
        for _ in range(steps):
            chain = chain * 0.9999 + 1e-4
        result = tl.where(chain > 1e30, 0.0, result)  # never, which the compiler cannot know
    tl.store(out_pointer + offsets, result.to(out_pointer.dtype.element_ty), mask=mask)


@geglu.benchmark("triton", writes="out", factory=True, device="cuda")
def fused(problem):
    """Host-side setup, which is not timed: here the search for a slowdown, where one is asked for."""
    elements = problem.rows * problem.hidden
    programs = triton.cdiv(elements, BLOCK)

    def launch_slowed(steps):
        first_slow = programs - torch.cuda.get_device_properties(0).multi_processor_count if steps else programs

        def launch(gate, up, out):
            geglu_kernel[(programs,)](gate, up, out, elements, first_slow, steps, BLOCK=BLOCK)
        return launch
    if not SLOW_SHARE:
        return launch_slowed(0)
    tensors = [torch.ones(problem.rows, problem.hidden, dtype=problem.torch_dtype, device="cuda") for _ in range(3)]
    steps, share = steps_for(SLOW_SHARE, lambda steps: time_ratio(launch_slowed, steps, tensors))
    print(f"slowed {problem.name}: wanted {SLOW_SHARE:+.2%}, measured {share:+.2%}; {steps} steps", file=sys.stderr)
    return launch_slowed(steps)


def steps_for(wanted, measured):
    """The number of steps whose measured share comes nearest, and that share."""
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


def time_ratio(launch_slowed, steps, tensors):
    """How much longer so many steps take than none, minus one: by graphs of both in turn, so that a clock that drifts
    moves both."""
    graphs = []
    for each in (0, steps):
        launch = launch_slowed(each)
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


if __name__ == "__main__":
    fusegate.main()
