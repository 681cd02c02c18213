"""What an operation takes and gives: the shape of a tensor, its number format, and what it is filled with."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Optional, Union

# By fusegate's name for it: bytes of an element, torch's name, and NumPy's, None where it has none.
DTYPES = {
    "fp64": (8, "float64", "float64"), "fp32": (4, "float32", "float32"), "fp16": (2, "float16", "float16"),
    "bf16": (2, "bfloat16", None), "fp8_e4m3": (1, "float8_e4m3fn", None), "fp8_e5m2": (1, "float8_e5m2", None),
    "int64": (8, "int64", "int64"), "int32": (4, "int32", "int32"), "int16": (2, "int16", "int16"),
    "int8": (1, "int8", "int8"), "uint8": (1, "uint8", "uint8"),
}

# The largest ||out - ref|| / ||ref|| that rounding explains (kernels/contract/expected.h). An integer is right or wrong.
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
        For what fusegate does not know.
    """
    told = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", str(dtype))
    told = told.rpartition(".")[2]  # torch.bfloat16
    for name, (_, torchs, _) in DTYPES.items():
        if told in (name, torchs):
            return name
    raise ValueError(f"unknown dtype {dtype!r}; known: {', '.join(DTYPES)}")


def default_bound(dtype: str, problem_dtype: str) -> float:
    """Of an output of that dtype: a result in single precision of 16-bit numbers is as rough as these."""
    if dtype not in ERROR_BOUNDS:
        return 0.0
    return max(ERROR_BOUNDS[dtype], ERROR_BOUNDS.get(problem_dtype, 0.0))


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A tensor that fusegate allocates and fills.

    Made by :func:`uniform`, :func:`normal`, :func:`integers`, :func:`full`, :func:`filled` or :func:`empty`.

    Attributes
    ----------
    shape : tuple of int
        Its size along each dimension; ``()`` for a scalar tensor.
    dtype : str, optional
        Its number format, such as ``"bf16"``; that of the problem where left out.
    fill : tuple or callable
        What it holds before the call.
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
        The number format; that of the problem where left out.

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
        ``by(tensor, generator)`` writes every element of the tensor. The generator is seeded: what it draws from there
        is the same whenever the run is repeated with the same seed.
    dtype : str, optional
        The number format; that of the problem where left out.
    """
    return Tensor(shape, dtype, by)


def empty(*shape: int, dtype: Optional[str] = None) -> Tensor:
    """Of an output: nothing that a kernel may read."""
    return Tensor(shape, dtype, None)
