"""The CPU: its name and state, as bench/machine tells them."""

from __future__ import annotations

import os
import pathlib
import socket
from typing import Any


def model_name() -> str:
    for line in _text("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "CPU"


def machine() -> dict[str, Any]:
    """For people and doctors; nothing of it is compared."""
    facts = {"host": socket.gethostname(), "kernel": os.uname().release, "cpus": os.cpu_count(),
             "load_1m": os.getloadavg()[0]}
    governor = _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()
    return {**facts, "cpu_governor": governor} if governor else facts


def _text(path: str) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
