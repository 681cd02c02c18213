"""The version of the CMake project: from CMakeLists.txt in a checkout, else from the installed package. And where the package
has its program and its engine."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re

_PACKAGE = pathlib.Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[2]
# The wheel's, else those that a checkout built; each has bin/ and lib/.
FOLDERS = (_PACKAGE, _CHECKOUT / "build" / "release", _CHECKOUT / "build" / "host")


def _read() -> str:
    project = _CHECKOUT / "CMakeLists.txt"
    found = re.search(r"\bproject\(\s*fusegate\s+VERSION\s+([0-9.]+)", project.read_text(encoding="utf-8")) \
        if project.is_file() else None
    return found[1] if found else importlib.metadata.version("fusegate")


__version__ = _read()
