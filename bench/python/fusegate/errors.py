"""What goes wrong: what a person has to mend, and a device that is gone."""

from __future__ import annotations

from .console import printable


class InputError(Exception):
    """What a person has to mend, in one line.

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
    """A run file that cannot be written: nothing that is measured from then on would be kept."""


class DeviceLost(Exception):
    """The CUDA context is broken: every later call would fail, whatever it is."""


def text_of(error: BaseException) -> str:
    """str(error), also where another's class cannot make it."""
    try:
        text = str(error)
    except Exception as own:  # pylint: disable=broad-except
        return f"its text cannot be made: __str__ raised {type(own).__name__}"
    # Half a character of a path that is no UTF-8 would make the run file no JSON to other readers.
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(error: BaseException) -> str:
    """An exception's first line. A compiler's error goes on for pages."""
    text = text_of(error)
    if isinstance(error, SystemExit):
        return f"SystemExit: asked to end the process with {text or '0'}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:400]}" if lines else type(error).__name__
