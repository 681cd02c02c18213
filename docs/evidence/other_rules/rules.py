"""The rules of other tools, each as documented or published: which benchmarks of a comparison does it call slower?

One rule looks at the whole suite, as some hold an error rate over it. `why_not` says why a rule cannot be run here.
"""

import importlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
from scipy import stats

from suites import InputError

DEBIANS_COMPARE_PY = "/usr/share/benchmark"


class OfSamples:
    """A rule for one file a side. It gets one process a side, or the repetitions of all processes as one file."""

    why_not = ""

    def __init__(self, joined):
        self.processes = slice(None) if joined else slice(1)
        self.sides = "all processes in one file" if joined else "1 process"

    def called(self, comparison, benchmarks):
        sides = (comparison.baseline[self.processes], comparison.candidate[self.processes])
        return {name for name in benchmarks if self.calls(*(_samples(side, name) for side in sides))}


def _samples(processes, benchmark):
    """Times, and cycles or None."""
    cycles = [one.cycles(benchmark) for one in processes]
    return (numpy.concatenate([one.times(benchmark) for one in processes]),
            None if any(own is None for own in cycles) else numpy.concatenate(cycles))


class MediansDiffer(OfSamples):
    """The rule that people write first."""

    name = "medians: more than 2 % apart"

    def calls(self, baseline, candidate):
        return numpy.median(candidate[0]) > 1.02 * numpy.median(baseline[0])


class CompareTool(OfSamples):
    """Google Benchmark's compare.py, the released program's own code: its two-sided U test has p below 0.05 (its default
    --alpha), and slower is where the median went up."""

    name = "compare.py: U test, p < 0.05"

    def __init__(self, joined, folder=DEBIANS_COMPARE_PY):
        super().__init__(joined)
        sys.path.insert(0, str(folder))
        try:
            self.report = importlib.import_module("gbench.report")
        except ImportError as error:
            self.why_not = f"no compare.py in {folder} ({error}): install libbenchmark-tools, or name --compare-py"
        finally:
            sys.path.remove(str(folder))

    def calls(self, baseline, candidate):
        rows = self.report.get_difference_report(_as_json(baseline[0]), _as_json(candidate[0]), utest=True)
        test = next(row for row in rows if row["name"] == "benchmark")["utest"]
        # compare.py leaves the test out below two repetitions.
        return bool(test) and test["time_pvalue"] < 0.05 and numpy.median(candidate[0]) > numpy.median(baseline[0])


def _as_json(times):
    return {"benchmarks": [{"name": "benchmark", "run_type": "iteration", "real_time": value, "cpu_time": value,
                            "time_unit": "ns"} for value in times.tolist()]}


