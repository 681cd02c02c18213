"""Each rule on made-up processes of which it is known what it must say; reading, drawing and simulating them; the script on
the processes of baselines/testdata/h200-same-code."""

import contextlib
import io
import json
import os
import pathlib
import tarfile
import tempfile
import unittest

import compare_rules  # first: it ends with 77 where packages are missing
import numpy
import rules
import suites
from suites import Comparison, InputError, Measured, Process

SAME_CODE = suites.ROOT / "baselines" / "testdata" / "h200-same-code"
# ctest says where the built program is.
FUSEGATE = pathlib.Path(os.environ.get("FUSEGATE_PROGRAM", "no/program"))
COMPARE_TOOL, OTAVA = rules.CompareTool(joined=False), rules.Otava()

needs_fusegate = unittest.skipUnless(os.access(FUSEGATE, os.X_OK), "no FUSEGATE_PROGRAM")
LONG, SHORT = "geglu/fused/bf16/batch:8", "linear/addmm/bf16/batch:8"


def process(times, clock_hz=2e9, uuid="GPU-0", place=("one", 0)):
    """times: by benchmark the samples."""
    context = {"date": "2026-11-21T02:53:32+00:00", "fusegate": {
        "schema_version": 1, "suite": "pr", "environment": {"device": "NVIDIA H200"}, "finished": True,
        "provenance": {"commit": "0" * 40, "device_uuid": uuid}}}
    arrays = {name: numpy.array(own, float) for name, own in times.items()}
    clocks = {name: numpy.full(len(own), clock_hz) if clock_hz else None for name, own in times.items()}
    return Process(context, arrays, clocks, {name: {} for name in times}, place)


def quiet(count, **more):
    """Processes that differ by 0.02 %, and samples within by 0.01 %."""
    bases = [1 + 2e-4 * (i % 3 - 1) + 1e-6 * i for i in range(count)]  # none is a copy of another
    return [process({name: [time * base * (1 + 1e-4 * (k % 3 - 1)) for k in range(12)]
                     for name, time in ((LONG, 50_000), (SHORT, 10_000))}, place=("one", i + 1), **more)
            for i, base in enumerate(bases)]


def arrays(*times, clock_ghz=2.0):
    values = numpy.array(times, float)
    return values, values * clock_ghz if clock_ghz else None


class EveryRule(unittest.TestCase):
    def test_calls_what_is_five_percent_slower_and_nothing_else(self):
        own = quiet(10)
        same = Comparison(own[:5], own[5:], "one")
        for rule in rules.all_rules([("", FUSEGATE)]):
            with self.subTest(rule.name, sides=rule.sides):
                if rule.why_not:
                    self.skipTest(rule.why_not)
                # These two take the noise of samples for that of processes.
                if not isinstance(rule, (rules.CompareTool, rules.NvbenchClassic)):
                    self.assertEqual(rule.called(same, [LONG, SHORT]), set())
                    self.assertEqual(rule.called(same.slower([LONG], 1.05), [LONG, SHORT]), {LONG})
                self.assertEqual(rule.called(same.slower([LONG, SHORT], 1.05), [LONG, SHORT]), {LONG, SHORT})
                self.assertEqual(rule.called(same.slower([LONG, SHORT], 0.9), [LONG, SHORT]), set())


