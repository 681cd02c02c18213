"""Loads a file or a module of kernels, which registers its benchmarks."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from typing import Optional

from . import operation as registry
from .errors import InputError, one_line


# What load() is importing; its registrations are not complete yet.
_loading: Optional[str] = None


class Kernels:
    """The registered operations, and the file or module they come from.

    Attributes
    ----------
    folder : pathlib.Path
        The file's folder, which has the suites in ``suites/``.
    operations : dict of str to Operation
    """

    def __init__(self, source: str, folder: pathlib.Path):
        self.folder, self.operations = folder, registry.operations()
        if not any(operation.implementations for operation in self.operations.values()):
            raise InputError(source, "", "registers no benchmark; decorate a function with @fusegate.benchmark")
        for operation in self.operations.values():
            if not operation.implementations:
                raise operation.error("", "has no implementation; decorate one with @fusegate.benchmark")

    def full_names(self) -> set[str]:
        return {each.full_name for operation in self.operations.values() for each in operation.implementations.values()}

    def implementation_names(self):
        return sorted({name for operation in self.operations.values() for name in operation.implementations})


def require_loaded() -> None:
    """For main(): raises InputError if a file that is being loaded calls it."""
    if _loading is not None:
        raise InputError(_loading, "", "calls fusegate.main() while it is being loaded; put the call under "
                                       "`if __name__ == \"__main__\":`")


def load(target: str) -> Kernels:
    """Imports the target.

    Parameters
    ----------
    target : str
        A file ("kernels.py", "bench/kernels.py") or a module ("team.kernels").

    Raises
    ------
    InputError
        If it does not exist, raises, or registers nothing.
    """
    global _loading  # pylint: disable=global-statement
    _loading = target
    try:
        module = _load_file(pathlib.Path(target)) if target.endswith(".py") else _load_module(target)
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:  # pylint: disable=broad-except
        raise InputError(target, "", f"cannot be loaded: {one_line(error)}{_line_of(error, target)}") from error
    finally:
        _loading = None
    file = getattr(module, "__file__", None)
    return Kernels(target, pathlib.Path(file).resolve().parent if file else pathlib.Path.cwd())


def _load_file(path: pathlib.Path):
    if not path.is_file():
        raise InputError(path, "", "no such file")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python kernels.py` does
    spec = importlib.util.spec_from_file_location(_free_name(path), path.resolve())
    module = importlib.util.module_from_spec(spec)
    # Before it runs: dataclasses and Triton look up what it defines there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _free_name(path: pathlib.Path) -> str:
    known = sys.modules.get(path.stem)
    taken = known is not None and getattr(known, "__file__", None) != str(path.resolve())
    return f"fusegate_kernels_{path.stem}" if taken or not path.stem.isidentifier() else path.stem


def _load_module(name: str):
    if "" not in sys.path and str(pathlib.Path.cwd()) not in sys.path:
        sys.path.insert(0, str(pathlib.Path.cwd()))  # as `python -m` does
    return importlib.import_module(name)


def _line_of(error: BaseException, target: str) -> str:
    """", at line 12": the innermost line of the target that the exception went through."""
    line: Optional[int] = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if pathlib.Path(trace.tb_frame.f_code.co_filename).name == pathlib.Path(target).name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f", at line {line}" if line else ""
