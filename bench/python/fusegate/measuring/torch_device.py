"""A device of torch, CUDA or the CPU: its memory, random inputs, and the difference between a result and its reference."""

from __future__ import annotations

import ctypes
import math
import os
import random
from typing import Any

from ..machine.host import model_name
from ..tensors import DTYPES
from .memory import Memory


class TorchDevice(Memory):
    """torch: the module. kind: "cuda" or "cpu"."""

    def __init__(self, torch, kind="cuda", seed=0):
        super().__init__()
        self.torch, self.kind = torch, kind
        self._dtypes = {name: getattr(torch, names[1]) for name, names in DTYPES.items() if hasattr(torch, names[1])}
        self._names = {dtype: name for name, dtype in self._dtypes.items()}
        self._ballast = None
        self._random = random.Random(seed)

    @property
    def name(self) -> str:
        return self.torch.cuda.get_device_name() if self.kind == "cuda" else model_name()

    @property
    def uuid(self) -> str:
        """The GPU's UUID for NVML; empty for a CPU."""
        if self.kind != "cuda":
            return ""
        return f"GPU-{self.torch.cuda.get_device_properties(self.torch.cuda.current_device()).uuid}"

    def versions(self) -> dict[str, str]:
        """Versions of torch's CUDA runtime and cuBLAS, under fusegate_bench's keys."""
        if self.kind != "cuda":
            return {"threads": str(self.torch.get_num_threads())}
        versions = {"cuda": self.torch.version.cuda}
        try:
            # By this name, the loader finds the library that torch has loaded.
            number = ctypes.CDLL(f"libcublasLt.so.{versions['cuda'].split('.')[0]}").cublasLtGetVersion
        except (OSError, AttributeError):
            return versions
        number.restype = ctypes.c_size_t
        value = number()
        return {**versions, "cublas": f"{value // 10000}.{value // 100 % 100}.{value % 100}"}

    def synchronize(self) -> None:
        if self.kind == "cuda":
            self.torch.cuda.synchronize()

    def free_bytes(self) -> int:
        if self.kind == "cuda":
            return self.torch.cuda.mem_get_info()[0]
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def fresh_memory(self) -> None:
        """Empties torch's cache and allocates a block of random size, so that new tensors do not reuse the addresses that
        were just freed."""
        megabytes = self._random.randint(1, 64)
        self._ballast = self.raw(megabytes << 20)
        if self.kind == "cuda":
            self.torch.cuda.empty_cache()

    def raw(self, number_of_bytes: int):
        return self.torch.empty(number_of_bytes, dtype=self.torch.uint8, device=self.kind)

    @staticmethod
    def bytes_of(raw, begin: int, end: int):
        return raw[begin:end]

    def view(self, raw, shape: tuple[int, ...], dtype: str):
        if dtype not in self._dtypes:
            raise ValueError(f"torch {self.torch.__version__} has no {DTYPES[dtype][1]}")
        return raw.view(self._dtypes[dtype]).view(shape)

    @staticmethod
    def count_other(raw, value: int) -> int:
        return int((raw != value).sum())

    # Values.

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor)

    def form(self, array) -> tuple[tuple[int, ...], str]:
        """Its shape, and its dtype by fusegate's name, else torch's."""
        return tuple(array.shape), self._names.get(array.dtype, str(array.dtype))

    def generator(self, seed):
        """Also seeds torch's own generator, for user functions that draw from it."""
        number = random.Random(str(seed)).getrandbits(63)
        self.torch.manual_seed(number)
        return self.torch.Generator(device=self.kind).manual_seed(number)

    def draw(self, array, how: str, numbers, generator) -> None:
        if how == "full":
            array.fill_(numbers[0])
            return
        # Draws in single precision and rounds: torch cannot draw 8-bit numbers.
        wide = self.torch.empty(array.shape, device=self.kind,
                                dtype=self.torch.int64 if how == "integers" else self.torch.float32)
        if how == "integers":
            wide.random_(*numbers, generator=generator)
        elif how == "uniform":
            wide.uniform_(*numbers, generator=generator)
        else:
            wide.normal_(*numbers, generator=generator)
        array.copy_(wide)

    @staticmethod
    def copy(target, source) -> None:
        target.copy_(source)

    @staticmethod
    def clone(array):
        return array.clone()

    @staticmethod
    def address(array) -> int:
        return array.data_ptr()

    def same(self, one, other) -> bool:
        """Whether all bits are equal, also of NaN."""
        return self.torch.equal(*(each.reshape(-1).view(self.torch.uint8) for each in (one, other)))

    def poison(self, array) -> None:
        """Makes elements that are never written visible."""
        if self.is_float(array):
            array.copy_(self.torch.full((), math.nan, device=self.kind))
        else:
            array.fill_(-91 if array.dtype.is_signed else 165)

    @staticmethod
    def is_float(array) -> bool:
        return array.dtype.is_floating_point

    def widened(self, array):
        """In double precision; integers as they are."""
        return array.double() if self.is_float(array) else array.clone()

    def error(self, out, reference) -> tuple[float, int]:
        """||out - reference|| / ||reference||, and how many elements of out are not finite; one makes the error infinite. The
        shapes must be equal."""
        wide, expected = out.double(), reference.double()
        not_finite = self.not_finite(wide)
        if not_finite:
            return math.inf, not_finite
        norm, distance = float(expected.norm()), float((wide - expected).norm())
        return (distance / norm if norm else math.inf if distance else 0.0), 0

    def not_finite(self, array) -> int:
        return int((~self.torch.isfinite(array.double())).sum()) if self.is_float(array) else 0

    # To and from the library of the benchmark's callable.

    def given(self, array, library: str):
        if library == "cupy":
            import cupy  # pylint: disable=import-outside-toplevel
            return cupy.from_dlpack(array)
        return array.numpy() if library == "numpy" else array

    def taken(self, value: Any) -> Any:
        """A result as torch's tensor, if that is possible."""
        if self.is_array(value) or value is None:
            return value
        if hasattr(value, "__dlpack__"):
            return self.torch.from_dlpack(value)
        return value

