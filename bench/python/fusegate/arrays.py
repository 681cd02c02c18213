"""The array libraries of kernels: views of the engine's memory, and what the binding does with arrays."""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from typing import Any, Callable, Optional

from .errors import InputError, one_line
from .tensors import DTYPES

Form = tuple[tuple[int, ...], str]
_LARGEST_SEED = (1 << 63) - 1  # of torch


class Arrays:
    """What libraries have in common; the rest as NumPy and CuPy have it. stream: the engine's, or None on a CPU. number: of the
    engine's GPU, which is its rank."""

    def __init__(self, module: Any, array_type: type, device: str, stream: Optional[int], number: int):
        self.module, self.array_type, self.device, self.stream, self.number = module, array_type, device, stream, number
        self.own_name = f"{module.__name__}.{array_type.__name__}"

    def kind(self, dtype: str) -> Any:
        """The library's dtype, or None."""
        return getattr(self.module, DTYPES[dtype].library_name, None)

    def view(self, address: int, shape: tuple[int, ...], dtype: str) -> Any:
        """The engine's memory as an array."""
        kind = self.kind(dtype)
        if kind is None:
            raise ValueError(f"{self.module.__name__} {self.module.__version__} has no {dtype}")
        return self.bytes_at(address, math.prod(shape) * DTYPES[dtype].itemsize).view(kind).reshape(shape)

    def form(self, array: Any) -> Form:
        """Its shape, and its dtype by fusegate's name, else the library's."""
        given = str(array.dtype).rpartition(".")[2]
        return tuple(array.shape), next((name for name, known in DTYPES.items() if known.library_name == given), given)

    def own(self, value: Any) -> Any:
        """The value as this library's array, if it is an array."""
        return value if self.is_own(value) or not is_array(value) else self.module.from_dlpack(value)

    def is_own(self, value: Any) -> bool:
        return isinstance(value, self.array_type)

    def why_not_plain(self, value: Any) -> str:
        """What a result is that is computed when it is read; "" where all of its numbers lie in memory."""
        if is_array(value) and type(value) not in _plain_types():
            return f"{type(value).__name__}, {'a subclass of' if self.is_own(value) else 'which is not a'} {self.own_name}"
        return ""

    def why_not_whole(self, array: Any) -> str:
        """The same of this library's own."""
        return "an array of objects" if array.dtype.hasobject else self._why_expanded(array.shape, array.strides)

    @staticmethod
    def _why_expanded(shape: Any, strides: Any) -> str:
        is_expanded = math.prod(shape) > 0 and any(size > 1 and stride == 0 for size, stride in zip(shape, strides))
        return "an expanded view, which has several elements at one address" if is_expanded else ""

    def full(self, shape: tuple[int, ...], dtype: str, value: float) -> Any:
        return self.module.full(shape, value, dtype=self.kind(dtype))

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(self.kind(dtype))

    @staticmethod
    def copy(target: Any, source: Any) -> None:
        target[...] = source

    @staticmethod
    def poison(array: Any) -> None:
        """Makes elements that are never written visible."""
        array[...] = math.nan if array.dtype.kind == "f" else -91 if array.dtype.kind == "i" else 165

    def generator(self, seed: int) -> Any:
        self.module.random.seed(seed & 0xFFFFFFFF)  # for user functions that draw without the generator
        return self.module.random.default_rng(seed & _LARGEST_SEED)

    def enter_pool(self) -> Callable[[], None]:
        """Until what it returns is called, arrays come from memory of their own, which stays theirs: a graph may hold its
        addresses."""
        return lambda: None

    def changed_device(self) -> str:
        """What a callable changed for all others; "" if nothing."""
        return ""


class Numpy(Arrays):
    def __init__(self, module, device, stream, number):
        super().__init__(module, module.ndarray, device, stream, number)

    def own(self, value):
        # A sum over all elements is a NumPy scalar.
        return self.module.asarray(value) if isinstance(value, self.module.generic) else super().own(value)

    def bytes_at(self, address: int, count: int):
        return self.module.frombuffer(_buffer(address, count), "uint8")

    @staticmethod
    def address(array) -> int:
        return array.__array_interface__["data"][0]


class Cupy(Arrays):
    def __init__(self, module, device, stream, number):
        super().__init__(module, module.ndarray, device, stream, number)
        module.cuda.Device(number).use()
        module.cuda.ExternalStream(stream).use()

    def bytes_at(self, address: int, count: int):
        memory = self.module.cuda.UnownedMemory(address, count, self)
        return self.module.ndarray((count,), "uint8", self.module.cuda.MemoryPointer(memory, 0))

    @staticmethod
    def address(array) -> int:
        return array.data.ptr


