"""A problem: the axes' values and the number format that an operation is computed for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from .tensors import DTYPES


@dataclasses.dataclass(frozen=True)
class Problem:
    """What your functions are told: ``problem.rows`` is the value of the axis ``rows``.

    Attributes
    ----------
    axes : mapping of str to int
        The value of each axis, in the order of the benchmark's name.
    dtype : str
        The number format, such as ``"bf16"``.
    device : str
        ``"cuda"`` or ``"cpu"``, where it is measured.
    """

    items: tuple[tuple[str, int], ...]
    dtype: str
    device: str = "cuda"

    @property
    def axes(self) -> Mapping[str, int]:
        return dict(self.items)

    @property
    def name(self) -> str:
        """As it stands in the benchmark's name: ``bf16/heads:16/kv:4096``."""
        return "/".join((self.dtype, *(f"{axis}:{value}" for axis, value in self.items)))

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype][0]

    @property
    def torch_dtype(self):
        """The number format as torch has it: ``torch.bfloat16``."""
        import torch  # pylint: disable=import-outside-toplevel
        return getattr(torch, DTYPES[self.dtype][1])

    def __getitem__(self, axis: str) -> int:
        return dict(self.items)[axis]

    def __getattr__(self, axis: str) -> int:
        # Asked for what is no attribute: an axis, or nothing.
        values = dict(object.__getattribute__(self, "items"))
        if axis in values:
            return values[axis]
        raise AttributeError(f"the problem has no axis '{axis}'; its axes: {', '.join(values)}")
