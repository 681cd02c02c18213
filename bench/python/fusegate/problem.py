"""A problem: values of the axes and a number format, for which an operation is computed."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any, Union

from .tensors import DTYPES

LARGEST_AXIS = 1 << 24
# A size, a fraction, a switch, or a name.
AxisValue = Union[int, float, bool, str]
# Describes a valid value in messages.
AXIS_VALUES = f"a whole number from 1 to {LARGEST_AXIS}, a fraction, True or False, or a name"
# A benchmark's name puts names and values between slashes.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def is_name(name: Any) -> bool:
    """Whether operations and implementations can have this name."""
    return isinstance(name, str) and bool(_NAME.fullmatch(name))


def is_axis_value(value: Any) -> bool:
    """Whether an axis can have the value: its text in a benchmark's name must be unambiguous."""
    if isinstance(value, int):
        return isinstance(value, bool) or 1 <= value <= LARGEST_AXIS
    if isinstance(value, float):
        return math.isfinite(value)
    return is_name(value) and parse_axis_value(value) == value


def axis_text(value: AxisValue) -> str:
    """The value as a benchmark's name has it: 8, 0.5, true, gelu."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_axis_value(text: str) -> AxisValue:
    """The inverse of axis_text(). The result need not be a valid value of an axis."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@dataclasses.dataclass(frozen=True)
class Problem:
    """The argument of your functions: ``problem.rows`` and ``problem["rows"]`` are the value of the axis ``rows``.

    axes: the value of each axis, in the order of the benchmark's name. dtype: the number format, such as ``"bf16"``. device:
    ``"cuda"`` or ``"cpu"``, where it is measured.
    """

    items: tuple[tuple[str, AxisValue], ...]
    dtype: str
    device: str = "cuda"

    @property
    def axes(self) -> Mapping[str, AxisValue]:
        return dict(self.items)

    @property
    def name(self) -> str:
        """As the benchmark's name has it: ``bf16/heads:16/kv:4096``."""
        return "/".join((self.dtype, *(f"{axis}:{axis_text(value)}" for axis, value in self.items)))

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype].itemsize

    @property
    def torch_dtype(self):
        """torch's number format: ``torch.bfloat16``."""
        import torch  # pylint: disable=import-outside-toplevel
        return getattr(torch, DTYPES[self.dtype].library_name)

    def __getitem__(self, axis: str) -> AxisValue:
        return self.axes[axis]

    def __getattr__(self, axis: str) -> AxisValue:
        # Called only for names that are not attributes; of a copy that is being made, also for items.
        values = dict(object.__getattribute__(self, "items"))
        if axis in values:
            return values[axis]
        raise AttributeError(f"the problem has no axis '{axis}'; its axes: {', '.join(values)}")
