"""The command line, and what it makes of a suite."""

import unittest

from implementations import MAX_AUTOTUNE
from input_error import InputError
from options import name_filter, parse_options, suite_of


def suite(*flags):
    return suite_of(parse_options(flags))


class OptionsTest(unittest.TestCase):
    def test_measures_the_ladder_unless_told_otherwise(self):
        self.assertEqual(suite().name, "ladder")
        self.assertEqual(suite("--suite=pr").name, "pr")

    def test_flags_stand_in_place_of_what_the_suite_says(self):
        changed = suite("--suite=smoke", "--samples=7", "--idle-us=9", "--batch=3,5", "--dtype=bf16",
                        "--operation=geglu")
        self.assertEqual((changed.protocol.samples, changed.protocol.idle_ns), (7, 9000))
        self.assertEqual(changed.protocol.places, 4, "the suite's")
        for sweep in changed.sweeps:
            self.assertEqual((sweep.batch, sweep.dtype, sweep.operations), ([3, 5], ["bf16"], ["geglu"]))

    def test_another_regime_has_its_own_idle_and_places(self):
        protocol = suite("--suite=smoke", "--regime=sustained").protocol
        self.assertEqual((protocol.idle_ns, protocol.places), (0, 12))

    def test_takes_problems_directly(self):
        given = suite("--problem=1,2,3,4", "--problem=5,6,7,8", "--operation=geglu_mlp")
        self.assertEqual([(s.batch, s.seq, s.dim, s.hidden, s.dtype) for s in given.sweeps],
                         [([1], [2], [3], [4], ["bf16"]), ([5], [6], [7], [8], ["bf16"])])
        self.assertEqual(suite("--problem=1,2,3,4", "--dtype=fp16").sweeps[0].dtype, ["fp16"])

    def test_says_what_is_wrong_in_one_line(self):
        for flags, expected in ((["--problem=1,2,3"], "--problem: '1,2,3' is not batch,seq,dim,hidden"),
                                (["--problem=1,2,3,0"], "four whole numbers from 1"),
                                (["--problem=1,2,3,4", "--suite=pr"], "--problem: stands in place of"),
                                (["--problem=1,2,3,4", "--dtype=fp9"], "unknown dtype 'fp9'"),
                                (["--batch=x"], "--batch: 'x' is no list of whole numbers"),
                                (["--suite=pr", "--samples=0"], "pr.json: protocol.samples"),
                                (["--suite=pr", "--layout=numbered"], "protocol.layout: torch leaves"),
                                (["--operation=softmax"], "--operation: unknown name 'softmax'"),
                                (["--implementation=fused"], "--implementation: unknown name 'fused'"),
                                (["--filter=["], "no regular expression"),
                                (["--invocation=0"], "--invocation: '0' is no number from 1 on"),
                                (["--max-autotune=perhaps"], "--max-autotune"),
                                (["--speed"], "unrecognized arguments: --speed")):
            with self.subTest(flags), self.assertRaises(InputError) as caught:
                options = parse_options(flags)
                suite_of(options)
                name_filter(options)
            self.assertIn(expected, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

    def test_takes_what_fusegate_run_passes(self):
        options = parse_options(["--suite=pr", "--out=o/1.json", "--invocation=3", "--seed=5", "--progress",
                                 "--benchmark_filter=liger"])
        self.assertEqual((options.out, options.invocation, options.seed, options.progress),
                         ("o/1.json", 3, 5, True))
        self.assertTrue(name_filter(options)("liger", "geglu/liger/bf16"))
        self.assertFalse(name_filter(options)("torch_eager", "geglu/torch_eager/bf16"))


class NameFilterTest(unittest.TestCase):
    def test_a_leading_minus_negates(self):
        takes = name_filter(parse_options(["--filter=-fp16"]))
        self.assertTrue(takes("liger", "geglu/liger/bf16"))
        self.assertFalse(takes("liger", "geglu/liger/fp16"))

    def test_leaves_max_autotune_out_where_told(self):
        self.assertTrue(name_filter(parse_options([]))(MAX_AUTOTUNE, "x"))
        self.assertFalse(name_filter(parse_options(["--max-autotune=off"]))(MAX_AUTOTUNE, "x"))

    def test_takes_the_named_peers(self):
        takes = name_filter(parse_options(["--implementation=liger,torch_eager"]))
        self.assertEqual([takes(name, "x") for name in ("liger", "torch_eager", "torch_compile")],
                         [True, True, False])


if __name__ == "__main__":
    unittest.main()
