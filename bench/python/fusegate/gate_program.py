"""Finds the program `fusegate`, which judges runs."""

from __future__ import annotations

import pathlib
import shutil
import sysconfig
from typing import Optional

from .errors import InputError

_PACKAGE = pathlib.Path(__file__).resolve().parent
_FOLDERS = (sysconfig.get_path("scripts"), _PACKAGE / "bin", *(_PACKAGE.parents[2] / "build" / preset / "bin"
                                                                for preset in ("release", "host")))


def find_gate_program(given: Optional[str] = None) -> str:
    """Its path. given: a file, or a name in PATH. By default the one of the package, else of the checkout, else in PATH.
    Raises InputError."""
    found = shutil.which(given) if given else \
        next(filter(None, (shutil.which("fusegate", path=str(folder)) for folder in _FOLDERS)), shutil.which("fusegate"))
    if found is None:
        searched = "" if given else f"in {', '.join(map(str, _FOLDERS))} and "
        raise InputError(f"the program {given or 'fusegate'}", "",
                         f"was not found {searched}in PATH; install the package fusegate")
    return str(pathlib.Path(found).absolute())
