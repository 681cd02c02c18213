"""The peers' table, and how a peer is built from its library."""

import types
import unittest
from unittest import mock

from fusegate.measuring.fakes import FakeDevice, FakeMeter

from bench import find_bench, read_plan
from fakes import fake_gpu, fake_libraries, fake_problem
from implementations import IMPLEMENTATIONS, LIBRARIES, MAX_AUTOTUNE, needed_libraries
from plan import make_plan


def find(operation, name):
    return next(each for each in IMPLEMENTATIONS if (each.operation, each.name) == (operation, name))


class ImplementationsTest(unittest.TestCase):
    def test_all_compute_what_the_operation_is(self):
        # By how many tensors it takes: linear, a gated unit, one between its projections.
        inputs = {3: ((3.0, 5.0, 7.0), 22.0), 2: ((3.0, 5.0), 15.0), 4: ((2.0, 3.0, 5.0, 7.0), 2 * 3 * 2 * 5 * 7.0)}
        for implementation in IMPLEMENTATIONS:
            with self.subTest(implementation.operation, name=implementation.name):
                problem, modules = fake_problem(implementation.operation), fake_libraries().modules
                arguments, expected = inputs[len(problem.inputs)]
                if implementation.prepare:
                    arguments = implementation.prepare(modules)(*arguments)
                with fake_gpu(FakeDevice(), FakeMeter()):
                    self.assertEqual(implementation.build(modules, problem)(*arguments), expected)

    def test_are_sorted_and_named_once(self):
        names = [(each.operation, each.name) for each in IMPLEMENTATIONS]
        self.assertEqual(names, sorted(set(names)))

    def test_the_compiler_gets_static_shapes_and_captures_no_graphs(self):
        for name, mode in (("torch_compile", None), (MAX_AUTOTUNE, "max-autotune-no-cudagraphs")):
            modules = fake_libraries().modules
            modules["torch"].compile = mock.Mock()
            find("geglu_mlp", name).build(modules, None)
            self.assertEqual(modules["torch"].compile.call_args.kwargs,
                             {"dynamic": False, "fullgraph": True, "mode": mode})

    def test_every_compiled_peer_has_code_of_its_own(self):
        modules = fake_libraries().modules
        built = [find("linear", "torch_compile").build(modules, None) for _ in range(2)]
        self.assertIsInstance(built[0], types.FunctionType)
        self.assertIsNot(built[0].__code__, built[1].__code__)

    def test_gelu_is_by_tanh_in_geglu_and_by_erf_in_geglu_erf(self):
        for operation, expected in (("geglu", {"approximate": "tanh"}), ("geglu_erf", {})):
            modules = fake_libraries().modules
            modules["torch"].nn.functional.gelu = mock.Mock(return_value=1.0)
            for suffix, inputs in (("", (3.0, 5.0)), ("_mlp", (2.0, 3.0, 5.0, 7.0))):
                find(operation + suffix, "torch_eager").build(modules, None)(*inputs)
                self.assertEqual(modules["torch"].nn.functional.gelu.call_args.kwargs, expected, operation + suffix)

    def test_liger_uses_ligers_function(self):
        modules = fake_libraries().modules
        modules["liger"].ops.LigerGELUMulFunction.apply = lambda g, u: -g * u
        self.assertEqual(find("geglu_mlp", "liger").build(modules, None)(2.0, 3.0, 5.0, 7.0), -420.0)

    def test_loads_only_what_is_measured_and_what_reads_clocks(self):
        given = read_plan(find_bench(), ["--problem=1,128,768,3072", "--operation=geglu_mlp"])
        for name, expected in (("torch_eager", ["torch", "triton"]), ("liger", ["torch", "triton", "liger"]),
                               ("quack_both", ["torch", "triton", "quack", "cutlass_dsl"])):
            plan = make_plan(given, lambda implementation, _, name=name: implementation == name)
            self.assertEqual(needed_libraries(plan.benchmarks), {each: LIBRARIES[each] for each in expected})
