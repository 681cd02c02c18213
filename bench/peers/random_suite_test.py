"""Random problems: the same for a seed, within what the models have, and a suite that the program takes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import random_suite

SCRIPT = pathlib.Path(random_suite.__file__)


def drawn(*flags):
    return subprocess.run([sys.executable, SCRIPT, *flags], capture_output=True, text=True, check=False)


class RandomSuiteTest(unittest.TestCase):
    def test_a_seed_draws_the_same_problems_and_another_one_others(self):
        self.assertEqual(drawn("--seed=7").stdout, drawn("--seed=7").stdout)
        self.assertNotEqual(json.loads(drawn("--seed=7").stdout)["sweeps"], json.loads(drawn("--seed=8").stdout)["sweeps"])

    def test_problems_are_within_what_the_models_have(self):
        known = random_suite.shapes(random_suite.MODELS)
        dims = [dim for dim, _ in known]
        *sweeps, _ = random_suite.suite(1, 300, "geglu_mlp", known)["sweeps"]
        rows = [sweep["seq"][0] for sweep in sweeps]
        self.assertEqual(len(sweeps), 300)
        self.assertTrue(all(1 <= row <= random_suite.MOST_ROWS for row in rows))
        self.assertGreater(sum(row < 128 for row in rows), 60, "few rows are as likely as many")
        for sweep in sweeps:
            (dim,), (hidden,) = sweep["dim"], sweep["hidden"]
            self.assertEqual((dim % 128, hidden % 128), (0, 0))
            self.assertTrue(min(dims) <= dim <= max(dims), dim)

    def test_the_program_takes_it(self):
        whole = json.loads(drawn("--seed=3", "--count=5", "--operation=linear").stdout)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "random.json"

            def plan(suite):
                path.write_text(json.dumps(suite), encoding="utf-8")
                return subprocess.run([os.environ["FUSEGATE_BENCH"], f"--suite={path}", "--device=cpu", "--plan"],
                                      capture_output=True, text=True, check=False)
            taken = plan(whole)
            self.assertEqual(taken.returncode, 0, taken.stderr)
            self.assertIn(f"seq:{whole['sweeps'][0]['seq'][0]}/", taken.stdout)
            self.assertEqual(plan({**whole, "odd": 1}).returncode, 2)

    def test_refuses_a_count_of_nothing(self):
        result = drawn("--seed=1", "--count=0")
        self.assertEqual((result.returncode, result.stderr.splitlines()[-1].partition("error: ")[2]), (2, "--count: must be 1 or more"))


if __name__ == "__main__":
    unittest.main()
