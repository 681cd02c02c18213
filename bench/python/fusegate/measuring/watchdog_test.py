"""Work that does not end."""

import threading
import time
import unittest

from fusegate.measuring.watchdog import Watchdog


class WatchdogTest(unittest.TestCase):
    def test_names_the_benchmark_that_does_not_end(self):
        late_ones, late = [], threading.Event()
        watchdog = Watchdog(0.1, lambda benchmark: (late_ones.append(benchmark), late.set()))
        for benchmark in range(5):
            with watchdog.piece(benchmark):
                time.sleep(0.03)
        time.sleep(0.2)
        self.assertEqual(late_ones, [], "together they take longer, and between them nothing is watched")
        with watchdog.piece(7):
            self.assertTrue(late.wait(5))
        self.assertEqual(late_ones, [7])

    def test_waits_without_limit_if_asked(self):
        with Watchdog(None, self.fail).piece(1):
            time.sleep(0.01)
