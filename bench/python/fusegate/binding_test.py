"""What the engine holds against the reference, and what callables may take, return and must not do: one process measures
many operations with NumPy's arrays on the CPU."""

import importlib.util
import sys
import unittest

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)  # ctest shows it as skipped

from fusegate.fakes import QUICK, FolderTest

# Each case is an operation with one implementation, or several; of a name in `as_strided` style, NumPy's.
HEAD = '''
import os, sys
import numpy
from numpy.lib.stride_tricks import as_strided
import fusegate

def case(name, function, *, options={}, **fields):
    operation = fusegate.Operation(name, **{
        "axes": {"rows": [5], "cols": [7]}, "dtypes": ["fp32"], "arrays": "numpy", "reference": lambda x: 2 * x,
        "inputs": lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, **fields})
    operation.benchmark("one", **options)(function)

class Stale:
    """Calls function with an argument of the first call."""

    def __init__(self, function, number=0):
        self.function, self.number, self.kept = function, number, None

    def __call__(self, *arguments):
        if self.kept is None:
            self.kept = arguments[self.number]
        return self.function(self.kept, arguments[0])

WRITES = {"writes": "out"}
RESIDUAL = {"inputs": lambda p: {"x": fusegate.normal(5, 7), "residual": fusegate.normal(5, 7), "eps": 2},
            "reference": lambda x, residual, eps: (eps * (x + residual), x + residual), "outputs": ["y", "residual"]}
# A result is off by fifty times what its scale is off by.
SCALED = {"inputs": lambda p: {"x": fusegate.uniform(64, 64, low=0.5, high=1), "scale": fusegate.uniform(64, 1, low=1, high=1.02)},
          "reference": lambda x, scale: x * numpy.exp(50 * scale - 50)}
def with_one_off(x, scale):
    y = (x * numpy.exp(50 * scale.astype("float64") - 50)).astype("float32")
    y[3, 4] *= 1.0001
    return y
'''
RIGHT = HEAD + '''
case("returned", lambda x: 2 * x, flops=lambda p: p.rows, bytes=9, options={"choices": lambda p: {"tile": 64, "by": "hand"}})
case("written", lambda x, out: numpy.multiply(x, 2, out=out), options=WRITES)
case("rounded", lambda x: 2 * x + numpy.float32(1e-6))
case("bounded", lambda x: 2.01 * x, tolerance=0.01)
case("bounded_by_dtype", lambda x: 2.01 * x, tolerance={"fp32": 0.01})
case("bounded_by_problem", lambda x: 2.01 * x, tolerance=lambda p: 1 / p.rows)
case("as_if_a_scale_were_rounded", with_one_off, **SCALED)
def fused(x, residual, eps):
    residual += x
    return eps * residual
case("several", fused, options={"writes": ["residual"]}, **RESIDUAL)
def twice(x, *_):
    x *= 2
case("in_place", twice, outputs="x", options={"writes": "x"})
case("prepared_in_place", lambda x, factor: numpy.multiply(x, factor, out=x), outputs="x",
     options={"writes": "x", "prepare": lambda x: (x, 2)})
case("integers", lambda x: x.argmax(axis=1), reference=lambda x: x.argmax(axis=1))
case("scalar", lambda x: x.sum(), reference=lambda x: x.sum(), tolerance=1e-3)
case("given", lambda a, b, c, d, none: a * b * c.astype("float32") + d,
     inputs=lambda p: [numpy.arange(6.0, dtype="float32"), fusegate.filled(6, by=lambda t, g: t.fill(3)),
                       fusegate.integers(6, low=2, high=3), fusegate.full(6, value=0.5), None],
     reference=lambda a, b, c, d, none: a * b * c + d)
def twins(problem):
    x = numpy.random.rand(64).astype("float32")
    return {"x": x, "i": fusegate.integers(9, high=64), "same": x.copy()}
case("drawn", lambda x, i, same: x[i], inputs=twins, reference=lambda x, i, same: same[i])
case("declared", lambda x: (x > 0).astype("int8"), reference=lambda x: (x > 0).astype("int8"),
     outputs=lambda p: {"sign": fusegate.empty(5, 7, dtype="int8")})
made = []
def factory(problem):
    made.append(problem)
    assert len(made) == 1, "made once for a problem"
    return lambda x: 2 * x
case("made", factory, options={"factory": True})
case("packed", lambda packed, out: numpy.multiply(packed.T, 2, out=out), weights="x",
     options={"writes": "out", "prepare": lambda x: [x.T.copy()]})
def staged(x):
    with fusegate.stage("first"):
        y = x + x
    return y
case("staged", staged, options={"stages": lambda p: [fusegate.Stage("first", flops=35.0), fusegate.Stage("second", 7, 8)]})
'''
# By the operation's name: the definition, and what is said of it.
WRONG = {
    "factor": ("lambda x: 2.01 * x", r"wrong result: relative error 5.00e-03 against the reference, 1.0e-05 allowed; worst is "
                                     r"element \[\d, \d\]"),
    "exact": ("with_one_off, exact='scale', **SCALED", "wrong result: an element is off by .* times what rounding comes to"),
    "second": ("lambda x: (2 * x, 2 * x), reference=lambda x: (2 * x, x), outputs=['y', 'z']", "wrong result: output 'z'"),
    "lazy": ("lambda x, out: numpy.multiply(x[:-1], 2, out=out[:-1]), options=WRITES",
             "wrong result: 7 elements are NaN, infinite or were never written"),
    "stale": ("lambda x: numpy.empty(x.shape, 'float32')", "wrong result"),
    "stale_in": ("Stale(lambda kept, x: 2 * kept)", "wrong result in other memory, as if it kept an address"),
    "stale_out": ("Stale(lambda kept, x: numpy.multiply(x, 2, out=kept), 1), options=WRITES", "wrong result in other memory"),
    "integers": ("lambda x: x.argmax(axis=1) ^ 1, reference=lambda x: x.argmax(axis=1)", "0.0e\\+00 allowed"),
    "beside": ("lambda x, out: (numpy.multiply(x, 2, out=out), as_strided(out.ravel(), (37,), (4,)).__setitem__(36, 1.0)), "
               "options=WRITES", "wrong memory: .*wrote past the end of output 'out'"),
    "before": ("lambda x: (as_strided(x, (2,), (-4,)).__setitem__(1, 1.0), 2 * x)[1]",
               "wrong memory: .*wrote before the start of input 'x'"),
    "sloppy": ("lambda x: (x.__imul__(2), x.copy())[1]", "wrong memory: .*changed input 'x'"),
    "spoilt": ("lambda x: 2 * x, options={'prepare': lambda x: x.__iadd__(1) - 1}", "changed input 'x' when it was made ready"),
    "shape": ("lambda x: 2 * x[:3]", r"kernels.py:\d+: shape.one: wrong result: 'out' has the shape \(3, 7\), its reference "
                                     r"has \(5, 7\)"),
    "nothing": ("lambda x: None", r"kernels.py:\d+: nothing.one: returns NoneType, not 'out'; name results that it writes"),
    "too_many": ("lambda x: (x, x)", "too_many.one: returns 2 results, not 1: out"),
    "view": ("lambda x: x[1:], reference=lambda x: x[1:]", "view.one: returns a view of its input 'x'; return new memory"),
    "raises": ("lambda x: x / None", r"kernels.py:\d+: raises.one: raised TypeError: unsupported operand .* at kernels.py:\d+"),
    "leaves": ("lambda x: sys.exit(0)", r"leaves.one: raised SystemExit: called sys.exit\(0\)"),
    "chooses": ("lambda x: 2 * x, options={'choices': lambda p: exit()}", "chooses.one.choices: raised SystemExit"),
    "unknown_output": ("lambda x, y: None, options={'writes': 'y'}", "unknown_output.one.writes: 'y' is not an output of "
                                                                     "unknown_output; known: out"),
    "other_shape": ("lambda x: None, outputs='x', reference=lambda x: x.sum(axis=1), options={'writes': 'x'}",
                    "input 'x' has another shape"),
    "nan": ("lambda x: 2 * x, reference=lambda x: x * numpy.nan", "35 of 35 values of output 'out' are NaN, infinite or "),
    "single": ("lambda x: 2 * x, reference=lambda x: x.astype('float32')",
               "single.reference: 'out' is fp32; it must be computed in double precision"),
    "number": ("lambda x: 2 * x, reference=lambda x: 3", "number.reference: 'out' is int; it must be a tensor"),
    "two": ("lambda x: 2 * x, reference=lambda x: (x, x)", "two.reference: returns 2 results, not 1: out"),
    "cut": ("lambda x: 2 * x, reference=lambda x: x[:2], outputs=lambda p: {'out': fusegate.empty(5, 7)}",
            r"cut.reference: 'out' has the shape \(2, 7\), but outputs declares \(5, 7\)"),
    "broken": ("lambda x: 2 * x, reference=lambda x: x / missing", r"kernels.py:\d+: broken.reference: raised NameError: name "
                                                                   r"'missing' is not defined at kernels.py:\d+ for fp32"),
    "no_axis": ("lambda x: x, inputs=lambda p: {'x': fusegate.uniform(p.heads)}",
                r"no_axis.inputs: raised AttributeError: the problem has no axis 'heads'; its axes: rows, cols"),
    "bf16": ("lambda x: x, inputs=lambda p: {'x': fusegate.uniform(4, dtype='bf16')}", "numpy \\S+ has no bf16"),
    "fill": ("lambda x: x, inputs=lambda p: {'x': fusegate.filled(4, by=lambda t: t)}",
             r"fill.inputs\['x'\]: raised TypeError: .*takes 1 positional argument"),
    "dtype": ("lambda x: x, inputs=lambda p: {'x': numpy.zeros(4, 'complex64')}",
              r"dtype.inputs\['x'\]: has a dtype that fusegate does not know: complex64"),
    "no_inputs": ("lambda x: x, inputs=lambda p: 3", "no_inputs.inputs: must return a dict or a list, not int"),
    "flops": ("lambda x: 2 * x, flops=lambda p: 1 / 0", r"kernels.py:\d+: flops.flops: raised ZeroDivisionError: division by"),
}


