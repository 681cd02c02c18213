"""A library's tuned choices, stored in the user's cache folder for the next process."""

import contextlib
import json
import os
import pathlib


def cache_folder(library, device):
    """The folder of this user, library and model of GPU."""
    user = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(user) / "fusegate" / library / "_".join(device.split())


class Remembered:
    """A JSON object in a file. A file that is missing or unreadable counts as empty. If it cannot be written, the next
    process tunes again."""

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
