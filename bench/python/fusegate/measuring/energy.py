"""The energy that a call takes, as bench/measuring/energy.h has it: an H200's counter moves every 100 ms, so calls run
back to back between two moves of it that are seen."""

from __future__ import annotations

import dataclasses
import time
from typing import Callable, Optional

# Where the counter stands still for so long, it is not read.
PATIENCE_NS = 1_000_000_000


@dataclasses.dataclass
class Move:
    """The counter right after it moved. batches: that were run before."""

    counter_mj: int
    at_ns: float
    batches: int


def energy_per_call_j(counter_mj: Callable[[], Optional[int]], run: Callable, calls: int, stretch_ns: float,
                      clock_ns: Callable[[], float] = time.perf_counter_ns) -> Optional[float]:
    """In joules. run: a batch of so many calls, until the device is through. None where the counter cannot be read or
    does not move for a second."""
    first = _next_move(counter_mj, run, clock_ns(), clock_ns)
    last = _next_move(counter_mj, run, first.at_ns + stretch_ns, clock_ns) if first else None
    if first is None or last is None:
        return None
    return 1e-3 * (last.counter_mj - first.counter_mj) / (last.batches * calls)


def _next_move(counter_mj: Callable, run: Callable, not_before_ns: float, clock_ns: Callable) -> Optional[Move]:
    """Runs batches until the counter moves at that time or later."""
    last, moved_at, batches = counter_mj(), clock_ns(), 0
    while last is not None and clock_ns() - moved_at < PATIENCE_NS:
        run()
        batches += 1
        counter = counter_mj()
        if counter is None or counter == last:
            continue
        last, moved_at = counter, clock_ns()
        if moved_at >= not_before_ns:
            return Move(counter, moved_at, batches)
    return None
