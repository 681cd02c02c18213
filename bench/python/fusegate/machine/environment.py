"""The surroundings of a measurement (bench/machine/environment_probe.h): the environment, which must match between runs;
the machine, which need not; the origin of the code; and the warnings that the machine's state raises."""

from __future__ import annotations

import math
import pathlib
import platform
import subprocess
from typing import Any, Optional

from ..version import __version__
from . import host
from .nvml import GpuState

# A locked clock varies by less than this fraction.
LOCKED_CLOCK_SPREAD = 0.005
# The largest fraction of all samples' time on a CPU in which something else ran on their core.
MOST_HELD_UP = 0.03


class Watch:
    """Watches the machine during the measurement.

    Parameters
    ----------
    nvml : Nvml, optional
        None if the library is missing.
    uuid : str
        The GPU's; empty for a CPU.
    warnings : iterable of str
        Warnings that are already known.
    """

    def __init__(self, nvml, uuid: str, warnings=()):
        self._nvml, self._uuid = nvml, uuid
        self._warnings: set[str] = set(warnings)
        self.throttle_reasons: list[str] = []
        self.state: Optional[GpuState] = None
        self._first: Optional[GpuState] = None
        self._held: set[bool] = set()
        self._lowest_hz, self._highest_hz = math.inf, 0.0
        self._batches_ns, self._held_up_ns = 0.0, 0.0
        self.check()

    @property
    def warnings(self) -> set[str]:
        busy = {"busy_host"} if self._held_up_ns > MOST_HELD_UP * self._batches_ns else set()
        return self._warnings | busy

    def check(self) -> None:
        """Reads the machine's state; called between layouts, never within a sample."""
        if not self._uuid:
            return
        state = self._nvml.state(self._uuid) if self._nvml else None
        if state is None:
            self._warnings.add("gpu_lost" if self.state else "nvml_missing")
            return
        self._first = self._first or state
        self._compare(state)
        self.state = state
        if state.is_slice:
            self._warnings.add("mig_slice")
        if state.compute_processes > 1:
            self._warnings.add("other_gpu_process")
        self.throttle_reasons = state.throttle_reasons
        # A software power cap is not throttling: a long GEMM always runs at the power limit.
        if any(reason.endswith("slowdown") for reason in state.throttle_reasons):
            self._warnings.add("throttled")

    def add(self, sample) -> None:
        """Adds a meter's sample."""
        self._batches_ns, self._held_up_ns = self._batches_ns + sample.batch_ns, self._held_up_ns + sample.held_up_ns
        hz = sample.sm_clock_hz
        if math.isnan(hz) or not self._uuid:
            return
        self._lowest_hz, self._highest_hz = min(self._lowest_hz, hz), max(self._highest_hz, hz)
        if self._highest_hz > (1 + LOCKED_CLOCK_SPREAD) * self._lowest_hz:
            self._warnings.add("unlocked_clocks")

    def energy_mj(self) -> Optional[int]:
        return self._nvml.energy_mj(self._uuid) if self._nvml and self._uuid else None

    def machine(self) -> dict[str, Any]:
        facts = host.machine()
        state = self.state
        if state is None:
            return facts
        known = {"compute_processes": state.compute_processes, "throttle_reasons": state.throttle_reasons,
                "temperature_c": state.temperature_c, "sm_clock_mhz": state.sm_clock_mhz,
                "persistence": state.persistence}
        return {**facts, **{key: value for key, value in known.items() if value is not None}}

    def _compare(self, now: GpuState) -> None:
        if now.clocks_held is not None:
            self._held.add(now.clocks_held)
        first, last = self._first, self.state
        before = {**first.settings, "application_clock": first.application_clock_mhz}
        after = {**now.settings, "application_clock": now.application_clock_mhz}
        changed = any(after.get(key) not in (None, value) for key, value in before.items() if value is not None)
        if changed or len(self._held) > 1:
            self._warnings.add("limits_changed")
        limits = ("power_limit_w", "max_sm_clock_mhz", "ecc")
        # NVML still knows a card that fell off the bus, but returns no setting.
        if any(key in first.settings for key in limits) and not any(key in now.settings for key in limits):
            self._warnings.add("gpu_lost")
        if last is None:
            return
        # Energy counters fall only after a reset.
        if None not in (last.energy_mj, now.energy_mj) and now.energy_mj < last.energy_mj:
            self._warnings.add("gpu_lost")
        if None not in (last.memory_errors, now.memory_errors) and now.memory_errors > last.memory_errors:
            self._warnings.add("ecc_errors")


def environment(device, watch: Watch) -> dict[str, Any]:
    """Under fusegate_bench's keys, so that runs of both programs can be compared."""
    facts = {"device": device.name, **{key: value for key, value in device.versions().items() if value}}
    if device.kind == "cpu":
        facts["cycles"] = "cpu_time"
    return {**facts, **(watch.state.settings if watch.state else {})}


def provenance(folder: pathlib.Path, device, libraries: dict[str, str]) -> dict[str, Any]:
    """folder: the kernels', whose commit is recorded."""
    commit = _git(folder, "rev-parse", "HEAD")
    dirty = bool(commit and _git(folder, "status", "--porcelain", "--untracked-files=no"))
    toolchain = ", ".join([f"Python {platform.python_version()}",
                           *(f"{name} {version}" for name, version in sorted(libraries.items()))])
    return {"fusegate": __version__, "commit": commit, "dirty": dirty, "toolchain": toolchain, "device_uuid": device.uuid}


def _git(folder: pathlib.Path, *arguments: str) -> str:
    try:
        result = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20,
                                check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
