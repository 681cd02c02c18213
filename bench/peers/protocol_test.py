"""What of fusegate_bench's protocol peers can follow, samples over places, and the order of places."""

import random
import unittest

from bench import find_bench, read_plan
from fakes import fake_protocol
from input_error import InputError
from protocol import place_order, protocol_of


def planned(*flags):
    return protocol_of(read_plan(find_bench(), ["--suite=ladder", *flags]))


class ProtocolTest(unittest.TestCase):
    def test_is_fusegate_benchs(self):
        self.assertEqual(planned(), fake_protocol())
        self.assertEqual(planned("--samples=7", "--idle-us=9", "--l2=flushed", "--order=contiguous", "--batch-us=20"),
                         fake_protocol(samples=7, places=7, idle_ns=9000, l2="flushed", order="contiguous",
                                       batch_ns=20_000))

    def test_another_regime_has_its_own_idle_and_places(self):
        self.assertEqual(planned("--regime=sustained"), fake_protocol(idle_ns=0, places=12, warm_ns=100_000_000))

    def test_refuses_what_torch_cannot_do(self):
        for flag, expected in (("--spin-us=3", "ladder: protocol.spin_us: the peers have no kernel that spins"),
                               ("--layout=numbered", "ladder: protocol.layout: torch leaves the layout")):
            with self.assertRaisesRegex(InputError, expected):
                planned(flag)
        self.assertEqual(planned("--spin-us=0", "--layout=driver"), fake_protocol())

    def test_spreads_samples_evenly_over_places(self):
        protocol = fake_protocol(samples=10, places=4)
        self.assertEqual([protocol.samples_at(place) for place in range(4)], [2, 3, 2, 3])
        self.assertEqual([protocol.first_sample(place) for place in range(4)], [0, 2, 5, 7])


class PlaceOrderTest(unittest.TestCase):
    def test_has_every_place_of_every_benchmark(self):
        order = place_order(fake_protocol(samples=6, places=6), 3, random.Random(1))
        self.assertEqual([order.count(benchmark) for benchmark in range(3)], [6, 6, 6])

    def test_interleaves_by_the_seed(self):
        protocol = fake_protocol(samples=6, places=6)
        first, again, other = (place_order(protocol, 3, random.Random(seed)) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertNotEqual(first, sorted(first))

    def test_contiguous_is_one_benchmark_after_another(self):
        order = place_order(fake_protocol(samples=2, places=2, order="contiguous"), 2, random.Random(1))
        self.assertEqual(order, [0, 0, 1, 1])