class NvbenchRobust(OfSamples):
    """Slower where the intervals [smallest, third quartile] have a gap of 0.5 % of the baseline's end, in time and in cycles;
    a quartile is the order statistic nearest to the rank, halves up, and without a clock nothing is decided. NVIDIA/nvbench,
    docs/nvbench_compare_robust.md ("Time Estimates And Intervals", "Decision Tree") and python/scripts/
    nvbench_compare_robust.py, commit 66212f1da71cc9afb2894a46fa8f234cbdd6c0d8, default thresholds."""

    name = "nvbench-compare-robust"

    def calls(self, baseline, candidate):
        return all(old is not None and new is not None and self._has_gap(old, new)
                   for old, new in zip(baseline, candidate))

    @staticmethod
    def _has_gap(baseline, candidate):
        third_quartile = sorted(baseline)[(75 * (len(baseline) - 1) + 50) // 100]
        return (candidate.min() - third_quartile) / third_quartile >= 0.005


class NvbenchClassic(OfSamples):
    """nvbench-compare-legacy: slower where the means differ by more than the smaller noise of both sides, noise being the
    standard deviation over the mean, of five samples at least; undecided where neither side has noise, or has none but zero.
    NVIDIA/nvbench, python/scripts/nvbench_compare.py (compare_benches) and nvbench/detail/statistics.cuh
    (standard_deviation), commit 66212f1da71cc9afb2894a46fa8f234cbdd6c0d8."""

    name = "nvbench-compare-legacy"

    def calls(self, baseline, candidate):
        noise = [own.std(ddof=1) / own.mean() if len(own) >= 5 else math.inf for own, _ in (baseline, candidate)]
        least = min((value for value in noise if value > 0), default=0)
        return 0 < least < candidate[0].mean() / baseline[0].mean() - 1


class TTest:
    """Student's t with the variance of both sides pooled, or Welch's, one-sided, on logarithms of one figure a process, with
    false discoveries held at 1 % over the suite (Benjamini and Hochberg 1995)."""

    sides = "all processes"
    why_not = ""

    def __init__(self, equal_variances, figure):
        self.equal_variances, self.figure = equal_variances, figure
        self.name = f"{'pooled t' if equal_variances else 'Welch'} of the {figure}, BH 1 %"

    def called(self, comparison, benchmarks):
        baseline, candidate = (numpy.log([[one.figure(self.figure, name) for name in benchmarks] for one in side])
                               for side in (comparison.baseline, comparison.candidate))
        if min(len(baseline), len(candidate)) < 2:
            return set()
        test = stats.ttest_ind(candidate, baseline, equal_var=self.equal_variances, alternative="greater")
        # Without any noise, p is NaN where the sides are the same.
        adjusted = stats.false_discovery_control(numpy.nan_to_num(test.pvalue, nan=1.0))
        return {name for name, p in zip(benchmarks, adjusted) if p <= 0.01}


class Otava:
    """Apache Otava (E-divisive means, then a t test) with its defaults: the baseline's medians and then the candidate's are
    one series, which has a change point where the candidate begins or one beside it, and goes up there."""

    name = "Apache Otava of the median"
    sides = "all processes"

    def __init__(self):
        try:
            self.find = importlib.import_module("otava.analysis").compute_change_points
            self.options = importlib.import_module("otava.series").AnalysisOptions()
            self.why_not = ""
        except ImportError as error:
            self.why_not = f"{error}: install other_rules/requirements.txt"

    def called(self, comparison, benchmarks):
        return {name for name in benchmarks if self.calls(*([one.figure("median", name) for one in side] for side in
                                                           (comparison.baseline, comparison.candidate)))}

    def calls(self, baseline, candidate):
        points, _ = self.find(numpy.array([*baseline, *candidate]), window_len=self.options.window_len,
                              max_pvalue=self.options.max_pvalue, min_magnitude=self.options.min_magnitude)
        return any(abs(point.index - len(baseline)) <= 1 and point.stats.mean_2 > point.stats.mean_1 for point in points)


class Gate:
    """The built program on two run folders, by the suite's own rule and at first sight: of fewer than four processes a side
    the gate asks fresh ones to confirm what it sees, and there are none."""

    sides = "all processes"

    def __init__(self, program, label=""):
        self.program = str(program)
        self.name = "fusegate gate" + (f" at {label}" if label else "")
        self.why_not = "" if os.access(program, os.X_OK) else f"no program {program}: name one with --fusegate"

    def called(self, comparison, benchmarks):
        with tempfile.TemporaryDirectory() as folder:
            comparison.write(folder)
            answer = pathlib.Path(folder) / "answer"
            done = subprocess.run([self.program, "gate", "--baseline", f"{folder}/baseline", "--candidate",
                                   f"{folder}/candidate", "--json", answer], capture_output=True, text=True, check=False)
            if not answer.is_file():
                raise InputError(f"{self.program}: exit code {done.returncode}: {done.stderr.strip()}")
            result = json.loads(answer.read_text(encoding="utf-8"))
        if done.returncode not in (0, 1, 2) or not result["verdicts"]:
            raise InputError(f"{self.program}: {result['headline']}")
        return {row["benchmark"] for row in result["verdicts"] if row["first_sight"] == "regression"} & set(benchmarks)


def all_rules(programs, compare_py=DEBIANS_COMPARE_PY):
    """programs: pairs of label and path."""
    return [CompareTool(False, compare_py), CompareTool(True, compare_py),
            *(kind(joined) for kind in (MediansDiffer, NvbenchRobust, NvbenchClassic) for joined in (False, True)),
            *(TTest(equal, figure) for equal in (True, False) for figure in ("median", "fast half")),
            Otava(), *(Gate(path, label) for label, path in programs)]
