"""Stand-ins for Triton, Liger, QuACK, cuDNN, cuBLASMp, FlashInfer and DeepGEMM, which compute on the fake torch's tensors; and
for ranks, which are threads."""

import contextlib
import ctypes
import dataclasses
import importlib.machinery
import itertools
import os
import sys
import tempfile
import threading
import types
from unittest import mock

import cublasmp_mlp
import fp8
import fusegate
import torch
import training
from fusegate import Problem

functional, NUMBERS = torch.nn.functional, torch.numpy.random.default_rng(5)
UNITS = {"geglu": lambda g: functional.gelu(g, approximate="tanh"), "swiglu": functional.silu, "reglu": functional.relu}
ACTIVATIONS = {"gelu_approx_tanh": UNITS["geglu"], "gelu": functional.gelu, "swish": functional.silu, "relu": functional.relu}


def problem(batch=1, seq=3, dim=4, hidden=5, dtype="bf16"):
    return Problem((("batch", batch), ("seq", seq), ("dim", dim), ("hidden", hidden)), dtype)


def problem_of_ranks(ranks=2, **sizes):
    of_one = problem(**{"seq": 128 * ranks, "hidden": 6 * ranks, **sizes})
    return dataclasses.replace(of_one, items=(*of_one.items, ("ranks", ranks)))


def in_ranks(count, run):
    """What run returns for each rank. Ranks exchange by fusegate.gather."""
    barrier, gives, results, own = threading.Barrier(count, timeout=60), [None] * count, [None] * count, threading.local()

    def gather(what, mine):
        gives[own.rank] = (what, bytes(mine))
        barrier.wait()
        names, given = zip(*gives)
        assert set(names) == {what}
        barrier.wait()
        return list(given)

    def thread(rank):
        own.rank = rank
        try:
            results[rank] = run(rank)
        except BaseException as error:  # pylint: disable=broad-except
            results[rank] = error
            barrier.abort()
    with mock.patch.multiple(fusegate, gather=gather, rank=lambda: own.rank, ranks=lambda: count):
        threads = [threading.Thread(target=thread, args=(rank,)) for rank in range(count)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, threading.BrokenBarrierError):
            raise result
    return results


def part_of(whole, axis, rank, count):
    """As torch has it: in memory of its own."""
    return whole if axis is None else torch.tensor(torch.numpy.split(whole, count, axis=axis)[rank].copy())


def random(*shape):
    return torch.tensor(NUMBERS.uniform(-2, 2, shape))


@dataclasses.dataclass
class GemmConfig:
    tile_m: int = 128
    tile_n: int = 192
    num_warps: object = None
    pingpong: bool = True
    device_capacity: int = 9


