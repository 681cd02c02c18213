"""What a library chose by measuring, kept in the user's cache folder: the next process finds it there."""

import contextlib
import json
import os
import pathlib


def cache_folder(library, device):
    """Of this user's, this library's and this model of GPU."""
    user = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(user) / "fusegate" / library / "_".join(device.split())


class Remembered:
    """A JSON object in a file. One that is not there or cannot be read has nothing in it; one that cannot be written
    costs the next process its tuning, and nothing else."""

    def __init__(self, path):
        self._path = pathlib.Path(path)

    def get(self, key):
        found = self._read().get(key)
        return found if isinstance(found, str) else None

    def put(self, key, value):
        whole = {**self._read(), key: value}
        unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(whole, indent=1, sort_keys=True), encoding="utf-8")
            os.replace(unfinished, self._path)

    def _read(self):
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
