"""Stand-ins for tests: a device, a meter and libraries without torch, whose time is whatever the test says."""

import itertools
import types

from graph_nodes import LaunchCount
from libraries import Libraries
from meter import Sample
from nvml import GpuState
from problems import OPERATIONS

UUID = "GPU-1"


class FakeDevice:
    kind, name, uuid = "cuda", "NVIDIA H200", UUID

    def __init__(self, error=0.001, not_finite=0):
        self.result, self.fresh, self.seeds, self.references, self.lost = (error, not_finite), 0, [], [], False

    def versions(self):
        return {"cuda": "13.0", "cublas": "13.1.0"}

    def fresh_memory(self):
        self.fresh += 1

    def inputs(self, operation, problem, seed):
        self.seeds.append(seed)
        return [1.0 for _ in OPERATIONS[operation].inputs(problem)]

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
    def __init__(self, **fields):
        self.gpu = GpuState(**{"driver": "580.1", "power_limit_w": 700.0, "compute_processes": 1, **fields})

    def state(self, uuid):
        return self.gpu if uuid == UUID else None


def fake_libraries():
    """A torch whose tensors are numbers, and a Liger on top of it."""
    functional = types.SimpleNamespace(linear=lambda x, w, bias=0.0: x * w + bias,
                                       gelu=lambda x, approximate: x if approximate == "tanh" else 0.0)
    torch = types.SimpleNamespace(nn=types.SimpleNamespace(functional=functional),
                                  compile=lambda function, **_: function)
    gelu_mul = types.SimpleNamespace(apply=lambda g, u: g * u)
    liger = types.SimpleNamespace(ops=types.SimpleNamespace(LigerGELUMulFunction=gelu_mul))
    return Libraries(modules={"torch": torch, "triton": None, "liger": liger},
                     versions={"torch": "2.11.0+cu130", "triton": "3.6.0", "liger": "0.8.5"})
