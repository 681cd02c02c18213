"""Specifies the tensors of an operation: shape, number format, and contents."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, NamedTuple, Optional, Union


class Dtype(NamedTuple):
    """error_bound: the largest ||out - ref|| / ||ref|| that rounding explains (kernels/contract/rounding.h)."""

    itemsize: int  # bytes
    library_name: str  # torch's and, where it has it, NumPy's
    error_bound: float = 0.0  # integers must be equal


DTYPES = {
    "fp64": Dtype(8, "float64", 1e-12), "fp32": Dtype(4, "float32", 1e-5), "fp16": Dtype(2, "float16", 1.5e-3),
    "bf16": Dtype(2, "bfloat16", 1e-2), "fp8_e4m3": Dtype(1, "float8_e4m3fn", 8e-2),
    "fp8_e5m2": Dtype(1, "float8_e5m2", 1.6e-1), "int64": Dtype(8, "int64"), "int32": Dtype(4, "int32"),
    "int16": Dtype(2, "int16"), "int8": Dtype(1, "int8"), "uint8": Dtype(1, "uint8"),
}


def dtype_name(dtype: Any) -> str:
    """fusegate's name for ``"bf16"``, ``"bfloat16"``, ``torch.bfloat16`` or ``numpy.float32``. Raises ValueError."""
    given = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    given = given.rpartition(".")[2]  # torch.bfloat16
    for name, known in DTYPES.items():
        if given in (name, known.library_name):
            return name
    raise ValueError(f"unknown dtype {dtype!r}; known: {', '.join(DTYPES)}")


def is_integer(dtype: str) -> bool:
    return "int" in dtype


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor that fusegate will allocate and fill, as :func:`uniform`, :func:`normal`, :func:`integers`, :func:`full`,
    :func:`filled` and :func:`empty` make it.

    shape: its size along each dimension; ``()`` for a scalar. dtype: such as ``"bf16"``; by default the problem's. fill: its
    contents before the call.
    """

    shape: tuple[int, ...]
    dtype: Optional[str] = None
    fill: Union[tuple, Callable, None] = None

    def __post_init__(self):
        if self.dtype is not None:
            object.__setattr__(self, "dtype", dtype_name(self.dtype))
        for size in self.shape:
            if not isinstance(size, int) or isinstance(size, bool) or size < 0:
                raise ValueError(f"a size of a shape must be a whole number from 0, not {size!r}")


def uniform(*shape: int, low: float = -1.0, high: float = 1.0, dtype: Optional[str] = None) -> Tensor:
    """A tensor of that shape of random numbers, evenly spread over ``[low, high)``; ``dtype`` is by default the problem's."""
    return Tensor(shape, dtype, ("uniform", low, high))


def normal(*shape: int, mean: float = 0.0, std: float = 1.0, dtype: Optional[str] = None) -> Tensor:
    """Random numbers of a normal distribution; shape and ``dtype`` as of :func:`uniform`."""
    return Tensor(shape, dtype, ("normal", mean, std))


def integers(*shape: int, low: int = 0, high: int, dtype: str = "int32") -> Tensor:
    """Random whole numbers from ``low`` up to but not including ``high``, as of :func:`torch.randint`."""
    return Tensor(shape, dtype, ("integers", low, high - 1))


def full(*shape: int, value: float, dtype: Optional[str] = None) -> Tensor:
    """The same number everywhere."""
    return Tensor(shape, dtype, ("full", value, 0))


def filled(*shape: int, by: Callable, dtype: Optional[str] = None) -> Tensor:
    """Filled by a function of yours: ``by(tensor, generator)`` writes every element of the tensor. Numbers drawn from the
    generator repeat in a run with the same seed. Shape and ``dtype`` as of :func:`uniform`."""
    return Tensor(shape, dtype, by)


def empty(*shape: int, dtype: Optional[str] = None) -> Tensor:
    """An output, whose contents a kernel must not read."""
    return Tensor(shape, dtype, None)
