"""The program `fusegate`, which judges runs: C++, in the wheel and in a checkout's build."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sys
from collections.abc import Sequence
from typing import Optional

from .console import log
from .errors import InputError

_PACKAGE = pathlib.Path(__file__).resolve().parent
_FOLDERS = (_PACKAGE / "bin", *(_PACKAGE.parents[2] / "build" / preset / "bin" for preset in ("release", "host")))
_BAD_INPUT = 2


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


def become_gate_program(arguments: Sequence[str]) -> int:
    """Replaces this process. Returns an exit code where it cannot."""
    try:
        program = find_gate_program()
        if os.path.realpath(program) == os.path.realpath(sys.argv[0]):
            raise InputError(program, "", "is a script, and the package has no program; install the package fusegate again")
    except InputError as error:
        log(error)
        return _BAD_INPUT
    os.environ.setdefault("FUSEGATE_PYTHON", sys.executable)  # draws the HTML report
    # Python ignores these two, and a program inherits that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(program, ["fusegate", *arguments])


def main() -> int:
    """The script `fusegate`."""
    return become_gate_program(sys.argv[1:])
