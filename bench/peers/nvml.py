"""NVIDIA's management library, by its stable C ABI (NVML API Reference Guide) as bench/machine/nvml.cc asks it. Not
through pynvml, which torch does not bring along, nor nvidia-smi, which takes too long between samples."""

import ctypes
import dataclasses
import typing

CLOCK_SM, CLOCK_MEMORY = 1, 2
# nvmlClocksEventReasons, by their bits.
THROTTLE_REASONS = ((0x2, "applications_clocks_setting"), (0x4, "sw_power_cap"), (0x8, "hw_slowdown"),
                    (0x10, "sync_boost"), (0x20, "sw_thermal_slowdown"), (0x40, "hw_thermal_slowdown"),
                    (0x80, "hw_power_brake_slowdown"))


@dataclasses.dataclass
class GpuState:
    """What the driver says of one GPU. None: not supported, or not permitted."""
    driver: typing.Optional[str] = None
    power_limit_w: typing.Optional[float] = None
    max_sm_clock_mhz: typing.Optional[int] = None
    max_memory_clock_mhz: typing.Optional[int] = None
    ecc: typing.Optional[bool] = None
    mig: typing.Optional[bool] = None
    persistence: typing.Optional[bool] = None
    temperature_c: typing.Optional[int] = None
    sm_clock_mhz: typing.Optional[int] = None  # at this moment
    throttle_reasons: list = dataclasses.field(default_factory=list)  # at this moment
    compute_processes: int = 0  # ours among them


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
        power_mw = self._number(device, "nvmlDeviceGetPowerManagementLimit")
        persistence = self._number(device, "nvmlDeviceGetPersistenceMode")
        return GpuState(
            driver=self._driver(),
            power_limit_w=None if power_mw is None else power_mw / 1e3,
            max_sm_clock_mhz=self._number(device, "nvmlDeviceGetMaxClockInfo", CLOCK_SM),
            max_memory_clock_mhz=self._number(device, "nvmlDeviceGetMaxClockInfo", CLOCK_MEMORY),
            ecc=self._mode(device, "nvmlDeviceGetEccMode"),
            mig=self._mode(device, "nvmlDeviceGetMigMode"),
            persistence=None if persistence is None else persistence != 0,
            temperature_c=self._number(device, "nvmlDeviceGetTemperature", 0),
            sm_clock_mhz=self._number(device, "nvmlDeviceGetClockInfo", CLOCK_SM),
            throttle_reasons=self._throttle_reasons(device),
            compute_processes=self._compute_processes(device))

    def _succeeds(self, name, *arguments):
        function = getattr(self._library, name, None)
        return function is not None and function(*arguments) == 0

    def _number(self, device, name, *kind):
        value = ctypes.c_uint(0)
        return value.value if self._succeeds(name, device, *kind, ctypes.byref(value)) else None

    def _mode(self, device, name):
        """There is a current and a pending mode; the current one is what counts."""
        current, pending = ctypes.c_uint(0), ctypes.c_uint(0)
        found = self._succeeds(name, device, ctypes.byref(current), ctypes.byref(pending))
        return current.value != 0 if found else None

    def _driver(self):
        text = ctypes.create_string_buffer(81)
        return text.value.decode() if self._succeeds("nvmlSystemGetDriverVersion", text, 80) else None

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
