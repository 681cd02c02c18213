"""The program `fusegate`, which judges runs: C++, in the wheel and in a checkout's build."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import sys
from typing import Optional

from .console import log
from .errors import InputError
from .version import FOLDERS


def find_gate_program(given: Optional[str] = None) -> str:
    """Its path. given: a file, or a name in PATH. By default the one of the package, else of the checkout, else in PATH.
    Raises InputError."""
    folders, name = ([], given) if given else ([str(folder / "bin") for folder in FOLDERS], "fusegate")
    found = next(filter(None, (shutil.which(name, path=folder) for folder in [*folders, None])), None)
    if found is None:
        searched = f"in {', '.join(folders)} and " if folders else ""
        raise InputError(f"the program {name}", "", f"was not found {searched}in PATH; install the package fusegate")
    return str(pathlib.Path(found).absolute())


def main() -> int:
    """The script `fusegate`: becomes the program. Returns an exit code where it cannot."""
    try:
        program = find_gate_program()
        if os.path.realpath(program) == os.path.realpath(sys.argv[0]):
            raise InputError(program, "", "is a script, and the package has no program; install the package fusegate again")
    except InputError as error:
        log(error)
        return 2
    os.environ.setdefault("FUSEGATE_PYTHON", sys.executable)  # measures peers
    # Python ignores these two, and a program inherits that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(program, ["fusegate", *sys.argv[1:]])
