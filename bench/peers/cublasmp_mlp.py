"""cuBLASMp's products of several ranks, by its C functions (cublasmp.h): x gathered while it is multiplied, and the down projection
reduced while it is computed. The gated unit between them is one kernel of PyTorch's compiler.

cuBLASMp counts elements by columns. A matrix of torch's is its transpose there: out = x w^T is out^T = w x^T, with w^T as it lies
in memory for the first operand, transposed. Where each rank's part lies, its samples say (CUDALibrarySamples, cuBLASMp)."""

import ctypes
import functools
import importlib.util
import pathlib
from ctypes import byref, c_char, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p

import fusegate
import torch

from compiled import compiled
from marks import marked
from problems import rows

# Of cuda_runtime.h, cublas_v2.h and cublasmp.h.
_TYPES = {"bf16": 14, "fp16": 2}  # cudaDataType
_FP32_SUMS, _PLAIN, _TRANSPOSED = 68, 0, 1  # cublasComputeType_t, cublasOperation_t
_COLUMN_OF_RANKS, _ROW_OF_RANKS = 0, 1  # cublasMpGridLayout_t, each for its own shape of grid
_OF_A, _OF_B, _EPILOGUE, _ALL_REDUCE = 0, 1, 5, 1  # cublasMpMatmulDescriptorAttribute_t, cublasMpMatmulEpilogue_t


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", c_char * 128)]


class Libraries:
    """cuBLASMp and the NCCL that it is linked to. Raises ImportError where it cannot be loaded."""

    def __init__(self, path):
        try:
            self._cublasmp, self._nccl = ctypes.CDLL(str(path)), ctypes.CDLL("libnccl.so.2")
        except OSError as error:  # such as for a symbol of a newer NCCL than torch's
            raise ImportError(f"cuBLASMp cannot be loaded; it needs NCCL 2.29.2 or newer: {error}") from error
        self._cublasmp.cublasMpGetStatusString.restype = self._nccl.ncclGetErrorString.restype = c_char_p

    def __call__(self, function, *arguments):
        """Raises RuntimeError where the function fails."""
        is_nccls = function.startswith("nccl")
        status = getattr(self._nccl if is_nccls else self._cublasmp, function)(*arguments)
        if status != 0:
            text = self._nccl.ncclGetErrorString(status) if is_nccls else self._cublasmp.cublasMpGetStatusString(status)
            raise RuntimeError(f"{function}: {text.decode()}")


@functools.lru_cache(maxsize=None)
def load():
    package = importlib.util.find_spec("nvidia.cublasmp")
    found = [path for folder in package.submodule_search_locations for path in pathlib.Path(folder).glob("*/lib/libcublasmp.so.*")]
    if not found:
        raise ImportError("nvidia.cublasmp has no libcublasmp.so")
    return Libraries(found[0])


@functools.lru_cache(maxsize=None)
def communicator(call, ranks):
    identity, result = UniqueId(), c_void_p()
    if fusegate.rank() == 0:
        call("ncclGetUniqueId", byref(identity))
    identity = UniqueId.from_buffer_copy(fusegate.gather("the id of cuBLASMp's communicator", bytes(identity))[0])
    call("ncclCommInitRank", byref(result), c_int(ranks), identity, c_int(fusegate.rank()))
    return result


@functools.lru_cache(maxsize=None)
def grids(call, ranks):
    """Ranks one below another, and beside each other."""
    column, row = c_void_p(), c_void_p()
    call("cublasMpGridCreate", c_int64(ranks), c_int64(1), c_int(_COLUMN_OF_RANKS), communicator(call, ranks), byref(column))
    call("cublasMpGridCreate", c_int64(1), c_int64(ranks), c_int(_ROW_OF_RANKS), communicator(call, ranks), byref(row))
    return {"column": column, "row": row}


@functools.lru_cache(maxsize=None)
def handle(call):
    result = c_void_p()
    call("cublasMpCreate", byref(result), c_void_p(torch.cuda.current_stream().cuda_stream))
    return result


