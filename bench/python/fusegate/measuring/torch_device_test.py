"""Inputs, results and whole checks with a real torch on the CPU. Without a torch it exits with 77, which ctest shows as
skipped."""

import importlib.util
import math
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

import torch  # noqa: E402: only where it is

import fusegate  # noqa: E402
from fusegate import operation as registry  # noqa: E402
from fusegate.measuring.call import WrongResult  # noqa: E402
from fusegate.measuring.host_meter import HostMeter  # noqa: E402
from fusegate.measuring.torch_device import TorchDevice  # noqa: E402
from fusegate.measuring.verification import Verifier  # noqa: E402
from fusegate.plan import Benchmark  # noqa: E402
from fusegate.tensors import DTYPES  # noqa: E402


class TorchDeviceTest(unittest.TestCase):
    def setUp(self):
        registry.clear()
        self.device = TorchDevice(torch, "cpu")

    def filled(self, spec, dtype, seed=1):
        array = self.device.allocate(spec.shape, dtype).array
        self.device.fill(array, spec.fill, self.device.generator(seed))
        return array

    def test_every_dtype_is_filled_poisoned_and_known_by_its_name(self):
        for dtype in DTYPES:
            with self.subTest(dtype):
                spec = fusegate.uniform(64, 3) if dtype in ("fp64", "fp32", "fp16", "bf16", "fp8_e4m3", "fp8_e5m2") \
                    else fusegate.integers(64, 3, high=100, dtype=dtype)
                array = self.filled(spec, dtype)
                self.assertEqual(self.device.form(array), ((64, 3), dtype))
                self.assertGreater(len(set(array.double().flatten().tolist())), 10)
                copy = self.device.clone(array)
                self.assertTrue(self.device.same(array, copy))
                self.device.poison(array)
                self.assertFalse(self.device.same(array, copy))
                if self.device.is_float(array):
                    self.assertEqual(self.device.error(array, copy.double())[1], 64 * 3)

    def test_inputs_are_of_their_distribution_and_the_seeds(self):
        x = self.filled(fusegate.uniform(256, 128, low=-3, high=3), "bf16", "5/0")
        self.assertAlmostEqual(float(x.double().std()), 3 / math.sqrt(3), places=1)
        self.assertLessEqual(float(x.abs().max()), 3)
        self.assertAlmostEqual(float(self.filled(fusegate.normal(256, 128, std=2), "fp32").std()), 2, places=1)
        again, other = (self.filled(fusegate.uniform(256, 128, low=-3, high=3), "bf16", seed) for seed in ("5/0", "5/1"))
        self.assertTrue(torch.equal(x, again))
        self.assertFalse(torch.equal(x, other))

    def test_what_is_not_finite_is_counted_and_never_right(self):
        out = torch.ones(4, dtype=torch.bfloat16)
        out[1:3] = math.nan
        self.assertEqual(self.device.error(out, torch.ones(4, dtype=torch.float64)), (math.inf, 2))

    def check(self, function, arrays=None, inputs=None, reference=None, **options):
        registry.clear()
        operation = fusegate.Operation(
            "geglu", axes={"rows": [65], "hidden": [136]}, dtypes=["bf16"], inputs=inputs or (lambda p: {
                "gate": fusegate.uniform(p.rows, p.hidden), "up": fusegate.uniform(p.rows, p.hidden)}),
            reference=reference or (lambda gate, up: torch.nn.functional.gelu(gate, approximate="tanh") * up))
        operation.benchmark("one", arrays=arrays, **options)(function)
        benchmark = Benchmark(operation.implementations["one"], next(operation.problems("cpu")))
        return Verifier(self.device, HostMeter(), 5).check(benchmark, benchmark.implementation.callable_for(benchmark.problem))

    def test_checks_what_torch_computes(self):
        def into(gate, up, out):
            torch.mul(torch.nn.functional.gelu(gate, approximate="tanh"), up, out=out)
        for function, options in ((lambda g, u: torch.nn.functional.gelu(g, approximate="tanh") * u, {}),
                                  (into, {"writes": "out"})):
            error = self.check(function, **options).relative_error
            self.assertTrue(0 < error < 1e-2, error)
        with self.assertRaisesRegex(WrongResult, "relative error"):
            self.check(lambda g, u: torch.nn.functional.silu(g) * u)

    def test_tensors_of_the_users_own_are_copied_and_drawn_once_a_check(self):
        verified = self.check(lambda g, u: g * u, reference=lambda g, u: g * u, inputs=lambda p: (
            torch.randn(p.rows, p.hidden, dtype=p.torch_dtype), torch.randn(p.hidden, p.rows, dtype=p.torch_dtype).T))
        self.assertLess(verified.relative_error, 1e-2)

    def test_canaries_find_what_is_written_beside(self):
        def beside(gate, up, out):
            torch.mul(torch.nn.functional.gelu(gate, approximate="tanh"), up, out=out)
            torch.as_strided(out, (out.numel() + 1,), (1,))[-1] = 1
        with self.assertRaisesRegex(WrongResult, "writes outside of 'out': it changed 2 bytes after it"):
            self.check(beside, writes="out")
