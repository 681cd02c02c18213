"""Finds work that does not end (bench/measuring/watchdog.h). The main thread then waits for the device, so that another
thread must act."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Callable, Optional


class Watchdog:
    """
    Parameters
    ----------
    patience_s : float, optional
        How long a piece of work may take; None: without limit.
    give_up : callable
        ``give_up(benchmark)`` gets the benchmark's number. It is called once, on another thread, and must end the process.
    """

    def __init__(self, patience_s: Optional[float], give_up: Callable[[int], None]):
        self._patience_s, self._give_up = patience_s, give_up
        self._changed = threading.Condition()
        self._benchmark, self._deadline, self._thread = -1, None, None

    @contextlib.contextmanager
    def piece(self, benchmark: int) -> Iterator[None]:
        """Encloses a piece of work on that benchmark."""
        if self._patience_s is None:
            yield
            return
        self._set(benchmark, time.monotonic() + self._patience_s)
        try:
            yield
        finally:
            self._set(-1, None)

    def _set(self, benchmark: int, deadline: Optional[float]) -> None:
        with self._changed:
            self._benchmark, self._deadline = benchmark, deadline
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            if deadline is None or self._patience_s < 1:
                self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while self._deadline is None or time.monotonic() < self._deadline:
                # Without work to watch, it wakes before the next piece can be late.
                left = self._patience_s if self._deadline is None else self._deadline - time.monotonic()
                self._changed.wait(max(0.01, left))
            benchmark = self._benchmark
        self._give_up(benchmark)
