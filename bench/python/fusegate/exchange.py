"""The processes that measure together, a device each, where an operation has the axis `ranks`. The engine starts the others as
this program was started, and runs all in step."""

from __future__ import annotations

import ctypes
import os

from . import engine

# Of a process that the engine starts as another rank, such as "1/2:7:8".
_VARIABLE = "FUSEGATE_RANK"
# "1" in such a process, "" in the one that the user started.
OTHER = os.environ.get(_VARIABLE, "").partition("/")[0]
_TORCHRUNS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def rank() -> int:
    """Which of the processes that compute the problem together this is, from 0. Known within the functions that fusegate calls;
    while a file of kernels is loaded, and where nothing is measured, it is 0."""
    return engine.loaded.fusegate_rank() if engine.loaded is not None else 0


def ranks() -> int:
    """How many processes compute the problem together; 1 where :func:`rank` is not known."""
    return engine.loaded.fusegate_ranks() if engine.loaded is not None else 1


def gather(what: str, mine: bytes) -> list[bytes]:
    """What each rank gives, in the order of ranks. Waits for all of them.

    For setting up: handles of memory, ids of communicators. It takes tens of microseconds of hosts, and a CUDA graph does not
    repeat it. what: for what it is, such as ``"handles"``; the same on all ranks. Raises RuntimeError on all of them if one
    has failed, ended, or is at another point; the benchmark then fails, whatever follows.
    """
    if engine.loaded is None:
        return [bytes(mine)]
    given: list[bytes] = []

    def receive(_self, _rank, data, count) -> None:
        given.append(ctypes.string_at(data, count))
    error = engine.loaded.fusegate_gather(what.encode(), bytes(mine), len(mine), engine.Receive(receive), None)
    if error is not None:
        raise RuntimeError(error.decode(errors="replace"))
    return given


def take_environment() -> None:
    """Once the engine knows the ranks: it sets variables in C, where os.environ does not look."""
    os.environ.pop(_VARIABLE, None)
    if ranks() == 1:
        return
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    for name in _TORCHRUNS:
        value = getenv(name.encode())
        if value is not None:
            os.environ[name] = value.decode()
