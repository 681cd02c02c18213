#!/usr/bin/env python3
"""A Triton kernel of the ladder beside PyTorch's own: gelu_tanh(gate) * up in one pass.

    python3 -m fusegate run triton_geglu.py
    fusegate run --program "python3 -m fusegate run triton_geglu.py" --suite all --out runs/today

FUSEGATE_EXAMPLE_SLOW_STEPS=1024:4,8192:80 in the environment makes the Triton kernel slower, to see the gate find it:
at 1024 rows, each of the grid's last blocks takes 4 useless steps, and so on. slow_steps.py finds these numbers.
(kernels/cuda/planted does the same to the CUDA kernels, and gives the reasons.)
"""

import os

import torch
import triton
import triton.language as tl

import fusegate

BLOCK = 1024
SLOW_STEPS = dict(map(int, each.split(":")) for each in os.environ.get("FUSEGATE_EXAMPLE_SLOW_STEPS", "").split(",")
                  if each)

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
        result = tl.where(chain > 1e30, 0.0, result)  # never true, but the compiler cannot know that
    tl.store(out_pointer + offsets, result.to(out_pointer.dtype.element_ty), mask=mask)


@geglu.benchmark("triton", writes="out", factory=True, device="cuda")
def fused(problem):
    """Only the function that it returns is timed."""
    return with_slow_steps(problem.rows * problem.hidden, SLOW_STEPS.get(problem.rows, 0))


def with_slow_steps(elements, steps):
    programs = triton.cdiv(elements, BLOCK)
    first_slow = programs - torch.cuda.get_device_properties(0).multi_processor_count if steps else programs

    def launch(gate, up, out):
        geglu_kernel[(programs,)](gate, up, out, elements, first_slow, steps, BLOCK=BLOCK)
    return launch


if __name__ == "__main__":
    fusegate.main()
