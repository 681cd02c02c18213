"""Errors: wrong input that a person must correct, and a device that is lost."""

from __future__ import annotations

from .console import printable


class InputError(Exception):
    """Wrong input that a person must correct, as one line.

    Parameters
    ----------
    source : object
        The file, the flag, or "file:line" of the registration.
    field : str
        A path such as ``sweeps[0].batch`` or ``geglu.inputs``; may be empty.
    problem : str
        What is wrong with it.
    """

    def __init__(self, source: object, field: str, problem: object):
        super().__init__(printable(": ".join(str(part) for part in (source, field, problem) if str(part))))


class WriteError(InputError):
    """The run file cannot be written, so that no later result could be saved."""


class DeviceLost(Exception):
    """The CUDA context is broken: every later CUDA call fails."""


def text_of(error: BaseException) -> str:
    """str(error), even if the error's own __str__ raises."""
    try:
        text = str(error)
    except Exception as own:  # pylint: disable=broad-except
        return f"(no message: __str__ raised {type(own).__name__})"
    # A surrogate, from a path that is not UTF-8, would make the run file invalid JSON for other readers.
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(error: BaseException) -> str:
    """An exception's type and first line: a compiler's error goes on for pages."""
    text = text_of(error)
    if isinstance(error, SystemExit):
        return f"SystemExit: called sys.exit({text or '0'})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:400]}" if lines else type(error).__name__
