"""Samples over places, the order of places, and the record that must equal fusegate_bench's."""

import random
import unittest

from protocol import Protocol, place_order, protocol_of


class ProtocolTest(unittest.TestCase):
    def test_spreads_samples_evenly_over_places(self):
        protocol = Protocol(samples=10, places=4)
        self.assertEqual([protocol.samples_at(place) for place in range(4)], [2, 3, 2, 3])
        self.assertEqual([protocol.first_sample(place) for place in range(4)], [0, 2, 5, 7])

    def test_is_recorded_as_fusegate_bench_records_its_own_with_the_drivers_layout(self):
        self.assertEqual(Protocol().to_json(),
                         {"regime": "burst", "samples": 48, "batch_ns": 1500000, "idle_ns": 3000000, "places": 48,
                          "order": "interleaved", "warm_ns": 0, "spin_ns": 0, "l2": "warm", "layout": "driver"})
        self.assertEqual(Protocol(min_effect=0.01).to_json()["min_effect"], 0.01)

    def test_sustained_neither_idles_nor_moves_much(self):
        protocol = protocol_of("sustained")
        self.assertEqual((protocol.idle_ns, protocol.places, protocol.warm_ns), (0, 12, 100_000_000))


class PlaceOrderTest(unittest.TestCase):
    def test_has_every_place_of_every_benchmark(self):
        order = place_order(Protocol(samples=6, places=6), 3, random.Random(1))
        self.assertEqual([order.count(benchmark) for benchmark in range(3)], [6, 6, 6])

    def test_interleaves_by_the_seed(self):
        protocol = Protocol(samples=6, places=6)
        first, again, other = (place_order(protocol, 3, random.Random(seed)) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertNotEqual(first, sorted(first))

    def test_contiguous_is_one_benchmark_after_another(self):
        order = place_order(Protocol(samples=2, places=2, order="contiguous"), 2, random.Random(1))
        self.assertEqual(order, [0, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
