"""The protocol of one benchmark, on a fake meter."""

import math
import unittest

from fusegate.measuring.call import WrongResult
from fusegate.measuring.fakes import FakeCounter, FakeDevice, FakeMeter, fake_benchmarks, fake_protocol
from fusegate.measuring.session import MOST_CALLS, Session
from fusegate.measuring.verification import Verifier


class SessionTest(unittest.TestCase):
    def session(self, device=None, meter=None, **protocol):
        self.device, self.meter = device or FakeDevice(), meter or FakeMeter()
        (benchmark,) = fake_benchmarks("one")
        return Session(self.device, self.meter, fake_protocol(**protocol), 5, benchmark,
                       sleep=self.meter.sleep, clock_ns=lambda: self.meter.now_ns)

    def verified(self, **arguments):
        session = self.session(**arguments)
        session.verify(Verifier(self.device, self.meter, 5))
        return session

    def test_times_nothing_unchecked(self):
        with self.assertRaises(ValueError):
            self.session().enter(0)

    def test_a_wrong_result_is_refused(self):
        for device, expected in ((FakeDevice(error=0.02), "relative error 2.00e-02 against the reference, 1.0e-02"),
                                 (FakeDevice(error=math.inf, not_finite=3), "3 elements are NaN, infinite"),
                                 (FakeDevice(error=math.nan), "relative error nan")):
            with self.subTest(expected), self.assertRaisesRegex(WrongResult, expected):
                self.verified(device=device)

    def test_a_batch_is_as_long_as_the_protocol_asks_and_a_tenth_more(self):
        session = self.verified(meter=FakeMeter(call_ns=7000.0))
        session.enter(0)
        self.assertEqual(session.calls, 236)
        self.assertEqual(self.meter.recorded[-1], (236, "warm", True))

    def test_a_graph_stays_bounded(self):
        session = self.verified(meter=FakeMeter(call_ns=1.0))
        layout = session.enter(0)
        self.assertEqual(session.calls, MOST_CALLS)
        session.run_sample(layout)
        self.assertEqual(layout.warnings, {"short_batch"})

    def test_every_layout_is_fresh_memory_and_fresh_numbers_but_the_same_batch(self):
        session = self.verified()
        for layout in range(3):
            session.enter(layout)
        self.assertEqual(self.device.fresh, 3)
        self.assertEqual(self.device.seeds, [5, "5/0", "5/1", "5/2"])
        self.assertEqual(self.meter.recorded[-3:], [(session.calls, "warm", True)] * 3)
        self.assertEqual(session.record.host_ns, 5000.0)

    def test_prepares_in_every_layout_and_synchronises_before_anything_is_captured(self):
        events = []
        (benchmark,) = fake_benchmarks("one", implementation_fields={
            "prepare": lambda x: events.append("prepare") or x, "choices": lambda p: {"tile": events.count("prepare")}})
        device, meter = FakeDevice(), FakeMeter()
        device.synchronize = lambda: events.append("synchronize")
        record = meter.record
        meter.record = lambda *arguments: events.append("record") or record(*arguments)
        session = Session(device, meter, fake_protocol(), 5, benchmark, clock_ns=lambda: meter.now_ns)
        session.verify(Verifier(device, meter, 5))
        self.assertEqual(session.record.choices, {"tile": "1"}, "asked once the result was checked")
        for layout in range(2):
            events.clear()
            session.enter(layout)
            self.assertEqual(events[:3], ["prepare", "synchronize", "record"])
            self.assertEqual(events.count("prepare"), 1)

    def test_a_layout_is_that_of_its_number(self):
        session = self.verified(layout="numbered")
        for layout in (0, 7):
            session.enter(layout)
        self.assertEqual((self.device.layouts, self.device.fresh), ([0, 7], 0))

    def test_what_cannot_be_captured_is_timed_by_events_and_doubted(self):
        session = self.verified(meter=FakeMeter(not_capturable="it synchronises"))
        layout = session.enter(0)
        session.run_sample(layout)
        self.assertEqual(layout.warnings, {"not_capturable"})
        self.assertEqual(session.record.not_capturable, "it synchronises")
        self.assertFalse(any(is_captured for _, _, is_captured in self.meter.recorded))

    def test_idles_before_every_sample(self):
        session = self.verified(idle_ns=4_000_000)
        layout = session.enter(0)
        for _ in range(2):
            session.run_sample(layout)
        self.assertEqual(self.meter.slept, [0.004, 0.004])
        self.assertEqual(layout.warnings, set())

    def test_warms_up_by_one_batch_or_for_as_long_as_asked(self):
        for warm_ns, runs in ((0, 1), (5_000_000, 4)):
            session = self.verified(warm_ns=warm_ns)
            session.enter(0)
            before = self.meter.runs
            session.enter(1)
            self.assertEqual(self.meter.runs - before, runs)

    def test_a_clock_that_was_not_read_raises_a_warning(self):
        session = self.verified(meter=FakeMeter(clocks=(math.nan,)))
        layout = session.enter(0)
        session.run_sample(layout)
        self.assertIn("clock_unread", layout.warnings)

    def test_measures_the_energy_of_a_call(self):
        session = self.verified(meter=FakeMeter(call_ns=10e6))
        session.enter(0)
        counter = FakeCounter()
        self.meter.spend = counter.pass_ns
        session._clock_ns = lambda: counter.now_ns  # pylint: disable=protected-access
        self.meter.clocks = iter(())  # which are not read
        energy = session.call_energy(counter.read_mj, 100e6)
        self.assertAlmostEqual(energy.joules, 5)  # 500 W for 10 ms
        self.assertAlmostEqual(energy.power_w, 500)
