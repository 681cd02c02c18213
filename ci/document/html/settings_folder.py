"""Import this before matplotlib, which looks for its settings at home and fails where a user has none: a container may run as
a number without a name, and without HOME."""

import atexit
import os
import pathlib
import shutil
import tempfile

try:
    pathlib.Path.home()
except RuntimeError:
    if "MPLCONFIGDIR" not in os.environ:
        os.environ["MPLCONFIGDIR"] = tempfile.mkdtemp(prefix="fusegate.")
        atexit.register(shutil.rmtree, os.environ["MPLCONFIGDIR"], ignore_errors=True)
