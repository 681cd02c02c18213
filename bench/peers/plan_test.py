"""What is measured and what is left out, and why."""

import unittest

from fusegate.errors import InputError
from fusegate.machine.libraries import Libraries

from bench import find_bench, read_plan
from implementations import IMPLEMENTATIONS, MAX_AUTOTUNE
from plan import make_plan


def planned(*flags):
    return read_plan(find_bench(), flags or ["--problem=1,128,768,3072"])


def everything(_implementation, _benchmark):
    return True


def names(plan):
    return [benchmark.name for benchmark in plan.benchmarks]


class PlanTest(unittest.TestCase):
    def test_has_all_peers_of_the_mlp(self):
        self.assertEqual(names(make_plan(planned("--problem=1,128,768,3072", "--operation=geglu_mlp"), everything)),
                         [f"geglu_mlp/{name}/bf16/batch:1/seq:128/dim:768/hidden:3072"
                          for name in ("cudnn", "liger", "quack", "quack_both", "quack_concat", "quack_concat_both",
                                       "torch_compile", MAX_AUTOTUNE, "torch_eager")])

    def test_repeats_geglu_along_no_dim_and_nothing_twice(self):
        twice = planned("--operation=geglu", "--dim=768,4096", "--dtype=bf16")
        twice["work"] *= 2
        plan = make_plan(twice, everything)
        self.assertEqual(len(plan.benchmarks), 4)
        self.assertEqual({benchmark.problem.dim for benchmark in plan.benchmarks}, {768})

    def test_without_operations_takes_all_that_peers_have(self):
        plan = make_plan(planned(), everything)
        self.assertEqual({benchmark.operation.name for benchmark in plan.benchmarks},
                         {each.operation for each in IMPLEMENTATIONS})

    def test_leaves_out_by_name(self):
        plan = make_plan(planned(), lambda implementation, benchmark:
                         implementation == "torch_eager" and "linear/" in benchmark)
        self.assertEqual(len(plan.benchmarks), 1)
        self.assertEqual(plan.refusals, [])

    def test_says_once_what_is_left_out_and_why(self):
        given = planned("--operation=control_copy,geglu", "--dtype=bf16,fp32", "--batch=1,2")
        plan = make_plan(given, everything, Libraries(missing={"liger": "liger-kernel is not here"}))
        self.assertEqual(plan.refusals, ["operation control_copy: no peer has it",
                                         "geglu/liger: liger-kernel is not here",
                                         "geglu in fp32: fusegate_bench does not run it on a GPU either"])
        self.assertEqual({benchmark.implementation.name for benchmark in plan.benchmarks},
                         {"torch_compile", MAX_AUTOTUNE, "torch_eager"})

    def test_says_what_a_library_lacks_once_an_operation(self):
        given = planned("--operation=geglu_mlp,reglu_mlp", "--problem=1,1,8,8", "--problem=2,1,8,8")
        plan = make_plan(given, everything, Libraries(missing={"quack": "quack-kernels is not here"}))
        self.assertEqual(plan.refusals, [f"{operation}/quack, quack_both, quack_concat, quack_concat_both: "
                                         f"quack-kernels is not here" for operation in ("geglu_mlp", "reglu_mlp")])

    def test_refuses_to_measure_nothing(self):
        with self.assertRaisesRegex(InputError, "custom: sweeps: nothing is left to run: operation control_copy"):
            make_plan(planned("--operation=control_copy"), everything)
