"""Each rule on a series of which it is known where it changed, and the score of found changes."""

import os
import unittest

import change_points  # first: it ends with 77 where packages are missing
import numpy

# ctest says where the built program is.
JUDGE = os.environ.get("FUSEGATE_NIGHTS_AUDIT", "no/program")


class EachRule(unittest.TestCase):
    def test_finds_a_large_step_and_nothing_before_it(self):
        random = numpy.random.default_rng(3)
        series = numpy.exp(0.0003 * random.standard_normal((80, 1)))
        series[50:] *= 1.1
        for name, rule in change_points.rules(JUDGE).items():
            with self.subTest(name):
                try:
                    reported = rule(series)[0]
                except ImportError as missing:  # Otava, which nothing installs
                    self.skipTest(missing)
                self.assertEqual([first for first, _ in reported if abs(first - 50) <= change_points.MARGIN][:1],
                                 [reported[0][0]])


class Scores(unittest.TestCase):
    def test_a_change_counts_once_and_within_the_margin(self):
        self.assertEqual(change_points.f1([50], [[50], [54]]), (1.0, 1.0, 1.0))
        score, precision, recall = change_points.f1([20, 52], [[50]])
        self.assertAlmostEqual(precision, 2 / 3)
        self.assertEqual(recall, 1)
        self.assertAlmostEqual(score, 0.8)

    def test_changes_dated_alike_are_one(self):
        self.assertEqual(change_points.merged([(50, 51), (52, 53), (90, 91)]), [(50, 51), (90, 91)])


if __name__ == "__main__":
    unittest.main()
