"""Tells where a piece of work does not end (bench/measuring/watchdog.h): the main thread is held by the device then,
and another one does what is left to do."""

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
        How long a piece may take; None waits for ever.
    give_up : callable
        ``give_up(benchmark)``, by number, called once and from a thread of its own. It is to leave the process.
    """

    def __init__(self, patience_s: Optional[float], give_up: Callable[[int], None]):
        self._patience_s, self._give_up = patience_s, give_up
        self._changed = threading.Condition()
        self._benchmark, self._deadline, self._thread = -1, None, None

    @contextlib.contextmanager
    def piece(self, benchmark: int) -> Iterator[None]:
        """Of work on that benchmark."""
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
                # With nothing to watch it looks again as soon as there may be something to be late.
                left = self._patience_s if self._deadline is None else self._deadline - time.monotonic()
                self._changed.wait(max(0.01, left))
            benchmark = self._benchmark
        self._give_up(benchmark)
