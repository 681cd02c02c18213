"""What is computed: problems, and the operations with their inputs and the work that their parts must do at
least. Shapes, scales, FLOPs and bytes are those of kernels/operations/ and kernels/contract/stages.h."""

import dataclasses
import math

# kernels/contract/stages.h: gelu_tanh by the operations written down in its formula.
GELU_FLOPS = 9
# What fusegate_bench computes on a GPU.
DTYPES = ("bf16", "fp16")
# The largest ||out - ref|| / ||ref|| that rounding explains (kernels/contract/verify.cc).
ERROR_BOUNDS = {"bf16": 1e-2, "fp16": 1.5e-3}


@dataclasses.dataclass(frozen=True)
class Problem:
    batch: int
    seq: int
    dim: int
    hidden: int
    dtype: str

    @property
    def rows(self):
        return self.batch * self.seq

    @property
    def name(self):
        return f"{self.dtype}/batch:{self.batch}/seq:{self.seq}/dim:{self.dim}/hidden:{self.hidden}"


@dataclasses.dataclass(frozen=True)
class Shape:
    """A random input: uniform in [-scale, scale)."""
    rows: int
    cols: int
    scale: float
    vector: bool = False  # one row, handed over without its first axis


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of an implementation: each operand read once, the result written once."""
    name: str
    flops: float
    min_bytes: float


def linear_inputs(p):
    bound = 1 / math.sqrt(p.dim)
    return [Shape(p.rows, p.dim, 1.0), Shape(p.hidden, p.dim, bound),
            Shape(1, p.hidden, bound, vector=True)]


def geglu_inputs(p):
    return [Shape(p.rows, p.hidden, 3.0), Shape(p.rows, p.hidden, 1.0)]


def geglu_mlp_inputs(p):
    in_bound, hidden_bound = 1 / math.sqrt(p.dim), 1 / math.sqrt(p.hidden)
    return [Shape(p.rows, p.dim, 4.0), Shape(p.hidden, p.dim, in_bound), Shape(p.hidden, p.dim, in_bound),
            Shape(p.dim, p.hidden, hidden_bound)]


@dataclasses.dataclass(frozen=True)
class Operation:
    inputs: object  # of a problem, in the order of kernels/operations
    uses_dim: bool = True  # False: not repeated along the dim axis


# Sorted by name, as plans are.
OPERATIONS = {
    "geglu": Operation(geglu_inputs, uses_dim=False),
    "geglu_mlp": Operation(geglu_mlp_inputs),
    "linear": Operation(linear_inputs),
}


def matmul_stage(name, m, n, k, bias=False):
    flops, elements = 2.0 * m * n * k, m * k + n * k + m * n
    if bias:
        flops, elements = flops + m * n, elements + n
    return Stage(name, flops, 2.0 * elements)


def pointwise_stage(name, flops_per_element, tensors, elements):
    """tensors: how many of that many elements it reads and writes."""
    return Stage(name, float(flops_per_element * elements), 2.0 * tensors * elements)


def linear_stages(p):
    return [matmul_stage("addmm", p.rows, p.hidden, p.dim, bias=True)]


def geglu_unfused_stages(p):
    elements = p.rows * p.hidden
    return [pointwise_stage("gelu", GELU_FLOPS, 2, elements), pointwise_stage("mul", 1, 3, elements)]


def geglu_fused_stages(p):
    return [pointwise_stage("gelu_mul", GELU_FLOPS + 1, 3, p.rows * p.hidden)]


def geglu_mlp_unfused_stages(p):
    return _mlp_stages(p, geglu_unfused_stages(p))


def geglu_mlp_fused_stages(p):
    return _mlp_stages(p, geglu_fused_stages(p))


def _mlp_stages(p, pointwise):
    return [matmul_stage("gate_proj", p.rows, p.hidden, p.dim), matmul_stage("up_proj", p.rows, p.hidden, p.dim),
            *pointwise, matmul_stage("down_proj", p.rows, p.dim, p.hidden)]
