"""The machine while it is measured, and when it is doubted."""

import math
import unittest

from fakes import UUID, FakeNvml
from watch import Watch


class WatchTest(unittest.TestCase):
    def doubts(self, **fields):
        return Watch(FakeNvml(**fields), UUID, ["dirty_tree"]).doubts

    def test_keeps_the_doubts_there_are(self):
        self.assertEqual(self.doubts(), {"dirty_tree"})

    def test_without_nvml_says_so_and_goes_on(self):
        self.assertEqual(Watch(None, UUID, []).doubts, {"nvml_missing"})
        self.assertEqual(Watch(FakeNvml(), "GPU-2", []).doubts, {"nvml_missing"})

    def test_doubts_a_gpu_that_is_shared_or_too_hot(self):
        self.assertIn("other_gpu_process", self.doubts(compute_processes=2))
        self.assertIn("throttled", self.doubts(throttle_reasons=["hw_thermal_slowdown"]))
        self.assertNotIn("throttled", self.doubts(throttle_reasons=["sw_power_cap"]))

    def test_doubts_clocks_that_move(self):
        watch = Watch(FakeNvml(), UUID, [])
        for hz in (1.50e9, math.nan, 1.505e9):
            watch.saw_clock(hz)
        self.assertNotIn("unlocked_clocks", watch.doubts)
        watch.saw_clock(1.6e9)
        self.assertIn("unlocked_clocks", watch.doubts)
