"""FlashInfer's MLP: both input projections in one grouped GEMM of one group, its kernel for the gated unit, and the down
projection likewise. It has no product with a gated epilogue for bf16 on sm_90, and compiles with nvcc what is first called.

Its cutlass_fused_moe, a whole MLP, is left out: its module for sm_90 is 220 generated files for nvcc, and the wheels that
have it compiled (flashinfer-jit-cache) are not on PyPI. So is grouped_mm_bf16, which is cuDNN's, from 9.21 on; torch 2.11
brings 9.19."""

import importlib

import fusegate
import torch

from problems import rows

WORKSPACE = 128 << 20  # bytes, as its documentation encourages


class FlashinferMlp:
    """name, unit: the activation's stage, and FlashInfer's function of gate and up side by side. Raises what importing
    flashinfer raises."""

    def __init__(self, name, unit, problem):
        if problem.dtype not in ("bf16", "fp16"):
            raise ValueError("computes in bf16 and fp16 only")
        library = importlib.import_module("flashinfer")
        self._name, self._unit = f"{name}_mul", getattr(library, unit)
        self._gemm = library.SegmentGEMMWrapper(torch.empty(WORKSPACE, dtype=torch.uint8, device="cuda"))
        self._ends = torch.tensor([0, rows(problem)], dtype=torch.int64, device="cuda")

    def __call__(self, x, w_gate_up, w_down):
        with fusegate.stage("gate_up_proj"):
            both = self._product(x, w_gate_up)
        with fusegate.stage(self._name):
            h = self._unit(both)
        with fusegate.stage("down_proj"):
            return self._product(h, w_down)

    def _product(self, x, weights):
        out = torch.empty((x.shape[0], weights.shape[1]), dtype=x.dtype, device=x.device)
        return self._gemm.run(x, weights, 1, weight_column_major=True, out=out, seg_indptr=self._ends)


def pack(x, w_gate, w_up, w_down):
    return x, torch.cat((w_gate, w_up))[None], w_down[None]
