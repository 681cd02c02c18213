"""Times batches on the CPU, as bench/measuring/cpu_meter.cc does: by a steady clock and by the calling thread's CPU time.
CPU time replaces cycles, and shows for how long something else ran."""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Optional

from .call import Call
from .cuda_meter import Sample

# Larger than the last-level caches of the CPUs met so far (32 MB and 300 MB).
_FLUSH_BYTES = 512 << 20


class HostMeter:
    """clocks: (wall, thread) in ns; tests replace them."""

    def __init__(self, clocks: tuple[Callable[[], int], Callable[[], int]] = (time.perf_counter_ns, time.thread_time_ns)):
        self._wall_ns, self._thread_ns = clocks
        self._flush: Optional[bytearray] = None

    def record(self, launch: Callable, calls: int, l2: str, is_captured: bool = True):
        """A batch of that many calls. On a CPU, nothing is captured."""
        del is_captured
        if l2 == "flushed" and self._flush is None:
            self._flush = bytearray(_FLUSH_BYTES)
        return HostBatch(self, launch, calls, flushed=l2 == "flushed")

    def check(self, call: Call) -> tuple[list[Any], Any]:
        return self.check_uncaptured(call), None

    @staticmethod
    def check_uncaptured(call: Call) -> list[Any]:
        call.run()
        call.restore()
        call.poison()
        return call.copied(call.run())

    @staticmethod
    def host_ns(_launch: Callable) -> float:
        return math.nan

    def synchronize(self) -> None:
        """Nothing runs asynchronously."""

    def flush(self, value: int) -> None:
        self._flush[:] = bytes([value & 0xFF]) * len(self._flush)

    def now(self) -> tuple[int, int]:
        return self._wall_ns(), self._thread_ns()


class HostBatch:
    """flushed: the caches are overwritten before every call, outside of the timing."""

    def __init__(self, meter: HostMeter, launch: Callable, calls: int, flushed: bool):
        self._meter, self._launch, self._calls, self._flushed = meter, launch, calls, flushed

    def launch(self) -> None:
        self.run()

    def run(self) -> Sample:
        wall_ns = thread_ns = 0
        launch, stretches = self._launch, self._calls if self._flushed else 1
        for stretch in range(stretches):
            if self._flushed:
                self._meter.flush(stretch)
            wall, thread = self._meter.now()
            for _ in range(self._calls // stretches):
                launch()
            wall_end, thread_end = self._meter.now()
            wall_ns, thread_ns = wall_ns + wall_end - wall, thread_ns + thread_end - thread
        return Sample(float(wall_ns), 1e9 * thread_ns / wall_ns, max(0.0, float(wall_ns - thread_ns)))
