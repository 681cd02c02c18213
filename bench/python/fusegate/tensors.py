"""Specifies the tensors of an operation: shape, number format, and contents."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional, Union

# By fusegate's name: bytes of an element, torch's name, and NumPy's or None.
DTYPES = {
    "fp64": (8, "float64", "float64"), "fp32": (4, "float32", "float32"), "fp16": (2, "float16", "float16"),
    "bf16": (2, "bfloat16", None), "fp8_e4m3": (1, "float8_e4m3fn", None), "fp8_e5m2": (1, "float8_e5m2", None),
    "int64": (8, "int64", "int64"), "int32": (4, "int32", "int32"), "int16": (2, "int16", "int16"),
    "int8": (1, "int8", "int8"), "uint8": (1, "uint8", "uint8"),
}

# The largest ||out - ref|| / ||ref|| that rounding explains (kernels/contract/expected.h). Integers must be equal.
ERROR_BOUNDS = {"fp64": 1e-12, "fp32": 1e-5, "fp16": 1.5e-3, "bf16": 1e-2, "fp8_e4m3": 8e-2,
                "fp8_e5m2": 1.6e-1}


def dtype_name(dtype: Any) -> str:
    """fusegate's name for a number format.

    Parameters
    ----------
    dtype : str, torch.dtype or NumPy type
        ``"bf16"``, ``"bfloat16"``, ``torch.bfloat16``, ``numpy.float32``.

    Raises
    ------
    ValueError
        For a number format that fusegate does not know.
    """
    given = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    given = given.rpartition(".")[2]  # torch.bfloat16
    for name, (_, torchs, _) in DTYPES.items():
        if given in (name, torchs):
            return name
    raise ValueError(f"unknown dtype {dtype!r}; known: {', '.join(DTYPES)}")


def default_bound(dtype: str, problem_dtype: str) -> float:
    """For an output of that dtype: a single-precision result of 16-bit numbers is as rough as these."""
    if dtype not in ERROR_BOUNDS:
        return 0.0
    return max(ERROR_BOUNDS[dtype], ERROR_BOUNDS.get(problem_dtype, 0.0))


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor that fusegate will allocate and fill.

    Made by :func:`uniform`, :func:`normal`, :func:`integers`, :func:`full`, :func:`filled` or :func:`empty`.

    Attributes
    ----------
    shape : tuple of int
        Its size along each dimension; ``()`` for a scalar tensor.
    dtype : str, optional
        Its number format, such as ``"bf16"``; by default the problem's.
    fill : tuple or callable
        Its contents before the call.
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

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


def uniform(*shape: int, low: float = -1.0, high: float = 1.0, dtype: Optional[str] = None) -> Tensor:
    """Random numbers, evenly spread over ``[low, high)``.

    Parameters
    ----------
    *shape : int
        The size along each dimension.
    low, high : float
        The bounds.
    dtype : str, optional
        The number format; by default the problem's.

    Returns
    -------
    Tensor
    """
    return Tensor(shape, dtype, ("uniform", low, high))


def normal(*shape: int, mean: float = 0.0, std: float = 1.0, dtype: Optional[str] = None) -> Tensor:
    """Random numbers of a normal distribution; parameters as of :func:`uniform`."""
    return Tensor(shape, dtype, ("normal", mean, std))


def integers(*shape: int, low: int = 0, high: int, dtype: str = "int32") -> Tensor:
    """Random whole numbers from ``low`` up to but not including ``high``, as of :func:`torch.randint`."""
    return Tensor(shape, dtype, ("integers", low, high))


def full(*shape: int, value: float, dtype: Optional[str] = None) -> Tensor:
    """The same number everywhere."""
    return Tensor(shape, dtype, ("full", value))


def filled(*shape: int, by: Callable, dtype: Optional[str] = None) -> Tensor:
    """Filled by a function of yours.

    Parameters
    ----------
    *shape : int
        The size along each dimension.
    by : callable
        ``by(tensor, generator)`` writes every element of the tensor. Numbers drawn from the generator repeat in a run with
        the same seed.
    dtype : str, optional
        The number format; by default the problem's.
    """
    return Tensor(shape, dtype, by)


def empty(*shape: int, dtype: Optional[str] = None) -> Tensor:
    """An output, whose contents a kernel must not read."""
    return Tensor(shape, dtype, None)
