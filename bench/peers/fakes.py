"""Stand-ins for Triton, Liger, QuACK, cuDNN, FlashInfer and DeepGEMM, which compute on the fake torch's tensors."""

import contextlib
import dataclasses
import importlib.machinery
import itertools
import os
import sys
import tempfile
import types
from unittest import mock

import fp8
import torch
import training
from fusegate import Problem

functional, NUMBERS = torch.nn.functional, torch.numpy.random.default_rng(5)
UNITS = {"geglu": lambda g: functional.gelu(g, approximate="tanh"), "swiglu": functional.silu, "reglu": functional.relu}
ACTIVATIONS = {"gelu_approx_tanh": UNITS["geglu"], "gelu": functional.gelu, "swish": functional.silu, "relu": functional.relu}


def problem(batch=1, seq=3, dim=4, hidden=5, dtype="bf16"):
    return Problem((("batch", batch), ("seq", seq), ("dim", dim), ("hidden", hidden)), dtype)


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
               "cutlass": types.SimpleNamespace(__file__="/site-packages/cutlass/__init__.py",
                                                __spec__=importlib.machinery.ModuleSpec("cutlass", None))}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, modules), \
            mock.patch.dict(os.environ, XDG_CACHE_HOME=cache or folder), mock.patch.object(training, "gradients", gradients):
        yield quack
