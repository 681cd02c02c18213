"""Registrations: names, problems, and errors that name file, operation and field."""

import types
import unittest

import fusegate
from fusegate import InputError

HERE = r"^\S*operation_test.py:\d+: "


def throws():
    return [1 // 0]


def refuse():
    raise InputError("kernels.py", "tile", "must be a power of two")


class RegistrationTest(unittest.TestCase):
    def setUp(self):
        fusegate.clear()

    def operation(self, name="attention", **fields):
        return fusegate.Operation(name, **{"axes": {"heads": [16, 32], "kv": [4096]}, "dtypes": ["bf16", "fp16"],
                                           "inputs": lambda p: {"x": fusegate.uniform(p.heads)},
                                           "reference": lambda x: x, **fields})

    def implementation(self, function=lambda x: x, operation=None, **fields):
        """It, and its operation's first problem."""
        operation = operation or fusegate.operations().get("attention") or self.operation()
        name = f"made{len(operation.implementations)}"
        self.assertIs(operation.benchmark(name, **fields)(function), function)
        return operation.implementations[name], next(operation.problems())

    def refuses(self, expected):
        return self.assertRaisesRegex(InputError, HERE + expected)

    def test_problems_are_named_as_fusegate_bench_names_them(self):
        problems = list(self.operation().problems())
        self.assertEqual([problem.name for problem in problems],
                         [f"{dtype}/heads:{heads}/kv:4096" for dtype in ("bf16", "fp16") for heads in (16, 32)])
        self.assertEqual((problems[1].heads, problems[1]["kv"], problems[1].itemsize, problems[1].axes),
                         (32, 4096, 2, {"heads": 32, "kv": 4096}))

    def test_axes_may_be_points_or_a_function(self):
        points = [{"m": 1, "n": 2}, {"m": 3, "n": 2}]
        for number, (axes, expected) in enumerate(((points, points), (lambda: points, points), (
                {"m": 7, "n": range(1, 3)}, [{"m": 7, "n": 1}, {"m": 7, "n": 2}]))):
            self.assertEqual(self.operation(str(number), axes=axes).points, expected)

    def test_parts_are_of_named_tensors_across_ranks(self):
        across = {"axes": {"rows": [8], "ranks": [2]}}
        self.assertEqual(self.operation("a", split={"w": 0}, **across).split, {"w": 0})
        for fields, expected in (({"split": ["w"]}, r"b.split: must be a dict of axes by the names of tensors, not \['w'\]"),
                                 ({"split": {"w": -1}}, r"b.split\['w'\]: must be an axis from 0, not -1"),
                                 ({"split": {"w": True}}, r"b.split\['w'\]: must be an axis from 0, not True"),
                                 ({"split": {"w": 0}, "axes": {"rows": [8]}}, "b.split: needs the axis 'ranks'")):
            with self.refuses(expected):
                self.operation("b", **{**across, **fields})

    def test_values_of_axes_may_be_names_fractions_and_switches(self):
        operation = self.operation(axes={"rows": [8], "kind": ["gelu", "relu"], "sparsity": 0.5, "causal": [True, False]})
        problems = list(operation.problems())
        self.assertEqual([problem.name.partition("/")[2] for problem in problems[:2]],
                         ["rows:8/kind:gelu/sparsity:0.5/causal:true", "rows:8/kind:gelu/sparsity:0.5/causal:false"])
        self.assertEqual((problems[0].kind, problems[0].sparsity, problems[1].causal), ("gelu", 0.5, False))
        for each in (operation, self.operation("b", axes={"a": [1, 1.0, True]})):
            names = [problem.name for problem in each.problems()]
            self.assertEqual(len(set(names)), len(names))

    def test_a_decorator_defines_an_operation_and_others_share_it(self):
        @fusegate.benchmark(operation="softmax", axes={"cols": [8]}, dtypes="fp32", implementation="eager",
                            inputs=lambda p: {"x": fusegate.normal(p.cols)}, reference=lambda x: x, flops=3, control=True,
                            bytes=lambda p: p.cols * p.itemsize)
        def softmax(x):
            return x

        @fusegate.benchmark("softmax", "triton", writes="out", requires="triton", device="cuda")
        def launch(x, out):
            return None
        operation = fusegate.operations()["softmax"]

        @operation.benchmark  # without parentheses
        def bare(x):
            return x
        self.assertEqual((list(operation.implementations), operation.is_control), (["eager", "triton", "bare"], True))
        triton = operation.implementations["triton"]
        self.assertEqual((triton.writes, triton.requires, triton.device, triton.function),
                         (("out",), ("triton",), "cuda", launch))
        self.assertEqual(triton.work(next(operation.problems())), [fusegate.Stage("softmax", 3.0, 32.0)])
        self.assertFalse(self.operation().is_control)

    def test_dtypes_may_be_torchs_and_numpys(self):
        torchs = [types.SimpleNamespace(__name__="torch.bfloat16"), types.SimpleNamespace(__name__="float32")]
        self.assertEqual(self.operation(dtypes=[*torchs, "float16", "int8"]).dtypes, ("bf16", "fp32", "fp16", "int8"))
        self.assertEqual(fusegate.empty(3, dtype=torchs[0]).dtype, "bf16")

    def test_factories_stages_and_choices_are_of_the_problem(self):
        made, problem = self.implementation(lambda p: lambda x: x * p.heads, factory=True)
        self.assertEqual(made.callable_for(problem)(2), 32)
        made, problem = self.implementation(stages=lambda p: [fusegate.Stage("a", p.heads, 1), fusegate.Stage("b", 2, 3)],
                                            choices=lambda p: {"tile": p.heads, 1: True})
        self.assertEqual([stage.flops for stage in made.work(problem)], [16, 2])
        self.assertEqual(made.chosen(problem), {"tile": "16", "1": "True"})
        self.assertEqual(self.implementation()[0].chosen(problem), {})

    def test_the_callable_gets_what_prepare_returns(self):
        for prepare, expected in (
                (None, [3, 5]), (lambda x, y: (x + y, x), [8, 3]), (lambda x, y: [x * y], [15]),
                (lambda x, y: {"both": (x, y), "more": 1}, [(3, 5), 1]), (lambda x, y: x - y, [-2]), (lambda x, y: (), [])):
            made, problem = self.implementation(prepare=prepare)
            self.assertEqual(made.prepared(problem, [3, 5]), expected)

    def test_says_what_is_wrong_with_what_functions_return(self):
        for fields, expected in (
                ({"prepare": lambda x: None}, "prepare: returns None; it must return the arguments"),
                ({"prepare": lambda x: x.shape}, r"prepare: raised AttributeError: .* at \S*operation_test.py:\d+ for "
                                                 r"bf16/heads:16/kv:4096"),
                ({"prepare": lambda: 3}, "prepare: raised TypeError: .* takes 0 positional arguments"),
                ({"choices": lambda p: ["tile"]}, "choices: must return a dict, not list"),
                ({"choices": lambda p: p.rows}, "choices: raised AttributeError: the problem has no axis 'rows'"),
                ({"stages": lambda p: [p.none]}, "stages: raised AttributeError: the problem has no axis 'none'"),
                ({"stages": lambda p: ["gelu"]}, "stages: must return a list of fusegate.Stage"),
                ({"stages": lambda p: [fusegate.Stage("a", -1)]}, r"stages\['a'\].flops: must be a number from 0, not -1"),
                ({"factory": True}, r"factory: must return a function, not Problem\(")):
            made, problem = self.implementation(**fields)
            with self.subTest(expected), self.refuses(f"attention.{made.name}.{expected}"):
                made.callable_for(problem)
                made.prepared(problem, [3])
                made.work(problem)
                made.chosen(problem)
        made, problem = self.implementation(prepare=lambda x: refuse())
        with self.assertRaisesRegex(InputError, "^kernels.py: tile: must be a power of two"):
            made.prepared(problem, [3])

    def test_says_what_is_wrong_with_an_operation(self):
        for fields, expected in (
                ({"axes": throws}, r"attention.axes: raised ZeroDivisionError: .* at \S*operation_test.py:\d+"),
                ({"axes": {}}, "attention.axes: must have at least one axis with at least one value"),
                ({"axes": {"heads": []}}, "attention.axes: must have at least one axis"),
                ({"axes": {"heads": [0]}}, r"attention.axes\['heads'\]: must be a whole number from 1 to 16777216, a fraction, "
                                           r"True or False, or a name, not 0"),
                *(({"axes": {"kind": [value]}}, rf"attention.axes\['kind'\]: must be .*, not {value!r}")
                  for value in (float("nan"), None, "a/b", "8", "true")),
                ({"axes": {"dtype": [1]}}, r"attention.axes\['dtype'\]: cannot name an axis; use letters"),
                ({"axes": {"a/b": [1]}}, r"attention.axes\['a/b'\]: cannot name an axis; use letters"),
                ({"axes": [{"a": 1}, {"b": 1}]}, "attention.axes: must be the same for every problem; one has a, another b"),
                ({"dtypes": ["half"]}, "attention.dtypes: unknown dtype 'half'; known: fp64, fp32"),
                ({"dtypes": [3]}, "attention.dtypes: unknown dtype 3; known: fp64"),
                ({"dtypes": []}, "attention.dtypes: must name at least one"),
                ({"inputs": 3}, "attention.inputs: must be a function, not 3"),
                ({"reference": None}, "attention.reference: must be a function, not None"),
                ({"outputs": []}, "attention.outputs: must name at least one result"),
                ({"arrays": "jax"}, "attention.arrays: must be one of torch, cupy, numpy, not 'jax'"),
                ({"control": 1}, "attention.control: must be True or False, not 1"),
                ({"compared_with": 3}, "attention.compared_with: must be an implementation's name, not 3"),
                ({"name": "a/b"}, "operation: 'a/b' is not a name; use letters, digits")):
            with self.subTest(expected), self.refuses(expected):
                self.operation(**fields)
            fusegate.clear()

    def test_says_what_is_wrong_with_an_implementation(self):
        operation = self.operation()
        operation.benchmark("fused")(len)
        for arguments, options, expected in (
                (["a b"], {}, ": implementation: 'a b' is not a name"), ([], {}, ": implementation: '<lambda>' is not a name"),
                (["x"], {"device": "tpu"}, '.x.device: must be "cuda" or "cpu", not \'tpu\''),
                (["x"], {"arrays": "jax"}, ".x.arrays: must be one of torch"),
                *((["x"], {field: 3}, f".x.{field}: must be a function, not 3") for field in ("prepare", "stages", "choices")),
                (["fused"], {}, r".fused: is registered already, at \S*operation_test.py:\d+")):
            with self.subTest(expected), self.refuses("attention" + expected):
                operation.benchmark(*arguments, **options)(lambda x: x)
        with self.refuses("attention: decorates 3, which is not a function"):
            operation.benchmark("z")(3)
        with self.refuses(r"attention: is registered already, at \S+:\d+"):
            self.operation()
        operation = self.operation("b", compared_with="none")
        operation.benchmark("fused")(len)
        with self.refuses("b.compared_with: no implementation is named 'none'; there are fused"):
            print(operation.compared_with)

    def test_says_what_a_decorator_lacks(self):
        for operation, fields, expected in (
                ("softmax", {"implementation": "x"}, "softmax: unknown operation; define it here"),
                ("softmax", {"inputs": len}, r"softmax: benchmark\(\) missing 3 required keyword-only arguments"),
                ("softmax", {"flop": 3}, r"softmax: benchmark\(\) got an unexpected keyword argument 'flop'"),
                (len, {}, "operation: must be a name, as in @fusegate.benchmark"),
                (self.operation(), {"flops": 3}, r"attention: flops belongs to the operation, which is defined at \S+:\d+")):
            with self.subTest(expected), self.refuses(expected):
                fusegate.benchmark(operation=operation, **fields)

    def test_flops_bytes_and_tolerances_must_be_numbers(self):
        operation = self.operation(flops=lambda p: "many", bytes=lambda p: -1, tolerance=lambda p: {}["x"])
        made, problem = self.implementation(operation=operation)
        with self.refuses("attention.flops: must be a number from 0, not 'many'"):
            made.work(problem)
        with self.refuses("attention.tolerance: raised KeyError"):
            operation.tolerance(problem, "bf16")

    def test_bounds_are_fusegates(self):
        operation = self.operation()
        problem = next(operation.problems())
        self.assertEqual([operation.tolerance(problem, dtype) for dtype in ("bf16", "fp32", "fp16", "int8", "fp8_e4m3")],
                         [1e-2, 1e-2, 1e-2, 0.0, 8e-2], "none is finer than the problem's own")

    def test_refuses_wrong_shapes_and_dtypes(self):
        for shape, dtype, expected in ((2.5, None, "a size of a shape must be a whole number from 0, not 2.5"),
                                       (2, "half", "unknown dtype 'half'; known: fp64")):
            with self.assertRaisesRegex(ValueError, expected):
                fusegate.uniform(shape, dtype=dtype)
