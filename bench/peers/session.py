"""One benchmark in one process, as in bench/measuring/session.h. It is checked once and then sampled in several places
of memory. The GPU idles before every sample."""

import dataclasses
import math
import time

# Bounds the size of a graph, as fusegate_bench does.
MOST_CALLS = 4000


@dataclasses.dataclass
class Record:
    """What the run file says of a benchmark beside its samples."""
    relative_error: float = 0.0
    stages: list = dataclasses.field(default_factory=list)
    launches: object = None
    host_ns: float = math.nan


class Verifier:
    """Checks results. It keeps the last reference, which implementations of one operation on one problem share."""

    def __init__(self, device, meter, seed):
        self._device, self._meter, self._seed = device, meter, seed
        self._key, self._inputs, self._reference = None, None, None

    def check(self, operation, problem, function):
        """The relative error and the launches of a call. Raises RuntimeError where the result is wrong."""
        if self._key != (operation, problem):
            self._key = self._inputs = self._reference = None  # their memory may be needed
            self._inputs = self._device.inputs(problem, self._seed)
            self._reference = self._device.reference(operation, self._inputs)
            self._key = (operation, problem)
        inputs = self._inputs
        output, launches = self._meter.check(lambda: function(*inputs))
        error, not_finite = self._device.error(output, self._reference)
        if not_finite:
            raise RuntimeError(f"wrong result: {not_finite} elements are NaN, infinite or were never written")
        if not error <= problem.error_bound:
            raise RuntimeError(f"wrong result: relative error {error:.2e} against the reference, "
                               f"{problem.error_bound:.1e} allowed")
        return error, launches


class Place:
    """A benchmark in one place of memory. The memory is freed with it."""

    def __init__(self, call, batch):
        self.call, self.batch, self.doubts = call, batch, set()


class Session:
    """sleep, clock_ns: the time, which a test may fake."""

    def __init__(self, device, meter, protocol, seed, benchmark, sleep=time.sleep, clock_ns=time.perf_counter_ns):
        self._device, self._meter, self._protocol, self._seed = device, meter, protocol, seed
        self._benchmark, self._sleep, self._clock_ns = benchmark, sleep, clock_ns
        self._function, self.verified, self.calls = None, False, 0
        self.record = Record(stages=benchmark.implementation.stages(benchmark.problem))

    def verify(self, verifier, modules):
        """modules: the libraries, by name."""
        implementation = self._benchmark.implementation
        self._function = implementation.build(modules)
        error, launches = verifier.check(implementation.operation, self._benchmark.problem, self._function)
        self.record.relative_error, self.record.launches = error, launches
        self.verified = True

    def enter(self, place):
        """Moves to a fresh place and warms up there. The first time, it also fixes how many calls make a batch."""
        if not self.verified:
            raise ValueError("what was not checked is not timed")
        self._device.fresh_memory()
        function = self._function
        inputs = self._device.inputs(self._benchmark.problem, f"{self._seed}/{place}")

        def call():
            return function(*inputs)
        if self.calls == 0:
            self._size_batch(call)
            self.record.host_ns = self._meter.host_ns(call)
        batch = self._meter.record(call, self.calls, self._protocol.l2)
        self._warm_up(batch)
        return Place(call, batch)

    def run_sample(self, place):
        """Idles, then runs one batch."""
        self._sleep(self._protocol.idle_ns * 1e-9)
        sample = place.batch.run()
        if sample.batch_ns < self._protocol.batch_ns:
            place.doubts.add("short_batch")
        if math.isnan(sample.sm_clock_hz):
            place.doubts.add("clock_unread")
        return sample

    def _size_batch(self, call):
        self.calls = 1
        # A few calls say little about the time of many; growing towards the target settles it.
        for _ in range(4):
            pilot = self._meter.record(call, self.calls, self._protocol.l2)
            pilot.run()
            call_ns = pilot.run().batch_ns / self.calls
            # A later batch may run at a higher clock than the pilot's.
            wanted = max(1, min(MOST_CALLS, math.ceil(1.1 * self._protocol.batch_ns / call_ns)))
            settled = abs(wanted - self.calls) <= 0.05 * self.calls
            self.calls = wanted
            if settled:
                return

    def _warm_up(self, batch):
        end = self._clock_ns() + self._protocol.warm_ns
        batch.run()
        while self._clock_ns() < end:
            batch.run()
