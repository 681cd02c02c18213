"""The SM clock from two readings of many SMs."""

import math
import unittest

from sm_clock import clock_hz


class ClockHzTest(unittest.TestCase):
    def test_is_the_median_over_the_sms_that_were_reached_both_times(self):
        before = [(0, 1000, 50), (1, 1000, 60), (2, 1000, 70), (3, 1000, 80)]
        after = [(0, 3000, 50 + 3000), (1, 3000, 60 + 3600), (2, 3000, 70 + 9999), (5, 3000, 1)]
        self.assertEqual(clock_hz(before, after), 1.8e9)

    def test_is_unknown_where_no_sm_was_reached_twice_or_no_time_passed(self):
        self.assertTrue(math.isnan(clock_hz([(0, 1000, 50)], [(1, 2000, 60)])))
        self.assertTrue(math.isnan(clock_hz([(0, 1000, 50)], [(0, 1000, 60)])))
