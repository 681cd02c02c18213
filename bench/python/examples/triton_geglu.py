#!/usr/bin/env python3
"""A Triton kernel beside PyTorch's own: gelu_tanh(gate) * up in one pass.

    fusegate_bench triton_geglu.py
    fusegate run --program "fusegate_bench triton_geglu.py" --suite all --out runs/today
"""

import torch
import triton
import triton.language as tl

import fusegate

geglu = fusegate.Operation(
    "geglu", axes={"rows": [1024, 8192], "hidden": [3072]}, dtypes=["bf16"],
    inputs=lambda p: {"gate": fusegate.uniform(p.rows, p.hidden, low=-4, high=4),
                      "up": fusegate.uniform(p.rows, p.hidden, low=-4, high=4)},
    reference=lambda gate, up: torch.nn.functional.gelu(gate, approximate="tanh") * up,
    flops=lambda p: 10 * p.rows * p.hidden, bytes=lambda p: 3 * p.rows * p.hidden * p.itemsize)


@geglu.benchmark("torch_eager")
def eager(gate, up):
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


@triton.jit
def geglu_kernel(gate_pointer, up_pointer, out_pointer, elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < elements
    gate = tl.load(gate_pointer + offsets, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(up_pointer + offsets, mask=mask, other=0.0).to(tl.float32)
    # 1 + tanh(z) is 2 sigmoid(2 z).
    result = gate * tl.sigmoid(1.5957691216057308 * (gate + 0.044715 * gate * gate * gate)) * up
    tl.store(out_pointer + offsets, result.to(out_pointer.dtype.element_ty), mask=mask)


@geglu.benchmark("triton", writes="out", device="cuda")
def fused(gate, up, out):
    geglu_kernel[(triton.cdiv(out.numel(), 1024),)](gate, up, out, out.numel(), BLOCK=1024)


if __name__ == "__main__":
    fusegate.main()
