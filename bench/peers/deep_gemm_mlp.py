"""DeepGEMM's MLP in fp8 (sgl-deep-gemm), with scales of 1 x 128 elements by 128 x 128. Its products are compiled by nvcc when
they are first called."""

import importlib

import fusegate
import torch

from compiled import compiled
from fp8 import BLOCK, LARGEST, e4m3


def unit_to_blocks(activation):
    """h in e4m3, and its scales."""
    def unit(both):
        gate, up = both.float().chunk(2, dim=1)
        blocks = (activation.eager(gate) * up).unflatten(1, (-1, BLOCK))
        scales = blocks.abs().amax(dim=2, keepdim=True).clamp(min=1e-12) / LARGEST
        return e4m3(blocks / scales).flatten(1, 2), scales.squeeze(2)
    return compiled(unit)


def deep_gemm_mlp(activation, problem):
    """Raises what importing deep_gemm raises."""
    if problem.dim % BLOCK or problem.hidden % BLOCK:
        raise ValueError(f"takes dim and hidden that are multiples of {BLOCK}")
    gemm, unit = importlib.import_module("deep_gemm").fp8_gemm_nt, unit_to_blocks(activation)

    def product(x, w):
        out = torch.empty((x[0].shape[0], w[0].shape[0]), dtype=torch.bfloat16, device=x[0].device)
        gemm(x, w, out)
        return out

    def mlp(x, w_gate_up, w_down, *scales):
        x_scale, w_scale, _, w_down_scale = scales
        with fusegate.stage("gate_up_proj"):
            both = product((x, x_scale), (w_gate_up, w_scale))
        with fusegate.stage(f"{activation.name}_mul"):
            h = unit(both)
        with fusegate.stage("down_proj"):
            return product(h, (w_down, w_down_scale))
    return mlp
