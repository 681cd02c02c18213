"""Where user code registered something or raised, for messages that name file and line."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, Callable, Optional

from .errors import InputError, one_line
from .problem import Problem


def caller() -> str:
    """"file:line" of the innermost user code that called this package."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_back is not None and _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"


def call_user_code(function: Callable, *arguments: Any, error: Callable[[str], InputError],
                   problem: Optional[Problem] = None) -> Any:
    """function(*arguments). Any exception becomes error(text) that names its line; InputError passes through.

    Parameters
    ----------
    error : callable
        Makes the InputError, which names the registration and the field.
    problem : Problem, optional
        The problem that the function was called for.
    """
    try:
        return function(*arguments)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as raised:  # pylint: disable=broad-except
        for_problem = f" for {problem.name}" if problem is not None else ""
        raise error(f"raised {one_line(raised)}{_location_of(raised)}{for_problem}") from raised


def _location_of(error: BaseException) -> str:
    """" at kernels.py:12", the innermost line of user code that the exception went through."""
    trace, location = error.__traceback__, ""
    while trace is not None:
        if not _is_own(trace.tb_frame.f_code.co_filename):
            location = f" at {_short(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return location


def _is_own(path: str) -> bool:
    """Whether the file belongs to this package."""
    return pathlib.Path(__file__).parent in pathlib.Path(path).parents and not path.endswith("_test.py")


def _short(path: str) -> str:
    """The path relative to the working directory, if the file lies below it."""
    try:
        return str(pathlib.Path(path).resolve().relative_to(pathlib.Path.cwd()))
    except (ValueError, OSError):
        return path
