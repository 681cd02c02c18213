"""fusegate for Python: times Triton, PyTorch, CuPy and NumPy callables with the protocol of fusegate_bench, and writes
run files for ``fusegate gate``.

    import fusegate
    import torch

    @fusegate.benchmark(
        operation="geglu", axes={"rows": [8192], "hidden": [3072]}, dtypes=["bf16"],
        inputs=lambda p: {"gate": fusegate.uniform(p.rows, p.hidden), "up": fusegate.uniform(p.rows, p.hidden)},
        reference=lambda gate, up: torch.nn.functional.gelu(gate, approximate="tanh") * up)
    def eager(gate, up):
        return torch.nn.functional.gelu(gate, approximate="tanh") * up

``fusegate_bench FILE`` measures it once; ``fusegate run --program "fusegate_bench FILE" --suite all`` makes a run of
several processes. docs/kernels-python.md is the manual.
"""

from . import integrity
from .errors import InputError
from .exchange import gather, rank, ranks
from .implementation import Stage, stage
from .operation import Operation, benchmark, clear, operations
from .problem import Problem
from .program import main
from .tensors import Tensor, empty, filled, full, integers, normal, uniform
from .version import __version__

integrity.take()

__all__ = ["InputError", "Operation", "Problem", "Stage", "Tensor", "__version__", "benchmark", "clear", "empty",
           "filled", "full", "gather", "integers", "main", "normal", "operations", "rank", "ranks", "stage", "uniform"]
