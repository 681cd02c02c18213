"""What surrounds a measurement: the environment, which must match between runs and has fusegate_bench's keys and
no others, so that both programs' files make one run; the machine; and the doubts that its state raises."""

import math
import os
import platform
import socket
import subprocess
import pathlib

# A locked clock stays within this share of itself, as bench/machine/environment_probe.cc has it.
LOCKED_CLOCK_SPREAD = 0.005
ENVIRONMENT_FIELDS = ("driver", "power_limit_w", "max_sm_clock_mhz", "max_memory_clock_mhz", "ecc", "mig")
MACHINE_FIELDS = ("temperature_c", "sm_clock_mhz", "persistence")


class Probe:
    """nvml: of nvml.Nvml, or None."""

    def __init__(self, device, nvml):
        self._device, self._nvml = device, nvml
        self.doubts, self.throttle_reasons = set(), []
        self._lowest_hz, self._highest_hz = math.inf, 0.0
        self.commit, dirty = _commit()
        if dirty:
            self.doubts.add("dirty_tree")
        self.look()

    def environment(self):
        known = {"device": self._device.name, **self._device.versions(), **self._fields(ENVIRONMENT_FIELDS)}
        return {key: value for key, value in known.items() if value is not None}

    def machine(self):
        machine = {"host": socket.gethostname(), "kernel": platform.release(), "cpus": os.cpu_count(),
                   "load_1m": os.getloadavg()[0]}
        state = self._state()
        if state is not None:
            machine.update(compute_processes=state.compute_processes, throttle_reasons=state.throttle_reasons,
                           **self._fields(MACHINE_FIELDS))
        return machine

    def provenance(self):
        return {"commit": self.commit, "dirty": "dirty_tree" in self.doubts, "device_uuid": self._device.uuid}

    def look(self):
        """At the machine's state once more; between places, never within a sample."""
        state = self._state()
        if state is None:
            self.doubts.add("nvml_missing")
            return
        if state.compute_processes > 1:
            self.doubts.add("other_gpu_process")
        self.throttle_reasons = state.throttle_reasons
        # A software power cap is none: a GEMM runs at its power limit whenever it runs long enough.
        if any(reason.endswith("slowdown") for reason in state.throttle_reasons):
            self.doubts.add("throttled")

    def saw_clock(self, hz):
        if math.isnan(hz):
            return
        self._lowest_hz, self._highest_hz = min(self._lowest_hz, hz), max(self._highest_hz, hz)
        if self._highest_hz > (1 + LOCKED_CLOCK_SPREAD) * self._lowest_hz:
            self.doubts.add("unlocked_clocks")

    def _state(self):
        return self._nvml.state(self._device.uuid) if self._nvml else None

    def _fields(self, names):
        state = self._state()
        values = {name: getattr(state, name, None) for name in names}
        return {name: value for name, value in values.items() if value is not None}


def _commit():
    """Of the checkout that this program lies in: its commit, and whether it was changed since. No commit where
    there is no checkout or no git."""
    folder = pathlib.Path(__file__).resolve().parent

    def git(*arguments):
        return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True,
                              timeout=10).stdout.strip()
    try:
        return git("rev-parse", "HEAD"), git("status", "--porcelain", "--untracked-files=no") != ""
    except (OSError, subprocess.SubprocessError):
        return "", False
