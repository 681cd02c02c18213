"""Stand-ins for tests: libraries without torch, and plans from fusegate_bench itself, which needs no GPU to make one."""

import contextlib
import dataclasses
import functools
import io
import itertools
import os
import tempfile
import types
from unittest import mock

import peers  # makes the package known, and so stands first
from fusegate.machine.libraries import Libraries
from fusegate.measuring.fakes import UUID, FakeNvml

import cudnn_mlp
import problems
from bench import find_bench, read_plan
from problems import Problem

ENVIRONMENT = {"device": "NVIDIA H200", "driver": "580.1", "cuda": "12.9", "cublas": "12.9.1", "power_limit_w": 700.0,
               "max_sm_clock_mhz": 1980, "max_memory_clock_mhz": 3201, "ecc": True, "mig": False}


def plan_on_a_gpu(program, flags):
    """Replaces read_plan: the program's plan, as if it had seen the fake device."""
    plan = read_plan(program, flags)
    plan["fusegate"].update(environment=ENVIRONMENT, warnings=["debug_library"],
                            provenance={**plan["fusegate"]["provenance"], "device_uuid": UUID})
    return plan


@functools.lru_cache(maxsize=None)
def fake_problem(operation, sizes="1,128,768,3072", dtype="bf16"):
    plan = read_plan(find_bench(), [f"--problem={sizes}", f"--operation={operation}", f"--dtype={dtype}"])
    return Problem.of(plan["work"][0]["problems"][0])


@contextlib.contextmanager
def fake_gpu(device, meter, libraries=None):
    """peers.main() measures on these, with numbers for tensors. Yields what it prints and what it logs."""
    out, errors = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, XDG_CACHE_HOME=cache), \
            mock.patch.multiple(peers, find_libraries=lambda *_: libraries or fake_libraries(), read_plan=plan_on_a_gpu,
                                open_gpu=lambda _: (device, meter), Nvml=mock.Mock(open=FakeNvml)), \
            mock.patch.object(problems, "reference", lambda *_: 1.0), \
            mock.patch.object(cudnn_mlp, "CudaMeter", lambda _: meter), \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield out, errors


@dataclasses.dataclass
class Packed:
    """Both weights of the input projections in one."""
    gate: float
    up: float
    concat_layout: object

    def flatten(self, *_):
        return self


@dataclasses.dataclass
class GemmConfig:
    tile_m: int = 128
    tile_n: int = 192
    num_warps: object = None
    pingpong: bool = True
    device_capacity: int = 9


class FakeQuack:
    """Asks a tuner once for the same sizes, as QuACK does. calls: the arguments, without operands."""

    def __init__(self):
        class Autotuner:
            def __init__(self, config):
                self.best_config, self._config = None, config

            def __call__(self):
                self.best_config = types.SimpleNamespace(kwargs={"config": self._config})
        self.autotuner, self.gemm_interface = types.SimpleNamespace(Autotuner=Autotuner), self
        self.calls, self._known = [], set()

    def gemm_gated(self, x, packed, activation, store_preact, concat_layout):
        assert packed.concat_layout == concat_layout and not store_preact
        self._ask("gated", concat_layout, GemmConfig())
        self.calls.append(activation)
        return None, x * packed.gate * x * packed.up

    def gemm(self, h, w, split_k):
        self._ask("down", split_k, GemmConfig(tile_m=256, pingpong=False))
        return h * w

    def _ask(self, *key):
        if key[:2] not in self._known:
            self.autotuner.Autotuner(key[-1])()
            self._known.add(key[:2])


class Box(float):
    """A tensor that is written into."""

    def __init__(self, *_):
        self.value = None

    def __eq__(self, other):
        return self.value == other

    __hash__ = None


class FakeGraph:
    """Computes with numbers. plans: their names; those in broken cannot be built."""

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

    def _two(self, a, b, name):
        return self.tensor(compute=lambda get: get(a) * get(b))

    matmul = mul = _two

    def _one(self, a, name):
        return self.tensor(compute=lambda get: get(a))

    gelu_approx_tanh = gelu = swish = relu = _one

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
            if node.compute:
                return node.compute(get)
            given = tensors[node.uid]
            return given.value if isinstance(given, Box) else given
        tensors[self.result.uid].value = get(self.result)


class FakeCudnn:
    __version__ = "1.22.1"

    def __init__(self, **of_graphs):
        self.graphs, self.launched, self._of_graphs = [], None, of_graphs
        self.data_type = types.SimpleNamespace(FLOAT="FLOAT", BFLOAT16="BFLOAT16", HALF="HALF")
        self.heur_mode = types.SimpleNamespace(A="A", FALLBACK="FALLBACK")

    @staticmethod
    def backend_version_string():
        return "9.19.0"

    def create_handle(self):
        return 1

    def set_stream(self, handle, stream):
        pass

    def pygraph(self, **_):
        self.graphs.append(FakeGraph(self, **self._of_graphs))
        return self.graphs[-1]


def fake_libraries():
    """A torch whose tensors are numbers, and a Liger, a QuACK and a cuDNN on top of it."""
    functional = types.SimpleNamespace(linear=lambda x, w, bias=0.0: x * w + bias,
                                       gelu=lambda x, approximate="none": x,
                                       silu=lambda x: x, relu=lambda x: x)
    torch = types.SimpleNamespace(nn=types.SimpleNamespace(functional=functional), t=lambda weight: weight,
                                  stack=lambda weights, dim: Packed(*weights, concat_layout=None),
                                  cat=lambda weights: Packed(*weights, concat_layout=("B",)),
                                  empty=lambda *_, **__: Box(), uint8=None, bfloat16=None, float16=None,
                                  cuda=types.SimpleNamespace(
                                      get_device_name=lambda: "NVIDIA H200",
                                      current_stream=lambda: types.SimpleNamespace(cuda_stream=7)),
                                  compile=lambda function, **_: function)
    gelu_mul = types.SimpleNamespace(apply=lambda g, u: g * u)
    liger = types.SimpleNamespace(ops=types.SimpleNamespace(LigerGELUMulFunction=gelu_mul, LigerSiLUMulFunction=gelu_mul))
    return Libraries(modules={"torch": torch, "triton": None, "liger": liger, "quack": FakeQuack(),
                              "cutlass_dsl": None, "cudnn": FakeCudnn()},
                     versions={"torch": "2.11.0+cu130", "triton": "3.6.0", "liger": "0.8.5", "quack": "0.6.5",
                               "cutlass_dsl": "4.7.1", "cudnn": "1.22.1"})
