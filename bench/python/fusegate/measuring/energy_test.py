import unittest

from fusegate.measuring.energy import energy_per_call_j

MS = 1_000_000


class FakeDevice:
    """Takes so many watts; its counter moves every 100 ms."""

    def __init__(self, batch_ms=2, watts=500, moves=True):
        self.batch_ms, self.watts, self.moves = batch_ms, watts, moves
        self.now_ns, self.batches = 37 * MS, 0

    def counter_mj(self):
        return self.now_ns // (100 * MS) * 100 * self.watts if self.moves else 0

    def run(self):
        self.now_ns += self.batch_ms * MS
        self.batches += 1

    def energy(self, calls, counter=None):
        return energy_per_call_j(counter or self.counter_mj, self.run, calls, 300 * MS, lambda: self.now_ns)


class EnergyPerCall(unittest.TestCase):
    def test_is_the_power_times_the_time_of_a_call(self):
        device = FakeDevice()
        self.assertAlmostEqual(device.energy(10), 0.1)  # 2 ms at 500 W are one joule a batch
        self.assertTrue(150 <= device.batches <= 250, device.batches)

    def test_is_known_to_a_batch_where_the_counter_moves_within_one(self):
        self.assertAlmostEqual(FakeDevice(batch_ms=7).energy(1), 3.5, delta=3.5 * 7 / 300)

    def test_is_unknown_where_the_counter_stands_still(self):
        device = FakeDevice(moves=False)
        self.assertIsNone(device.energy(1))
        self.assertLessEqual(device.now_ns, 1100 * MS)

    def test_is_unknown_without_a_counter(self):
        device = FakeDevice()
        self.assertIsNone(device.energy(1, lambda: None))
        self.assertEqual(device.batches, 0)


if __name__ == "__main__":
    unittest.main()