class FakeQuack:
    """Asks a tuner once for the same sizes, as QuACK does."""

    def __init__(self):
        class Autotuner:
            def __init__(self, config):
                self.best_config, self._config = None, config

            def __call__(self):
                self.best_config = types.SimpleNamespace(kwargs={"config": self._config})
        self.Autotuner, self._known = Autotuner, set()

    def gemm_gated(self, x, w, activation, store_preact, concat_layout, alpha=1.0, postact_dtype=None):
        assert not store_preact
        self._ask(GemmConfig(), activation, concat_layout, x.shape, w.shape)
        both, half = alpha * (x @ w), w.shape[1] // 2
        gate, up = (both[:, :half], both[:, half:]) if concat_layout else (both[:, 0::2], both[:, 1::2])
        return None, UNITS[activation](gate) * up

    def gemm(self, h, w, split_k, alpha=1.0, out_dtype=None):
        self._ask(GemmConfig(tile_m=256, pingpong=False), split_k, h.shape, w.shape)
        return alpha * (h @ w)

    def mlp_func(self, x, w_gate_up, w_down, activation, recompute, concat_layout):
        h = self.gemm_gated(x, w_gate_up.T, activation, False, ("B",) if concat_layout else None)[1]
        return self.gemm(h, w_down.T, ("kept", "again")[recompute])

    def linear_act_mod(self, activation, gated, has_c, has_rowvec, has_colvec):
        assert gated and not (has_c or has_rowvec or has_colvec)

        def gemm(x, w, preact, epi_args, tile_M, tile_N, cluster_M, b_kn, ag_args):
            assert preact is None and b_kn and ag_args == "arrivals" and tile_N == 256
            assert x.shape[0] // fusegate.ranks() % (tile_M * cluster_M) == 0
            both = x @ w
            epi_args["mAuxOut"].copy_(UNITS[activation](both[:, 0::2]) * both[:, 1::2])
        return types.SimpleNamespace(gemm=gemm)

    class AllGatherRunner:
        def __init__(self, rows, width, dtype, group, capture_lockstep=False):
            self._shape = (rows, width)
            assert dtype is torch.bfloat16 and group is torch.distributed.group.WORLD
            assert capture_lockstep  # else a captured call ends before its copies do

        @contextlib.contextmanager
        def gather(self, x):
            assert x.shape == self._shape
            whole = torch.empty((fusegate.ranks() * x.shape[0], x.shape[1]), x.dtype, x.device)
            torch.distributed.all_gather_into_tensor(whole, x, None)
            yield whole, "arrivals"

    def _ask(self, config, *key):
        if key not in self._known:
            self.Autotuner(config)()
            self._known.add(key)


class FakeGraph:
    """plans: their names; those in broken cannot be built."""

    def __init__(self, cudnn, plans=("eng0", "eng1_k2=3", "eng1_k2=4"), broken=()):
        self._cudnn, self.plans, self.broken, self._uids = cudnn, plans, broken, itertools.count()
        self.inputs, self.built, self.taken = [], [], []

    def tensor(self, name="", dim=(), stride=(), data_type="", compute=None):
        node = types.SimpleNamespace(uid=next(self._uids), dim=dim, stride=stride, data_type=data_type, compute=compute)
        node.get_uid = lambda: node.uid
        node.set_output = node.set_data_type = lambda _: node
        self.inputs += [node] if name else []
        self.result = node
        return node

    def matmul(self, a, b, name):
        return self.tensor(compute=lambda get: get(a) @ get(b).T)

    def mul(self, a, b, name):
        return self.tensor(compute=lambda get: get(a) * get(b))

    def __getattr__(self, activation):
        return lambda a, name: self.tensor(compute=lambda get: ACTIVATIONS[activation](get(a)))

    def _nothing(self, *_):
        pass

    validate = build_operation_graph = create_execution_plans = _nothing

    def get_execution_plan_count(self):
        return len(self.plans)

    def get_plan_name_at_index(self, index):
        return self.plans[index]

    def build_plan_at_index(self, index):
        self.built.append(index)
        if index in self.broken:
            raise RuntimeError("no valid engine")

    def get_workspace_size_plan_at_index(self, index):
        return 100 * index

    def execute_plan_at_index(self, tensors, _workspace, index, _handle):
        assert index in self.built
        self.taken.append(index)
        self._cudnn.launched = index

        def get(node):
            return node.compute(get) if node.compute else tensors[node.uid]
        tensors[self.result.uid].copy_(get(self.result))


class FakeCudnn:
    """times: of plans by index, as its Triton measures them. timed: how many were."""
    __version__ = "1.22.1"

    def __init__(self, times=(3, 1, 2), version="9.19.0", **of_graphs):
        self.graphs, self.launched, self.timed, self._times, self._of_graphs = [], None, 0, times, of_graphs
        self.data_type = types.SimpleNamespace(FLOAT="FLOAT", BFLOAT16="BFLOAT16", HALF="HALF")
        self.heur_mode = types.SimpleNamespace(A="A", FALLBACK="FALLBACK")
        self.backend_version_string = lambda: version

    def create_handle(self):
        return 1

    def set_stream(self, handle, stream):
        assert (handle, stream) == (1, 7)

    def pygraph(self, **_):
        self.graphs.append(FakeGraph(self, **self._of_graphs))
        return self.graphs[-1]

    def do_bench_cudagraph(self, launch, **_):
        launch()
        self.timed += 1
        return self._times[self.launched]


