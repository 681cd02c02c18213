"""A torch on NumPy, as far as the package and the peers use it on a CPU. Its bf16 has no numbers. Its collectives are what ranks
exchange by fusegate.gather."""

import importlib.util
import math
import sys
import types

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows the tests as skipped

import numpy

__version__ = "2.11.0"
version = types.SimpleNamespace(cuda=None)


class Kind:
    """A dtype."""

    def __init__(self, name):
        self.name, self.numpy = name, numpy.dtype(name)
        self.is_floating_point, self.is_signed = self.numpy.kind == "f", self.numpy.kind != "u"

    def __str__(self):
        return f"torch.{self.name}"


uint8, int64, float16, float32, float64 = map(Kind, ("uint8", "int64", "float16", "float32", "float64"))
# Which round nothing.
bfloat16 = float8_e4m3fn = float64


strided = "torch.strided"


class Tensor(numpy.ndarray):
    device, layout = types.SimpleNamespace(type="cpu"), strided

    @property
    def dtype(self):
        return globals()[super().dtype.name]

    @property
    def numpy_dtype(self):
        return super().dtype

    def view(self, kind):
        if kind is Tensor:
            return self
        return numpy.asarray(self).view(kind.numpy).view(Tensor)

    def to(self, kind):
        return self.astype(kind.numpy)

    def copy_(self, source):
        self[...] = source

    def detach(self):
        return self

    def stride(self):
        return self.strides

    def is_conj(self):
        return False

    is_neg = is_conj

    def data_ptr(self):
        return self.__array_interface__["data"][0]

    def flatten(self, start=0, end=1):
        return self.reshape(*self.shape[:start], -1, *self.shape[end + 1:])

    def clamp(self, min, max=math.inf):  # pylint: disable=redefined-builtin
        return numpy.minimum(numpy.maximum(self, min), max)

    def float(self):
        return self

    def t(self):
        return self.T

    def chunk(self, count, dim):
        return numpy.split(self, count, axis=dim)

    def unflatten(self, dim, sizes):
        return self.reshape(*self.shape[:dim], *sizes, *self.shape[dim + 1:])

    def abs(self):
        return numpy.abs(self)

    def amax(self, dim, keepdim):
        return self.max(axis=dim, keepdims=keepdim)

    def repeat_interleave(self, count, dim):
        return self.repeat(count, axis=dim)

    def narrow(self, dim, start, count):
        return self.take(range(start, start + count), axis=dim)


def tensor(values, dtype=float64, device="cpu"):
    return numpy.array(values, dtype.numpy).view(Tensor)


def frombuffer(memory, dtype):
    return numpy.frombuffer(memory, dtype.numpy).view(Tensor)


def full(shape, value, dtype=float32, device="cpu"):
    return tensor(numpy.full(shape, value), dtype)


def empty(shape, dtype, device):
    return full(shape if isinstance(shape, tuple) else (shape,), math.nan if dtype.is_floating_point else 0, dtype)


def stack(tensors, dim):
    return numpy.stack(tensors, axis=dim).view(Tensor)


def cat(tensors):
    return numpy.concatenate(tensors).view(Tensor)


t, exp, tanh = numpy.transpose, numpy.exp, numpy.tanh
erf = numpy.vectorize(math.erf)


def _gelu(x, approximate="none"):
    if approximate == "tanh":
        return x * 0.5 * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return (x * 0.5 * (1 + erf(x / math.sqrt(2)))).to(x.dtype)


nn = types.SimpleNamespace(functional=types.SimpleNamespace(
    linear=lambda x, w, bias=None: x @ w.T if bias is None else x @ w.T + bias, gelu=_gelu,
    silu=lambda x: x / (1 + exp(-x)), relu=lambda x: numpy.maximum(x, 0)))


def _backward(function, d, x, **more):
    return d * (function(x + 1e-6, **more) - function(x - 1e-6, **more)) / 2e-6


_backwards = {"gelu_backward": lambda d, x, approximate="none": _backward(nn.functional.gelu, d, x, approximate=approximate),
              "silu_backward": lambda d, x: _backward(nn.functional.silu, d, x),
              "threshold_backward": lambda d, x, threshold: d * (x > threshold)}


def mm(a, b, out):
    out[...] = a @ b


def _of_ranks(what, tensor):
    """What each rank has."""
    import fusegate  # which needs this module for its tests alone
    return [numpy.frombuffer(part, tensor.numpy_dtype).reshape(tensor.shape)
            for part in fusegate.gather(what, numpy.ascontiguousarray(tensor).tobytes())]


def _part(whole):
    import fusegate
    return numpy.split(whole, fusegate.ranks())[fusegate.rank()].view(Tensor)


def device(kind, number):
    return types.SimpleNamespace(type=kind, index=number)


def _world_size():
    import fusegate
    return fusegate.ranks()


def _init_process_group(backend, rank, world_size, device_id=None):
    import fusegate
    assert (backend, device_id and device_id.index) in (("nccl", 0), ("gloo", None))
    assert (rank, world_size) == (fusegate.rank(), fusegate.ranks())


def _all_reduce(tensor, group):
    tensor[...] = sum(_of_ranks("all_reduce", tensor))


def _all_gather_into_tensor(whole, mine, group):
    whole[...] = numpy.concatenate(_of_ranks("all_gather", mine))


def _reduce_scatter_tensor(mine, summand, group):
    mine[...] = _part(sum(_of_ranks("reduce_scatter", summand)))


distributed = types.SimpleNamespace(
    init_process_group=_init_process_group, is_initialized=lambda: False, get_world_size=_world_size, group=types.SimpleNamespace(WORLD=types.SimpleNamespace(group_name="0")),
    all_reduce=_all_reduce, all_gather_into_tensor=_all_gather_into_tensor, reduce_scatter_tensor=_reduce_scatter_tensor)


def _reduced(summand, operation, name):
    assert (operation, name) == ("sum", "0")
    return sum(_of_ranks("all_reduce", summand)).view(Tensor)


def _fused_all_gather_matmul(x, weights, dim, name, return_A):
    assert (dim, name, return_A) == (0, "0", False)
    whole = numpy.concatenate(_of_ranks("all_gather", x)).view(Tensor)
    return None, [whole @ w for w in weights]


def _fused_matmul_reduce_scatter(h, w, operation, dim, name):
    assert (operation, dim, name) == ("sum", 0, "0")
    return _part(sum(_of_ranks("reduce_scatter", h @ w)))


ops = types.SimpleNamespace(
    aten=types.SimpleNamespace(**_backwards),
    symm_mem=types.SimpleNamespace(one_shot_all_reduce=_reduced, two_shot_all_reduce_=_reduced,
                                   fused_all_gather_matmul=_fused_all_gather_matmul,
                                   fused_matmul_reduce_scatter=_fused_matmul_reduce_scatter))
cuda = types.SimpleNamespace(reset_peak_memory_stats=lambda: None, memory_allocated=lambda: 100, max_memory_allocated=lambda: 164,
                             current_device=lambda: 0, get_device_name=lambda: "NVIDIA H200", synchronize=lambda: None,
                             current_stream=lambda: types.SimpleNamespace(cuda_stream=7))


def _scaled_mm(x, w, scale_a, scale_b, out_dtype, use_fast_accum):
    return (x * scale_a) @ (w * scale_b)


def compile(function, **_):  # pylint: disable=redefined-builtin
    return function


def manual_seed(_):
    pass


class Generator:
    def __init__(self, device):
        pass

    def manual_seed(self, _):
        return self
