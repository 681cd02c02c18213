"""Where the plugin keeps a test's run: measured beside what an earlier session left, and renamed once it is whole."""

from __future__ import annotations

import hashlib
import pathlib
import re
import shutil
from typing import Optional

from .errors import InputError
from .measuring.run_file import FileLock

# Of a file's name; a suffix, and the names beside it, need some of the 255 bytes that there are.
_LONGEST_NAME = 150


def folder_name(test: str) -> str:
    """Of a test's id, one that no other has: test_k.py::test_add is test_k.py_test_add. Where more than that :: had to be
    replaced, a hash of the id tells it from others."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", test)
    if re.fullmatch(r"[A-Za-z0-9_.-]+\.py::[A-Za-z0-9_]+", test) and len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_LONGEST_NAME].rstrip('_')}-{hashlib.sha256(test.encode('utf-8', 'replace')).hexdigest()[:8]}"


def require_outside(baseline: pathlib.Path, folder: Optional[pathlib.Path], flag: str) -> None:
    """Raises InputError where the baseline lies in a folder whose contents the session replaces."""
    if folder is None:
        return
    inner, outer = baseline.resolve(), folder.resolve()
    if outer == inner or outer in inner.parents:
        raise InputError(f"--fusegate-baseline {baseline}", "",
                         f"lies in the folder of {flag} {folder}, where this session's runs replace earlier ones; copy it "
                         f"elsewhere, or name another folder")


class RunFolder:
    """path: of the whole run. Between begin() and finish() it is what an earlier session left, and another process is
    kept from it."""

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
        """What was measured takes the path. Raises InputError."""
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
        """A process may have been killed on either side of the second rename."""
        if not self._earlier.exists():
            return
        if self.path.exists():
            shutil.rmtree(self._earlier)
        else:
            self._earlier.rename(self.path)