class OfSamples(unittest.TestCase):
    def test_medians_two_percent_apart(self):
        rule = rules.MediansDiffer(joined=False)
        self.assertTrue(rule.calls(arrays(100, 100, 100), arrays(1, 102.1, 103)))
        self.assertFalse(rule.calls(arrays(100, 100, 100), arrays(102, 102, 200)))

    def test_one_process_or_all_in_one_file(self):
        pair = Comparison([process({"a": [100]}), process({"a": [300]})], [process({"a": [103]}), process({"a": [303]})])
        self.assertEqual(rules.MediansDiffer(joined=False).called(pair, ["a"]), {"a"})
        self.assertEqual(rules.MediansDiffer(joined=True).called(pair, ["a"]), set())

    def test_robust_needs_a_gap_of_half_a_percent_in_time_and_in_cycles(self):
        rule, baseline = rules.NvbenchRobust(joined=False), arrays(99, 100, 100, 100, 130)
        self.assertTrue(rule.calls(baseline, arrays(100.5, 101, 101)))
        self.assertFalse(rule.calls(baseline, arrays(100.4, 150, 150)))
        self.assertFalse(rule.calls(arrays(100, 100), (numpy.array([103, 103]), numpy.array([200, 200]))))
        self.assertFalse(rule.calls(arrays(100), arrays(110, clock_ghz=0)))
        # The third quartile is the nearest rank, a half going up.
        for values, quartile in (([5, 1, 4, 2, 3], 4), ([1, 2, 3], 3), ([1, 2], 2), ([7], 7)):
            for factor in (1.004, 1.006):
                self.assertEqual(rule.calls(arrays(*values), arrays(quartile * factor)), factor > 1.005)

    def test_classic_compares_the_means_with_the_smaller_noise(self):
        rule = rules.NvbenchClassic(joined=False)
        noisy = arrays(98, 99, 100, 101, 102)  # 1.58 %
        self.assertTrue(rule.calls(noisy, arrays(*(noisy[0] * 1.016))))
        self.assertFalse(rule.calls(noisy, arrays(*(noisy[0] * 1.015))))
        quieter = arrays(100.9, 100.95, 101, 101.05, 101.1)  # 0.08 %
        self.assertTrue(rule.calls(noisy, quieter))
        self.assertFalse(rule.calls(quieter, noisy))
        # Four samples have no noise, and a noise of zero is as good as none.
        self.assertFalse(rule.calls(arrays(98, 99, 101, 102), arrays(198, 199, 201, 202)))
        self.assertFalse(rule.calls(arrays(*[100] * 5), arrays(*[200] * 5)))

    @unittest.skipIf(COMPARE_TOOL.why_not, COMPARE_TOOL.why_not)
    def test_compare_py_calls_by_its_level_of_five_percent(self):
        # Three against three, all above: exact p 0.1. Four against four: 0.0286.
        for baseline, candidate, called in (([1, 2, 3], [4, 5, 6], False), ([1, 2, 3, 4], [5, 6, 7, 8], True),
                                            ([5, 6, 7, 8], [1, 2, 3, 4], False), ([100], [200], False)):
            self.assertEqual(COMPARE_TOOL.calls(arrays(*baseline), arrays(*candidate)), called)


class OfProcesses(unittest.TestCase):
    def sides(self, baseline, candidate):
        return Comparison(*([process({"a": [value]}) for value in side] for side in (baseline, candidate)))

    def test_t_tests_hold_the_difference_against_the_noise(self):
        for equal in (True, False):
            rule = rules.TTest(equal, "median")
            # Standard deviation 1 % a side: t of 3 % is 4.7 at 8 degrees of freedom (p 0.0007), of 1 % 1.6.
            self.assertEqual(rule.called(self.sides([99, 99, 100, 101, 101], [102, 102, 103, 104, 104]), ["a"]), {"a"})
            self.assertEqual(rule.called(self.sides([99, 99, 100, 101, 101], [100, 100, 101, 102, 102]), ["a"]), set())
            self.assertEqual(rule.called(self.sides([100, 100], [100, 100]), ["a"]), set())
            self.assertEqual(rule.called(self.sides([100], [200]), ["a"]), set())
            # p 0.0007 is enough of one benchmark, and not of twenty of which the others are quiet.
            baseline, candidate = ([process({"a": [own], **{f"b{k}": [100 + i] for k in range(19)}}) for i, own in enumerate(side)]
                                   for side in ([99, 99, 100, 101, 101], [102, 102, 103, 104, 104]))
            self.assertEqual(rule.called(Comparison(baseline, candidate), sorted(baseline[0].times_ns)), set())

    def test_welch_does_not_take_the_quiet_sides_noise_for_both(self):
        unequal = self.sides([100, 100.01, 100.02, 99.99, 99.98], [100.5, 105, 104, 102, 107])
        self.assertEqual(rules.TTest(True, "median").called(unequal, ["a"]), {"a"})
        self.assertEqual(rules.TTest(False, "median").called(unequal, ["a"]), set())

    @unittest.skipIf(OTAVA.why_not, OTAVA.why_not)
    def test_otava_reports_a_change_where_the_candidate_begins(self):
        self.assertTrue(OTAVA.calls([100, 101, 100, 101, 100], [110, 111, 110, 111, 110]))
        self.assertFalse(OTAVA.calls([110, 111, 110, 111, 110], [100, 101, 100, 101, 100]))
        self.assertFalse(OTAVA.calls([100, 101, 100, 101, 100], [101, 100, 101, 100, 101]))
        self.assertFalse(OTAVA.calls([100, 101, 110, 111, 110], [111, 110, 111, 110, 111]))  # it began before

    def test_fast_half_is_the_gates(self):
        self.assertAlmostEqual(suites.fast_half(numpy.array([4.0, 1.0, 2.0, 3.0])), (0.2 * 1 + 0.25 * 2) / 0.45)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write_run(self, name, processes):
        """The folders of both sides."""
        (self.folder / name).mkdir()
        half = len(processes) // 2
        Comparison(processes[:half], processes[half:], "one").write(self.folder / name)
        return self.folder / name


