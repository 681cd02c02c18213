"""A wrong kernel is never timed: what is held against the reference, with NumPy's arrays on the CPU."""

import sys
import unittest

try:
    import numpy
except ImportError:
    sys.exit(77)  # ctest shows it as skipped

import fusegate
from fusegate import operation as registry
from fusegate.errors import InputError
from fusegate.measuring.call import Call, NotCapturable, WrongResult
from fusegate.measuring.host_meter import HostMeter
from fusegate.measuring.numpy_device import NumpyDevice
from fusegate.measuring.verification import Verifier
from fusegate.plan import Benchmark


class VerificationTest(unittest.TestCase):
    def setUp(self):
        registry.clear()
        self.device = NumpyDevice(numpy)

    def operation(self, **fields):
        return fusegate.Operation("scale", **{
            "axes": {"rows": [5], "cols": [7]}, "dtypes": ["fp32"], "arrays": "numpy", "reference": lambda x: 2 * x,
            "inputs": lambda p: {"x": fusegate.uniform(p.rows, p.cols)}, **fields})

    def check(self, function, meter=None, operation=None, **options):
        operation = operation or self.operation()
        operation.benchmark("one", **options)(function)
        problem = next(operation.problems("cpu"))
        benchmark = Benchmark(operation.implementations["one"], problem)
        registry.clear()
        return Verifier(self.device, meter or HostMeter(), 5).check(
            benchmark, benchmark.implementation.callable_for(problem))

    def fault(self, function, **options):
        with self.assertRaises((WrongResult, InputError)) as caught:
            self.check(function, **options)
        return str(caught.exception)

    def test_results_are_returned_or_written(self):
        verified = self.check(lambda x: 2 * x)
        self.assertEqual((verified.relative_error, verified.outputs), (0.0, {"out": ((5, 7), "fp32")}))
        self.check(lambda x, out: numpy.multiply(x, 2, out=out), writes="out")
        error = self.check(lambda x: 2 * x + numpy.float32(1e-6)).relative_error
        self.assertTrue(1e-7 < error < 1e-5, error)

    def test_several_outputs_one_of_them_in_place(self):
        operation = self.operation(
            inputs=lambda p: {"x": fusegate.normal(p.rows, p.cols), "residual": fusegate.normal(p.rows, p.cols), "eps": 2},
            reference=lambda x, residual, eps: (eps * (x + residual), x + residual), outputs=["y", "residual"])

        def fused(x, residual, eps):
            residual += x
            return eps * residual
        verified = self.check(fused, operation=operation, writes=["residual"])
        self.assertLess(verified.relative_error, 1e-6)
        self.assertEqual(list(verified.outputs), ["y", "residual"])

    def test_in_place_inputs_are_as_they_were_before_every_check(self):
        def twice(x):
            x *= 2
        self.check(twice, operation=self.operation(outputs="x"), writes="x")

    def test_a_wrong_result_names_the_output_and_the_bound(self):
        self.assertRegex(self.fault(lambda x: 2.01 * x),
                         r"^wrong result: relative error 5.00e-03 against the reference, 1.0e-05 allowed; worst is "
                         r"element \[\d, \d\], which is \S+ and its reference \S+$")
        operation = self.operation(reference=lambda x: (2 * x, x), outputs=["y", "z"])
        self.assertIn("relative error of 'z'", self.fault(lambda x: (2 * x, 2 * x), operation=operation))
        self.check(lambda x: 2.01 * x, operation=self.operation(tolerance=0.01))
        self.check(lambda x: 2.01 * x, operation=self.operation(tolerance={"fp32": 0.01}))
        self.check(lambda x: 2.01 * x, operation=self.operation(tolerance=lambda p: 1 / p.rows))

    def test_finds_elements_that_are_never_written(self):
        def lazy(x, out):
            out[:-1] = 2 * x[:-1]
        self.assertRegex(self.fault(lazy, writes="out"),
                         r"^wrong result: 7 elements are NaN, infinite or were never written, such as element "
                         r"\[4, 0\], which is nan and its reference \S+$")

        def lazy_integers(x, out):
            out[:-1] = 0
        operation = self.operation(reference=lambda x: numpy.zeros((5, 7), "int32"),
                                   outputs=lambda p: {"out": fusegate.empty(p.rows, p.cols, dtype="int32")})
        self.assertIn("relative error inf", self.fault(lazy_integers, writes="out", operation=operation))

    def test_integers_are_right_or_wrong(self):
        operation = self.operation(reference=lambda x: x.argmax(axis=1))
        self.check(lambda x: x.argmax(axis=1), operation=operation)
        self.assertIn("0.0e+00 allowed", self.fault(lambda x: x.argmax(axis=1) ^ 1, operation=self.operation(
            reference=lambda x: x.argmax(axis=1))))

    def test_canaries_find_what_is_written_beside(self):
        def beside(x, out):
            numpy.multiply(x, 2, out=out)
            numpy.lib.stride_tricks.as_strided(out.ravel(), (out.size + 2,), (4,))[-2:] = 1.0
        self.assertEqual(self.fault(beside, writes="out"),
                         "writes outside of 'out': it changed 8 bytes after it")

        def before(x, out):
            numpy.multiply(x, 2, out=out)
            numpy.lib.stride_tricks.as_strided(x, (2,), (-4,))[1] = 1.0
            return out
        self.assertEqual(self.fault(before, writes="out"), "writes outside of 'x': it changed 4 bytes before it")

    def test_an_undeclared_change_of_an_input_fails(self):
        def sloppy(x):
            x *= 2
            return x.copy()
        self.assertEqual(self.fault(sloppy), "changes its input 'x'; if that is intended, make it an output too and name it in "
                                             "writes=")

    def test_a_result_of_another_form(self):
        self.assertEqual(self.fault(lambda x: 2 * x[:3]),
                         "wrong result: 'out' has the shape (3, 7), its reference has (5, 7)")
        self.assertIn("returns NoneType, not 'out'; name results", self.fault(lambda x: None))
        self.assertEqual(self.fault(lambda x: (x, x)), "returns 2 results, not 1 result: out")

    def test_a_broken_reference_names_file_operation_and_field(self):
        def bad(x):
            x = 2 * x
            x[0, 0] = numpy.nan
            return x
        for reference, outputs, expected in (
                (bad, "out", r"scale.reference: 1 elements of 'out' are NaN or infinite for fp32/rows:5/cols:7"),
                (lambda x: x.astype("float32"), "out", "scale.reference: 'out' is fp32; it must be computed in double"),
                (lambda x: 3, "out", "scale.reference: 'out' is int; it must be a tensor"),
                (lambda x: (x, x), "out", "scale.reference: returns 2 results, but the operation has 1 output: out"),
                (lambda x: x[:2], lambda p: {"out": fusegate.empty(p.rows, p.cols)},
                 r"scale.reference: 'out' has the shape \(2, 7\), but outputs declares \(5, 7\)"),
                (lambda x: x / missing, "out",  # noqa: F821
                 r"scale.reference: raised NameError: name 'missing' is not defined at \S*verification_test.py:\d+")):
            with self.subTest(expected):
                message = self.fault(lambda x: 2 * x, operation=self.operation(reference=reference, outputs=outputs))
                self.assertRegex(message, rf"^\S*verification_test.py:\d+: {expected}")

    def test_inputs_may_be_tensors_numbers_and_functions(self):
        operation = self.operation(
            inputs=lambda p: [numpy.arange(6.0, dtype="float32"), fusegate.filled(6, by=lambda t, g: t.fill(3)),
                              fusegate.integers(6, low=2, high=3), fusegate.full(6, value=0.5), None],
            reference=lambda a, b, c, d, none: a * b * c + d)
        self.check(lambda a, b, c, d, none: a * b * c.astype("float32") + d, operation=operation)
        for inputs, expected in ((lambda p: {"x": fusegate.uniform(p.heads)}, "scale.inputs: raised AttributeError: the "
                                  r"problem has no axis 'heads'; its axes: rows, cols at \S*verification_test.py:\d+"),
                                 (lambda p: {"x": fusegate.uniform(4, dtype="bf16")},
                                  r"scale.inputs\['x'\]: cannot be made: NumPy has no bf16"),
                                 (lambda p: {"x": fusegate.filled(4, by=lambda t: t)},
                                  r"scale.inputs\['x'\]: cannot be made: .*takes 1 positional argument"),
                                 (lambda p: 3, "scale.inputs: must return a dict or a list, not int")):
            with self.subTest(expected):
                self.assertRegex(self.fault(lambda x: x, operation=self.operation(inputs=inputs)), expected)

    def test_writes_must_name_outputs(self):
        self.assertIn("scale.one.writes: 'y' is not an output of scale; known: out",
                      self.fault(lambda x, y: None, writes="y"))
        operation = self.operation(outputs="x", reference=lambda x: x.sum(axis=1))
        self.assertIn("the input 'x' has another shape", self.fault(lambda x: None, writes="x", operation=operation))

    def test_work_on_another_stream_is_found_out(self):
        class Capturing(HostMeter):
            """A capture without the launches on other streams."""

            def check(self, call):
                results = call.run()
                call.poison(results)
                return results, 3
        self.assertEqual(self.check(lambda x: 2 * x, meter=Capturing()).not_capturable,
                         "it launches on another stream than the current one")
        self.assertIn("relative error", self.fault(lambda x: 3 * x, meter=HostMeter()))

    def test_checks_what_cannot_be_captured(self):
        class Refusing(HostMeter):
            def check(self, call):
                raise NotCapturable("it synchronises")
        verified = self.check(lambda x: 2 * x, meter=Refusing())
        self.assertEqual((verified.not_capturable, verified.launches), ("it synchronises", None))
        self.assertIn("wrong result", self.fault(lambda x: 3 * x, meter=Refusing()))

    def test_prepares_once_for_each_layout_before_any_call(self):
        done = []

        def prepare(x, factor):
            done.append("prepare")
            return x.T.copy(), factor

        def scale(packed, factor, out):
            done.append("call")
            numpy.multiply(packed.T, factor, out=out)
        operation = self.operation(inputs=lambda p: {"x": fusegate.uniform(p.rows, p.cols), "factor": 2},
                                   reference=lambda x, factor: factor * x)
        verified = self.check(scale, operation=operation, prepare=prepare, writes="out")
        self.assertEqual((verified.relative_error, done[0], done.count("prepare")), (0.0, "prepare", 1))
        self.assertGreater(done.count("call"), 1)

    def test_prepare_must_not_change_the_inputs(self):
        def spoil(x):
            x += 1
            return x - 1
        self.assertIn("changes its input 'x'", self.fault(lambda x: 2 * x, prepare=spoil))
        self.assertIn("wrong result", self.fault(lambda x: 2 * x, prepare=lambda x: 3 * x))

        def spoil_what_was_made(made):
            made += 0
            return 2 * made
        self.check(spoil_what_was_made, prepare=lambda x: x.copy())

    def test_an_input_that_is_changed_in_place_passes_through_prepare(self):
        def twice(x, factor):
            x *= factor
        operation = self.operation(outputs="x")
        self.check(twice, operation=operation, writes="x", prepare=lambda x: (x, 2))

    def test_implementations_of_one_problem_share_the_reference(self):
        asked = []
        operation = self.operation(reference=lambda x: asked.append(0) or 2 * x)
        for name in ("one", "two"):
            operation.benchmark(name)(lambda x: 2 * x)
        verifier = Verifier(self.device, HostMeter(), 5)
        problem = next(operation.problems("cpu"))
        counts = []
        for implementation in operation.implementations.values():
            verifier.check(Benchmark(implementation, problem), implementation.callable_for(problem))
            counts.append(len(asked))
        self.assertEqual(counts[0], counts[1])

    def test_a_layout_has_fresh_numbers(self):
        operation = self.operation()
        operation.benchmark("one")(lambda x: x)
        problem = next(operation.problems("cpu"))
        benchmark = Benchmark(operation.implementations["one"], problem)

        def drawn(seed):
            call = Call(self.device, benchmark, lambda x: x, operation.inputs(problem), {"out": ((5, 7), "fp32")},
                        self.device.generator(seed))
            return call.run()[0]
        self.assertTrue(numpy.array_equal(drawn("1/0"), drawn("1/0")))
        self.assertFalse(numpy.array_equal(drawn("1/0"), drawn("1/1")))
