"""What the check lets pass and what it does not: evaluations that round as eager PyTorch does, and such ones that are
wrong in a way that the norm of the whole output is too coarse for."""

import sys
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)  # ctest shows it as skipped

import fusegate
from fusegate import operation as registry
from fusegate.measuring.call import WrongResult
from fusegate.measuring.host_meter import HostMeter
from fusegate.measuring.numpy_device import NumpyDevice
from fusegate.measuring.verification import Verifier
from fusegate.plan import Benchmark

ROOT, CUBIC = (2 / numpy.pi)**0.5, 0.044715


def gelu(x, cubic=CUBIC):
    return 0.5 * x * (1 + numpy.tanh(ROOT * (x + cubic * x**3)))


def mlp(x, gate, up, down, rounded=lambda value: value, cubic=CUBIC):
    """rounded: what becomes of every intermediate result."""
    g, u = rounded(x @ gate.T), rounded(x @ up.T)
    return rounded(rounded(rounded(gelu(g, cubic)) * u) @ down.T)


def eager(*inputs, **how):
    """In the inputs' dtype, but for sums and functions, which are in fp32."""
    dtype = inputs[0].dtype
    wide = [each.astype("float32") for each in inputs]
    return mlp(*wide, rounded=lambda value: value.astype(dtype).astype("float32"), **how).astype(dtype)


def unit(g, u):
    dtype = g.dtype
    return (gelu(g.astype("float32")).astype(dtype) * u).astype(dtype)


class RoundingTest(unittest.TestCase):
    def check(self, function, dtype="fp16", seed=5, rows=1024, is_unit=False):
        registry.clear()
        dim, hidden = 64, 256
        weights = {"gate": (hidden, dim), "up": (hidden, dim), "down": (dim, hidden)}
        inputs = {"x": fusegate.uniform(rows, dim, low=-4, high=4),
                  **{name: fusegate.uniform(*shape, low=-shape[1]**-0.5, high=shape[1]**-0.5)
                     for name, shape in weights.items()}}
        if is_unit:
            inputs = {"g": fusegate.uniform(rows, hidden, low=-3, high=3), "u": fusegate.uniform(rows, hidden)}
        operation = fusegate.Operation("geglu", axes={"rows": [rows]}, dtypes=[dtype], arrays="numpy",
                                       inputs=lambda p: inputs,
                                       reference=(lambda g, u: gelu(g) * u) if is_unit else mlp)
        operation.benchmark("one")(function)
        benchmark = Benchmark(operation.implementations["one"], next(operation.problems("cpu")))
        return Verifier(NumpyDevice(numpy), HostMeter(), seed).check(benchmark, function)

    def fault(self, spoil, **where):
        def spoilt(*inputs):
            out = (unit if where.get("is_unit") else eager)(*inputs)
            spoil(out)
            return out
        with self.assertRaises(WrongResult) as caught:
            self.check(spoilt, **where)
        return str(caught.exception)

    def test_eager_roundings_pass(self):
        for dtype in ("fp16", "fp32"):
            for rows in (1, 7, 100):
                for seed in (1, 2, 3):
                    with self.subTest(dtype=dtype, rows=rows, seed=seed):
                        self.check(eager, dtype, seed, rows)
                        self.check(unit, dtype, seed, rows, is_unit=True)

    def test_the_last_element(self):
        def spoil(out):
            out[-1, -1] += 0.5
        message = self.fault(spoil, rows=10_000, is_unit=True)
        self.assertRegex(message, r"^wrong result: an element is off by .* times what rounding comes to, .* allowed; "
                               r"worst is element \[9999, 255\], which is .* and its reference ")

    def test_a_row_of_zeros_and_one_of_anothers_values(self):
        def zeros(out):
            out[7] = 0

        def another(out):
            out[9] = out[5]
        self.assertIn("worst is element [7, ", self.fault(zeros, is_unit=True, dtype="fp32"))
        self.assertRegex(self.fault(another, rows=300), r"worst is element \[9, ")

    def test_the_last_row_of_a_tile_and_a_row_that_is_too_large(self):
        def last_row(out):
            out[63, :64] = out[62, :64]

        def too_large(out):
            out[17] = 1.0015 * out[17].astype("float32")
        self.assertIn("worst is element [63, ", self.fault(last_row, rows=2000, is_unit=True))
        self.assertIn("row [17, :] is too large by ", self.fault(too_large, is_unit=True))

    def test_a_wrong_constant(self):
        for cubic in (CUBIC * 4 / 3, CUBIC * 2 / 3, CUBIC * 1.1):
            with self.assertRaises(WrongResult):
                self.check(lambda *inputs, cubic=cubic: eager(*inputs, cubic=cubic))
