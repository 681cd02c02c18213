"""Whether this package still is what it was when it was imported: a file of kernels runs in the same process, and could replace
what checks and records it. It finds what a file of Python does by assigning, not what goes on in C."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple


class _Part(NamedTuple):
    """A name in a module, a class or a dict, or a field of a function."""

    path: str  # "binding.PreparedCall.collect"
    read: Callable[[str], Any]
    name: str
    value: Any


_parts: list[_Part] = []


def take() -> None:
    """Remembers what there is now."""
    package = __name__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package}."):
            _parts.extend(_of_holder(vars(module), name.partition(".")[2], name))


def changed() -> str:
    """"replaces fusegate's binding.PreparedCall.collect"; "" if nothing is."""
    return next((f"replaces fusegate's {part.path}" for part in _parts if part.read(part.name) is not part.value), "")


def _of_holder(holder: Any, path: str, module: str) -> Iterator[_Part]:
    """holder: of a module, or of a class or a constant in it."""
    for name, value in list(holder.items()):
        here = f"{path}.{name}"
        function = getattr(value, "__func__", value)
        if isinstance(value, dict) and name.isupper():
            yield from (_Part(here, value.get, key, each) for key, each in value.items())
        if not (callable(function) or isinstance(value, (types.ModuleType, property))):
            continue
        yield _Part(here, holder.get, name, value)
        if getattr(value, "__module__", None) == module and isinstance(value, type):
            yield from _of_holder(vars(value), here, module)
        elif isinstance(function, types.FunctionType) and function.__module__ == module:
            yield from (_Part(here, function.__getattribute__, field, getattr(function, field))
                        for field in ("__code__", "__defaults__", "__kwdefaults__"))