class Reading(Scratch):
    def test_folders_and_archives_alike(self):
        run = self.write_run("run", quiet(4))
        with tarfile.open(self.folder / "run.tar.xz", "w:xz") as archive:
            archive.add(run, "run")
        for path in (run, self.folder / "run.tar.xz"):
            read = suites.read_processes(path)
            self.assertEqual([(one.session, one.block, one.card) for one in read], [("one", i, "GPU-0") for i in (1, 2, 1, 2)])
            numpy.testing.assert_allclose(read[3].times(LONG), quiet(4)[3].times(LONG), rtol=1e-8)
            numpy.testing.assert_allclose(read[3].cycles(LONG), quiet(4)[3].cycles(LONG), rtol=1e-8)

    def test_passes_over_what_does_not_count(self):
        run = self.write_run("run", quiet(4))
        for place, change in (("baseline/1.json", lambda file: file["context"]["fusegate"].update(finished=False)),
                              ("candidate/run.json", lambda file: file["invocations"][1].update(extension=True)),
                              ("baseline/2.json", lambda file: file["benchmarks"][0].update(error_occurred=True)),
                              ("baseline/2.json", lambda file: file["benchmarks"][1].update(run_type="aggregate")),
                              ("baseline/2.json", lambda file: file["benchmarks"][2].update(real_time=2.0, time_unit="us"))):
            file = json.loads((run / place).read_text())
            change(file)
            (run / place).write_text(json.dumps(file))
        read = suites.read_processes(run)
        self.assertEqual([one.block for one in read], [2, 1])
        self.assertEqual((len(read[0].times(LONG)), read[0].times(LONG)[0]), (10, 2000.0))

    def test_names_file_and_problem(self):
        for text, problem in (("{", "1.json: no valid JSON"), ("[]", "benchmarks: is missing"),
                              ('{"benchmarks": [1]}', "benchmarks[0]: "),
                              ('{"benchmarks": [{"name": "a", "real_time": -1, "time_unit": "ns"}]}', "benchmarks[0]: real_time")):
            (self.folder / "1.json").write_text(text)
            with self.assertRaisesRegex(InputError, problem.replace("[", r"\[")):
                suites.read_processes(self.folder)


class Drawing(unittest.TestCase):
    def test_stored_sides_share_a_card_and_no_process(self):
        suite = Measured(quiet(12) + quiet(3, uuid="GPU-1"))
        drawn = suite.comparisons("stored", 5, 50, seed=1)
        self.assertEqual(len(drawn), 50)
        for own in drawn:
            self.assertEqual(len({id(one) for one in own.baseline + own.candidate}), 10)
            self.assertEqual(({one.card for one in own.baseline + own.candidate}, own.session), ({"GPU-0"}, ""))
        self.assertEqual([own.candidate for own in drawn], [own.candidate for own in suite.comparisons("stored", 5, 50, seed=1)])
        self.assertEqual(len(Measured(quiet(4)).comparisons("stored", 2, 100, seed=1)), 6)
        self.assertEqual(Measured(quiet(9)).comparisons("stored", 5, 100, seed=1), [])

    def test_side_by_side_deals_neighbours_to_either_side(self):
        drawn = Measured(quiet(10)).comparisons("side by side", 5, 100, seed=1)
        self.assertEqual(len(drawn), 32)
        for own in drawn:
            self.assertEqual(own.session, "one")
            for one, other in zip(own.baseline, own.candidate):
                self.assertEqual((min(one.block, other.block) % 2, abs(one.block - other.block)), (1, 1))


class Controls(unittest.TestCase):
    def test_are_those_that_the_files_name(self):
        names = ("controlnet/forward", "copy/memcpy", "linear/addmm")
        processes = [process({name: [50_000] for name in names}) for _ in range(2)]
        for one, controls in zip(processes, (["copy/memcpy"], ["copy/memcpy", "linear/addmm"])):
            one.context["fusegate"]["controls"] = controls
        self.assertEqual(Measured(processes).controls, {"copy/memcpy"})

    def test_are_two_operations_in_older_files_and_none_in_other_programs_files(self):
        one = process({name: [50_000] for name in ("control_copy/memcpy", "controlnet/forward")})
        self.assertEqual(one.controls, {"control_copy/memcpy"})
        del one.context["fusegate"]
        self.assertEqual(one.controls, set())
        self.assertEqual(len(suites.Simulated("normal").controls), 4)


