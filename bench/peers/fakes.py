"""Stand-ins for tests: a device, a meter and libraries without torch. Calls take the time that the test says.
Plans come from fusegate_bench itself, which needs no GPU to make one."""

import functools
import itertools
import pathlib
import tempfile
import types
import unittest

from bench import find_bench, read_plan
from graph_nodes import LaunchCount
from libraries import Libraries
from meter import Sample
from nvml import GpuState
from problems import Problem
from protocol import Protocol

UUID = "GPU-1"
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
    return Problem(**plan["work"][0]["problems"][0])


def fake_protocol(**fields):
    return Protocol(**{"samples": 48, "places": 48, "batch_ns": 1_500_000, "idle_ns": 3_000_000, "warm_ns": 0,
                       "order": "interleaved", "l2": "warm", **fields})


class FolderTest(unittest.TestCase):
    """With a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class FakeDevice:
    kind, uuid = "cuda", UUID

    def __init__(self, error=0.001, not_finite=0):
        self.result, self.fresh, self.seeds, self.references, self.lost = (error, not_finite), 0, [], [], False

    def versions(self):
        return {"cuda": "13.0", "cublas": "13.1.0"}

    def fresh_memory(self):
        self.fresh += 1

    def inputs(self, problem, seed):
        self.seeds.append(seed)
        return [1.0 for _ in problem.inputs]

    def reference(self, operation, inputs):
        self.references.append(inputs)
        return "reference"

    def error(self, _out, reference):
        assert reference == "reference"
        return self.result

    def synchronize(self):
        if self.lost:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")


class FakeBatch:
    def __init__(self, meter, calls):
        self._meter, self._calls = meter, calls

    def run(self):
        self._meter.now_ns += self._meter.call_ns * self._calls
        self._meter.runs += 1
        return Sample(self._meter.call_ns * self._calls, next(self._meter.clocks))


class FakeMeter:
    """Every call takes call_ns of its time, now_ns."""

    def __init__(self, call_ns=1000.0, clocks=(1.5e9,)):
        self.call_ns, self.clocks = call_ns, itertools.cycle(clocks)
        self.now_ns, self.runs, self.recorded, self.slept = 0, 0, [], []

    def record(self, _call, calls, l2):
        self.recorded.append((calls, l2))
        return FakeBatch(self, calls)

    def check(self, call):
        return call(), LaunchCount(4, 0)

    def host_ns(self, _call):
        return 5000.0

    def sleep(self, seconds):
        self.slept.append(seconds)


class FakeNvml:
    def __init__(self, compute_processes=1, throttle_reasons=()):
        self.gpu = GpuState(compute_processes, list(throttle_reasons))

    def state(self, uuid):
        return self.gpu if uuid == UUID else None


def fake_libraries():
    """A torch whose tensors are numbers, and a Liger on top of it."""
    functional = types.SimpleNamespace(linear=lambda x, w, bias=0.0: x * w + bias,
                                       gelu=lambda x, approximate="none": x,
                                       silu=lambda x: x, relu=lambda x: x)
    torch = types.SimpleNamespace(nn=types.SimpleNamespace(functional=functional),
                                  compile=lambda function, **_: function)
    gelu_mul = types.SimpleNamespace(apply=lambda g, u: g * u)
    liger = types.SimpleNamespace(ops=types.SimpleNamespace(LigerGELUMulFunction=gelu_mul, LigerSiLUMulFunction=gelu_mul))
    return Libraries(modules={"torch": torch, "triton": None, "liger": liger},
                     versions={"torch": "2.11.0+cu130", "triton": "3.6.0", "liger": "0.8.5"})
