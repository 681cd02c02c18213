"""The Triton example: its kernel in Triton's interpreter on the CPU, and the search for a slowdown. Without torch and
Triton it exits with 77, which ctest shows as skipped."""

import importlib.util
import os
import sys
import types
import unittest
import unittest.mock

if any(importlib.util.find_spec(name) is None for name in ("torch", "triton", "numpy")):
    sys.exit(77)

os.environ["TRITON_INTERPRET"] = "1"

import torch  # noqa: E402: only where it is
import triton  # noqa: E402

import triton_geglu  # noqa: E402


class TritonGegluTest(unittest.TestCase):
    def outputs(self, first_slow, steps):
        gate, up = (torch.randn(3, 700, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
        out = torch.full_like(gate, float("nan"))
        triton_geglu.geglu_kernel[(3,)](gate, up, out, gate.numel(), first_slow, steps, BLOCK=triton_geglu.BLOCK)
        return out, triton_geglu.eager(gate, up)

    def test_computes_what_torch_computes_slowed_or_not(self):
        for first_slow, steps in ((3, 0), (1, 7)):
            try:
                out, expected = self.outputs(first_slow, steps)
            except triton.runtime.errors.InterpreterError as error:
                self.skipTest(f"Triton's interpreter does not know this NumPy: {error}")
            self.assertLess(float((out - expected).norm() / expected.norm()), 1e-6)


class StepsTest(unittest.TestCase):
    def test_finds_the_share_that_is_wanted(self):
        asked = []

        def hidden_at_first(steps):
            asked.append(steps)
            return max(0.0, (steps - 90) * 1e-4)
        steps, share = triton_geglu.steps_for(0.03, hidden_at_first)
        self.assertAlmostEqual(share, 0.03, places=3)
        self.assertAlmostEqual(steps, 390, delta=5)
        self.assertLess(len(asked), 12)

    def test_ratio_is_of_graphs_in_turn(self):
        times = iter([1.0, 1.03] * 15)
        replayed = types.SimpleNamespace(record=lambda: None, synchronize=lambda: None, elapsed_time=lambda _: next(times))

        class Graph:
            __enter__ = __exit__ = lambda *_: None

            def replay(self):
                pass
        fake = types.SimpleNamespace(synchronize=lambda: None, CUDAGraph=Graph, graph=lambda graph: graph,
                                     Event=lambda enable_timing: replayed)
        with unittest.mock.patch.object(torch, "cuda", fake):
            self.assertAlmostEqual(triton_geglu.time_ratio(lambda steps: lambda *_: None, 9, []), 0.03)
