"""The CPU's name and state, as bench/machine has them."""

from __future__ import annotations

import os
import pathlib
import socket
from typing import Any


def model_name() -> str:
    return _model() or "CPU"


def machine() -> dict[str, Any]:
    """For people. Only host and CPU are compared, and only before host times are."""
    facts = {"host": socket.gethostname(), "kernel": os.uname().release, "cpus": os.cpu_count(),
             "load_1m": os.getloadavg()[0]}
    known = {"cpu": _model(), "cpu_governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()}
    return {**facts, **{key: value for key, value in known.items() if value}}


def _model() -> str:
    for line in _text("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return ""


def _text(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