class Simulating(unittest.TestCase):
    def test_processes_spread_as_the_calibration_says(self):
        for noise in ("normal", "t3"):
            suite = suites.Simulated(noise)
            name, time, equal, clock, share, _ = next(row for row in suite.rows if row[0].startswith("linear/addmm/"))
            own = [one for drawn in suite.comparisons("stored", 5, 60, seed=1) for one in drawn.baseline + drawn.candidate]
            times, cycles = (numpy.array([numpy.median(values(name)) for values in own])
                             for own in ([one.times for one in own], [one.cycles for one in own]))
            self.assertAlmostEqual(numpy.log(times).std() / numpy.hypot(equal, share * clock), 1, delta=0.25)
            self.assertAlmostEqual(numpy.log(cycles).std() / numpy.hypot(equal, (1 - share) * clock), 1, delta=0.25)
            self.assertAlmostEqual(numpy.median(times) / time, 1, delta=1e-3)

    def test_a_family_and_a_tenth_are_slowed_in_turn(self):
        names = [f"{kind}/x/batch:{i}" for kind in "ab" for i in range(20)]
        for i, kind in ((0, "a"), (2, "b"), (4, "a")):
            self.assertEqual(compare_rules.slowed_benchmarks(i, names, 1), [name for name in names if name[0] == kind])
        self.assertEqual(len(set(compare_rules.slowed_benchmarks(1, names, 1))), 4)


class Script(Scratch):
    def run_script(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = compare_rules.main([str(argument) for argument in arguments])
        return code, out.getvalue(), err.getvalue()

    def counts(self, *arguments):
        self.assertEqual(self.run_script(*arguments, "--json", self.folder / "counts.json")[0], 0)
        return json.loads((self.folder / "counts.json").read_text())["sections"]

    def test_puts_the_table_between_the_marks_of_a_page(self):
        run, page = self.write_run("run", quiet(10)), self.folder / "page.md"
        page.write_text("above\n<!-- compare_rules measured -->\nold\n<!-- end -->\nbelow\n")
        _, out, _ = self.run_script(run, "--rules=medians|gate", "--fusegate=/no/program", "--markdown", page)
        self.assertEqual(page.read_text(), f"above\n<!-- compare_rules measured -->\n{out}<!-- end -->\nbelow\n")
        self.assertIn("| medians: more than 2 % apart | 1 process | side by side | 0 of 32 (0.00 to 10.89 %) | 0.0 | 0.0 (0.0, 0.0) |", out)
        page.write_text("no mark\n")
        code, _, err = self.run_script(run, "--rules=medians", "--markdown", page)
        self.assertEqual((code, err.count("\n")), (2, 1))
        self.assertEqual(page.read_text(), "no mark\n")
        self.assertEqual(out.count("not run: no program /no/program"), 2)
        self.assertEqual(len({line.count("|") for line in out.splitlines() if line.startswith("|")}), 1)

    @needs_fusegate
    def test_the_gate_finds_what_is_slowed_and_nothing_else(self):
        section, = self.counts(self.write_run("run", quiet(10)), "--rules=gate", f"--fusegate=now={FUSEGATE}", "--comparisons=6",
                               "--finds=0.001,0.1")
        self.assertEqual([own["kind"] for own in section["rules"]], ["side by side", "stored"])
        for own in section["rules"]:
            self.assertEqual((own["rule"], own["comparisons"], own["with_false"]), ("fusegate gate at now", 6, 0))
            self.assertEqual([sum(count[0] for count in found.values()) for found in own["found"].values()], [0, 6])

    @needs_fusegate
    def test_the_gate_raises_no_alarm_between_recorded_processes(self):
        for protocol in sorted(path for path in SAME_CODE.iterdir() if path.is_dir()):
            section, = self.counts(protocol, "--rules=gate", f"--fusegate={FUSEGATE}", "--side=2", "--finds=0.05", "--slowed=0")
            self.assertEqual([(own["comparisons"], own["with_false"]) for own in section["rules"]], [(4, 0), (6, 0)])

    @needs_fusegate
    def test_the_gate_finds_two_percent_in_a_simulated_suite(self):
        for section in self.counts("--simulate", "--rules=gate|pooled", f"--fusegate={FUSEGATE}", "--comparisons=2", "--finds=0.02"):
            self.assertEqual([own["kind"] for own in section["rules"]], ["either", "side by side", "stored"])
            for own in section["rules"]:
                found, slowed = map(sum, zip(*own["found"]["0.02"].values()))
                self.assertGreaterEqual(found / slowed, 0.9)


if __name__ == "__main__":
    unittest.main()
