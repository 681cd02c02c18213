"""Asks NVIDIA's management library for a GPU's state between samples, by its stable C ABI (NVML API Reference Guide),
as bench/machine/nvml.cc does. pynvml will not do, since torch does not bring it along, nor will nvidia-smi, which is
too slow between samples."""

import collections
import ctypes

# nvmlClocksEventReasons, by their bits.
THROTTLE_REASONS = ((0x2, "applications_clocks_setting"), (0x4, "sw_power_cap"), (0x8, "hw_slowdown"),
                    (0x10, "sync_boost"), (0x20, "sw_thermal_slowdown"), (0x40, "hw_thermal_slowdown"),
                    (0x80, "hw_power_brake_slowdown"))

# compute_processes: ours among them; 0 where the driver does not say.
GpuState = collections.namedtuple("GpuState", "compute_processes throttle_reasons")


class _ProcessInfo(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used_gpu_memory", ctypes.c_ulonglong),
                ("gpu_instance_id", ctypes.c_uint), ("compute_instance_id", ctypes.c_uint)]


class Nvml:
    """library: a loaded libnvidia-ml, initialised."""

    def __init__(self, library):
        self._library = library

    @staticmethod
    def open():
        """None where the library is missing or cannot be used."""
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            return Nvml(library) if library.nvmlInit_v2() == 0 else None
        except (OSError, AttributeError):
            return None

    def state(self, uuid):
        """uuid: "GPU-...". None where NVML knows no such GPU."""
        device = ctypes.c_void_p()
        if not self._succeeds("nvmlDeviceGetHandleByUUID", uuid.encode(), ctypes.byref(device)):
            return None
        return GpuState(self._compute_processes(device), self._throttle_reasons(device))

    def _succeeds(self, name, *arguments):
        function = getattr(self._library, name, None)
        return function is not None and function(*arguments) == 0

    def _throttle_reasons(self, device):
        bits = ctypes.c_ulonglong(0)
        # Older drivers know only the second name.
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if self._succeeds(name, device, ctypes.byref(bits)):
                return [reason for bit, reason in THROTTLE_REASONS if bits.value & bit]
        return []

    def _compute_processes(self, device):
        processes, count = (_ProcessInfo * 64)(), ctypes.c_uint(64)
        found = self._succeeds("nvmlDeviceGetComputeRunningProcesses_v3", device, ctypes.byref(count), processes)
        return count.value if found else 0
