"""A library's tuned choices, stored in the user's cache folder for the next process."""

import contextlib
import os
import pathlib

import torch


def cache_folder(library):
    """The folder of this user, library and model of GPU."""
    user = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(user) / "fusegate" / library / "_".join(torch.cuda.get_device_name().split())


def remembered(path):
    """The text; None if the file is missing or unreadable."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def remember(path, text):
    """If it cannot be written, the next process tunes again."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