class BindingTest(FolderTest):
    def test_measures_what_callables_take_and_return(self):
        self.write("kernels.py", RIGHT)
        result = self.bench("kernels.py", *QUICK, f"--out={self.out}")
        self.assertEqual((result.returncode, self.failures()), (0, {}), result.stderr)
        entries = self.entries()
        self.assertEqual(len(entries), RIGHT.count("\ncase("))
        self.assertEqual((entries["returned"]["flops"], entries["returned"]["min_bytes"]), (5, 9))
        self.assertIn("tile 64, by hand", str(entries["returned"]))
        self.assertEqual(entries["staged"]["flops"], 42)

    def test_a_child_that_a_callable_forks_ends_with_a_line(self):
        self.write("kernels.py", HEAD + "case('forks', lambda x: 2 * x if os.fork() else x)\n")
        result = self.bench("kernels.py", *QUICK, f"--out={self.out}")
        self.assertEqual((result.returncode, len(self.measured())), (0, 1), result.stderr)
        self.assertRegex(result.stderr, "fusegate_bench: kernels.py:\d+: forks.one: forks, and the child ends here\n")

    def test_refuses_what_is_wrong_and_measures_the_others(self):
        cases = "".join(f"case({name!r}, {definition})\n" for name, (definition, _) in WRONG.items())
        self.write("kernels.py", f"{HEAD}{cases}case('right', lambda x: 2 * x)\n")
        result = self.bench("kernels.py", *QUICK, f"--out={self.out}")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assert_failed(WRONG)
        self.assertEqual({name.partition("/")[0] for name in self.measured()}, {"right"})
        self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
