"""What surrounds a measurement, and when it is doubted."""

import math
import unittest

from environment import Probe
from fakes import FakeDevice, FakeNvml

# Of a run file that fusegate_bench wrote on an H200.
FUSEGATE_BENCH_KEYS = {"cublas", "cuda", "device", "driver", "ecc", "max_memory_clock_mhz", "max_sm_clock_mhz", "mig",
                       "power_limit_w"}


class ProbeTest(unittest.TestCase):
    def probe(self, **fields):
        nvml = FakeNvml(max_sm_clock_mhz=1980, max_memory_clock_mhz=3201, ecc=True, mig=False, **fields)
        return Probe(FakeDevice(), nvml)

    def test_environment_has_fusegate_benchs_keys_and_no_others(self):
        environment = self.probe().environment()
        self.assertEqual(set(environment), FUSEGATE_BENCH_KEYS)
        self.assertEqual((environment["device"], environment["cublas"]), ("NVIDIA H200", "13.1.0"))
        self.assertEqual((environment["power_limit_w"], environment["mig"]), (700.0, False))

    def test_what_the_driver_does_not_say_is_left_out(self):
        self.assertNotIn("ecc", Probe(FakeDevice(), FakeNvml()).environment())

    def test_without_nvml_says_so_and_goes_on(self):
        probe = Probe(FakeDevice(), None)
        self.assertIn("nvml_missing", probe.doubts)
        self.assertEqual(set(probe.environment()), {"device", "cuda", "cublas"})
        self.assertNotIn("compute_processes", probe.machine())

    def test_doubts_a_gpu_that_is_shared_or_too_hot(self):
        self.assertIn("other_gpu_process", self.probe(compute_processes=2).doubts)
        self.assertIn("throttled", self.probe(throttle_reasons=["hw_thermal_slowdown"]).doubts)
        self.assertNotIn("throttled", self.probe(throttle_reasons=["sw_power_cap"]).doubts)

    def test_doubts_clocks_that_move(self):
        probe = self.probe()
        for hz in (1.50e9, math.nan, 1.505e9):
            probe.saw_clock(hz)
        self.assertNotIn("unlocked_clocks", probe.doubts)
        probe.saw_clock(1.6e9)
        self.assertIn("unlocked_clocks", probe.doubts)


if __name__ == "__main__":
    unittest.main()
