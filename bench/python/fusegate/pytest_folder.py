"""The run folder of a test: measured beside the run of an earlier session, which it replaces once it is complete."""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
from typing import Optional

from .errors import InputError
from .measuring.run_file import FileLock

# Of the 255 bytes of a file's name, suffixes and a leading dot need some.
_LONGEST_NAME = 150


def folder_name(test: str) -> str:
    """A name for a test's id that no other test has: test_k.py_test_add for test_k.py::test_add. If more than the :: is
    replaced, the name ends in a hash of the id."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", test)
    if re.fullmatch(r"[A-Za-z0-9_.-]+\.py::[A-Za-z0-9_]+", test) and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME].rstrip('_')}-{hashlib.sha256(test.encode('utf-8', 'replace')).hexdigest()[:8]}"


def require_outside(baseline: pathlib.Path, folder: Optional[pathlib.Path], flag: str) -> None:
    """Raises InputError if the baseline lies in a folder whose contents this session replaces."""
    if folder is None:
        return
    inner, outer = baseline.resolve(), folder.resolve()
    if outer == inner or outer in inner.parents:
        raise InputError(f"--fusegate-baseline {baseline}", "",
                         f"lies in the folder of {flag} {folder}, where this session replaces earlier runs; copy it elsewhere, "
                         f"or name another folder")


class RunFolder:
    """path: of the complete run. Between begin() and finish() it is the earlier session's run, and locked against other
    processes."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.unfinished = path.with_name(f"{path.name}.unfinished")
        self._earlier = path.with_name(f".{path.name}.earlier")
        self._lock: Optional[FileLock] = None

    def begin(self) -> pathlib.Path:
        """An empty folder to measure into. Raises InputError."""
        self._lock = FileLock(self.path)
        try:
            self._mend()
            if self.unfinished.exists():
                shutil.rmtree(self.unfinished)
            self.unfinished.mkdir()
        except OSError as error:
            raise InputError(self.unfinished, "", f"cannot be written: {error.strerror}") from error
        return self.unfinished

    def finish(self) -> None:
        """Moves the measured run to the path. Raises InputError."""
        try:
            if self.path.exists():
                self.path.rename(self._earlier)
            self.unfinished.rename(self.path)
            self._mend()
        except OSError as error:
            raise InputError(self.path, "", f"cannot be written: {error.strerror}") from error

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()

    def _mend(self) -> None:
        """Completes the two renames if a process was killed between them or after."""
        if not self._earlier.exists():
            return
        if self.path.exists():
            shutil.rmtree(self._earlier)
        else:
            self._earlier.rename(self.path)
