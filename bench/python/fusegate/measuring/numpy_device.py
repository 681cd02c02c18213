"""The CPU with NumPy's arrays, if no kernel needs torch. Has the interface of TorchDevice."""

from __future__ import annotations

import math
import os
import random
from typing import Any

from ..machine.host import model_name
from ..tensors import DTYPES
from .memory import Memory


class NumpyDevice(Memory):
    """numpy: the module."""

    kind, uuid = "cpu", ""

    def __init__(self, numpy, seed=0):
        super().__init__()
        self._numpy = numpy
        self._names = {numpy.dtype(names[2]): name for name, names in DTYPES.items() if names[2]}
        self._ballast, self._random = None, random.Random(seed)

    @property
    def name(self) -> str:
        return model_name()

    def versions(self) -> dict[str, str]:
        return {"threads": str(len(os.sched_getaffinity(0)))}

    def synchronize(self) -> None:
        """Nothing runs asynchronously."""

    def free_bytes(self) -> int:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def fresh_memory(self) -> None:
        self._ballast = self.raw(self._random.randint(1, 64) << 20)

    def raw(self, number_of_bytes: int):
        return self._numpy.empty(number_of_bytes, dtype="uint8")

    @staticmethod
    def bytes_of(raw, begin: int, end: int):
        return raw[begin:end]

    @staticmethod
    def view(raw, shape: tuple[int, ...], dtype: str):
        if DTYPES[dtype][2] is None:
            raise ValueError(f"NumPy has no {dtype}")
        return raw.view(DTYPES[dtype][2]).reshape(shape)

    @staticmethod
    def count_other(raw, value: int) -> int:
        return int((raw != value).sum())

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self._numpy.ndarray)

    def form(self, array) -> tuple[tuple[int, ...], str]:
        return tuple(array.shape), self._names.get(array.dtype, str(array.dtype))

    def generator(self, seed):
        number = random.Random(str(seed)).getrandbits(63)
        self._numpy.random.seed(number & 0xFFFFFFFF)  # for user functions that draw without the generator
        return self._numpy.random.default_rng(number)

    @staticmethod
    def draw(array, how: str, numbers, generator) -> None:
        if how == "full":
            array[...] = numbers[0]
        else:
            array[...] = getattr(generator, how)(*numbers, size=array.shape)

    @staticmethod
    def copy(target, source) -> None:
        target[...] = source

    @staticmethod
    def clone(array):
        return array.copy()

    @staticmethod
    def address(array) -> int:
        return array.__array_interface__["data"][0]

    @staticmethod
    def same(one, other) -> bool:
        return one.tobytes() == other.tobytes()

    def poison(self, array) -> None:
        array[...] = math.nan if self.is_float(array) else -91 if array.dtype.kind == "i" else 165

    @staticmethod
    def is_float(array) -> bool:
        return array.dtype.kind == "f"

    def widened(self, array):
        return array.astype("float64") if self.is_float(array) else array.copy()

    def error(self, out, reference) -> tuple[float, int]:
        wide, expected = out.astype("float64"), reference.astype("float64")
        not_finite = self.not_finite(wide)
        if not_finite:
            return math.inf, not_finite
        norm, distance = (float(self._numpy.linalg.norm(each.ravel())) for each in (expected, wide - expected))
        return (distance / norm if norm else math.inf if distance else 0.0), 0

    def not_finite(self, array) -> int:
        return int((~self._numpy.isfinite(array)).sum()) if self.is_float(array) else 0

    @staticmethod
    def given(array, _library: str):
        return array

    def taken(self, value: Any) -> Any:
        # A sum over all elements is a NumPy scalar.
        return self._numpy.asarray(value) if isinstance(value, self._numpy.generic) else value
