"""Eager peers with a real torch on the CPU, checked as they are before they are timed. Without a torch it exits with 77,
which ctest shows as skipped."""

import importlib.util
import sys
import unittest

if importlib.util.find_spec("torch") is None:
    sys.exit(77)

import torch  # noqa: E402: only where it is

from fusegate.measuring.host_meter import HostMeter  # noqa: E402
from fusegate.measuring.libraries import Libraries  # noqa: E402
from fusegate.measuring.torch_device import TorchDevice  # noqa: E402
from fusegate.measuring.verification import Verifier  # noqa: E402

from bench import find_bench, read_plan  # noqa: E402
from plan import make_plan  # noqa: E402


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
