"""Loads a file or a module of kernels, which registers its benchmarks."""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import sys
from typing import Optional

from . import integrity
from .errors import InputError, innermost, one_line
from .operation import operations

# What load() is importing; its registrations are not complete yet.
_loading: Optional[str] = None


class Kernels:
    """What is registered. folder: of the file of kernels, which has the suites in ``suites/``. Raises InputError where the
    file changed this package."""

    def __init__(self, source: str, folder: pathlib.Path):
        changed = integrity.changed()
        if changed:
            raise InputError(source, "", f"{changed}; it must leave that as it is")
        self.folder, self.operations = folder, list(operations().values())
        self.implementations = [each for operation in self.operations for each in operation.implementations.values()]
        if not self.implementations:
            raise InputError(source, "", "registers no benchmark; decorate a function with @fusegate.benchmark")
        for operation in self.operations:
            if not operation.implementations:
                raise operation.error("", "has no implementation; decorate one with @fusegate.benchmark")


def require_loaded() -> None:
    """For main(): raises InputError if a file that is being loaded calls it."""
    if _loading is not None:
        raise InputError(_loading, "", "calls fusegate.main() while it is being loaded; put the call under "
                                       "`if __name__ == \"__main__\":`")


def load(target: str) -> Kernels:
    """Imports a file ("kernels.py", "bench/kernels.py") or a module ("team.kernels"). Raises InputError if it does not exist,
    raises, or registers nothing."""
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
    path, name = path.resolve(), path.stem
    _find_modules_in(str(path.parent))  # as `python kernels.py` does
    known = sys.modules.get(name)
    if not name.isidentifier() or known is not None and getattr(known, "__file__", None) != str(path):
        name = f"fusegate_kernels_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    # Before it runs: dataclasses and Triton look up what it defines there.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _load_module(name: str):
    if "" not in sys.path:
        _find_modules_in(str(pathlib.Path.cwd()))  # as `python -m` does
    return importlib.import_module(name)


def _find_modules_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _line_of(error: BaseException, target: str) -> str:
    """", at line 12": the innermost line of the target that the exception went through."""
    found = innermost(error, lambda path: pathlib.Path(path).name == pathlib.Path(target).name)
    line = found[1] if found else error.lineno if isinstance(error, SyntaxError) else None
    return f", at line {line}" if line else ""