def gradients(forward, leaves, dy):
    """training.gradients, by differences."""
    def loss(number, at, by):
        moved = [leaf.copy() for leaf in leaves]
        moved[number][at] += by
        return (forward(*moved) * dy).sum()

    def gradient(number, leaf):
        slopes = [(loss(number, at, 1e-5) - loss(number, at, -1e-5)) / 2e-5 for at in torch.numpy.ndindex(leaf.shape)]
        return torch.tensor(slopes).reshape(leaf.shape)
    return forward(*leaves), [gradient(number, leaf) for number, leaf in enumerate(leaves)]


class FakeCublasmp:
    """cuBLASMp and NCCL of one rank. Matrices lie by columns, in doubles; a product is computed of the whole ones."""

    def __init__(self, is_registered=True):
        self.is_registered, self._objects = is_registered, []

    def __call__(self, function, *arguments):
        getattr(self, f"_{function}")(*(getattr(each, "_obj", each) for each in arguments))

    def _add(self, to, **fields):
        self._objects.append(types.SimpleNamespace(**fields))
        to.value = len(self._objects)

    def _get(self, handle):
        return self._objects[handle.value - 1]

    def _cublasMpGetVersion(self, version):
        version.value = 1000

    def _ncclGetUniqueId(self, identity):
        ctypes.memmove(ctypes.byref(identity), b"a\0b", 3)

    def _ncclCommInitRank(self, communicator, count, identity, rank):
        assert (count.value, rank.value, bytes(identity)[:4]) == (fusegate.ranks(), fusegate.rank(), b"a\0b\0")
        self._add(communicator)

    def _cublasMpCreate(self, handle, stream):
        assert stream.value == 7
        self._add(handle)

    def _cublasMpGridCreate(self, height, width, layout, _communicator, grid):
        assert (height.value, width.value) == ((fusegate.ranks(), 1), (1, fusegate.ranks()))[layout.value]
        self._add(grid, height=height.value, width=width.value)

    def _cublasMpMatmulDescriptorCreate(self, operation, compute):
        assert compute.value == 68
        self._add(operation, attributes={})

    def _cublasMpMatmulDescriptorSetAttribute(self, operation, attribute, value, size):
        assert size.value == 4
        self._get(operation).attributes[attribute.value] = value.value

    def _cublasMpMatrixDescriptorCreate(self, *arguments):
        (*sizes, kind, grid, matrix) = arguments
        height, width, part_height, part_width, row, column, stride = (size.value for size in sizes)
        assert (row, column, stride, kind.value) == (0, 0, part_height, 14)
        grid = self._get(grid)
        assert (part_height * grid.height, part_width * (grid.width if grid.height == 1 else 1)) >= (height, part_width)
        self._add(matrix, height=height, width=width, part_height=part_height, part_width=part_width, is_column=grid.height > 1)

    def _cublasMpMatmul_bufferSize(self, *arguments):
        device, host = arguments[-2:]
        device.value, host.value = 64, 0

    def _ncclMemAlloc(self, memory, size):
        assert size.value == 64
        memory.value = 4096

    def _cublasMpBufferRegister(self, *_):
        if not self.is_registered:
            raise RuntimeError("cublasMpBufferRegister: no symmetric memory")

    def _mine(self, address, matrix):
        """A rank's part in memory."""
        shape = (matrix.part_height, matrix.width) if matrix.is_column else (matrix.height, matrix.part_width)
        memory = (ctypes.c_double * (shape[0] * shape[1])).from_address(address.value)
        return torch.numpy.frombuffer(memory).reshape(shape, order="F")

    def _whole(self, address, matrix):
        mine = self._mine(address, matrix)
        parts = [torch.numpy.frombuffer(part).reshape(mine.shape) for part in fusegate.gather("a part", mine.tobytes("C"))]
        return torch.numpy.concatenate(parts, axis=0 if matrix.is_column else 1)

    def _cublasMpMatmul(self, _handle, operation, m, n, k, _alpha, *arguments):
        (w, _, _, a), (x, _, _, b), (_, c, _, _, _), (out, _, _, d) = (
            arguments[:4], arguments[4:8], arguments[8:13], arguments[13:17])
        (a, b, d), attributes = map(self._get, (a, b, d)), self._get(operation).attributes
        assert c is None and (attributes[0], attributes[1]) == (1, 0)
        # As cublasmp.h wants it of a transposed and b not.
        assert (a.part_height, a.part_width, b.part_width) == (b.part_height, d.part_height, d.part_width)
        w, x = self._whole(w, a), self._whole(x, b)
        assert (w.shape, x.shape) == ((k.value, m.value), (k.value, n.value))
        result = w.T @ x
        if attributes.get(5) != 1:
            result = torch.numpy.split(result, fusegate.ranks(), axis=0 if d.is_column else 1)[fusegate.rank()]
        self._mine(out, d)[...] = result


