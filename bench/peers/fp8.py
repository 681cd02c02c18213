"""The gated MLPs in fp8, from gated_mlp_fp8.cc: operations, and what torch._scaled_mm does for them, which is cublasLt.

Nobody's products round h to e4m3. So each library is composed with one kernel of PyTorch's compiler, for the unit and the
rounding. Products of two e4m3 numbers are added with fast accumulation, where a library offers that."""

import functools
import math

import fusegate
import torch

from compiled import compiled
from problems import GATED, PROBLEM, WEIGHTS, mlp_inputs, mlp_reference, rows

LARGEST, DEVIATIONS, BLOCK = 448, 6, 128  # e4m3's largest number, and of which deviation it is; of blocks of elements
# Those that fusegate builds into its products.
UNITS = ("geglu", "swiglu")
# What shares a scale: a matrix; a row; 1 x 128 elements of x and h, and 128 x 128 of a weight.
SCALES = {"tensor": "", "row": "_rowwise", "block": "_blockwise"}


def operation(unit, scales):
    return fusegate.Operation(
        f"{unit}_mlp_fp8{SCALES[scales]}", axes=PROBLEM["axes"], dtypes=["fp8_e4m3"],
        weights=(*WEIGHTS, *(f"{name}_scale" for name in WEIGHTS)), exact=exact(scales), inputs=functools.partial(inputs, scales),
        outputs=lambda p: {"out": fusegate.empty(rows(p), p.dim, dtype="bf16")}, tolerance=tolerance,
        reference=functools.partial(reference, GATED[unit]))


def exact(scales):
    return [f"{name}_scale" for name in ("x", *WEIGHTS, *(("h",) if scales != "block" else ()))]


def inputs(scales, p):
    numbers = {name: fusegate.normal(*tensor.shape, std=LARGEST / DEVIATIONS) for name, tensor in mlp_inputs(p).items()}
    deviations = {"x": 2.3, **{name: 0.577 / math.sqrt(numbers[name].shape[1]) for name in WEIGHTS}}
    shapes = {name: tensor.shape for name, tensor in numbers.items()}
    if scales != "block":
        shapes["h"], deviations["h"] = (rows(p), p.hidden), 10
    for name, deviation in deviations.items():
        scale = deviation * DEVIATIONS / LARGEST
        numbers[f"{name}_scale"] = fusegate.uniform(*shape_of_scales(scales, name in WEIGHTS, shapes[name]), low=0.75 * scale,
                                                    high=1.25 * scale, dtype="fp32")
    return numbers


def shape_of_scales(scales, is_weight, shape):
    if scales == "block":
        return math.ceil(shape[0] / BLOCK) if is_weight else shape[0], math.ceil(shape[1] / BLOCK)
    return shape[0] if scales == "row" else 1, 1


def tolerance(p):
    """gated_mlp_fp8.cc derives it."""
    return 2**-5 * (1 + 2 / math.sqrt(p.hidden)) + 2**-20 * (2 * p.dim + p.hidden)


def scaled(matrix, scales):
    for dim, size in enumerate(matrix.shape):
        if scales.shape[dim] not in (1, size):
            scales = scales.repeat_interleave(BLOCK, dim).narrow(dim, 0, size)
    return matrix * scales


def reference(activation, x, w_gate, w_up, w_down, *scales):
    return mlp_reference(activation, *map(scaled, (x, w_gate, w_up, w_down), scales))


def stages(unit, p):
    """The products write bf16."""
    m, activation = rows(p), GATED[unit]
    return [fusegate.Stage("gate_up_proj", 4.0 * m * p.hidden * p.dim, m * p.dim + 2.0 * p.hidden * (p.dim + 2 * m)),
            fusegate.Stage(f"{activation.name}_mul", (activation.flops + 1.0) * m * p.hidden, 5.0 * m * p.hidden),
            fusegate.Stage("down_proj", 2.0 * m * p.hidden * p.dim, m * p.hidden + p.dim * (p.hidden + 2.0 * m))]


def gate_up_stages(unit, p):
    """Both input projections and the unit in one product."""
    both, of_unit, down = stages(unit, p)
    m_hidden = float(rows(p) * p.hidden)
    return [fusegate.Stage(f"gate_up_{unit}", both.flops + of_unit.flops, both.min_bytes - 2 * m_hidden),
            fusegate.Stage("round", m_hidden, 3 * m_hidden), down]


def in_bytes(join, matrices):
    return join([matrix.view(torch.uint8) for matrix in matrices]).view(torch.float8_e4m3fn)


def pack(scales, join, *given):
    """Both weights in one, their scale, and by what up is to be multiplied after the product: one scale a tensor is gate's."""
    (x, w_gate, w_up, w_down), (x_scale, w_gate_scale, w_up_scale, w_down_scale, *h_scale) = given[:4], given[4:]
    both, of_up = in_bytes(join, (w_gate, w_up)), 1.0
    if scales == "tensor":
        w_scale, of_up = w_gate_scale, w_up_scale / w_gate_scale
    else:
        w_scale = torch.cat((w_gate_scale, w_up_scale))
    return x, both, w_down, x_scale, w_scale, of_up, w_down_scale, *h_scale


def e4m3(numbers):
    return numbers.clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)


def unit_to_e4m3(activation):
    def unit(both, of_up, h_scale):
        gate, up = both.float().chunk(2, dim=1)
        return e4m3(activation.eager(gate) * up * (of_up / h_scale))
    return compiled(unit)


def scaled_mm(x, w, x_scale, w_scale):
    return torch._scaled_mm(x, w.t(), scale_a=x_scale, scale_b=w_scale.t(),  # pylint: disable=protected-access
                            out_dtype=torch.bfloat16, use_fast_accum=True)


def torch_mlp(activation, _problem):
    unit = unit_to_e4m3(activation)

    def mlp(x, w_gate_up, w_down, *scales):
        x_scale, w_scale, of_up, w_down_scale, h_scale = scales
        with fusegate.stage("gate_up_proj"):
            both = scaled_mm(x, w_gate_up, x_scale, w_scale)
        with fusegate.stage(f"{activation.name}_mul"):
            h = unit(both, of_up, h_scale)
        with fusegate.stage("down_proj"):
            return scaled_mm(h, w_down, h_scale, w_down_scale)
    return mlp
