"""Inputs, reference and peers with a real torch on the CPU. Without a torch it exits with 77, which ctest shows as
skipped."""

import importlib.util
import math
import sys
import unittest

from fakes import fake_problem
from implementations import IMPLEMENTATIONS
from problems import DTYPES

if importlib.util.find_spec("torch") is None:
    sys.exit(77)


class TorchDeviceTest(unittest.TestCase):
    def setUp(self):
        import torch
        from torch_device import TorchDevice
        self.torch, self.device = torch, TorchDevice(torch, "cpu")

    def test_inputs_are_uniform_within_their_scale_and_the_seeds(self):
        problem = fake_problem("linear", "4,64,128,96")
        x, w, bias = self.device.inputs(problem, "5/0")
        self.assertEqual((tuple(x.shape), tuple(w.shape), tuple(bias.shape)), ((256, 128), (96, 128), (96,)))
        self.assertEqual(x.dtype, self.torch.bfloat16)
        self.assertAlmostEqual(float(x.double().std()), 1 / math.sqrt(3), places=2)
        self.assertLessEqual(float(w.abs().max()), 1 / math.sqrt(128))
        again, other = (self.device.inputs(problem, seed)[0] for seed in ("5/0", "5/1"))
        self.assertTrue(self.torch.equal(x, again))
        self.assertFalse(self.torch.equal(x, other))

    def test_eager_peers_agree_with_the_reference(self):
        for implementation in IMPLEMENTATIONS:
            if implementation.name != "torch_eager":
                continue
            for dtype in DTYPES:
                with self.subTest(implementation.operation, dtype=dtype):
                    problem = fake_problem(implementation.operation, "2,65,72,136", dtype)
                    inputs = self.device.inputs(problem, 1)
                    output = implementation.build({"torch": self.torch})(*inputs)
                    error, not_finite = self.device.error(
                        output, self.device.reference(implementation.operation, inputs))
                    self.assertEqual(not_finite, 0)
                    self.assertLess(error, problem.error_bound)
                    self.assertGreater(error, 0, "rounded to 16 bits")

    def test_a_wrong_activation_is_told(self):
        problem = fake_problem("geglu", "2,65,72,136")
        g, u = self.device.inputs(problem, 1)
        wrong = self.torch.nn.functional.silu(g) * u
        self.assertGreater(self.device.error(wrong, self.device.reference("geglu", [g, u]))[0], problem.error_bound)

    def test_what_is_not_finite_is_counted_and_never_right(self):
        out = self.torch.ones(4, dtype=self.torch.bfloat16)
        out[1:3] = math.nan
        self.assertEqual(self.device.error(out, self.torch.ones(4, dtype=self.torch.float64)), (math.inf, 2))
