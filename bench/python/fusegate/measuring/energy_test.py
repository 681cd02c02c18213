import threading
import unittest

from fusegate.measuring.energy import Move, Reading, call_energy, energy_between, move_between
from fusegate.measuring.fakes import FakeCounter

MS = 1_000_000


class MoveBetween(unittest.TestCase):
    def test_is_the_middle_of_the_two_reads(self):
        self.assertEqual(move_between(Reading(1, 10, 11), Reading(5, 12, 20)), Move(5, 15))

    def test_is_none_where_the_value_is_the_same(self):
        self.assertIsNone(move_between(Reading(1, 10, 11), Reading(1, 12, 20)))


class EnergyBetween(unittest.TestCase):
    """Batches of 2, 4 and 2 ms, ten calls each, and two joules."""

    def energy(self, from_ms, to_ms, counters_mj=(1000, 3000)):
        first, last = (Move(counter, at * MS) for counter, at in zip(counters_mj, (from_ms, to_ms)))
        return energy_between(first, last, [10 * MS, 12 * MS, 16 * MS, 18 * MS], 10)

    def test_is_the_counters_difference_over_the_calls_that_ran(self):
        energy = self.energy(12, 18)
        self.assertAlmostEqual(energy.joules, 0.1)
        self.assertAlmostEqual(energy.power_w, 2 / 6e-3)

    def test_divides_the_batch_that_ran_at_a_move(self):
        # Half of the first batch, and three quarters of the second one.
        energy = self.energy(11, 15)
        self.assertAlmostEqual(energy.joules, 2 / 12.5)
        self.assertAlmostEqual(energy.power_w, 500)

    def test_has_no_calls_before_the_first_batch_and_after_the_last(self):
        self.assertAlmostEqual(self.energy(3, 25).joules, 2 / 30)

    def test_is_unknown_where_no_call_ran(self):
        for from_ms, to_ms in ((1, 9), (20, 25), (14, 14)):
            self.assertIsNone(self.energy(from_ms, to_ms))

    def test_is_unknown_where_the_counter_began_anew(self):
        self.assertIsNone(self.energy(12, 18, (3000, 1000)))


class CallEnergyTest(unittest.TestCase):
    def energy(self, counter, batch_ms, calls=1, read=None, run=None):
        return call_energy(read or counter.read_mj, run or (lambda: counter.pass_ns(batch_ms * MS)), calls, 300 * MS,
                           lambda: counter.now_ns)

    def test_is_the_power_times_the_time_of_a_call(self):
        counter = FakeCounter()
        energy = self.energy(counter, 9, calls=10)
        # The counter moves at 100 and 400 ms. It is read at 91 and 100 ms and at 397 and 406 ms.
        self.assertAlmostEqual(energy.power_w, counter.watts * 300 / 306)
        self.assertAlmostEqual(energy.joules, energy.power_w * 9e-3 / 10)
        self.assertTrue(406 * MS <= counter.now_ns <= 430 * MS, counter.now_ns)

    def test_is_unknown_where_the_counter_stands_still(self):
        counter = FakeCounter(watts=0)
        self.assertIsNone(self.energy(counter, 50))
        self.assertTrue(1037 * MS <= counter.now_ns <= 1200 * MS, counter.now_ns)

    def test_is_unknown_where_the_counter_answers_no_more(self):
        counter = FakeCounter(readable=5)
        self.assertIsNone(self.energy(counter, 50))
        self.assertLessEqual(counter.now_ns, 1300 * MS)

    def test_runs_nothing_without_a_counter(self):
        counter = FakeCounter(readable=0)
        self.assertIsNone(self.energy(counter, 2))
        self.assertEqual(counter.now_ns, 37 * MS)

    def test_stops_reading_where_a_call_fails(self):
        def fail():
            raise RuntimeError("lost")
        with self.assertRaisesRegex(RuntimeError, "lost"):
            self.energy(FakeCounter(), 2, run=fail)
        self.assertEqual(threading.active_count(), 1)

    def test_hands_on_what_the_counter_raises(self):
        counter = FakeCounter()

        def read():
            if counter.reads > 3:
                raise RuntimeError("lost")
            return counter.read_mj()
        with self.assertRaisesRegex(RuntimeError, "lost"):
            self.energy(counter, 2, read=read)


if __name__ == "__main__":
    unittest.main()