class Torch(Arrays):
    def __init__(self, module, device, stream, number):
        super().__init__(module, module.Tensor, device, stream, number)
        # Its methods are C and cannot be replaced, as those of the class can and those of a tensor.
        self._base = module.Tensor.__base__ if hasattr(module.Tensor.__base__, "copy_") else module.Tensor
        # How many pools are entered and not left. Torch aborts where a pool is freed before all are left, so all are kept.
        self._entered, self._pools = 0, []
        if device == "cuda":
            self._use_stream()

    def _use_stream(self) -> None:
        torch = self.module
        try:
            torch.cuda.set_device(self.number)  # before torch makes anything on another one
            self._stream = torch.cuda.ExternalStream(self.stream)
            torch.cuda.set_stream(self._stream)
            # Makes the workspaces that torch keeps for cuBLAS, which belong into no benchmark's pool.
            one = torch.ones(32, 32, device="cuda")
            torch.mm(one, one)
        except Exception as error:
            raise InputError(f"torch {torch.__version__}", "", f"cannot use this GPU ({one_line(error)}); it was built for "
                                                               f"CUDA {torch.version.cuda}") from error

    def bytes_at(self, address: int, count: int):
        if self.device == "cpu":
            return self.module.frombuffer(_buffer(address, count), dtype=self.module.uint8)
        return self.module.as_tensor(_DeviceBytes(address, count), device="cuda")

    def full(self, shape, dtype, value):
        return self.module.full(shape, value, dtype=self.kind(dtype), device=self.device)

    def meta(self, shape: tuple[int, ...], dtype: str):
        """A tensor without memory, for which torch computes shapes alone."""
        return self.module.empty(shape, dtype=self.kind(dtype), device="meta")

    def cast(self, array, dtype):
        return array.to(self.kind(dtype))

    def copy(self, target, source):
        self._base.copy_(target, self._base.detach(source))

    def poison(self, array):
        if array.dtype.is_floating_point:
            self.copy(self._base.detach(array), self.module.full((), math.nan, device=array.device))
        else:
            self._base.fill_(array, -91 if array.dtype.is_signed else 165)

    def address(self, array) -> int:
        return self._base.data_ptr(array)

    def why_not_whole(self, array):
        if array.device.type != self.device:
            return f"a tensor on {array.device.type}"
        if array.layout is not self.module.strided:
            return f"a tensor with the layout {array.layout}"
        if array.is_conj() or array.is_neg():
            return "a conjugate or negative view, whose numbers are computed when they are read"
        return self._why_expanded(array.shape, array.stride())

    def generator(self, seed):
        self.module.manual_seed(seed & _LARGEST_SEED)
        return self.module.Generator(device=self.device).manual_seed(seed & _LARGEST_SEED)

    def enter_pool(self):
        if self.device != "cuda":
            return super().enter_pool()
        pool = self.module.cuda.MemPool()
        entered = [self.module.cuda.use_mem_pool(pool)]
        entered[0].__enter__()  # pylint: disable=unnecessary-dunder-call
        self._entered += 1
        self._pools.append(pool)

        def leave() -> None:
            entered.pop().__exit__(None, None, None)  # whose frame has the pool too
            self._entered -= 1
            if self._entered == 0:
                self._pools.clear()
        return leave

    def changed_device(self):
        own = getattr(self.module, "_C", None)
        if own is not None and self._end_modes(own):
            return "leaves a mode active, in which torch's functions do something else"
        if self.device != "cuda":
            return ""
        device = own._cuda_getDevice()
        if device == self.number and own._cuda_getCurrentRawStream(device) == self.stream:
            return ""
        self.module.cuda.set_stream(self._stream)
        return f"makes cuda:{device} the current device" if device != self.number else "makes another stream the current one"

    def _end_modes(self, own: Any) -> int:
        """All but that of torch.set_default_device. Returns how many there were."""
        ended = [own._pop_torch_dispatch_stack(None) for _ in range(own._len_torch_dispatch_stack())]
        functions = [own._pop_torch_function_stack() for _ in range(own._len_torch_function_stack())]
        for mode in reversed(functions):
            if type(mode) is self.module.utils._device.DeviceContext:
                own._push_on_torch_function_stack(mode)
            else:
                ended.append(mode)
        return len(ended)


def _plain_types() -> list[type]:
    """Of arrays whose numbers lie in memory."""
    known = (("torch", "Tensor"), ("cupy", "ndarray"), ("numpy", "ndarray"))
    return [getattr(sys.modules[module], name) for module, name in known if module in sys.modules]


def is_array(value: Any) -> bool:
    return hasattr(value, "__dlpack__") and hasattr(value, "shape")


@functools.lru_cache(maxsize=None)
def library(name: str, device: str, stream: Optional[int], number: int) -> Arrays:
    """Raises InputError if it cannot be loaded or used there."""
    try:
        module = __import__(name)
    except Exception as error:
        raise InputError(name, "", f"cannot be imported: {one_line(error)}") from error
    return {"torch": Torch, "cupy": Cupy, "numpy": Numpy}[name](module, device, stream, number)


class _DeviceBytes:
    """Bytes of the engine's, by the CUDA array interface."""

    def __init__(self, address: int, count: int):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3}


def _buffer(address: int, count: int):
    return (ctypes.c_char * count).from_address(address)