class FakeSegmentGemm:
    def __init__(self, _workspace):
        pass

    def run(self, x, weights, batch_size, weight_column_major, out, seg_indptr):
        assert (batch_size, weight_column_major, list(seg_indptr)) == (1, True, [0, x.shape[0]])
        out.copy_(x @ weights[0].T)
        return out


def of_halves(activation):
    return lambda both: (lambda gate, up: activation(gate) * up)(*both.chunk(2, dim=1))


@contextlib.contextmanager
def installed(cudnn=None, cache=None):
    """The libraries are there, and remember in that folder. Yields QuACK."""
    quack, cudnn = FakeQuack(), cudnn or FakeCudnn()
    ops = types.SimpleNamespace(LigerGELUMulFunction=types.SimpleNamespace(apply=lambda g, u: UNITS["geglu"](g) * u),
                                LigerSiLUMulFunction=types.SimpleNamespace(apply=lambda g, u: functional.silu(g) * u))
    deep_gemm = types.SimpleNamespace(fp8_gemm_nt=lambda x, w, out: out.copy_(fp8.scaled(*x) @ fp8.scaled(*w).T))
    flashinfer = types.SimpleNamespace(
        SegmentGEMMWrapper=FakeSegmentGemm, gelu_tanh_and_mul=of_halves(UNITS["geglu"]),
        silu_and_mul=of_halves(UNITS["swiglu"]), gelu_and_mul=of_halves(functional.gelu))
    modules = {"cudnn": cudnn, "deep_gemm": deep_gemm, "flashinfer": flashinfer, "triton": types.ModuleType("triton"),
               "triton.testing": cudnn, "liger_kernel.ops": ops,
               "quack": quack, "quack.gemm_interface": quack, "quack.autotuner": quack, "quack.mlp": quack,
               "quack.epilogue": quack, "quack.epilogue.library": quack, "quack.distributed": quack,
               "torch.distributed": torch.distributed, "torch.distributed._symmetric_memory": types.SimpleNamespace(
                   empty=lambda *shape, dtype, device: torch.empty(shape, dtype, device), rendezvous=lambda _, name: None),
               "cutlass": types.SimpleNamespace(__file__="/site-packages/cutlass/__init__.py",
                                                __spec__=importlib.machinery.ModuleSpec("cutlass", None))}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, modules), \
            mock.patch.dict(os.environ, XDG_CACHE_HOME=cache or folder), mock.patch.object(training, "gradients", gradients), \
            mock.patch.object(cublasmp_mlp, "load", FakeCublasmp):
        yield quack
