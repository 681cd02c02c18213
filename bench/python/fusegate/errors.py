"""Wrong input that a person must correct: one line that names the user's file, line and field."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence
from typing import Any, Callable, Optional

from .console import printable


class InputError(Exception):
    """One line. source: the file, the flag, or "file:line" of a registration. field: a path such as ``geglu.inputs``; may be
    empty. problem: what is wrong with it."""

    def __init__(self, source: object, field: str, problem: object):
        super().__init__(printable(": ".join(str(part) for part in (source, field, problem) if str(part))))


class Registered:
    """What a file of kernels registers. where: "file:line". path: its own name, as messages have it before a field's."""

    where: str
    path: str

    def error(self, field: str, problem: str) -> InputError:
        return InputError(self.where, f"{self.path}.{field}" if field else self.path, problem)

    def check(self, field: str, given: Any, is_right: bool, expected: str) -> None:
        if not is_right:
            raise self.error(field, f"must be {expected}, not {given!r}")

    def check_amount(self, field: str, given: Any) -> float:
        self.check(field, given, isinstance(given, (int, float)) and not isinstance(given, bool) and 0 <= given < float("inf"),
                   "a number from 0")
        return float(given)

    def results(self, field: str, given: Any, names: Sequence[str]) -> dict[str, Any]:
        """What a function of that field returned, by name."""
        results = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(results) != len(names):
            raise self.error(field, f"returns {len(results)} result{'' if len(results) == 1 else 's'}, not {len(names)}: "
                                    f"{', '.join(names)}")
        return dict(zip(names, results))

    def ask(self, field: str, function: Callable, *arguments: Any, problem: Any = None) -> Any:
        """function(*arguments). Any exception becomes an InputError that names its line, the field and the problem that it was
        called for; InputError passes through."""
        try:
            return function(*arguments)
        except (InputError, KeyboardInterrupt):
            raise
        except BaseException as raised:  # pylint: disable=broad-except
            found = innermost(raised, lambda path: not _is_own(path))
            location = f" at {_short(found[0])}:{found[1]}" if found else ""
            for_problem = f" for {problem.name}" if problem is not None else ""
            raise self.error(field, f"raised {one_line(raised)}{location}{for_problem}") from raised


def one_line(error: BaseException) -> str:
    """An exception's type and first line: a compiler's error goes on for pages."""
    try:
        text = str(error)
    except Exception as own:  # pylint: disable=broad-except
        text = f"(no message: __str__ raised {type(own).__name__})"
    if isinstance(error, SystemExit):
        return f"SystemExit: called sys.exit({text or '0'})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:400]}" if lines else type(error).__name__


def caller() -> str:
    """"file:line" of the innermost user code that called this package."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_back is not None and _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"


def innermost(error: BaseException, is_wanted: Callable[[str], bool]) -> Optional[tuple[str, int]]:
    """The file and the line of the last wanted file that the exception went through."""
    trace, found = error.__traceback__, None
    while trace is not None:
        if is_wanted(trace.tb_frame.f_code.co_filename):
            found = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return found


def _is_own(path: str) -> bool:
    return pathlib.Path(__file__).parent in pathlib.Path(path).parents and not path.endswith("_test.py")


def _short(path: str) -> str:
    """The path relative to the working directory, if the file lies below it."""
    try:
        return str(pathlib.Path(path).resolve().relative_to(pathlib.Path.cwd()))
    except (ValueError, OSError):
        return path
