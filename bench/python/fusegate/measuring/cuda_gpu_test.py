"""The package on a GPU, with torch and Triton: what a capture holds, what cannot be captured, canaries, layouts, clocks,
the profile. Without them it exits with 77, which ctest shows as skipped."""

import importlib.util
import math
import random
import sys
import unittest

if any(importlib.util.find_spec(name) is None for name in ("torch", "triton")):
    sys.exit(77)

import torch  # noqa: E402: only where it is

if not torch.cuda.is_available():
    sys.exit(77)

import fusegate  # noqa: E402
from fusegate.machine.environment import Watch, environment  # noqa: E402
from fusegate.machine.nvml import Nvml  # noqa: E402
from fusegate.measuring.call import WrongResult  # noqa: E402
from fusegate.measuring.call_profile import profile_call  # noqa: E402
from fusegate.measuring.fakes import fake_protocol  # noqa: E402
from fusegate.measuring.opening import open_cuda  # noqa: E402
from fusegate.measuring.session import Session  # noqa: E402
from fusegate.measuring.verification import Verifier  # noqa: E402
from fusegate.plan import Benchmark  # noqa: E402


def double(x):
    return 2 * x


def into(x, out):
    torch.mul(x, 2, out=out)


class CudaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device, cls.meter = open_cuda(torch)

    def benchmark(self, function, rows=4096, **options):
        fusegate.clear()
        fields = {key: options.pop(key) for key in ("inputs", "reference", "outputs", "dtypes") if key in options}
        operation = fusegate.Operation("scale", **{
            "axes": {"rows": [rows], "cols": [1024]}, "dtypes": ["bf16"], "reference": double,
            "inputs": lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, **fields})
        operation.benchmark("one", **options)(function)
        return Benchmark(operation.implementations["one"], next(operation.problems("cuda")))

    def session(self, function, layout="numbered", **options):
        session = Session(self.device, self.meter, fake_protocol(layout=layout, batch_ns=300_000, idle_ns=100_000), 5,
                          self.benchmark(function, **options))
        session.verify(Verifier(self.device, self.meter, 5))
        if layout == "numbered":
            self.device.reserve(session.verified.sizes, 1)
        return session

    def sampled(self, session):
        layout = session.enter(0)
        return layout, session.run_sample(layout)

    def assert_random_numbers_and_captures_still_work(self):
        torch.randn(8, device="cuda")
        self.assertEqual(self.session(double).record.not_capturable, "")

    def test_a_sample_is_a_graph_between_readings_of_the_clock(self):
        for function, options in ((double, {}), (into, {"writes": "out"})):
            session = self.session(function, **options)
            self.assertEqual((session.record.not_capturable, session.record.launches.kernels), ("", 1))
            layout, sample = self.sampled(session)
            self.assertFalse(layout.warnings & {"clock_unread", "not_capturable"})
            self.assertTrue(0.5e9 < sample.sm_clock_hz < 3e9, sample.sm_clock_hz)
            # 8 MB are read and as many written: more than 1 TB/s, less than 40.
            self.assertTrue(0.4e3 < sample.batch_ns / session.calls < 20e3, sample.batch_ns / session.calls)

    def test_what_synchronises_is_timed_by_events(self):
        def synchronised(x):
            out = 2 * x
            torch.cuda.synchronize()
            return out
        session = self.session(synchronised)
        self.assertRegex(session.record.not_capturable, "captur")
        layout, sample = self.sampled(session)
        self.assertIn("not_capturable", layout.warnings)
        self.assertGreater(sample.batch_ns / session.calls, 2e3, "a wait for the GPU is part of a call")
        self.assert_random_numbers_and_captures_still_work()

    def test_what_reads_a_result_back_is_timed_by_events(self):
        session = self.session(lambda x: x * (2 if float(x[0, 0]) < 9 else 3))
        self.assertRegex(session.record.not_capturable, "captur")
        self.assertIn("not_capturable", self.sampled(session)[0].warnings)
        self.assert_random_numbers_and_captures_still_work()

    def test_work_on_another_stream_is_found_out(self):
        side = torch.cuda.Stream()

        def elsewhere(x, out):
            with torch.cuda.stream(side):
                torch.mul(x, 2, out=out)
        session = self.session(elsewhere, writes="out")
        self.assertEqual(session.record.not_capturable, "what it launches is not on the current stream")
        plain = self.sampled(self.session(into, writes="out"))[1].batch_ns
        layout, sample = self.sampled(session)
        self.assertIn("not_capturable", layout.warnings)
        self.assertGreater(sample.batch_ns, 0.3 * plain)

    def test_a_stream_that_is_joined_again_is_captured(self):
        side = torch.cuda.Stream()

        def forked(x, out):
            main = torch.cuda.current_stream()
            side.wait_stream(main)
            with torch.cuda.stream(side):
                torch.mul(x, 2, out=out)
            main.wait_stream(side)
        self.assertEqual(self.session(forked, writes="out").record.not_capturable, "")

    def test_wrong_results_and_writes_beside_are_refused(self):
        def beside(x, out):
            torch.mul(x, 2, out=out)
            torch.as_strided(out, (out.numel() + 3,), (1,))[-3:] = 1
        for function, options, expected in (
                (lambda x: 2.1 * x, {}, "wrong result: relative error 5.0.e-02"),
                (lambda x, out: out[:-1].copy_(2 * x[:-1]), {"writes": "out"}, "wrong result: 1024 elements are NaN"),
                (beside, {"writes": "out"}, "writes outside of 'out': it changed 6 bytes after it"),
                (lambda x: x.mul_(2).clone(), {}, "changes its input 'x'")):
            with self.subTest(expected), self.assertRaisesRegex(WrongResult, expected):
                self.session(function, **options)

    def test_in_place_and_several_outputs(self):
        def fused(x, residual):
            residual += x
            return 3 * residual
        session = self.session(
            fused, writes="residual", outputs=["y", "residual"], reference=lambda x, r: (3 * (x + r), x + r),
            inputs=lambda p: {"x": fusegate.normal(p.rows, p.cols), "residual": fusegate.normal(p.rows, p.cols)})
        self.assertLess(session.record.relative_error, 1e-2)
        self.assertTrue(math.isfinite(self.sampled(session)[1].batch_ns))

    def test_every_dtype_that_torch_has(self):
        for dtype in ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2"):
            with self.subTest(dtype):
                self.assertGreaterEqual(self.session(lambda x: x.clone(), reference=lambda x: x, dtypes=[dtype])
                                        .record.relative_error, 0)
        self.session(lambda x: x + 1, reference=lambda x: x + 1, dtypes=["int32"],
                     inputs=lambda p: {"x": fusegate.integers(p.rows, p.cols, high=1000)})

    def test_a_layout_has_its_distances_again(self):
        session = self.session(into, writes="out")

        def distance(layout):
            call = session.move_to(layout)
            x, out = call.launch.args
            return out.data_ptr() - x.data_ptr()
        self.assertEqual([distance(layout) for layout in (3, 4, 3)], [distance(3), distance(4), distance(3)])
        self.assertNotEqual(distance(3), distance(4))

    def test_the_profile_names_the_kernel(self):
        session = self.session(double)
        launch = session.move_to(0).launch
        profile = profile_call(torch, launch, "scale")
        (kernel,) = profile["kernels"]
        self.assertTrue(kernel["name"])
        self.assertGreater(kernel["duration_ns"], 100)
        self.assertGreater(math.prod(kernel["grid"]), 1)
        self.assertEqual(profile["calls"][0]["correlation"], kernel["correlation"])

    def test_records_the_environment(self):
        watch = Watch(Nvml.open(), self.device.uuid)
        facts = environment(self.device, watch)
        self.assertLessEqual({"device", "driver", "cuda", "cublas", "power_limit_w", "max_sm_clock_mhz"}, set(facts))

    def test_layouts_draw_other_numbers(self):
        session = self.session(into, writes="out")
        drawn = [float(session.move_to(layout).launch.args[0].double().sum()) for layout in (0, 1, 0)]
        self.assertEqual(drawn[0], drawn[2])
        self.assertNotEqual(drawn[0], drawn[1])

    def test_a_driver_layout_is_measured_too(self):
        random.seed(1)
        self.assertGreater(self.sampled(self.session(double, layout="driver"))[1].batch_ns, 0)
