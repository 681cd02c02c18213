"""Each rule on made-up processes of which it is known what it must call, and the table of simulated suites."""

import contextlib
import io
import os
import unittest

import other_rules  # first: it ends with 77 where packages are missing
import numpy
from other_rules import Process

# ctest says where the built program is.
FUSEGATE = os.environ.get("FUSEGATE_PROGRAM", "no/program")


class Named:
    def __init__(self, *benchmarks):
        self.benchmarks = benchmarks


def side(*processes, benchmark="a"):
    return [Process({benchmark: numpy.array(own, float)}, {benchmark: numpy.full(len(own), 2.0)}) for own in processes]


def arrays(*times, clock_ghz=2.0):
    values = numpy.array(times, float)
    return values, values * clock_ghz


class EachRule(unittest.TestCase):
    def test_calls_what_is_five_percent_slower_and_never_what_is_faster(self):
        suite = other_rules.Suite("normal")
        baseline, candidate = suite.comparison(0, 5)
        slower, faster = ([one.slower(suite.benchmarks, factor) for one in candidate] for factor in (1.1, 0.9))
        for rule in other_rules.all_rules([("", FUSEGATE)]):
            with self.subTest(rule.name, gets=rule.gets, compares=rule.compares):
                if rule.why_not:
                    self.skipTest(rule.why_not)
                self.assertGreater(len(rule.called(baseline, slower, suite)), 95)
                self.assertEqual(rule.called(baseline, faster, suite), set())

    def test_gets_one_process_or_all_in_one_file(self):
        one, joined = other_rules.rules_of_samples("", lambda old, new: numpy.median(new[0]) > 1.02 * numpy.median(old[0]))
        sides = side([100], [300]), side([103], [303])
        self.assertEqual((one.called(*sides, Named("a")), joined.called(*sides, Named("a"))), ({"a"}, set()))

    def test_robust_needs_a_gap_of_half_a_percent_in_time_and_in_cycles(self):
        baseline = arrays(99, 100, 100, 100, 130)
        self.assertTrue(other_rules.nvbench_robust(baseline, arrays(100.5, 101, 101)))
        self.assertFalse(other_rules.nvbench_robust(baseline, arrays(100.4, 150, 150)))
        self.assertFalse(other_rules.nvbench_robust(arrays(100, 100), (numpy.array([103, 103]), numpy.array([200, 200]))))
        # The third quartile is the nearest rank, a half going up.
        for values, quartile in (([5, 1, 4, 2, 3], 4), ([1, 2, 3], 3), ([1, 2], 2), ([7], 7)):
            for factor in (1.004, 1.006):
                self.assertEqual(other_rules.nvbench_robust(arrays(*values), arrays(quartile * factor)), factor > 1.005)

    def test_legacy_compares_the_means_with_the_smaller_noise(self):
        noisy = arrays(98, 99, 100, 101, 102)  # 1.58 %
        self.assertTrue(other_rules.nvbench_legacy(noisy, arrays(*(noisy[0] * 1.016))))
        self.assertFalse(other_rules.nvbench_legacy(noisy, arrays(*(noisy[0] * 1.015))))
        # Four samples have no noise, and a noise of zero is as good as none.
        self.assertFalse(other_rules.nvbench_legacy(arrays(98, 99, 101, 102), arrays(198, 199, 201, 202)))
        self.assertFalse(other_rules.nvbench_legacy(arrays(*[100] * 5), arrays(*[200] * 5)))

    def test_t_tests_hold_the_difference_against_the_noise(self):
        def called(equal, baseline, candidate):
            sides = (side(*([own] for own in each)) for each in (baseline, candidate))
            return other_rules.t_test(equal).called(*sides, Named("a"))
        for equal in (True, False):
            # Standard deviation 1 % a side: t of 3 % is 4.7 at 8 degrees of freedom (p 0.0007), of 1 % 1.6.
            self.assertEqual(called(equal, [99, 99, 100, 101, 101], [102, 102, 103, 104, 104]), {"a"})
            self.assertEqual(called(equal, [99, 99, 100, 101, 101], [100, 100, 101, 102, 102]), set())
            self.assertEqual(called(equal, [100, 100], [100, 100]), set())
        unequal = [100, 100.01, 100.02, 99.99, 99.98], [100.5, 105, 104, 102, 107]
        self.assertEqual((called(True, *unequal), called(False, *unequal)), ({"a"}, set()))


class Simulating(unittest.TestCase):
    def test_processes_spread_as_the_calibration_says(self):
        for noise in ("normal", "t3"):
            suite = other_rules.Suite(noise)
            name, time, equal, clock, share, _ = next(row for row in suite.rows if row[0].startswith("linear/addmm/"))
            own = [one for number in range(60) for each in suite.comparison(number, 5) for one in each]
            times, cycles = (numpy.array([numpy.median(values(name)) for values in each])
                             for each in ([one.times for one in own], [one.cycles for one in own]))
            self.assertAlmostEqual(numpy.log(times).std() / numpy.hypot(equal, share * clock), 1, delta=0.25)
            self.assertAlmostEqual(numpy.log(cycles).std() / numpy.hypot(equal, (1 - share) * clock), 1, delta=0.25)
            self.assertAlmostEqual(numpy.median(times) / time, 1, delta=1e-3)

    def test_prints_a_table_of_each_noise(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            other_rules.main(["--simulate", "--comparisons=1", "--slowed=1", f"--fusegate=now={FUSEGATE}"])
        rows = [line for line in out.getvalue().splitlines() if line.startswith("| fusegate gate at now |")]
        self.assertEqual(len(rows), 4)
        if os.access(FUSEGATE, os.X_OK):
            for row in rows:
                self.assertIn("| 0 of 1 (", row)
                self.assertGreaterEqual(float(row.split("|")[8].split()[0]), 90)
        else:
            self.assertIn("not run: no program", rows[0])


if __name__ == "__main__":
    unittest.main()
