"""Reads a GPU's settings and state from NVIDIA's management library, by its stable C ABI (NVML API Reference Guide), as
bench/machine/nvml.cc does. torch does not install pynvml, and nvidia-smi is too slow to run between samples."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Optional

_HELD_BY_SETTING, _IDLE = 0x2, 0x1
# nvmlClocksEventReasons by bit.
THROTTLE_REASONS = ((_HELD_BY_SETTING, "applications_clocks_setting"), (0x4, "sw_power_cap"), (0x8, "hw_slowdown"),
                    (0x10, "sync_boost"), (0x20, "sw_thermal_slowdown"), (0x40, "hw_thermal_slowdown"),
                    (0x80, "hw_power_brake_slowdown"))
_SM, _MEMORY, _GRAPHICS = 1, 2, 0


@dataclasses.dataclass(frozen=True)
class GpuState:
    """settings: must match for runs to be comparable, by the environment's keys. compute_processes: includes this process;
    0 if the driver does not report them. Values that the driver does not report are left out or None."""

    compute_processes: int = 0
    throttle_reasons: list[str] = dataclasses.field(default_factory=list)
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    application_clock_mhz: Optional[int] = None
    temperature_c: Optional[int] = None
    sm_clock_mhz: Optional[int] = None
    persistence: Optional[bool] = None
    memory_errors: Optional[int] = None
    energy_mj: Optional[int] = None
    is_slice: bool = False
    clocks_held: Optional[bool] = None  # by a setting; unknown while the GPU idles


class _ProcessInfo(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used_gpu_memory", ctypes.c_ulonglong),
                ("gpu_instance_id", ctypes.c_uint), ("compute_instance_id", ctypes.c_uint)]


class Nvml:
    """library: a loaded libnvidia-ml, initialised."""

    def __init__(self, library):
        self._library = library

    @staticmethod
    def open() -> Optional["Nvml"]:
        """None if the library is missing or cannot be used."""
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            return Nvml(library) if library.nvmlInit_v2() == 0 else None
        except (OSError, AttributeError):
            return None

    def state(self, uuid: str) -> Optional[GpuState]:
        """uuid: "GPU-...". None if NVML does not know it. For a slice (MIG), the state of the whole GPU."""
        own, device = self._device(uuid)
        if device is None:
            return None
        bits = self._clock_reasons(device)
        persistence = self._number("nvmlDeviceGetPersistenceMode", device)
        return GpuState(
            compute_processes=self._compute_processes(own),
            throttle_reasons=[reason for bit, reason in THROTTLE_REASONS if bits is not None and bits & bit],
            settings=self._settings(device), is_slice=own is not device,
            application_clock_mhz=self._number("nvmlDeviceGetApplicationsClock", device, _GRAPHICS),
            temperature_c=self._number("nvmlDeviceGetTemperature", device, 0),
            sm_clock_mhz=self._number("nvmlDeviceGetClockInfo", device, _SM),
            persistence=None if persistence is None else persistence != 0,
            memory_errors=self._memory_errors(device), energy_mj=self._energy_mj(device),
            clocks_held=None if bits is None or bits & _IDLE else bool(bits & _HELD_BY_SETTING))

    def energy_mj(self, uuid: str) -> Optional[int]:
        """The GPU's energy since its driver was loaded."""
        device = self._device(uuid)[1]
        return None if device is None else self._energy_mj(device)

    def _device(self, uuid: str):
        """The device with that UUID, and the whole GPU, which differs for a slice. CUDA gives a slice a UUID that begins
        with GPU-; NVML knows it with MIG-."""
        whole = self._by_uuid(uuid)
        if whole is not None:
            return whole, whole
        part, whole = self._by_uuid(uuid.replace("GPU-", "MIG-", 1)), ctypes.c_void_p()
        known = part is not None and self._succeeds("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", part,
                                                    ctypes.byref(whole))
        return (part, whole) if known else (None, None)

    def _by_uuid(self, uuid: str):
        device = ctypes.c_void_p()
        return device if self._succeeds("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(device)) else None

    def _succeeds(self, name: str, *arguments) -> bool:
        function = getattr(self._library, name, None)
        return function is not None and function(*arguments) == 0

    def _number(self, name: str, *arguments) -> Optional[int]:
        value = ctypes.c_uint(0)
        return value.value if self._succeeds(name, *arguments, ctypes.byref(value)) else None

    def _settings(self, device) -> dict[str, Any]:
        driver, limit_mw = ctypes.create_string_buffer(81), self._number("nvmlDeviceGetPowerManagementLimit", device)
        known = self._succeeds("nvmlSystemGetDriverVersion", driver, ctypes.c_uint(80))
        settings = {"driver": driver.value.decode() if known else None,
                    "power_limit_w": None if limit_mw is None else limit_mw / 1e3,
                    "max_sm_clock_mhz": self._number("nvmlDeviceGetMaxClockInfo", device, _SM),
                    "max_memory_clock_mhz": self._number("nvmlDeviceGetMaxClockInfo", device, _MEMORY),
                    "ecc": self._mode("nvmlDeviceGetEccMode", device), "mig": self._mode("nvmlDeviceGetMigMode", device)}
        return {key: value for key, value in settings.items() if value is not None}

    def _mode(self, name: str, device) -> Optional[bool]:
        """The current mode, not the pending one."""
        current, pending = ctypes.c_uint(0), ctypes.c_uint(0)
        known = self._succeeds(name, device, ctypes.byref(current), ctypes.byref(pending))
        return bool(current.value) if known else None

    def _clock_reasons(self, device) -> Optional[int]:
        bits = ctypes.c_ulonglong(0)
        # Older drivers know only the second name.
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if self._succeeds(name, device, ctypes.byref(bits)):
                return bits.value
        return None

    def _memory_errors(self, device) -> Optional[int]:
        counts = [ctypes.c_ulonglong(0), ctypes.c_ulonglong(0)]  # corrected or not, since the driver was loaded
        known = all(self._succeeds("nvmlDeviceGetTotalEccErrors", device, kind, 0, ctypes.byref(count))
                    for kind, count in enumerate(counts))
        return sum(count.value for count in counts) if known else None

    def _energy_mj(self, device) -> Optional[int]:
        energy = ctypes.c_ulonglong(0)
        known = self._succeeds("nvmlDeviceGetTotalEnergyConsumption", device, ctypes.byref(energy))
        return energy.value if known else None

    def _compute_processes(self, device) -> int:
        processes, count = (_ProcessInfo * 64)(), ctypes.c_uint(64)
        found = self._succeeds("nvmlDeviceGetComputeRunningProcesses_v3", device, ctypes.byref(count), processes)
        return count.value if found else 0
