"""What NVML answers, by a library that is asked as the real one is."""

import ctypes
import unittest

from fusegate.machine.nvml import Nvml

UUID = "GPU-1"


class FakeLibrary:
    """numbers: by function. A function that it lacks is of a newer driver."""

    def __init__(self, uuids=(UUID,), reasons=0x4, **numbers):
        self._uuids, self._reasons, self._numbers = uuids, reasons, numbers

    def __getattr__(self, name):
        if name == "nvmlDeviceGetHandleByUUID":
            return lambda uuid, _handle: 0 if uuid.decode() in self._uuids else 6
        if name == "nvmlSystemGetDriverVersion":
            return self._driver
        if name == "nvmlDeviceGetCurrentClocksThrottleReasons":
            return lambda _device, bits: self._store(bits, self._reasons)
        if name == "nvmlDeviceGetDeviceHandleFromMigDeviceHandle":
            return lambda part, whole: 0
        if name in self._numbers:
            return lambda *arguments: self._answer(name, arguments)
        raise AttributeError(name)

    @staticmethod
    def _driver(buffer, _length):
        buffer.value = b"580.159.04"
        return 0

    @staticmethod
    def _store(pointer, value):
        pointer._obj.value = value  # pylint: disable=protected-access
        return 0

    def _answer(self, name, arguments):
        passed = [each for each in arguments if type(each).__name__ == "CArgObject"]
        return self._store(passed[0], self._numbers[name]) if passed else 0


class NvmlTest(unittest.TestCase):
    def test_reads_settings_and_state(self):
        state = Nvml(FakeLibrary(nvmlDeviceGetPowerManagementLimit=700_000, nvmlDeviceGetMaxClockInfo=1980,
                                 nvmlDeviceGetEccMode=1, nvmlDeviceGetMigMode=0, nvmlDeviceGetTemperature=41,
                                 nvmlDeviceGetTotalEnergyConsumption=123, nvmlDeviceGetPersistenceMode=1)).state(UUID)
        self.assertEqual(state.settings, {"driver": "580.159.04", "power_limit_w": 700.0, "max_sm_clock_mhz": 1980,
                                          "max_memory_clock_mhz": 1980, "ecc": True, "mig": False})
        self.assertEqual((state.temperature_c, state.energy_mj, state.persistence), (41, 123, True))
        self.assertEqual((state.throttle_reasons, state.clocks_held, state.is_slice), (["sw_power_cap"], False, False))

    def test_what_is_not_answered_is_left_out(self):
        state = Nvml(FakeLibrary()).state(UUID)
        self.assertEqual(state.settings, {"driver": "580.159.04"})
        self.assertEqual((state.temperature_c, state.energy_mj, state.compute_processes), (None, None, 0))

    def test_idle_clocks_do_not_show_a_setting(self):
        for reasons, held in ((0x1, None), (0x2, True), (0x0, False)):
            self.assertIs(Nvml(FakeLibrary(reasons=reasons)).state(UUID).clocks_held, held)

    def test_knows_a_slice_of_a_gpu_by_its_other_name(self):
        self.assertTrue(Nvml(FakeLibrary(uuids=["MIG-1"])).state(UUID).is_slice)
        self.assertIsNone(Nvml(FakeLibrary(uuids=[])).state(UUID))

    def test_passes_pointers_of_the_librarys_types(self):
        asked = []

        class Typed(FakeLibrary):
            def _answer(self, name, arguments):
                asked.append(type(arguments[-1]._obj))  # pylint: disable=protected-access
                return super()._answer(name, arguments)
        Nvml(Typed(nvmlDeviceGetTotalEnergyConsumption=1)).energy_mj(UUID)
        self.assertEqual(asked, [ctypes.c_ulonglong])
