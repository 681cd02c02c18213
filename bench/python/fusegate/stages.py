"""Parts of a callable."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from . import engine


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Gives what a callable launches within ``with fusegate.stage("gate_proj"):`` a name: an NVTX range, a row of its own in
    profiles and traces, and times in reports. FLOPs and bytes come from the :class:`Stage` of that name, if ``stages`` of
    the implementation returns one. Where nothing is measured, it does nothing.

    Parameters
    ----------
    name : str
        The part's name in reports.
    """
    loaded = engine.loaded()
    if loaded is None:
        yield
        return
    loaded.fusegate_begin_stage(name.encode())
    try:
        yield
    finally:
        loaded.fusegate_end_stage()
