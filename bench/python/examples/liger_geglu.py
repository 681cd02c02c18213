#!/usr/bin/env python3
"""Liger's GeGLU (https://github.com/linkedin/Liger-Kernel) beside PyTorch's and its compiler's. Without Liger, only
these two are measured, and a line reports that Liger is left out.

    pip install liger-kernel
    fusegate_bench liger_geglu.py
"""

import torch

import fusegate


@fusegate.benchmark(
    operation="geglu", axes={"rows": [1024, 8192], "hidden": [3072]}, dtypes=["bf16", "fp16"],
    inputs=lambda p: {"gate": fusegate.uniform(p.rows, p.hidden, low=-4, high=4),
                      "up": fusegate.uniform(p.rows, p.hidden, low=-4, high=4)},
    reference=lambda gate, up: torch.nn.functional.gelu(gate, approximate="tanh") * up,
    flops=lambda p: 10 * p.rows * p.hidden, bytes=lambda p: 3 * p.rows * p.hidden * p.itemsize,
    implementation="torch_eager")
def eager(gate, up):
    return torch.nn.functional.gelu(gate, approximate="tanh") * up


@fusegate.benchmark(operation="geglu", implementation="torch_compile", factory=True, requires="triton", device="cuda")
def compiled(_problem):
    """One function per problem: the compiler gives up on a function that it compiled for eight shapes."""
    return torch.compile(lambda gate, up: eager(gate, up), dynamic=False, fullgraph=True)


@fusegate.benchmark(operation="geglu", implementation="liger", factory=True, requires="liger_kernel", device="cuda")
def liger(_problem):
    from liger_kernel.ops.geglu import LigerGELUMulFunction  # pylint: disable=import-outside-toplevel
    return LigerGELUMulFunction.apply


if __name__ == "__main__":
    fusegate.main()
