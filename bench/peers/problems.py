"""The operations as fusegate_bench has them (kernels/operations): inputs, references, and the least work of a call's parts."""

import dataclasses
import math

import fusegate
import torch

functional = torch.nn.functional
# The reference problem: what is measured without a suite.
REFERENCE = {"batch": 64, "seq": 128, "dim": 768, "hidden": 3072}


def rows(p):
    return p.batch * p.seq


def sizes(p):
    """A product's sizes as text. They do not depend on how rows are split into batch and seq."""
    return f"{p.dtype} {rows(p)} x {p.dim} x {p.hidden}"


# Inputs and outputs, from kernels/operations/linear.cc, gated_unit.cc and gated_mlp.cc.


def uniform(scale, *shape):
    return fusegate.uniform(*shape, low=-scale, high=scale)


def linear_inputs(p):
    scale = 1 / math.sqrt(p.dim)
    return {"x": uniform(1, rows(p), p.dim), "w": uniform(scale, p.hidden, p.dim), "bias": uniform(scale, p.hidden)}


def gated_inputs(p):
    return {"g": uniform(3, rows(p), p.hidden), "u": uniform(1, rows(p), p.hidden)}


def mlp_inputs(p):
    scale = 1 / math.sqrt(p.dim)
    return {"x": uniform(4, rows(p), p.dim), "w_gate": uniform(scale, p.hidden, p.dim),
            "w_up": uniform(scale, p.hidden, p.dim), "w_down": uniform(1 / math.sqrt(p.hidden), p.dim, p.hidden)}


def hidden_output(p):
    return {"out": fusegate.empty(rows(p), p.hidden)}


def dim_output(p):
    return {"out": fusegate.empty(rows(p), p.dim)}


# References, of tensors of doubles.


def linear_reference(x, w, bias):
    return x @ w.T + bias


def gated_reference(activation):
    return lambda g, u: activation.formula(g) * u


def mlp_reference(activation):
    return lambda x, w_gate, w_up, w_down: (activation.formula(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


@dataclasses.dataclass(frozen=True)
class Activation:
    """An activation of the gate (kernels/activations), in PyTorch, Liger, QuACK and cuDNN."""
    name: str  # its stage's
    flops: int  # of one element: the operations in its formula
    formula: object  # of a tensor of doubles: torch's own function is checked against it
    eager: object  # of a tensor
    cudnn: str  # cuDNN's operation
    liger: str = ""  # Liger's function of gate and up
    quack: str = ""  # QuACK's name of the unit


# A gated unit NAME is out = activation(g) * u. NAME_mlp has it between its projections.
GATED = {
    "geglu": Activation("gelu", 9, lambda g: 0.5 * g * (1 + torch.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g**3))),
                        lambda g: functional.gelu(g, approximate="tanh"), cudnn="gelu_approx_tanh",
                        liger="LigerGELUMulFunction", quack="geglu"),
    "swiglu": Activation("silu", 4, lambda g: g / (1 + torch.exp(-g)), lambda g: functional.silu(g),
                         cudnn="swish", liger="LigerSiLUMulFunction", quack="swiglu"),
    "geglu_erf": Activation("gelu", 5, lambda g: 0.5 * g * (1 + torch.erf(g / math.sqrt(2))),
                            lambda g: functional.gelu(g), cudnn="gelu"),
    "reglu": Activation("relu", 1, lambda g: g.clamp(min=0), lambda g: functional.relu(g), cudnn="relu",
                        quack="reglu"),
}


# The least work, as kernels/operations/stages.h counts it. unit: a name in GATED.


def product(name, p, outputs, inputs, bias=False):
    m = rows(p)
    return fusegate.Stage(name, 2.0 * m * outputs * inputs + bias * m * outputs,
                          float(p.itemsize) * (m * inputs + outputs * inputs + m * outputs + bias * outputs))


def pointwise(name, p, flops, tensors):
    """flops: of one element. It reads and writes so many tensors."""
    elements = rows(p) * p.hidden
    return fusegate.Stage(name, float(flops * elements), float(p.itemsize) * tensors * elements)


def in_one(name, stages):
    """What the stages do, as one of that name."""
    return lambda p: [fusegate.Stage(name, sum(each.flops for each in stages(p)), sum(each.min_bytes for each in stages(p)))]


def linear_stages(p):
    return [product("addmm", p, p.hidden, p.dim, bias=True)]


def gated_stages(unit, fused, p):
    """fused: in one kernel; else in two."""
    activation = GATED[unit]
    if fused:
        return [pointwise(f"{activation.name}_mul", p, activation.flops + 1, 3)]
    return [pointwise(activation.name, p, activation.flops, 2), pointwise("mul", p, 1, 3)]


def mlp_stages(unit, fused, p):
    return [product("gate_proj", p, p.hidden, p.dim), product("up_proj", p, p.hidden, p.dim),
            *gated_stages(unit, fused, p), product("down_proj", p, p.dim, p.hidden)]


def gate_up_mlp_stages(unit, p):
    """Both input projections and the unit in one product."""
    gate, weights = product("", p, p.hidden, p.dim), p.itemsize * p.hidden * p.dim
    flops = 2 * gate.flops + (GATED[unit].flops + 1) * rows(p) * p.hidden
    return [fusegate.Stage(f"gate_up_{unit}", flops, gate.min_bytes + weights), product("down_proj", p, p.dim, p.hidden)]


def up_gate_mlp_stages(unit, p):
    """The unit in the product with w_gate, which reads the product with w_up."""
    up, elements = product("up_proj", p, p.hidden, p.dim), rows(p) * p.hidden
    gate = fusegate.Stage(f"gate_{unit}_proj", up.flops + (GATED[unit].flops + 1) * elements,
                          up.min_bytes + p.itemsize * elements)
    return [up, gate, product("down_proj", p, p.dim, p.hidden)]
