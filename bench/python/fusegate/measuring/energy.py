"""The energy of a call, as in bench/measuring/energy.h. An H200's counter moves every 100 ms, so calls run back to back
from one observed move to another. Another thread reads the counter, so that the device never waits for a read, which can
take longer than a batch. NVML's calls and the wait for the device both release the interpreter's lock."""

from __future__ import annotations

import bisect
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, NamedTuple, Optional

# A counter that does not move for this long is given up.
PATIENCE_NS = 1_000_000_000
# Leaves the interpreter's and the driver's locks to the launching thread; short beside 100 ms.
BETWEEN_READS_S = 1e-3


class Reading(NamedTuple):
    """began_ns, ended_ns: when the read began and ended."""

    counter_mj: int
    began_ns: float
    ended_ns: float


class Move(NamedTuple):
    """When the counter moved to a value."""

    counter_mj: int
    at_ns: float


class CallEnergy(NamedTuple):
    """joules: of one call. power_w: the mean while the calls ran."""

    joules: float
    power_w: float


def move_between(before: Reading, after: Reading) -> Optional[Move]:
    """None if two successive readings are equal. Else the counter moved after the first read began and before the second
    ended; the middle of that time is wrong by at most half of it."""
    if after.counter_mj == before.counter_mj:
        return None
    return Move(after.counter_mj, (before.began_ns + after.ended_ns) / 2)


def energy_between(first: Move, last: Move, batch_borders_ns: Sequence[float], calls: int) -> Optional[CallEnergy]:
    """batch_borders_ns: when the first batch began, and when each ended. calls: in a batch. None if no call ran between the
    moves, or the counter did not rise."""
    ran = calls * (_batches_at(batch_borders_ns, last.at_ns) - _batches_at(batch_borders_ns, first.at_ns))
    if ran <= 0 or last.counter_mj <= first.counter_mj:
        return None
    joules = 1e-3 * (last.counter_mj - first.counter_mj)
    return CallEnergy(joules / ran, joules / (1e-9 * (last.at_ns - first.at_ns)))


def call_energy(counter_mj: Callable[[], Optional[int]], run: Callable[[], object], calls: int, stretch_ns: float,
                clock_ns: Callable[[], float] = time.perf_counter_ns) -> Optional[CallEnergy]:
    """run: runs a batch of that many calls to its end. The moves are at least stretch_ns apart. None if the counter cannot
    be read, and then nothing runs, or if it does not move for a second."""
    if counter_mj() is None:
        return None
    borders_ns, stop = [clock_ns()], threading.Event()
    with ThreadPoolExecutor(max_workers=1) as watcher:  # waits for its thread at the end
        seen = watcher.submit(_watch, counter_mj, stretch_ns, clock_ns, stop)
        is_over = False
        try:
            while not is_over:
                is_over = seen.done()  # then one more batch, so that the last move was during a batch
                run()
                borders_ns.append(clock_ns())
        finally:
            stop.set()
        moves = seen.result()
    return energy_between(*moves, borders_ns, calls) if moves else None


def _watch(counter_mj: Callable, stretch_ns: float, clock_ns: Callable,
           stop: threading.Event) -> Optional[tuple[Move, Move]]:
    """The first move, and the first one at least stretch_ns later."""
    last, first = _read(counter_mj, clock_ns), None
    if last is None:
        return None
    moved_at_ns = last.began_ns
    while clock_ns() - moved_at_ns < PATIENCE_NS and not stop.wait(BETWEEN_READS_S):
        reading = _read(counter_mj, clock_ns)
        if reading is None:
            continue
        move, last = move_between(last, reading), reading
        if move is None:
            continue
        moved_at_ns = move.at_ns
        if first is None:
            first = move
        elif move.at_ns - first.at_ns >= stretch_ns:
            return first, move
    return None


def _read(counter_mj: Callable, clock_ns: Callable) -> Optional[Reading]:
    began_ns, value = clock_ns(), counter_mj()
    return None if value is None else Reading(value, began_ns, clock_ns())


def _batches_at(borders_ns: Sequence[float], at_ns: float) -> float:
    """How many batches were complete at a time, plus the completed fraction of the running one. Nothing runs before the
    first border or after the last."""
    after = bisect.bisect_right(borders_ns, at_ns)
    if after in (0, len(borders_ns)):
        return max(0, after - 1)
    began_ns, ends_ns = borders_ns[after - 1:after + 1]
    return after - 1 + (at_ns - began_ns) / (ends_ns - began_ns)
