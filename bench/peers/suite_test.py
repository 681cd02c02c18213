"""Suites: the project's own, and what is wrong with others, by file and field."""

import copy
import unittest

from input_error import InputError
from plan import problems_of
from suite import SUITES, parse_suite, read_suite_json, suite_path

VALID = {"name": "mine",
         "protocol": {"samples": 20, "batch_us": 700, "order": "contiguous", "l2": "flushed", "spin_us": 0},
         "gate": {"cpu": {"min_effect": 0.05}},
         "sweeps": [{"operations": ["geglu"], "implementations": ["fused"], "batch": [1, 8], "seq": [128],
                     "dim": [768], "hidden": [3072], "dtype": ["bf16"]}]}

REMOVED = object()
# Where in the valid suite, what to put there, and what is said.
BAD = ((("name",), REMOVED, "name: is missing"),
       (("name",), "a/b", "name: must be a file's name"),
       (("speed",), 1, "speed: unknown key"),
       (("protocol",), 5, "protocol: must be an object"),
       (("protocol", "sample"), 1, "protocol.sample: unknown key"),
       (("protocol", "samples"), 0, "protocol.samples: must be a whole number from 1 to 100000"),
       (("protocol", "samples"), True, "protocol.samples: must be a whole number"),
       (("protocol", "idle_us"), 0.5, "protocol.idle_us: must be a whole number"),
       (("protocol", "order"), "backwards", 'protocol.order: must be "interleaved" or "contiguous"'),
       (("protocol", "order"), 1, "protocol.order: must be a string"),
       (("protocol", "l2"), "cold", "protocol.l2: must be"),
       (("protocol", "regime"), "idle", "protocol.regime: must be"),
       (("protocol", "spin_us"), 3, "protocol.spin_us: the peers have no kernel that spins"),
       (("protocol", "layout"), "numbered", "protocol.layout: torch leaves the layout"),
       (("gate", "cpu", "min_effect"), 1, "gate.cpu.min_effect: must be a number between 0 and 1"),
       (("gate", "cpu", "maximum"), 1, "gate.cpu.maximum: unknown key"),
       (("sweeps",), REMOVED, "sweeps: is missing"),
       (("sweeps",), [], "sweeps: must be a list"),
       (("sweeps", 0, "batch", 1), 0, "sweeps[0].batch[1]: must be a whole number from 1"),
       (("sweeps", 0, "hidden", 0), 1 << 40, "sweeps[0].hidden[0]"),
       (("sweeps", 0, "dim"), REMOVED, "sweeps[0].dim: is missing"),
       (("sweeps", 0, "operations"), "geglu", "sweeps[0].operations: must be a list"),
       (("sweeps", 0, "dtype", 0), "fp12", "sweeps[0].dtype[0]: unknown dtype 'fp12'"))


def changed(path, value):
    suite = copy.deepcopy(VALID)
    node = suite
    for key in path[:-1]:
        node = node[key]
    if value is REMOVED:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return suite


class SuiteTest(unittest.TestCase):
    def test_reads_every_field(self):
        suite = parse_suite(VALID, "mine.json")
        self.assertEqual(suite.name, "mine")
        self.assertEqual((suite.protocol.samples, suite.protocol.batch_ns), (20, 700_000))
        self.assertEqual((suite.protocol.order, suite.protocol.l2), ("contiguous", "flushed"))
        self.assertEqual(suite.protocol.idle_ns, 3_000_000, "what is not named keeps its default")
        self.assertEqual(suite.protocol.places, 20, "no more places than samples")
        self.assertEqual(suite.protocol.min_effect, 0, "it is the CPU's")
        self.assertEqual(suite.sweeps[0].batch, [1, 8])

    def test_takes_the_gpus_smallest_effect(self):
        suite = parse_suite(changed(("gate", "cuda"), {"min_effect": 0.01}), "mine.json")
        self.assertEqual(suite.protocol.min_effect, 0.01)

    def test_names_file_and_field_of_what_is_wrong(self):
        for path, value, expected in BAD:
            with self.subTest(expected), self.assertRaises(InputError) as caught:
                parse_suite(changed(path, value), "mine.json")
            self.assertIn(f"mine.json: {expected}", str(caught.exception))

    def test_reads_all_suites_of_the_project(self):
        names = sorted(path.stem for path in SUITES.glob("*.json"))
        self.assertIn("ladder", names)
        for name in names:
            self.assertEqual(parse_suite(read_suite_json(suite_path(name)), name).name, name)

    def test_says_which_suites_there_are(self):
        with self.assertRaisesRegex(InputError, "nope: no such suite; there are claims, ladder, nightly"):
            suite_path("nope")

    def test_the_ladder_is_the_targets_eleven_problems(self):
        suite = parse_suite(read_suite_json(suite_path("ladder")), "ladder")
        problems = [problem for sweep in suite.sweeps if "geglu_mlp" in sweep.operations
                    for problem in problems_of(sweep, "geglu_mlp")]
        self.assertEqual({problem.dtype for problem in problems}, {"bf16"})
        self.assertEqual(sorted((p.batch, p.seq, p.dim, p.hidden) for p in problems), sorted([
            (1, 1, 768, 3072), (1, 128, 768, 3072), (4, 128, 768, 3072), (16, 128, 768, 3072),
            (64, 128, 768, 3072), (64, 512, 768, 3072), (2, 512, 1024, 4096), (8, 512, 2048, 8192),
            (1, 1024, 4096, 14336), (8, 1024, 4096, 11008), (1, 1, 4096, 14336)]))
        beside = {name for sweep in suite.sweeps for name in sweep.operations} - {"geglu_mlp"}
        self.assertEqual(beside, {"linear", "control_copy", "control_gemm"}, "what floors are measured by")


if __name__ == "__main__":
    unittest.main()