def layouts(exchange, m, n, k, ranks):
    """Of a, b and d: rows, columns, both of a rank's part, and how ranks have these."""
    if exchange == "all_gather":
        return (k, m, k, m // ranks, "row"), (k, n, k, n // ranks, "row"), (m, n, m // ranks, n // ranks, "column")
    if exchange == "reduce_scatter":
        return (k, m, k // ranks, m, "column"), (k, n, k // ranks, n // ranks, "column"), (m, n, m, n // ranks, "row")
    return (k, m, k // ranks, m, "column"), (k, n, k // ranks, n, "column"), (m, n * ranks, m, n, "row")


class Product:
    """x w^T over all ranks. exchange: all_gather, where a rank has rows of x and of w, and then all rows of out; reduce_scatter or
    all_reduce, where it has columns of both, and then rows of out, or all of it. m, n, k: the whole's outputs, rows and inputs."""

    def __init__(self, call, exchange, sizes, dtype):
        self._call, self._sizes, self._ranks = call, [c_int64(size) for size in sizes], fusegate.ranks()
        self._scalars, self._operation = (c_float(1), c_float(0)), c_void_p()
        call("cublasMpMatmulDescriptorCreate", byref(self._operation), c_int(_FP32_SUMS))
        attributes = {_OF_A: _TRANSPOSED, _OF_B: _PLAIN, **({_EPILOGUE: _ALL_REDUCE} if exchange == "all_reduce" else {})}
        for attribute, value in attributes.items():
            call("cublasMpMatmulDescriptorSetAttribute", self._operation, c_int(attribute), byref(c_int(value)), c_size_t(4))
        layout = layouts(exchange, *sizes, self._ranks)
        self._matrices = [self._describe(*matrix, dtype) for matrix in layout]
        self.registered = self._take_workspace(layout[2][4])

    def _describe(self, height, width, part_height, part_width, grid, dtype):
        matrix = c_void_p()
        self._call("cublasMpMatrixDescriptorCreate", *map(c_int64, (height, width, part_height, part_width, 0, 0, part_height)),
                   c_int(_TYPES[dtype]), grids(self._call, self._ranks)[grid], byref(matrix))
        return matrix

    def _arguments(self, w, x, out):
        one, (a, b, d), (alpha, beta) = c_int64(1), self._matrices, self._scalars
        return (handle(self._call), self._operation, *self._sizes, byref(alpha), c_void_p(w), one, one, a, c_void_p(x), one, one, b,
                byref(beta), None, one, one, None, c_void_p(out), one, one, d)

    def _take_workspace(self, grid):
        """Whether it is registered; without, cuBLASMp overlaps nothing."""
        device, host = c_size_t(), c_size_t()
        self._call("cublasMpMatmul_bufferSize", *self._arguments(0, 0, 0), byref(device), byref(host))
        self._device, self._host = c_void_p(), ctypes.create_string_buffer(max(1, host.value))
        self._call("ncclMemAlloc", byref(self._device), c_size_t(max(1, device.value)))
        self._workspace = (self._device, device, self._host, host)
        try:
            self._call("cublasMpBufferRegister", grids(self._call, self._ranks)[grid], self._device, device)
        except RuntimeError as error:
            return f"workspace not registered ({error})"
        return "workspace registered"

    def launch(self, x, w, out):
        self._call("cublasMpMatmul", *self._arguments(w.data_ptr(), x.data_ptr(), out.data_ptr()), *self._workspace)
        return out


class CublasmpMlp:
    """gathers: a rank has rows of x and of out; else both whole. choices: cuBLASMp's version, and whether it can overlap."""

    def __init__(self, activation, gathers, problem):
        if problem.dtype not in _TYPES:
            raise ValueError(f"computes in {' and '.join(_TYPES)} only")
        call, version, height, ranks = load(), c_int(), rows(problem), problem.ranks
        call("cublasMpGetVersion", byref(version))
        exchange = "reduce_scatter" if gathers else "all_reduce"
        down = Product(call, exchange, (problem.dim, height, problem.hidden), problem.dtype)
        both = (height, 2 * problem.hidden // ranks)
        if gathers:
            up = Product(call, "all_gather", (2 * problem.hidden, height, problem.dim), problem.dtype)
            self._up = marked("all_gather_gate_up_proj", lambda x, w: up.launch(x, w, alike(x, both)))
        else:
            self._up = marked("gate_up_proj", torch.nn.functional.linear)
        self._gated = marked(f"{activation.name}_mul", compiled(lambda both: half(activation, *both.chunk(2, dim=1))))
        out = (height // ranks if gathers else height, problem.dim)
        self._down = marked(f"down_proj_{exchange}", lambda h, w: down.launch(h, w, alike(h, out)))
        self.choices = {"cublasmp_library": f"{version.value // 10000}.{version.value // 100 % 100}.{version.value % 100}",
                        f"down_proj_{exchange}": down.registered}

    def __call__(self, x, w_gate_up, w_down):
        return self._down(self._gated(self._up(x, w_gate_up)), w_down)


def pack(x, w_gate, w_up, w_down):
    """CublasmpMlp's arguments."""
    return x, torch.cat((w_gate, w_up)), w_down


def alike(tensor, shape):
    return torch.empty(shape, dtype=tensor.dtype, device=tensor.device)


def half(activation, gate, up):
    return activation.eager(gate) * up
