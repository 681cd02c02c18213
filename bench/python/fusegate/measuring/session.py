"""One benchmark in one process, as in bench/measuring/session.h: checked once, then sampled in several memory layouts. The
device idles before every sample."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any, Callable, Optional

from .call import Call
from .cuda_meter import Sample
from .energy import CallEnergy, call_energy
from .verification import Verified, Verifier

# Bounds the size of a graph, as in fusegate_bench.
MOST_CALLS = 4000


@dataclasses.dataclass
class Record:
    """A benchmark's data for the run file, except its samples."""

    relative_error: float = 0.0
    stages: list[Any] = dataclasses.field(default_factory=list)
    launches: Any = None
    host_ns: float = math.nan
    not_capturable: str = ""
    choices: dict[str, str] = dataclasses.field(default_factory=dict)


class Layout:
    """A benchmark in one memory layout. Owns its memory."""

    def __init__(self, call: Call, batch):
        self.call, self.batch, self.warnings = call, batch, set()


class Session:
    """sleep, clock_ns: tests replace them."""

    def __init__(self, device, meter, protocol, seed, benchmark, sleep: Callable = time.sleep,
                 clock_ns: Callable = time.perf_counter_ns):
        self._device, self._meter, self._protocol, self._seed = device, meter, protocol, seed
        self._benchmark, self._sleep, self._clock_ns = benchmark, sleep, clock_ns
        self._function: Optional[Callable] = None
        self.verified: Optional[Verified] = None
        self.calls = 0
        self.record = Record()

    def verify(self, verifier: Verifier) -> None:
        implementation, problem = self._benchmark.implementation, self._benchmark.problem
        self.record.stages = self._benchmark.work()
        self._function = implementation.callable_for(problem)
        self.verified = verifier.check(self._benchmark, self._function)
        self.record.choices = implementation.chosen(problem)
        self.record.relative_error, self.record.launches = self.verified.relative_error, self.verified.launches
        self.record.not_capturable = self.verified.not_capturable

    def enter(self, layout: int) -> Layout:
        """Moves to a layout and warms up there. The first time, it also sets the number of calls in a batch."""
        call = self.move_to(layout)
        if self.calls == 0:
            self._size_batch(call.launch)
            self.record.host_ns = self._meter.host_ns(call.launch)
        batch = self._batch(call.launch)
        self._warm_up(batch)
        return Layout(call, batch)

    def move_to(self, layout: int) -> Call:
        """The call in that layout, on fresh random numbers."""
        if self.verified is None:
            raise ValueError("the benchmark must be checked before it is timed")
        if self._protocol.layout == "numbered":
            self._device.lay_out(layout)
        else:
            self._device.fresh_memory()
        generator = self._device.generator(f"{self._seed}/{layout}")
        values = self._benchmark.operation.inputs(self._benchmark.problem)
        return Call(self._device, self._benchmark, self._function, values, self.verified.outputs, generator)

    def run_sample(self, layout: Layout) -> Sample:
        """Idles, then runs one batch."""
        layout.call.restore()
        self._sleep(self._protocol.idle_ns * 1e-9)
        sample = layout.batch.run()
        if sample.batch_ns < self._protocol.batch_ns:
            layout.warnings.add("short_batch")
        if math.isnan(sample.sm_clock_hz):
            layout.warnings.add("clock_unread")
        if self.record.not_capturable:
            layout.warnings.add("not_capturable")
        return sample

    def call_energy(self, counter_mj: Callable[[], Optional[int]], stretch_ns: float) -> Optional[CallEnergy]:
        batch = self._batch(self.move_to(0).launch)
        return call_energy(counter_mj, batch.launch, self.calls, stretch_ns, self._clock_ns)

    def _batch(self, launch: Callable, calls: int = 0):
        return self._meter.record(launch, calls or self.calls, self._protocol.l2, not self.record.not_capturable)

    def _size_batch(self, launch: Callable) -> None:
        self.calls = 1
        # A few calls predict the time of many badly, so the batch grows in steps.
        for _ in range(4):
            pilot = self._batch(launch)
            pilot.run()
            call_ns = pilot.run().batch_ns / self.calls
            # A later batch may run at a higher clock than the pilot's.
            wanted = max(1, min(MOST_CALLS, math.ceil(1.1 * self._protocol.batch_ns / call_ns)))
            settled = abs(wanted - self.calls) <= 0.05 * self.calls
            self.calls = wanted
            if settled:
                return

    def _warm_up(self, batch) -> None:
        end = self._clock_ns() + self._protocol.warm_ns
        batch.run()
        while self._clock_ns() < end:
            batch.run()
