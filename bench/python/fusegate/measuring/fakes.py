"""Stand-ins for tests: a device whose tensors are numbers, and a meter whose calls take the time that the test says."""

import itertools
import pathlib
import tempfile
import threading
import types
import unittest

from fusegate import operation as registry
from fusegate.machine.nvml import GpuState
from fusegate.measuring.call import NotCapturable
from fusegate.measuring.cuda_meter import Sample
from fusegate.measuring.graph_nodes import LaunchCount
from fusegate.measuring.protocol import Protocol
from fusegate.operation import Operation
from fusegate.plan import Benchmark
from fusegate.tensors import uniform

UUID = "GPU-1"


def fake_protocol(**fields):
    return Protocol(**{"layout": "driver", **fields})


def fake_benchmarks(*names, function=lambda x: x, implementation_fields=types.MappingProxyType({}), **fields):
    """Implementations of one operation on one problem. fields: of the operation."""
    registry.clear()
    operation = Operation("double", **{"inputs": lambda p: {"x": uniform(p.rows)}, "reference": lambda x: x,
                                       "axes": {"rows": [8]}, "dtypes": ["bf16"], **fields})
    for name in names:
        operation.benchmark(name, **implementation_fields)(function)
    problem = next(operation.problems("cuda"))
    return [Benchmark(each, problem) for each in operation.implementations.values()]


class FolderTest(unittest.TestCase):
    """With a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class FakeDevice:
    """error: of every result."""

    kind, uuid, name = "cuda", UUID, "NVIDIA H200"

    def __init__(self, error=0.001, not_finite=0):
        self.result, self.fresh, self.seeds, self.lost = (error, not_finite), 0, [], False
        self.reserved, self.layouts = None, []

    def versions(self):
        return {"cuda": "13.0", "cublas": "13.1.0"}

    def fresh_memory(self):
        self.fresh += 1

    def reserve(self, sizes, seed):
        self.reserved = (sizes, seed)

    def lay_out(self, number):
        self.layouts.append(number)

    def generator(self, seed):
        self.seeds.append(seed)

    def allocate(self, shape, _dtype):
        return types.SimpleNamespace(array=1.0, bytes=sum(shape), overrun=lambda: "")

    def fill(self, *_arguments):
        pass

    copy = poison = fill

    def clone(self, value):
        return value

    widened = taken = clone

    def given(self, value, _library):
        return value

    def same(self, _one, _other):
        return True

    def address(self, _value):
        return 0

    def is_array(self, value):
        return isinstance(value, float)

    def form(self, _value):
        return (8,), "bf16"

    def is_float(self, _value):
        return False

    def not_finite(self, _value):
        return 0

    def error(self, _out, _reference):
        return self.result

    def synchronize(self):
        if self.lost:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")


class FakeBatch:
    def __init__(self, meter, calls):
        self._meter, self._calls = meter, calls

    def launch(self):
        self._meter.spend(self._meter.call_ns * self._calls)
        self._meter.runs += 1

    def run(self):
        self.launch()
        return Sample(self._meter.call_ns * self._calls, next(self._meter.clocks))


class FakeMeter:
    """Every call takes call_ns of its time, now_ns."""

    reads_clocks = True

    def __init__(self, call_ns=1000.0, clocks=(1.5e9,), not_capturable=""):
        self.call_ns, self.clocks, self.not_capturable = call_ns, itertools.cycle(clocks), not_capturable
        self.now_ns, self.runs, self.recorded, self.slept = 0, 0, [], []

    def record(self, _launch, calls, l2, is_captured=True):
        self.recorded.append((calls, l2, is_captured))
        return FakeBatch(self, calls)

    def check(self, call):
        if self.not_capturable:
            raise NotCapturable(self.not_capturable)
        return call.run(), LaunchCount(4, 0)

    def check_uncaptured(self, call):
        return call.run()

    def host_ns(self, _launch):
        return 5000.0

    def synchronize(self):
        pass

    def spend(self, length_ns):
        self.now_ns += length_ns

    def sleep(self, seconds):
        self.slept.append(seconds)


class FakeCounter:
    """Of the energy of a device that takes so many watts; it moves every 100 ms of its time, now_ns. That passes in
    pass_ns alone, which waits until the counter was read twice since: the second of these reads began at that time, so
    that what is seen does not depend on how the threads are scheduled. readable: reads that are answered."""

    def __init__(self, watts=500, readable=1 << 20):
        self.watts, self.now_ns, self.reads = watts, 37_000_000, 0
        self._readable, self._was_read = readable, threading.Condition()

    def read_mj(self):
        with self._was_read:
            self.reads += 1
            self._was_read.notify_all()
            return self.now_ns // 100_000_000 * 100 * self.watts if self.reads <= self._readable else None

    def pass_ns(self, length_ns):
        with self._was_read:
            self.now_ns += int(length_ns)
            enough = self.reads + 2
            # Nobody reads any more once all is seen.
            self._was_read.wait_for(lambda: self.reads >= enough, 0.1)


class FakeNvml:
    def __init__(self, **fields):
        self.gpu = GpuState(**{"compute_processes": 1, **fields})
        self.energies_mj = itertools.count(0, 2000)

    def state(self, uuid):
        return self.gpu if uuid == UUID else None

    def energy_mj(self, _uuid):
        return next(self.energies_mj)
