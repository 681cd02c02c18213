"""The rules of other tools, each as documented, on one benchmark's samples: does it call the candidate slower?"""

import importlib
import pathlib
import statistics
import sys


class Samples:
    """Of one benchmark on one side. cycles is None where any sample has no clock."""

    def __init__(self, times_ns, cycles):
        self.times_ns = times_ns
        self.cycles = cycles

    def slowed(self, factor):
        cycles = None if self.cycles is None else [value * factor for value in self.cycles]
        return Samples([value * factor for value in self.times_ns], cycles)


def joined(invocations, benchmark):
    """All repetitions of these processes as if they were of one file."""
    cycles = [one.cycles[benchmark] for one in invocations]
    return Samples([value for one in invocations for value in one.times_ns[benchmark]],
                   None if None in cycles else [value for own in cycles for value in own])


class MissingRule:
    """Stands for a rule that cannot be run here, and says why."""

    def __init__(self, name, missing):
        self.name = name
        self.missing = missing


class MediansDiffer:
    """The rule that people write first: the candidate's median is more than 2 % above the baseline's."""

    name = "medians differ by more than 2 %"
    missing = ""

    def calls(self, baseline, candidate):
        return statistics.median(candidate.times_ns) > 1.02 * statistics.median(baseline.times_ns)


class NvbenchRobust:
    """nvbench-compare-robust, its default thresholds: SLOW where the timing intervals have a clear gap and
    the intervals in cycles have one too.

    The interval of a side is [smallest, third quartile], quartiles being the order statistic nearest to the
    rank, halves rounded up. A gap is clear where the candidate's smallest is above the baseline's third
    quartile by at least 0.5 % of it (clear_gap.relative). Where there is no clock the tool stays undecided.
    NVIDIA/nvbench, docs/nvbench_compare_robust.md ("Time Estimates And Intervals", "Decision Tree") and
    python/scripts/nvbench_compare_robust.py, commit 66212f1da71cc9afb2894a46fa8f234cbdd6c0d8."""

    name = "nvbench-compare-robust: timing gap, in time and in cycles"
    missing = ""
    CLEAR_GAP = 0.005

    def calls(self, baseline, candidate):
        if baseline.cycles is None or candidate.cycles is None:
            return False
        return (self._has_gap(baseline.times_ns, candidate.times_ns)
                and self._has_gap(baseline.cycles, candidate.cycles))

    def _has_gap(self, baseline, candidate):
        upper = third_quartile(baseline)
        return (min(candidate) - upper) / upper >= self.CLEAR_GAP


def third_quartile(values):
    return sorted(values)[(75 * (len(values) - 1) + 50) // 100]


class CompareTool:
    """Google Benchmark's compare.py, the released program's own code: it shows a difference where its
    two-sided U test has p below 0.05 (its default --alpha), and slower is where the median went up."""

    name = "compare.py: U test p < 0.05, and slower"
    missing = ""
    ALPHA = 0.05

    def __init__(self, report):
        self.report = report  # compare.py's module gbench.report

    def calls(self, baseline, candidate):
        rows = self.report.get_difference_report(_as_json(baseline), _as_json(candidate), utest=True)
        test = next(row for row in rows if row["name"] == _NAME)["utest"]
        # compare.py leaves the test out below two repetitions.
        differs = bool(test) and bool(test["time_pvalue"] < self.ALPHA)
        return differs and statistics.median(candidate.times_ns) > statistics.median(baseline.times_ns)


_NAME = "benchmark"


def _as_json(samples):
    return {"benchmarks": [{"name": _NAME, "run_type": "iteration", "real_time": value, "cpu_time": value,
                            "time_unit": "ns"} for value in samples.times_ns]}


def compare_tool(folder):
    """folder: where compare.py and its package gbench lie."""
    folder = pathlib.Path(folder)
    if not (folder / "gbench" / "report.py").is_file():
        return MissingRule(CompareTool.name, f"no compare.py in {folder} "
                           "(Debian and Ubuntu: libbenchmark-tools; else --compare-py)")
    sys.path.insert(0, str(folder))
    try:
        return CompareTool(importlib.import_module("gbench.report"))
    except ImportError as error:
        return MissingRule(CompareTool.name, f"compare.py needs numpy and scipy ({error}): "
                           "pip install -r ci/requirements.txt")
    finally:
        sys.path.remove(str(folder))
