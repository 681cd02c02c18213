"""Protocols as suites and flags write them, samples over layouts, and the order of layouts."""

import random
import unittest

from fusegate.errors import InputError
from fusegate.measuring.fakes import fake_protocol
from fusegate.measuring.protocol import Protocol, parse_protocol, layout_order, with_flags


class ProtocolTest(unittest.TestCase):
    def test_another_regime_has_its_own_idle_and_layouts(self):
        sustained = parse_protocol({"regime": "sustained"}, "s.json")
        self.assertEqual(sustained, Protocol(regime="sustained", idle_ns=0, layouts=12, warm_ns=100_000_000))
        self.assertEqual(parse_protocol(with_flags({"idle_us": 5000, "samples": 9}, {"regime": "sustained"}), "s.json"),
                         Protocol(regime="sustained", idle_ns=0, layouts=9, warm_ns=100_000_000, samples=9))

    def test_says_what_is_wrong(self):
        for key, value, expected in (("samples", 0, "protocol.samples: must be a whole number from 1 to 100000"),
                                     ("batch_us", 1.5, "protocol.batch_us: must be a whole number"),
                                     ("l2", "cold", 'protocol.l2: must be "warm" or "flushed"'),
                                     ("speed", 3, "protocol.speed: unknown key; known: samples"),
                                     ("spin_us", 3, "protocol.spin_us: must be 0 for a Python program")):
            with self.subTest(key), self.assertRaisesRegex(InputError, f"^s.json: {expected}"):
                parse_protocol({key: value}, "s.json")

    def test_is_written_as_fusegate_bench_writes_it(self):
        self.assertEqual(Protocol(layout="numbered", min_effect=0.01, allow=0.02).to_json(), {
            "regime": "burst", "samples": 48, "batch_ns": 1_500_000, "idle_ns": 3_000_000, "layouts": 48,
            "order": "interleaved", "warm_ns": 0, "spin_ns": 0, "l2": "warm", "layout": "numbered", "min_effect": 0.01,
            "allow": 0.02})
        self.assertNotIn("layout", Protocol().to_json())
        self.assertNotIn("allow", Protocol().to_json())

    def test_takes_places_the_name_of_layouts_before(self):
        self.assertEqual(parse_protocol({"places": 3}, "s.json").layouts, 3)
        self.assertEqual(with_flags({"places": 3}, {"layouts": 5}), {"layouts": 5})

    def test_spreads_samples_evenly_over_layouts(self):
        protocol = fake_protocol(samples=10, layouts=4)
        self.assertEqual([protocol.samples_at(layout) for layout in range(4)], [2, 3, 2, 3])
        self.assertEqual([protocol.first_sample(layout) for layout in range(4)], [0, 2, 5, 7])


class LayoutOrderTest(unittest.TestCase):
    def test_has_every_layout_that_is_left(self):
        order = layout_order(fake_protocol(), [6, 0, 3], random.Random(1))
        self.assertEqual([order.count(benchmark) for benchmark in range(3)], [6, 0, 3])

    def test_interleaves_by_the_seed(self):
        first, again, other = (layout_order(fake_protocol(), [6, 6, 6], random.Random(seed)) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        self.assertNotEqual(first, sorted(first))

    def test_contiguous_is_one_benchmark_after_another(self):
        self.assertEqual(layout_order(fake_protocol(order="contiguous"), [2, 2], random.Random(1)), [0, 0, 1, 1])
