"""The array libraries of kernels: views of the engine's memory, and what the binding does with arrays."""

from __future__ import annotations

import ctypes
import functools
import math
import random
from typing import Any, Optional

from .errors import InputError, one_line
from .tensors import DTYPES

Form = tuple[tuple[int, ...], str]


class Arrays:
    """What libraries have in common. stream: the engine's, or None on a CPU. Arrays that a call allocates come from a pool of
    its own, which is entered before the call and left after it."""

    def __init__(self, module: Any, device: str, stream: Optional[int]):
        self.module, self.device, self.stream = module, device, stream

    def form(self, array: Any) -> Form:
        """Its shape, and its dtype by fusegate's name, else the library's."""
        given = str(array.dtype).rpartition(".")[2]
        return tuple(array.shape), next((name for name, names in DTYPES.items() if names[1] == given), given)

    def own(self, value: Any) -> Any:
        """The value as this library's array, if it is an array."""
        if isinstance(value, self.array_type):
            return value
        return self.module.from_dlpack(value) if is_array(value) else value

    def is_own(self, value: Any) -> bool:
        return isinstance(value, self.array_type)

    def enter_pool(self) -> Any:
        """Returns what leaves it."""
        return lambda: None

    def check_device(self) -> str:
        """What a callable changed for the others; "" if nothing."""
        return ""

    array_type: type = object


    # As NumPy and CuPy do it.

    @staticmethod
    def copy(target, source) -> None:
        target[...] = source

    @staticmethod
    def poison(array) -> None:
        """Makes elements that are never written visible."""
        array[...] = math.nan if array.dtype.kind == "f" else -91 if array.dtype.kind == "i" else 165

    @staticmethod
    def cast(array, dtype: str):
        return array.astype(DTYPES[dtype][2])

    def generator(self, seed: int):
        self.module.random.seed(seed & 0xFFFFFFFF)  # for user functions that draw without the generator
        return self.module.random.default_rng(seed)


class Torch(Arrays):

    def __init__(self, module, device, stream):
        super().__init__(module, device, stream)
        self.array_type = module.Tensor
        self._external = None
        if device != "cuda":
            return
        try:
            module.cuda.init()
            self._external = module.cuda.ExternalStream(stream)
            module.cuda.set_stream(self._external)
            # The workspaces that torch keeps for cuBLAS: in no benchmark's pool.
            one = module.ones(32, 32, device="cuda")
            module.mm(one, one)
        except Exception as error:
            raise InputError(f"torch {module.__version__}", "", f"cannot use this GPU: {one_line(error)}; its CUDA is "
                                                                f"{module.version.cuda}") from error

    def view(self, address: int, shape: tuple[int, ...], dtype: str):
        kind = getattr(self.module, DTYPES[dtype][1], None)
        if kind is None:
            raise ValueError(f"torch {self.module.__version__} has no {DTYPES[dtype][1]}")
        count = math.prod(shape) * DTYPES[dtype][0]
        if self.device == "cpu":
            raw = self.module.frombuffer(_buffer(address, count), dtype=self.module.uint8)
        else:
            raw = self.module.as_tensor(_DeviceBytes(address, count), device="cuda")
        return raw.view(kind).view(shape)

    @staticmethod
    def copy(target, source) -> None:
        target.copy_(source.detach())

    def poison(self, array) -> None:
        if array.dtype.is_floating_point:
            array.detach().copy_(self.module.full((), math.nan, device=array.device))
        else:
            array.fill_(-91 if array.dtype.is_signed else 165)

    @staticmethod
    def address(array) -> int:
        return array.data_ptr()

    def cast(self, array, dtype: str):
        return array.to(getattr(self.module, DTYPES[dtype][1]))

    def empty(self, shape: tuple[int, ...], dtype: str, meta: bool = False):
        return self.module.empty(shape, dtype=getattr(self.module, DTYPES[dtype][1]), device="meta" if meta else self.device)

    def generator(self, seed: int):
        self.module.manual_seed(seed)  # for user functions that draw without the generator
        return self.module.Generator(device=self.device).manual_seed(seed)

    def enter_pool(self):
        if self.device != "cuda":
            return lambda: None
        using = self.module.cuda.use_mem_pool(self.module.cuda.MemPool())
        using.__enter__()
        return lambda: using.__exit__(None, None, None)

    def check_device(self) -> str:
        if self.device != "cuda":
            return ""
        cuda, at = self.module.cuda, self.module.cuda.current_device()
        if at == 0 and cuda.current_stream() == self._external:
            return ""
        cuda.set_stream(self._external)
        return f"makes cuda:{at} the current device" if at != 0 else "makes another stream the current one"


class Cupy(Arrays):
    def __init__(self, module, device, stream):
        super().__init__(module, device, stream)
        self.array_type = module.ndarray
        module.cuda.ExternalStream(stream).use()

    def view(self, address: int, shape: tuple[int, ...], dtype: str):
        kind = DTYPES[dtype][2]
        if kind is None:
            raise ValueError(f"CuPy has no {dtype}")
        memory = self.module.cuda.UnownedMemory(address, math.prod(shape) * DTYPES[dtype][0], self)
        return self.module.ndarray(shape, kind, self.module.cuda.MemoryPointer(memory, 0))

    @staticmethod
    def address(array) -> int:
        return array.data.ptr


class Numpy(Arrays):
    def __init__(self, module, device, stream):
        super().__init__(module, device, stream)
        self.array_type = module.ndarray

    def own(self, value):
        # A sum over all elements is a NumPy scalar.
        return self.module.asarray(value) if is_array(value) or isinstance(value, self.module.generic) else value

    def view(self, address: int, shape: tuple[int, ...], dtype: str):
        kind = DTYPES[dtype][2]
        if kind is None:
            raise ValueError(f"NumPy has no {dtype}")
        return self.module.frombuffer(_buffer(address, math.prod(shape) * DTYPES[dtype][0]), kind).reshape(shape)

    @staticmethod
    def address(array) -> int:
        return array.__array_interface__["data"][0]


def is_array(value: Any) -> bool:
    return hasattr(value, "__dlpack__") and hasattr(value, "shape")


@functools.lru_cache(maxsize=None)
def library(name: str, device: str, stream: Optional[int]) -> Arrays:
    """Raises InputError if it cannot be loaded or used there."""
    try:
        module = __import__(name)
    except Exception as error:
        raise InputError(name, "", f"cannot be imported: {one_line(error)}") from error
    return {"torch": Torch, "cupy": Cupy, "numpy": Numpy}[name](module, device, stream)


def seed_of(*parts: Any) -> int:
    return random.Random(repr(parts)).getrandbits(63)


class _DeviceBytes:
    """Bytes of the engine's, by the CUDA array interface."""

    def __init__(self, address: int, count: int):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3}


def _buffer(address: int, count: int):
    return (ctypes.c_char * count).from_address(address)
