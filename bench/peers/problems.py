"""The operations as fusegate_bench has them (kernels/operations): inputs, references, and the least work of a call's parts."""

import functools
import math
import typing

import fusegate
import torch

functional = torch.nn.functional
# The reference problem: what is measured without a suite.
PROBLEM = {"axes": [{"batch": 64, "seq": 128, "dim": 768, "hidden": 3072}], "dtypes": ["bf16"]}


class Activation(typing.NamedTuple):
    """An activation of the gate (kernels/activations), in PyTorch and other libraries."""
    name: str  # its stage's
    flops: int  # of one element: the operations in its formula
    formula: typing.Callable  # of a tensor of doubles: torch's own function is checked against it
    slope: typing.Callable  # its derivative, likewise
    eager: typing.Callable  # of a tensor
    eager_backward: typing.Callable  # of the result's derivative and the tensor, as autograd calls it
    cudnn: str  # cuDNN's operation
    liger: str = ""  # Liger's function of gate and up
    quack: str = ""  # QuACK's name of the unit
    flashinfer: str = ""  # FlashInfer's function of gate and up in one tensor


ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715  # of gelu by tanh


def tanh_gelu_slope(g):
    t = torch.tanh(ROOT * (g + CUBIC * g**3))
    return 0.5 * (1 + t) + 0.5 * g * (1 - t * t) * ROOT * (1 + 3 * CUBIC * g * g)


def gelu_slope(g):
    return 0.5 * (1 + torch.erf(g / math.sqrt(2))) + g * torch.exp(-0.5 * g * g) / math.sqrt(2 * math.pi)


def silu_slope(g):
    s = 1 / (1 + torch.exp(-g))
    return s * (1 + g * (1 - s))


# A gated unit NAME is out = activation(g) * u. NAME_mlp has it between its projections.
GATED = {
    "geglu": Activation("gelu", 9, lambda g: 0.5 * g * (1 + torch.tanh(ROOT * (g + CUBIC * g**3))), tanh_gelu_slope,
                        lambda g: functional.gelu(g, approximate="tanh"),
                        lambda d, g: torch.ops.aten.gelu_backward(d, g, approximate="tanh"), cudnn="gelu_approx_tanh",
                        liger="LigerGELUMulFunction", quack="geglu", flashinfer="gelu_tanh_and_mul"),
    "swiglu": Activation("silu", 4, lambda g: g / (1 + torch.exp(-g)), silu_slope, functional.silu,
                         lambda d, g: torch.ops.aten.silu_backward(d, g), cudnn="swish", liger="LigerSiLUMulFunction",
                         quack="swiglu", flashinfer="silu_and_mul"),
    "geglu_erf": Activation("gelu", 5, lambda g: 0.5 * g * (1 + torch.erf(g / math.sqrt(2))), gelu_slope, functional.gelu,
                            lambda d, g: torch.ops.aten.gelu_backward(d, g), cudnn="gelu", flashinfer="gelu_and_mul"),
    "reglu": Activation("relu", 1, lambda g: g.clamp(min=0), lambda g: (g > 0) * 1.0, functional.relu,
                        lambda d, g: torch.ops.aten.threshold_backward(d, g, 0), cudnn="relu", quack="reglu"),
}


def rows(p):
    return p.batch * p.seq


def sizes(p):
    """A product's sizes as text. They do not depend on how rows are split into batch and seq."""
    return f"{p.dtype} {rows(p)} x {p.dim} x {p.hidden}"


# The operations, from linear.cc, gated_unit.cc and gated_mlp.cc. References get tensors of doubles.


def uniform(scale, *shape):
    return fusegate.uniform(*shape, low=-scale, high=scale)


def weights(outputs, inputs):
    """torch.nn.Linear's."""
    return uniform(1 / math.sqrt(inputs), outputs, inputs)


