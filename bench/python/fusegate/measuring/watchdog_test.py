"""Work that does not end."""

import threading
import time
import unittest

from fusegate.measuring.watchdog import Watchdog


class WatchdogTest(unittest.TestCase):
    def test_tells_whose_work_does_not_end(self):
        told, late = [], threading.Event()
        watchdog = Watchdog(0.1, lambda benchmark: (told.append(benchmark), late.set()))
        for benchmark in range(5):
            with watchdog.piece(benchmark):
                time.sleep(0.03)
        time.sleep(0.2)
        self.assertEqual(told, [], "together they take longer, and between them nothing is watched")
        with watchdog.piece(7):
            self.assertTrue(late.wait(5))
        self.assertEqual(told, [7])

    def test_waits_for_ever_where_asked_to(self):
        with Watchdog(None, self.fail).piece(1):
            time.sleep(0.01)
