"""What a batch's graph holds and in which order, on a torch that only counts."""

import dataclasses
import math
import sys
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.measuring.call import Call, NotCapturable
from fusegate.measuring.cuda_meter import CudaMeter, clock_hz
from fusegate.measuring.fake_torch import FakeGpu
from fusegate.measuring.fakes import fake_benchmarks
from fusegate.measuring.numpy_device import NumpyDevice


class CudaMeterTest(unittest.TestCase):
    def setUp(self):
        self.gpu = FakeGpu()
        # Reading clocks takes time, which must not count as the batch's.
        self.meter = CudaMeter(self.gpu.torch(),
                               lambda moment: self.gpu.enqueue(("clocks", moment), ns=300.0))
        self.meter.clock_hz = lambda: 1.5e9

    def test_a_batch_reads_clocks_around_events_around_calls(self):
        batch = self.meter.record(self.gpu.call, 3, "warm")
        self.assertEqual(self.gpu.done, [], "captured and not run")
        sample = batch.run()
        self.assertEqual(self.gpu.done, [("clocks", 0), "event", "call", "call", "call", "event", ("clocks", 1)])
        self.assertAlmostEqual(sample.batch_ns, 3000.0)
        self.assertEqual(sample.sm_clock_hz, 1.5e9)

    def test_a_batch_runs_again_and_again(self):
        batch = self.meter.record(self.gpu.call, 2, "warm")
        self.assertAlmostEqual(batch.run().batch_ns, batch.run().batch_ns)
        self.assertEqual(self.gpu.done.count("call"), 4)

    def test_flushing_happens_before_every_call_and_is_not_timed(self):
        batch = self.meter.record(self.gpu.call, 2, "flushed")
        self.gpu.done.clear()
        sample = batch.run()
        self.assertEqual(self.gpu.done, [("clocks", 0), ("fill", 0), "event", "call", "event", ("fill", 1), "event",
                                         "call", "event", ("clocks", 1)])
        self.assertAlmostEqual(sample.batch_ns, 2000.0)

    def test_without_a_reader_the_clock_is_unknown(self):
        meter = CudaMeter(self.gpu.torch())
        sample = meter.record(self.gpu.call, 1, "warm").run()
        self.assertTrue(math.isnan(sample.sm_clock_hz))
        self.assertEqual(self.gpu.done, ["event", "call", "event"])

    def test_checks_what_the_replay_wrote_over_the_poison(self):
        values = []

        def double(x, out):
            values.append(float(out[0]))
            self.gpu.enqueue("call", lambda: numpy.multiply(x, 2, out=out))
        results, launches = self.meter.check(self.call(double))
        self.assertEqual(list(results[0]), [2.0] * 4)
        self.assertEqual(self.gpu.done, ["call", "synchronize", "synchronize", "call", "synchronize"],
                         "once outside of a capture first")
        self.assertIsNone(launches, "no driver here that knows this graph")

    def test_a_call_that_its_replay_leaves_out_keeps_the_poison(self):
        results, _ = self.meter.check(self.call(lambda x, out: numpy.multiply(x, 2, out=out)))
        self.assertTrue(numpy.isnan(results[0]).all())

    def test_a_call_that_synchronises_cannot_be_captured(self):
        def synchronised(x, out):
            self.gpu.enqueue("call", lambda: numpy.multiply(x, 2, out=out), ns=1000.0)
            self.gpu.synchronize()
        call = self.call(synchronised)
        with self.assertRaisesRegex(NotCapturable, "operation not permitted when stream is capturing"):
            self.meter.check(call)
        self.assertIsNone(self.gpu.capturing, "the stream is free again")
        self.assertEqual(self.gpu.pools_left, [(0, 1)], "and torch's allocator is")
        self.assertEqual(list(self.meter.check_uncaptured(call)[0]), [2.0] * 4)
        self.gpu.done.clear()
        sample = self.meter.record(call.launch, 2, "warm", is_captured=False).run()
        self.assertAlmostEqual(sample.batch_ns, 2000.0)
        self.assertEqual(self.gpu.done, [("clocks", 0), "event", "call", "synchronize", "call", "synchronize",
                                         "synchronize", "event", ("clocks", 1)])

    @staticmethod
    def call(function):
        (benchmark,) = fake_benchmarks("one", dtypes=["fp32"])
        benchmark = dataclasses.replace(benchmark, implementation=dataclasses.replace(
            benchmark.implementation, name="into", writes=("out",)))
        device = NumpyDevice(numpy)
        return Call(device, benchmark, function, {"x": numpy.ones(4, "float32")}, {"out": ((4,), "fp32")})

    def test_a_call_that_fails_ends_the_capture(self):
        def fail():
            raise RuntimeError("no")
        with self.assertRaisesRegex(RuntimeError, "no"):
            self.meter.record(fail, 1, "warm")
        self.assertIsNone(self.gpu.capturing)

    def test_host_time_is_a_calls(self):
        calls = []
        self.assertGreater(self.meter.host_ns(lambda: calls.append(0)), 0)
        self.assertEqual(len(calls), 90)


class ClockHzTest(unittest.TestCase):
    def test_is_the_median_over_the_sms_that_were_reached_both_times(self):
        before = [(0, 1000, 50), (1, 1000, 60), (2, 1000, 70), (3, 1000, 80)]
        after = [(0, 3000, 50 + 3000), (1, 3000, 60 + 3600), (2, 3000, 70 + 9999), (5, 3000, 1)]
        self.assertEqual(clock_hz(before, after), 1.8e9)

    def test_is_unknown_where_no_sm_was_reached_twice_or_no_time_passed(self):
        self.assertTrue(math.isnan(clock_hz([(0, 1000, 50)], [(1, 2000, 60)])))
        self.assertTrue(math.isnan(clock_hz([(0, 1000, 50)], [(0, 1000, 60)])))
