"""The measuring engine's C interface (bench/program/fusegate.h) by ctypes."""

from __future__ import annotations

import ctypes
import os
import pathlib
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, Optional

from .console import log
from .errors import InputError, one_line
from .version import FOLDERS, __version__

ABI = 4
UNIFORM, NORMAL, INTEGERS, CONSTANT, FILLED = range(5)
_NAME = "libfusegate_engine.so"


def _structure(title: str, /, **fields: type) -> type[Structure]:
    return type(title, (Structure,), {"_fields_": list(fields.items())})


CAxis = _structure("CAxis", name=c_char_p, size=c_int64, text=c_char_p)
CProblem = _structure("CProblem", dtype=c_char_p, axes=POINTER(CAxis), axis_count=c_size_t)
CTensor = _structure("CTensor", data=c_void_p, shape=POINTER(c_int64), rank=c_size_t, dtype=c_char_p)
CTensorSpec = _structure(
    "CTensorSpec", name=c_char_p, shape=POINTER(c_int64), rank=c_size_t, dtype=c_char_p, fill=c_int, first=c_double,
    second=c_double, tolerance=c_double, in_place_of=c_char_p, is_weight=c_int, is_exact=c_int,
    split_axis=c_int)

# Functions of the program. They return NULL, or the address of a text.
AskForTensors = CFUNCTYPE(c_void_p, c_void_p, POINTER(CProblem), c_void_p)
FillTensor = CFUNCTYPE(c_void_p, c_void_p, POINTER(CProblem), c_size_t, c_uint64, POINTER(CTensor))
Reference = CFUNCTYPE(c_void_p, c_void_p, POINTER(CProblem), POINTER(CTensor), c_size_t, POINTER(CTensor), c_size_t)
Refuses = CFUNCTYPE(c_void_p, c_void_p, POINTER(CProblem), POINTER(c_char_p))
Prepare = CFUNCTYPE(c_void_p, c_void_p, POINTER(CProblem), POINTER(CTensor), c_size_t, POINTER(CTensor), c_size_t, c_void_p)
Launch = CFUNCTYPE(c_void_p, c_void_p)
Release = CFUNCTYPE(None, c_void_p)
Receive = CFUNCTYPE(None, c_void_p, c_int, c_void_p, c_size_t)

COperation = _structure(
    "COperation", name=c_char_p, registered_at=c_char_p, axes=POINTER(c_char_p), axis_count=c_size_t,
    problems=POINTER(CProblem), problem_count=c_size_t, is_control=c_int, compared_with=c_char_p, self=c_void_p,
    inputs=AskForTensors, outputs=AskForTensors, fill=FillTensor, reference=Reference)
CStage = _structure("CStage", name=c_char_p, flops=c_double, min_bytes=c_double, choice=c_char_p, launch=Launch, self=c_void_p)
CImplementation = _structure(
    "CImplementation", operation=c_char_p, name=c_char_p, device=c_char_p, registered_at=c_char_p,
    dtypes=POINTER(c_char_p), dtype_count=c_size_t, self=c_void_p, refuses=Refuses, prepare=Prepare)
CProgram = _structure(
    "CProgram", name=c_char_p, suite=c_char_p, suites=c_char_p, takes_foreign_suites=c_int, versions=c_char_p,
    commit=c_char_p, dirty=c_int, restart=POINTER(c_char_p), opened=Launch, self=c_void_p)


def strings(texts: Sequence[str], ended: bool = False):
    """A C array of texts; ended: by NULL."""
    encoded = [text.encode(errors="surrogateescape") for text in texts] + ([None] if ended else [])
    return (c_char_p * len(encoded))(*encoded)


class Callbacks:
    """Makes C functions of Python's, and keeps them as long as itself. forked: said by a child of this process that returns
    from one, and ends: it must not measure on."""

    def __init__(self, forked: str = "a function forked this process; the child ends here") -> None:
        self._forked, self._process = forked, os.getpid()
        self._kept: list[Any] = []
        self._failure: Optional[ctypes.Array] = None

    def __call__(self, kind: type, function: Callable) -> Any:
        """function gets the C function's arguments but the first. What it raises is the C function's result, as a text."""
        def guarded(_self, *arguments):
            failure = None
            try:
                function(*arguments)
            except BaseException as error:  # pylint: disable=broad-except
                text = str(error) if isinstance(error, InputError) else one_line(error)
                self._failure = ctypes.create_string_buffer(text.encode(errors="replace"))
                failure = ctypes.addressof(self._failure)
            if os.getpid() != self._process:
                log(self._forked, "fusegate_bench")
                os._exit(2)
            return failure
        self._kept.append(kind(guarded))
        return self._kept[-1]


loaded: Optional[ctypes.CDLL] = None


def load() -> ctypes.CDLL:
    """The engine, from now on `loaded`. Raises InputError if it is not there, or another version's."""
    global loaded  # pylint: disable=global-statement
    path = _path()
    try:
        library = ctypes.CDLL(str(path))
        library.fusegate_version.restype = c_char_p
        version = library.fusegate_version().decode()
    except (OSError, AttributeError) as error:
        raise InputError(path, "", f"cannot be loaded: {error}") from error
    if (library.fusegate_abi(), version) != (ABI, __version__):
        raise InputError(path, "", f"is the engine of fusegate {version}, and this package is {__version__}; install both "
                                   f"from one wheel")
    library.fusegate_device.restype, library.fusegate_stream.restype = c_char_p, c_void_p
    library.fusegate_gather.restype = c_char_p
    library.fusegate_gather.argtypes = [c_char_p, c_char_p, c_size_t, Receive, c_void_p]
    loaded = library
    return library


def _path() -> pathlib.Path:
    """$FUSEGATE_ENGINE, else the wheel's, else a checkout's build."""
    chosen = os.environ.get("FUSEGATE_ENGINE")
    files = [pathlib.Path(chosen)] if chosen else [folder / "lib" / _NAME for folder in FOLDERS]
    found = next((path for path in files if path.is_file()), None)
    if found is None:
        raise InputError(_NAME, "", f"not found at {' or '.join(map(str, files))}; install the wheel, or build the target "
                                    f"fusegate_engine")
    return found
