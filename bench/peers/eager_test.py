"""Eager peers with a real torch on the CPU, checked as they are before they are timed, and what QuACK is given. Without a
torch it exits with 77, which ctest shows as skipped."""

import importlib.util
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

import torch  # noqa: E402: only where it is

from fusegate.machine.libraries import Libraries  # noqa: E402
from fusegate.measuring.host_meter import HostMeter  # noqa: E402
from fusegate.measuring.torch_device import TorchDevice  # noqa: E402
from fusegate.measuring.verification import Verifier  # noqa: E402

from bench import find_bench, read_plan  # noqa: E402
from plan import make_plan  # noqa: E402
from quack_mlp import CONCATENATED, INTERLEAVED, prepare  # noqa: E402


class EagerTest(unittest.TestCase):
    def test_eager_peers_agree_with_the_reference(self):
        given = read_plan(find_bench(), ["--problem=2,65,72,136", "--dtype=bf16,fp16"])
        plan = make_plan(given, lambda name, _: name == "torch_eager", Libraries(modules={"torch": torch}))
        self.assertGreater(len(plan.benchmarks), 10)
        verifier = Verifier(TorchDevice(torch, "cpu"), HostMeter(), 5)
        for benchmark in plan.benchmarks:
            with self.subTest(benchmark.name):
                verified = verifier.check(benchmark, benchmark.implementation.callable_for(benchmark.problem))
                self.assertGreater(verified.relative_error, 0, "rounded to 16 bits")

    def test_quack_gets_its_weights_as_it_takes_them(self):
        x, gate, up, down = (torch.rand(*shape) for shape in ((3, 8), (16, 8), (16, 8), (8, 16)))
        for layout, rows in ((INTERLEAVED, (slice(0, None, 2), slice(1, None, 2))),
                             (CONCATENATED, (slice(0, 16), slice(16, None)))):
            same, packed, down_quacks = prepare(layout, True, {"torch": torch})(x, gate, up, down)
            self.assertIs(same, x)
            self.assertEqual((packed.shape, packed.stride()), ((8, 32), (1, 8)), "read along its inputs")
            for own, given in zip(rows, (gate, up)):
                self.assertTrue(torch.equal(packed.T[own], given))
            self.assertTrue(torch.equal(down_quacks, down.T))
