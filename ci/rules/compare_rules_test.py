"""The rules on made-up samples with a known outcome, the draws, and the program on the processes of
baselines/testdata/h200-same-code."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import compare_rules
import draws
import fusegate_gate
import rules
import samples
import tally
from samples import InputError

HERE = pathlib.Path(__file__).resolve().parent
SAME_CODE = HERE.parents[1] / "baselines" / "testdata" / "h200-same-code"
# ctest says where the built program is.
FUSEGATE = pathlib.Path(os.environ.get("FUSEGATE_PROGRAM", "no/program"))
COMPARE_TOOL = rules.compare_tool(compare_rules.DEBIANS_COMPARE_PY)

needs_fusegate = unittest.skipUnless(os.access(FUSEGATE, os.X_OK), "no FUSEGATE_PROGRAM")
needs_compare_py = unittest.skipIf(COMPARE_TOOL.missing, COMPARE_TOOL.missing)


def side(times_ns, clock_ghz=2.0):
    return rules.Samples(times_ns, [value * clock_ghz for value in times_ns] if clock_ghz else None)


def run_text(times_ns, uuid="", unit="ns", clock_hz=2e9, commit="0123456789ab", controls=None):
    """times_ns: by benchmark, the samples. controls: None as in a file that is older than their list."""
    entries = [{"name": name, "run_name": name, "run_type": "iteration", "repetitions": len(own), "repetition_index": i,
                "threads": 1, "iterations": 10, "real_time": value, "cpu_time": value, "time_unit": unit,
                "sm_clock_hz": clock_hz} for name, own in times_ns.items() for i, value in enumerate(own)]
    context = {"date": "2026-11-21T02:53:32+00:00",
               "fusegate": {"schema_version": 1, "environment": {"device": "NVIDIA H200"}, "suite": "pr",
                            "provenance": {"commit": commit, "device_uuid": uuid},
                            **({} if controls is None else {"controls": controls})}}
    return json.dumps({"context": context, "benchmarks": entries})


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def write_run(self, name, processes, **more):
        for i in range(processes):
            # Processes differ by 0.02 % and samples within by 0.01 %.
            base = 1 + 2e-4 * (i % 3 - 1)
            times = {"geglu/fused/bf16/batch:8": [50_000 * base * (1 + 1e-4 * (k % 3 - 1)) for k in range(12)],
                     "linear/addmm/bf16/batch:8": [10_000 * base * (1 + 1e-4 * (k % 3 - 1)) for k in range(12)]}
            self.write(f"{name}/{i + 1}.json", run_text(times, **more))
        return self.folder / name


class MediansDiffer(unittest.TestCase):
    def test_calls_what_is_two_percent_above(self):
        rule = rules.MediansDiffer()
        self.assertTrue(rule.calls(side([100, 100, 100]), side([1, 102.1, 103])))
        self.assertFalse(rule.calls(side([100, 100, 100]), side([102, 102, 200])))
        self.assertFalse(rule.calls(side([100, 100, 100]), side([50, 50, 50])))


class NvbenchRobust(unittest.TestCase):
    RULE = rules.NvbenchRobust()

    def test_takes_the_nearest_rank_for_the_third_quartile(self):
        self.assertEqual(rules.third_quartile([5, 1, 4, 2, 3]), 4)  # rank 3 of 0 to 4
        self.assertEqual(rules.third_quartile([1, 2, 3]), 3)  # rank 1.5, a half goes up
        self.assertEqual(rules.third_quartile([1, 2]), 2)
        self.assertEqual(rules.third_quartile([7]), 7)

    def test_needs_a_gap_of_half_a_percent(self):
        baseline = side([99, 100, 100, 100, 130])  # its largest sample is beyond the interval
        self.assertTrue(self.RULE.calls(baseline, side([100.5, 101, 101])))
        self.assertFalse(self.RULE.calls(baseline, side([100.4, 150, 150])))
        self.assertFalse(self.RULE.calls(baseline, side([90, 90, 90])))

    def test_needs_the_gap_in_cycles_too(self):
        slower_clock = rules.Samples([103, 103], [200, 200])
        self.assertFalse(self.RULE.calls(rules.Samples([100, 100], [200, 200]), slower_clock))
        self.assertFalse(self.RULE.calls(side([100]), side([110], clock_ghz=0)))

    def test_sees_a_slowdown_in_both(self):
        self.assertTrue(self.RULE.calls(side([100, 100]), side([100, 100]).slowed(1.006)))


@needs_compare_py
class CompareTool(unittest.TestCase):
    def test_calls_the_slower_side_only(self):
        low, high = side([100 + i for i in range(9)]), side([110 + i for i in range(9)])
        self.assertIs(COMPARE_TOOL.calls(low, high), True)
        self.assertIs(COMPARE_TOOL.calls(high, low), False)
        self.assertIs(COMPARE_TOOL.calls(low, low), False)

    def test_says_nothing_of_one_repetition(self):
        self.assertIs(COMPARE_TOOL.calls(side([100]), side([200])), False)

    def test_calls_by_the_level_of_five_percent(self):
        # Three against three, all above: exact p 0.1. Four against four: 0.0286.
        self.assertIs(COMPARE_TOOL.calls(side([1, 2, 3]), side([4, 5, 6])), False)
        self.assertIs(COMPARE_TOOL.calls(side([1, 2, 3, 4]), side([5, 6, 7, 8])), True)


class MissingTool(unittest.TestCase):
    def test_says_what_to_install(self):
        self.assertIn("libbenchmark-tools", rules.compare_tool("/no/such/folder").missing)

    def test_names_the_packages_that_it_lacks(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "gbench"
            package.mkdir()
            (package / "__init__.py").touch()
            (package / "report.py").write_text("import a_module_that_nobody_has\n")
            program = "import rules, sys; print(rules.compare_tool(sys.argv[1]).missing)"
            said = subprocess.run([sys.executable, "-c", program, folder], cwd=HERE, capture_output=True, text=True,
                                  check=True).stdout
        self.assertIn("pip install -r ci/requirements.txt", said)


class Classes(unittest.TestCase):
    def test_boundaries_belong_to_the_longer(self):
        self.assertEqual(samples.duration_class(20_000), "from_20_us")
        self.assertEqual(samples.duration_class(19_999), "from_3_to_20_us")
        self.assertEqual(samples.duration_class(2_999), "below_3_us")

    def test_families_are_those_of_the_calibration(self):
        self.assertEqual(samples.family_of("geglu/fused/bf16/batch:64/seq:128"), "geglu/fused/bf16")
        self.assertEqual(samples.family_of("gemm/m:8192/n:3072"), "gemm")
        self.assertEqual(samples.family_of("BM_copy/4096/repeats:10"), "BM_copy")
        self.assertEqual(samples.family_of("BM_copy"), "BM_copy")


class Reading(Scratch):
    def problem(self, name, text):
        with self.assertRaises(InputError) as caught:
            samples.read_invocation(self.write(name, text))
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_names_file_and_field(self):
        self.assertIn("a.json: no valid JSON: line 1", self.problem("a.json", "{"))
        self.assertIn("a.json: benchmarks: is missing", self.problem("a.json", "[]"))
        self.assertIn("context: must be an object", self.problem("a.json", '{"benchmarks": [], "context": []}'))
        self.assertIn("benchmarks[0]: must be an object", self.problem("a.json", '{"benchmarks": [1]}'))
        self.assertIn("benchmarks: has no sample", self.problem("a.json", '{"benchmarks": []}'))
        entry = {"name": "a", "real_time": 1, "cpu_time": 1, "time_unit": "ns"}
        for field, value, expected in (("name", None, "benchmarks[0].name: must be a string"),
                                       ("real_time", "x", "benchmarks[0].real_time: must be a number"),
                                       ("real_time", -1, "benchmarks[0].real_time: must be positive"),
                                       ("sm_clock_hz", "x", "benchmarks[0].sm_clock_hz: must be a number"),
                                       ("time_unit", "h", "benchmarks[0].time_unit: must be one of ns, us")):
            text = json.dumps({"benchmarks": [{**entry, field: value}]})
            self.assertIn(expected, self.problem("a.json", text))

    def test_converts_units_and_counts_cycles(self):
        run = samples.read_invocation(self.write("a.json", run_text({"a": [50.0]}, unit="us", clock_hz=2e9)))
        self.assertEqual(run.times_ns["a"], [50_000.0])
        self.assertAlmostEqual(run.cycles["a"][0], 100_000.0)

    def test_has_no_cycles_where_a_clock_is_missing(self):
        run = json.loads(run_text({"a": [1.0, 2.0]}))
        del run["benchmarks"][1]["sm_clock_hz"]
        self.assertIsNone(samples.read_invocation(self.write("a.json", json.dumps(run))).cycles["a"])

    def test_passes_over_aggregates_and_failures(self):
        run = json.loads(run_text({"a": [1.0, 2.0, 3.0]}))
        run["benchmarks"][0]["run_type"] = "aggregate"
        run["benchmarks"][1]["error_occurred"] = True
        self.assertEqual(samples.read_invocation(self.write("a.json", json.dumps(run))).times_ns["a"], [3.0])

    def test_takes_files_in_the_order_of_processes(self):
        for i in (1, 2, 10):
            self.write(f"run/{i}.json", run_text({"a": [float(i)]}))
        self.write("run/run.json", "{}")
        self.assertEqual([one.times_ns["a"][0] for one in samples.read_folder(self.folder / "run")], [1, 2, 10])

    def test_makes_a_group_a_folder_or_one_of_all(self):
        self.write_run("all/a", 2)
        self.write_run("all/b", 3)
        for together, sizes in ((False, [2, 3]), (True, [5])):
            groups = samples.read_groups([self.folder / "all"], together)
            self.assertEqual([len(group.invocations) for group in groups], sizes)
        for folder in (self.folder / "none", self.folder):
            with self.assertRaises(InputError):
                samples.read_groups([folder], False)


class Draws(Scratch):
    def group(self, *cards):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for i, processes in enumerate(cards):
            self.write_run(folder / str(i), processes, uuid=f"GPU-{i}")
        return samples.read_groups([folder], True)[0]

    def test_pairs_are_all_ordered_ones_of_a_card(self):
        drawn = draws.pairs(self.group(3, 2), 100, seed=1)
        self.assertEqual(len(drawn), 3 * 2 + 2)
        for draw in drawn:
            self.assertEqual(draw.baseline[0].card, draw.candidate[0].card)
            self.assertIsNot(draw.baseline[0], draw.candidate[0])
        self.assertEqual(len(draws.pairs(self.group(3, 2), 5, seed=1)), 5)

    def test_splits_are_all_where_there_are_few(self):
        drawn = draws.splits(self.group(4), 2, 100, seed=1)
        self.assertEqual(len({(draw.baseline, draw.candidate) for draw in drawn}), 6)

    def test_splits_share_no_process_and_repeat_by_seed(self):
        group = self.group(12)
        drawn = draws.splits(group, 5, 50, seed=1)
        self.assertEqual(len(drawn), 50)
        for draw in drawn:
            self.assertEqual(len(set(draw.baseline + draw.candidate)), 10)
        again = draws.splits(group, 5, 50, seed=1)
        self.assertEqual([draw.candidate for draw in drawn], [draw.candidate for draw in again])
        other = draws.splits(group, 5, 50, seed=2)
        self.assertNotEqual([draw.candidate for draw in drawn], [draw.candidate for draw in other])

    def test_a_small_card_is_halved_only_where_none_is_large(self):
        halves = draws.splits(self.group(5), 5, 100, seed=1)
        self.assertEqual({(len(draw.baseline), len(draw.candidate)) for draw in halves}, {(3, 2)})
        both = draws.splits(self.group(5, 10), 5, 1000, seed=1)
        self.assertEqual({draw.baseline[0].card for draw in both}, {"GPU-1"})
        self.assertEqual(len(both), 252)
        self.assertEqual(draws.splits(self.group(3), 5, 100, seed=1), [])


class Table(Scratch):
    def test_counts_and_says_what_was_not_run(self):
        group = samples.read_groups([self.write_run("a", 2)], False)[0]
        counted = tally.Tally("a rule", "1 process", (0.01,))
        counted.add_unchanged({"linear/addmm/bf16/batch:8"}, group.benchmarks)
        counted.add_unchanged(set(), group.benchmarks)
        counted.add_slowed(0.01, "from_20_us", True)
        counted.add_slowed(0.01, "from_3_to_20_us", False)
        missing = tally.Tally("another", "1 process", (0.01,))
        missing.not_run = "no tool"
        text = tally.markdown(group, [counted, missing], (0.01,))
        self.assertIn("| a rule | 1 process | 2 | 50.0 % | 25.0 % | 100.0 % / 0.0 % |", text)
        self.assertIn("| another | 1 process | not run: no tool |", text)
        self.assertIn("device: NVIDIA H200; commits: 0123456789ab; dates: 2026-11-21.", text)
        self.assertEqual(counted.json()["with_false_alarm"], {"count": 1, "of": 2})
        self.assertEqual(missing.json()["not_run"], "no tool")
        columns = {line.count("|") for line in text.splitlines() if line.startswith("|")}
        self.assertEqual(len(columns), 1)


class Controls(Scratch):
    def test_are_judged_and_never_slowed(self):
        run = self.folder / "run"
        for i in range(2):
            times = {"control_copy/memcpy/batch:8": [50_000 + k for k in range(12)],
                     "linear/addmm/bf16/batch:8": [60_000 + k for k in range(12)]}
            self.write(f"run/{i + 1}.json", run_text(times))
        group = samples.read_groups([run], False)[0]
        self.assertEqual(len(group.benchmarks), 2)
        self.assertEqual(group.slowable, ["linear/addmm/bf16/batch:8"])
        own = compare_rules.tally_of_rule(rules.MediansDiffer(), "1 process", draws.pairs(group, 2, seed=1), group,
                                          (0.05,))
        counts = own.found[0.05]["from_20_us"]
        self.assertEqual(counts, [own.comparisons, own.comparisons])

    def test_are_those_that_the_files_name(self):
        times = {name: [50_000 + k for k in range(12)] for name in ("controlnet/forward", "copy/memcpy", "linear/addmm")}
        for i, controls in enumerate((["copy/memcpy"], ["copy/memcpy", "linear/addmm"])):
            self.write(f"run/{i + 1}.json", run_text(times, controls=controls))
        self.assertEqual(samples.read_groups([self.folder / "run"], False)[0].slowable,
                         ["controlnet/forward", "linear/addmm"])


class Program(Scratch):
    def run_program(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = compare_rules.main([str(argument) for argument in arguments])
        return code, out.getvalue(), err.getvalue()

    def test_ends_with_two_on_bad_input(self):
        self.write("run/1.json", "{")
        code, _, err = self.run_program(self.folder / "run")
        self.assertEqual(code, 2)
        self.assertEqual(err.count("\n"), 1)
        self.assertIn("1.json: no valid JSON", err)

    def test_says_which_tools_are_missing(self):
        code, out, _ = self.run_program(self.write_run("a", 4), "--compare-py=/no/folder", "--fusegate=/no/program")
        self.assertEqual(code, 0)
        self.assertEqual(out.count("not run: no compare.py in /no/folder"), 2)
        self.assertIn("not run: no program /no/program", out)

    @needs_fusegate
    def test_slows_one_family_and_no_other(self):
        group = samples.read_groups([self.write_run("a", 10)], False)[0]
        draw = draws.splits(group, 5, 1, seed=1)[0]
        gate = fusegate_gate.FusegateGate(FUSEGATE, self.folder)
        slowed = "geglu/fused/bf16/batch:8"
        self.assertEqual(gate.slower(draw), set())
        self.assertEqual(gate.slower(draw, [slowed], 1.02), {slowed})

    @needs_fusegate
    def test_judges_quiet_processes_as_known(self):
        code, out, _ = self.run_program(self.write_run("a", 10), "--fusegate", FUSEGATE, "--comparisons=12",
                                        "--slowdowns=0.001,0.01,0.02", "--json", self.folder / "r.json",
                                        "--markdown", self.folder / "r.md")
        self.assertEqual(code, 0)
        self.assertEqual((self.folder / "r.md").read_text(), out)
        own = json.loads((self.folder / "r.json").read_text())["groups"][0]
        self.assertEqual(own["processes"], 10)
        by_rule = {(rule["rule"], rule["sides"]): rule for rule in own["rules"]}
        gate = by_rule["fusegate gate", "5 against 5 processes"]
        self.assertEqual(gate["with_false_alarm"], {"count": 0, "of": 12})
        self.assertEqual(gate["found"][2]["classes"]["from_20_us"], {"count": 6, "of": 6})
        self.assertEqual(gate["found"][2]["classes"]["from_3_to_20_us"], {"count": 6, "of": 6})
        self.assertEqual(gate["found"][0]["classes"]["from_20_us"], {"count": 0, "of": 6})
        robust = by_rule[rules.NvbenchRobust.name, "1 process"]
        self.assertEqual(robust["with_false_alarm"], {"count": 0, "of": 12})
        self.assertEqual(robust["found"][1]["classes"]["from_20_us"], {"count": 12, "of": 12})

    @needs_fusegate
    def test_the_gate_raises_no_alarm_between_recorded_processes(self):
        code, _, _ = self.run_program(SAME_CODE, "--fusegate", FUSEGATE, "--compare-py=/no/folder",
                                      "--slowdowns=0.05", "--json", self.folder / "r.json")
        self.assertEqual(code, 0)
        groups = json.loads((self.folder / "r.json").read_text())["groups"]
        self.assertEqual(len(groups), 3)
        for own in groups:
            gate = next(rule for rule in own["rules"] if rule["rule"] == "fusegate gate")
            self.assertEqual(gate["sides"], "2 against 2 processes")
            self.assertEqual(gate["with_false_alarm"], {"count": 0, "of": 6})
        paced = next(own for own in groups if own["name"].endswith("paced-5ms"))
        gate = next(rule for rule in paced["rules"] if rule["rule"] == "fusegate gate")
        self.assertEqual(gate["found"][0]["classes"]["from_20_us"], {"count": 30, "of": 30})
