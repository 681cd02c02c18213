"""The peers' own flags, and which go to fusegate_bench."""

import unittest

from fusegate.errors import InputError

from implementations import MAX_AUTOTUNE
from options import name_filter, parse_options


def plan_flags(*flags):
    return parse_options(flags).plan_flags


class OptionsTest(unittest.TestCase):
    def test_measures_the_ladder_by_default(self):
        self.assertEqual(plan_flags(), ["--suite=ladder"])
        self.assertEqual(plan_flags("--suite", "pr"), ["--suite=pr"])
        self.assertEqual(plan_flags("--problem=1,2,3,4", "--problem=5,6,7,8"),
                         ["--problem=1,2,3,4", "--problem=5,6,7,8"])

    def test_passes_unknown_flags_to_fusegate_bench(self):
        self.assertEqual(plan_flags("--samples=7", "--progress", "--batch", "3,5", "--speed"),
                         ["--suite=ladder", "--samples=7", "--batch", "3,5", "--speed"])

    def test_says_what_is_wrong_in_one_line(self):
        for flags, expected in ((["--implementation=fused"], "--implementation: unknown name 'fused'"),
                                (["--filter=["], "not a regular expression"),
                                (["--max-autotune=perhaps"], "--max-autotune"),
                                (["--energy-ms=60001"], "--energy-ms: '60001' is not a whole number from 0 to 60000")):
            with self.subTest(flags), self.assertRaises(InputError) as caught:
                name_filter(parse_options(flags))
            self.assertIn(expected, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

    def test_takes_what_fusegate_run_passes(self):
        options = parse_options(["--suite=pr", "--out=o/1.json", "--process=3", "--seed=5", "--progress",
                                 "--benchmark_filter=liger", "--energy-ms=500"])
        self.assertEqual((options.out, options.progress, options.energy_ms), ("o/1.json", True, 500))
        self.assertEqual(options.plan_flags, ["--suite=pr", "--process=3", "--seed=5"])
        self.assertTrue(name_filter(options)("liger", "geglu/liger/bf16"))
        self.assertFalse(name_filter(options)("torch_eager", "geglu/torch_eager/bf16"))


class NameFilterTest(unittest.TestCase):
    def test_a_leading_minus_negates(self):
        takes = name_filter(parse_options(["--filter=-fp16"]))
        self.assertTrue(takes("liger", "geglu/liger/bf16"))
        self.assertFalse(takes("liger", "geglu/liger/fp16"))

    def test_leaves_out_max_autotune_with_its_flag(self):
        self.assertTrue(name_filter(parse_options([]))(MAX_AUTOTUNE, "x"))
        self.assertFalse(name_filter(parse_options(["--max-autotune=off"]))(MAX_AUTOTUNE, "x"))

    def test_takes_the_named_peers(self):
        takes = name_filter(parse_options(["--implementation=liger,torch_eager"]))
        self.assertEqual([takes(name, "x") for name in ("liger", "torch_eager", "torch_compile")],
                         [True, True, False])
