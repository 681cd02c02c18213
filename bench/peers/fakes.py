"""Stand-ins for tests: libraries without torch, and plans from fusegate_bench itself, which needs no GPU to make one."""

import contextlib
import dataclasses
import functools
import io
import types
from unittest import mock

import peers  # makes the package known, and so stands first
from fusegate.measuring.fakes import UUID, FakeNvml
from fusegate.measuring.libraries import Libraries

import problems
from bench import find_bench, read_plan
from problems import Problem

ENVIRONMENT = {"device": "NVIDIA H200", "driver": "580.1", "cuda": "12.9", "cublas": "12.9.1", "power_limit_w": 700.0,
               "max_sm_clock_mhz": 1980, "max_memory_clock_mhz": 3201, "ecc": True, "mig": False}


def plan_on_a_gpu(program, flags):
    """In place of read_plan: the program's plan, as if it had seen the fake device."""
    plan = read_plan(program, flags)
    plan["fusegate"].update(environment=ENVIRONMENT, doubts=["debug_library"],
                            provenance={**plan["fusegate"]["provenance"], "device_uuid": UUID})
    return plan


@functools.lru_cache(maxsize=None)
def fake_problem(operation, sizes="1,128,768,3072", dtype="bf16"):
    plan = read_plan(find_bench(), [f"--problem={sizes}", f"--operation={operation}", f"--dtype={dtype}"])
    return Problem.of(plan["work"][0]["problems"][0])


@contextlib.contextmanager
def fake_gpu(device, meter, libraries=None):
    """peers.main() measures on these, with tensors that are numbers. Gives what it prints and what it complains of."""
    out, errors = io.StringIO(), io.StringIO()
    with mock.patch.multiple(peers, find_libraries=lambda *_: libraries or fake_libraries(), read_plan=plan_on_a_gpu,
                             open_gpu=lambda _: (device, meter), Nvml=mock.Mock(open=FakeNvml)), \
            mock.patch.object(problems, "reference", lambda *_: 1.0), \
            contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        yield out, errors


@dataclasses.dataclass
class Packed:
    """Both weights of the input projections in one."""
    gate: float
    up: float
    told: object

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
    """Asks a tuner once for the same sizes, as QuACK does. calls: what it was told, beside the operands."""

    def __init__(self):
        class Autotuner:
            def __init__(self, config):
                self.best_config, self._config = None, config

            def __call__(self):
                self.best_config = types.SimpleNamespace(kwargs={"config": self._config})
        self.autotuner, self.gemm_interface = types.SimpleNamespace(Autotuner=Autotuner), self
        self.calls, self._known = [], set()

    def gemm_gated(self, x, packed, activation, store_preact, concat_layout):
        assert packed.told == concat_layout and not store_preact
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


def fake_libraries():
    """A torch whose tensors are numbers, and a Liger and a QuACK on top of it."""
    functional = types.SimpleNamespace(linear=lambda x, w, bias=0.0: x * w + bias,
                                       gelu=lambda x, approximate="none": x,
                                       silu=lambda x: x, relu=lambda x: x)
    torch = types.SimpleNamespace(nn=types.SimpleNamespace(functional=functional), t=lambda weight: weight,
                                  stack=lambda weights, dim: Packed(*weights, told=None),
                                  cat=lambda weights: Packed(*weights, told=("B",)),
                                  compile=lambda function, **_: function)
    gelu_mul = types.SimpleNamespace(apply=lambda g, u: g * u)
    liger = types.SimpleNamespace(ops=types.SimpleNamespace(LigerGELUMulFunction=gelu_mul, LigerSiLUMulFunction=gelu_mul))
    return Libraries(modules={"torch": torch, "triton": None, "liger": liger, "quack": FakeQuack(), "cutlass_dsl": None},
                     versions={"torch": "2.11.0+cu130", "triton": "3.6.0", "liger": "0.8.5", "quack": "0.6.5",
                               "cutlass_dsl": "4.7.1"})
