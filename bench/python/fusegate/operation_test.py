"""Registrations: names, problems, and errors that name file, operation and field."""

import types
import unittest

import fusegate
from fusegate import InputError

HERE = r"^\S*operation_test.py:\d+: "


class RegistrationTest(unittest.TestCase):
    def setUp(self):
        fusegate.clear()

    def operation(self, name="attention", **fields):
        return fusegate.Operation(name, **{"axes": {"heads": [16, 32], "kv": [4096]}, "dtypes": ["bf16", "fp16"],
                                           "inputs": lambda p: {"x": fusegate.uniform(p.heads)},
                                           "reference": lambda x: x, **fields})

    def refuses(self, expected):
        return self.assertRaisesRegex(InputError, HERE + expected)

    def test_benchmarks_are_named_as_fusegate_bench_names_them(self):
        operation = self.operation()

        @operation.benchmark()
        def fused(x):
            return x
        problems = list(operation.problems())
        self.assertEqual([operation.implementations["fused"].benchmark_name(problem) for problem in problems],
                         [f"attention/fused/{dtype}/heads:{heads}/kv:4096"
                          for dtype in ("bf16", "fp16") for heads in (16, 32)])
        self.assertEqual((problems[1].heads, problems[1]["kv"], problems[1].itemsize, dict(problems[1].axes)),
                         (32, 4096, 2, {"heads": 32, "kv": 4096}))
        self.assertIs(fused(3), 3, "the function stays as it is")

    def test_says_whether_it_is_a_control(self):
        self.assertFalse(self.operation().is_control)
        self.assertTrue(self.operation("copy", control=True).is_control)
        with self.refuses("b.control: must be True or False, not 1"):
            self.operation("b", control=1)

    def test_axes_may_be_points_or_a_function(self):
        points = [{"m": 1, "n": 2}, {"m": 3, "n": 2}]
        self.assertEqual(self.operation(axes=points).points, points)
        self.assertEqual(self.operation("b", axes=lambda: points).points, points)
        self.assertEqual(self.operation("c", axes={"m": 7, "n": range(1, 3)}).points,
                         [{"m": 7, "n": 1}, {"m": 7, "n": 2}])

    def test_values_of_axes_may_be_names_fractions_and_switches(self):
        operation = self.operation(axes={"rows": [8], "kind": ["gelu", "relu"], "sparsity": 0.5, "causal": [True, False]})
        problems = list(operation.problems())
        self.assertEqual([problem.name.partition("/")[2] for problem in problems[:2]],
                         ["rows:8/kind:gelu/sparsity:0.5/causal:true", "rows:8/kind:gelu/sparsity:0.5/causal:false"])
        self.assertEqual(len({problem.name for problem in problems}), len(problems))
        self.assertEqual((problems[0].kind, problems[0].sparsity, problems[1].causal), ("gelu", 0.5, False))
        equal = self.operation("b", axes={"a": [1, 1.0, True]})
        self.assertEqual(len({problem.name for problem in equal.problems()}), len(list(equal.problems())))

    def test_a_decorator_defines_an_operation_and_others_share_it(self):
        @fusegate.benchmark(operation="softmax", axes={"cols": [8]}, dtypes="fp32", implementation="eager",
                            inputs=lambda p: {"x": fusegate.normal(p.cols)}, reference=lambda x: x, flops=3,
                            bytes=lambda p: p.cols * p.itemsize)
        def softmax(x):
            return x

        @fusegate.benchmark("softmax", "triton", writes="out", requires="triton", device="cuda")
        def launch(x, out):
            return None
        operation = fusegate.operations()["softmax"]
        self.assertEqual(list(operation.implementations), ["eager", "triton"])
        triton = operation.implementations["triton"]
        self.assertEqual((triton.writes, triton.requires, triton.device, triton.function), (("out",), ("triton",), "cuda",
                                                                                        launch))
        (problem,) = operation.problems()
        self.assertEqual(triton.work(problem), [fusegate.Stage("softmax", 3.0, 32.0)])

    def test_decorators_without_parentheses(self):
        operation = self.operation()

        @operation.benchmark
        def bare(x):
            return x
        self.assertEqual((list(operation.implementations), bare(3)), (["bare"], 3))
        with self.refuses("operation: must be a name, as in @fusegate.benchmark"):
            fusegate.benchmark(bare)

    def test_dtypes_may_be_torchs_and_numpys(self):
        torchs = [types.SimpleNamespace(__name__="torch.bfloat16"), types.SimpleNamespace(__name__="float32")]
        self.assertEqual(self.operation(dtypes=[*torchs, "float16", "int8"]).dtypes, ("bf16", "fp32", "fp16", "int8"))
        self.assertEqual(fusegate.empty(3, dtype=torchs[0]).dtype, "bf16")

    def test_a_factory_makes_the_callable_for_a_problem(self):
        operation = self.operation()

        @operation.benchmark("made", factory=True)
        def factory(problem):
            return lambda x: x * problem.heads
        problem = next(operation.problems())
        self.assertEqual(operation.implementations["made"].callable_for(problem)(2), 32)
        operation.benchmark("broken", factory=True)(lambda problem: 3)
        with self.assertRaisesRegex(InputError, "attention.broken.factory: must return a function, not 3"):
            operation.implementations["broken"].callable_for(problem)

    def test_stages_are_of_the_problem(self):
        operation = self.operation()
        operation.benchmark("two", stages=lambda p: [fusegate.Stage("a", p.heads, 1), fusegate.Stage("b", 2, 3)])(lambda x: x)
        operation.benchmark("bad", stages=lambda p: [p.none])(lambda x: x)
        problem = next(operation.problems())
        self.assertEqual([stage.flops for stage in operation.implementations["two"].work(problem)], [16, 2])
        with self.assertRaisesRegex(InputError, "attention.bad.stages: raised AttributeError: the problem has no axis"):
            operation.implementations["bad"].work(problem)

    def test_the_callable_gets_what_prepare_returns(self):
        operation = self.operation()
        (problem, *_) = operation.problems()
        for number, (prepare, expected) in enumerate((
                (None, [3, 5]), (lambda x, y: (x + y, x), [8, 3]), (lambda x, y: [x * y], [15]),
                (lambda x, y: {"both": (x, y), "more": 1}, [(3, 5), 1]), (lambda x, y: x - y, [-2]),
                (lambda x, y: (), []))):
            operation.benchmark(f"made{number}", prepare=prepare)(lambda x: x)
            self.assertEqual(operation.implementations[f"made{number}"].prepared(problem, [3, 5]), expected)

    def test_says_what_is_wrong_with_prepare_and_choices(self):
        operation = self.operation()
        problem = next(operation.problems())

        def refuse():
            raise InputError("kernels.py", "tile", "must be a power of two")
        for number, (fields, expected) in enumerate((
                ({"prepare": lambda x: None}, r"prepare: returns None; it must return the arguments"),
                ({"prepare": lambda x: x.shape}, r"prepare: raised AttributeError: .* at \S*operation_test.py:\d+ for "
                                                 r"bf16/heads:16/kv:4096"),
                ({"prepare": lambda: 3}, r"prepare: raised TypeError: .* takes 0 positional arguments"),
                ({"choices": lambda p: ["tile"]}, "choices: must return a dict, not list"),
                ({"choices": lambda p: p.rows}, "choices: raised AttributeError: the problem has no axis 'rows'"))):
            operation.benchmark(f"bad{number}", **fields)(lambda x: x)
            bad = operation.implementations[f"bad{number}"]
            with self.subTest(expected), self.refuses(f"attention.bad{number}." + expected):
                bad.prepared(problem, [3])
                bad.chosen(problem)
        operation.benchmark("own", prepare=lambda x: refuse())(lambda x: x)
        with self.assertRaisesRegex(InputError, "^kernels.py: tile: must be a power of two"):
            operation.implementations["own"].prepared(problem, [3])
        for field in ("prepare", "stages", "choices"):
            with self.refuses(f"attention.none_{field}.{field}: must be a function, not 3"):
                operation.benchmark(f"none_{field}", **{field: 3})(lambda x: x)

    def test_choices_are_text(self):
        operation = self.operation()
        fusegate.benchmark(operation, "tuned", choices=lambda p: {"tile": p.heads, 1: True}, prepare=lambda x: x)(len)
        problem = next(operation.problems())
        self.assertEqual(operation.implementations["tuned"].chosen(problem), {"tile": "16", "1": "True"})
        operation.benchmark("fixed")(len)
        self.assertEqual(operation.implementations["fixed"].chosen(problem), {})

    def test_a_registration_twice_names_both_registrations(self):
        operation = self.operation()
        operation.benchmark("fused")(lambda x: x)
        with self.refuses(r"attention.fused: is registered already, at \S*operation_test.py:\d+"):
            operation.benchmark("fused")(lambda x: x)
        with self.refuses(r"attention: is registered already, at \S+:\d+"):
            self.operation()

    def test_says_what_is_wrong_with_an_operation(self):
        def throws():
            return [1 // 0]
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
                ({"name": "a/b"}, "operation: 'a/b' is not a name; use letters, digits")):
            with self.subTest(expected), self.refuses(expected):
                self.operation(**fields)
            fusegate.clear()

    def test_says_what_is_wrong_with_an_implementation(self):
        operation = self.operation()
        for arguments, options, expected in (
                (["a b"], {}, "attention: implementation: 'a b' is not a name"), ([], {}, "'<lambda>' is not a name"),
                (["x"], {"device": "tpu"}, 'attention.x.device: must be "cuda" or "cpu", not \'tpu\''),
                (["y"], {"arrays": "jax"}, "attention.y.arrays: must be one of torch")):
            with self.subTest(expected), self.refuses(".*" + expected):
                operation.benchmark(*arguments, **options)(lambda x: x)
        with self.refuses("attention: decorates 3, which is not a function"):
            operation.benchmark("z")(3)

    def test_says_what_a_decorator_lacks(self):
        with self.refuses("softmax: unknown operation; define it here"):
            fusegate.benchmark(operation="softmax", implementation="x")
        with self.refuses(r"softmax: benchmark\(\) missing 3 required keyword-only arguments"):
            fusegate.benchmark(operation="softmax", inputs=lambda p: {})
        with self.refuses(r"softmax: benchmark\(\) got an unexpected keyword argument 'flop'"):
            fusegate.benchmark(operation="softmax", flop=3)
        operation = self.operation()
        with self.refuses(r"attention: flops belongs to the operation, which is defined at \S+:\d+"):
            fusegate.benchmark(operation=operation, implementation="x", flops=3)

    def test_flops_bytes_and_tolerances_must_be_numbers(self):
        operation = self.operation(flops=lambda p: "many", bytes=lambda p: -1)
        operation.benchmark("one")(lambda x: x)
        problem = next(operation.problems())
        with self.assertRaisesRegex(InputError, "attention.flops: must be a number from 0, not 'many'"):
            operation.work(problem)
        with self.assertRaisesRegex(InputError, "b.tolerance: raised KeyError"):
            self.operation("b", tolerance=lambda p: {}["x"]).tolerance(problem, "bf16")

    def test_bounds_are_fusegates(self):
        operation = self.operation()
        problem = next(operation.problems())
        self.assertEqual([operation.tolerance(problem, dtype) for dtype in ("bf16", "fp32", "fp16", "int8", "fp8_e4m3")],
                         [1e-2, 1e-2, 1e-2, 0.0, 8e-2], "none is finer than the problem's own")


class TensorTest(unittest.TestCase):
    def test_refuses_wrong_shapes_and_dtypes(self):
        with self.assertRaisesRegex(ValueError, "a size of a shape must be a whole number from 0, not 2.5"):
            fusegate.uniform(2.5)
        with self.assertRaisesRegex(ValueError, "unknown dtype 'half'; known: fp64"):
            fusegate.uniform(2, dtype="half")
