"""The problems of fusegate_bench's plan, the least work of an implementation's parts (kernels/operations/stages.h), and the
operations' references."""

import dataclasses
import math

import fusegate

# The number formats that fusegate_bench computes on a GPU.
DTYPES = ("bf16", "fp16")
AXES = ("batch", "seq", "dim", "hidden")


@dataclasses.dataclass(frozen=True)
class Problem:
    """A problem of the plan. inputs: the plan's, tensors of uniform numbers."""
    name: str
    dtype: str
    batch: int
    seq: int
    dim: int
    hidden: int
    error_bound: float  # the largest ||out - ref|| / ||ref|| that rounding explains
    inputs: list

    @staticmethod
    def of(given):
        """given: the plan's JSON, which has more."""
        axes = {axis: given["axes"][axis] for axis in AXES}
        return Problem(given["name"], given["dtype"], **axes, error_bound=given["error_bound"], inputs=given["inputs"])

    @property
    def rows(self):
        return self.batch * self.seq

    @property
    def sizes(self):
        """A product's sizes as text. They do not depend on how rows are split into batch and seq."""
        return f"{self.dtype} {self.rows} x {self.dim} x {self.hidden}"

    @property
    def measured(self):
        """The package's problem."""
        return fusegate.Problem(tuple((axis, getattr(self, axis)) for axis in AXES), self.dtype)

    def tensors(self):
        """The inputs by name, for the package to fill."""
        return {each["name"]: fusegate.uniform(*each["shape"], low=-each["fill"]["scale"], high=each["fill"]["scale"])
                for each in self.inputs}


@dataclasses.dataclass(frozen=True)
class Activation:
    """An activation of the gate (kernels/activations), in PyTorch, Liger, QuACK and cuDNN."""
    name: str  # its stage's
    flops: int  # of one element: the operations in its formula
    reference: object  # of torch and a tensor of doubles: the formula, since torch's own function is checked against it
    eager: object  # of torch.nn.functional and a tensor
    cudnn: str  # cuDNN's operation
    liger: str = ""  # Liger's function of gate and up
    quack: str = ""  # QuACK's name of the unit


def _gelu_tanh(torch, g):
    return 0.5 * g * (1 + torch.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g**3)))


# A gated unit NAME is out = activation(g) * u. NAME_mlp has it between its projections.
GATED = {
    "geglu": Activation("gelu", 9, _gelu_tanh, lambda functional, g: functional.gelu(g, approximate="tanh"),
                        cudnn="gelu_approx_tanh", liger="LigerGELUMulFunction", quack="geglu"),
    "swiglu": Activation("silu", 4, lambda torch, g: g / (1 + torch.exp(-g)),
                         lambda functional, g: functional.silu(g), cudnn="swish",
                         liger="LigerSiLUMulFunction", quack="swiglu"),
    "geglu_erf": Activation("gelu", 5, lambda torch, g: 0.5 * g * (1 + torch.erf(g / math.sqrt(2))),
                            lambda functional, g: functional.gelu(g), cudnn="gelu"),
    "reglu": Activation("relu", 1, lambda torch, g: g.clamp(min=0), lambda functional, g: functional.relu(g),
                        cudnn="relu", quack="reglu"),
}


def matmul_stage(name, m, n, k, bias=False):
    flops, elements = 2.0 * m * n * k, m * k + n * k + m * n
    if bias:
        flops, elements = flops + m * n, elements + n
    return fusegate.Stage(name, flops, 2.0 * elements)


def pointwise_stage(name, flops_per_element, tensors, elements):
    """It reads and writes so many tensors of so many elements each."""
    return fusegate.Stage(name, float(flops_per_element * elements), 2.0 * tensors * elements)


def linear_stages(p):
    return [matmul_stage("addmm", p.rows, p.hidden, p.dim, bias=True)]


def gated_stages(operation, fused, p):
    """operation: a unit of GATED. fused: in one kernel; else in two."""
    activation, elements = GATED[operation], p.rows * p.hidden
    if fused:
        return [pointwise_stage(f"{activation.name}_mul", activation.flops + 1, 3, elements)]
    return [pointwise_stage(activation.name, activation.flops, 2, elements), pointwise_stage("mul", 1, 3, elements)]


def gated_mlp_stages(operation, fused, p):
    """operation: the name of the unit, such as geglu."""
    return [matmul_stage("gate_proj", p.rows, p.hidden, p.dim), matmul_stage("up_proj", p.rows, p.hidden, p.dim),
            *gated_stages(operation, fused, p), matmul_stage("down_proj", p.rows, p.dim, p.hidden)]


def gate_up_mlp_stages(operation, p):
    """Both input projections and the unit in one product. operation: the name of the unit."""
    activation, elements = GATED[operation], p.rows * p.hidden
    gate, up = (matmul_stage("", p.rows, p.hidden, p.dim) for _ in range(2))
    flops = gate.flops + up.flops + (activation.flops + 1) * elements
    return [fusegate.Stage(f"gate_up_{operation}", flops, gate.min_bytes + 2.0 * p.hidden * p.dim),
            matmul_stage("down_proj", p.rows, p.dim, p.hidden)]


def up_gate_mlp_stages(operation, p):
    """The unit in the product with w_gate, which reads the product with w_up. operation: the name of the unit."""
    up, down = matmul_stage("up_proj", p.rows, p.hidden, p.dim), matmul_stage("down_proj", p.rows, p.dim, p.hidden)
    elements = p.rows * p.hidden
    gate = fusegate.Stage(f"gate_{operation}_proj", up.flops + (GATED[operation].flops + 1) * elements,
                          up.min_bytes + 2.0 * elements)
    return [up, gate, down]


def reference(torch, operation, inputs):
    """inputs: tensors of doubles."""
    if operation in GATED:
        g, u = inputs
        return GATED[operation].reference(torch, g) * u
    if operation == "linear":
        x, w, bias = inputs
        return x @ w.T + bias
    x, w_gate, w_up, w_down = inputs
    return reference(torch, operation.removesuffix("_mlp"), (x @ w_gate.T, x @ w_up.T)) @ w_down.T