def linear_operation():
    return fusegate.Operation(
        "linear", **PROBLEM, weights=("w", "bias"), outputs=lambda p: {"out": fusegate.empty(rows(p), p.hidden)},
        inputs=lambda p: {"x": uniform(1, rows(p), p.dim), "w": weights(p.hidden, p.dim),
                          "bias": uniform(1 / math.sqrt(p.dim), p.hidden)},
        reference=lambda x, w, bias: x @ w.T + bias)


def gated_operation(unit):
    return fusegate.Operation(
        unit, **PROBLEM, outputs=lambda p: {"out": fusegate.empty(rows(p), p.hidden)},
        inputs=lambda p: {"g": uniform(3, rows(p), p.hidden), "u": uniform(1, rows(p), p.hidden)},
        reference=lambda g, u: GATED[unit].formula(g) * u)


WEIGHTS = ("w_gate", "w_up", "w_down")


def mlp_inputs(p):
    return {"x": uniform(4, rows(p), p.dim), "w_gate": weights(p.hidden, p.dim), "w_up": weights(p.hidden, p.dim),
            "w_down": weights(p.dim, p.hidden)}


def mlp_operation(unit):
    return fusegate.Operation(
        f"{unit}_mlp", **PROBLEM, outputs=lambda p: {"out": fusegate.empty(rows(p), p.dim)},
        weights=WEIGHTS, inputs=mlp_inputs,
        reference=functools.partial(mlp_reference, GATED[unit]))


def mlp_reference(activation, x, w_gate, w_up, w_down):
    return (activation.formula(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


# The least work, as kernels/operations/stages.h counts it.


def product(name, p, outputs, inputs, flops=0, elements=0):
    """flops, elements: what it computes, and reads or writes, besides x w^T."""
    m = rows(p)
    return fusegate.Stage(name, 2.0 * m * outputs * inputs + flops,
                          float(p.itemsize) * (m * inputs + outputs * inputs + m * outputs + elements))


def pointwise(name, p, flops, tensors):
    """flops: of one element. It reads and writes so many tensors."""
    elements = rows(p) * p.hidden
    return fusegate.Stage(name, float(flops * elements), float(p.itemsize) * tensors * elements)


def in_one(name, stages):
    """What the stages do, as one of that name."""
    return lambda p: [fusegate.Stage(name, sum(each.flops for each in stages(p)), sum(each.min_bytes for each in stages(p)))]


def linear_stages(p):
    return [product("addmm", p, p.hidden, p.dim, flops=rows(p) * p.hidden, elements=p.hidden)]


def gated_stages(unit, fused, p):
    """fused: in one kernel; else in two."""
    activation = GATED[unit]
    if fused:
        return [pointwise(f"{activation.name}_mul", p, activation.flops + 1, 3)]
    return [pointwise(activation.name, p, activation.flops, 2), pointwise("mul", p, 1, 3)]


def mlp_stages(unit, fused, p):
    return [product("gate_proj", p, p.hidden, p.dim), product("up_proj", p, p.hidden, p.dim),
            *gated_stages(unit, fused, p), product("down_proj", p, p.dim, p.hidden)]


def packed_mlp_stages(unit, p):
    """Both input projections in one product."""
    return [product("gate_up_proj", p, 2 * p.hidden, p.dim), *gated_stages(unit, True, p),
            product("down_proj", p, p.dim, p.hidden)]


def gate_up_mlp_stages(unit, p):
    """Both input projections and the unit in one product."""
    (fused,), up = gated_stages(unit, True, p), product("up_proj", p, p.hidden, p.dim)
    return [product(f"gate_up_{unit}", p, p.hidden, p.dim, flops=up.flops + fused.flops, elements=p.hidden * p.dim),
            product("down_proj", p, p.dim, p.hidden)]


def up_gate_mlp_stages(unit, p):
    """The unit in the product with w_gate, which reads the product with w_up."""
    (fused,) = gated_stages(unit, True, p)
    return [product("up_proj", p, p.hidden, p.dim),
            product(f"gate_{unit}_proj", p, p.hidden, p.dim, flops=fused.flops, elements=rows(p) * p.hidden),
            product("down_proj", p, p.dim, p.hidden)]
