"""The version of the CMake project: from CMakeLists.txt in a checkout, else from the installed package."""

from __future__ import annotations

import importlib.metadata
import pathlib
import re

_PROJECT = re.compile(r"\bproject\(\s*fusegate\s+VERSION\s+([0-9.]+)")


def _read() -> str:
    project = pathlib.Path(__file__).resolve().parents[3] / "CMakeLists.txt"
    found = _PROJECT.search(project.read_text(encoding="utf-8")) if project.is_file() else None
    return found[1] if found else importlib.metadata.version("fusegate")


__version__ = _read()
