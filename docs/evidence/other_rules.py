#!/usr/bin/env python3
"""What other tools' rules call slower in simulated suites, beside fusegate's gate: the table of other-rules.md.

    other_rules.py --simulate --comparisons 400 --slowed 100 --fusegate LABEL=PROGRAM

A suite has the benchmarks of `pr` with the durations and the spreads between processes that the calibration of the H200 has.
Every rule gets the same comparisons, and the benchmarks without the controls. Calls of "slower" count, others do not. Made
slower are in turn the benchmarks of one implementation and dtype, and a tenth of all. The table goes to stdout.
"""

import argparse
import collections
import importlib
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy
    from scipy import stats
except ImportError as missing:
    print(f"other_rules.py: {missing}: pip install apache-otava==0.8.0, which brings numpy and scipy", file=sys.stderr)
    sys.exit(77)  # ctest: skipped

STORED = pathlib.Path(__file__).resolve().parents[2] / "baselines" / "nvidia-h200"
# baselines/calibration/classes.h: title and the least time in ns.
CLASSES = ((">= 20 us", 20_000.0), ("3 to 20 us", 3_000.0), ("< 3 us", 0.0))
SLOWDOWNS = (0.005, 0.01, 0.02)
SAMPLES, SEED = 9, 1  # of a process; of all draws
SCORES = numpy.array([statistics.NormalDist().inv_cdf((i + 0.5) / SAMPLES) for i in range(SAMPLES)])
_BESIDE = numpy.abs(SCORES) - numpy.abs(SCORES).mean()
ACROSS = _BESIDE * math.sqrt((SCORES @ SCORES) / (_BESIDE @ _BESIDE))  # at right angles to the scores, of the same length


class Process:
    """One start of a benchmark program: by benchmark the times of its samples in ns, and their clocks in GHz."""

    def __init__(self, times, clocks, slowed=None):
        self._times, self._clocks, self._slowed = times, clocks, slowed or {}

    def times(self, benchmark):
        return self._times[benchmark] * self._slowed.get(benchmark, 1.0)

    def cycles(self, benchmark):
        """A slower kernel takes more cycles: the clock stays."""
        return self.times(benchmark) * self._clocks[benchmark]

    def slower(self, benchmarks, factor):
        return Process(self._times, self._clocks, dict.fromkeys(benchmarks, factor))

    def text(self, suite):
        """Google Benchmark JSON. Without identities: of identical code the gate would test nothing."""
        entries = [{"name": name, "run_type": "iteration", "iterations": 1, "time_unit": "ns", "repetitions": SAMPLES,
                    **suite.counters.get(name, {}), "repetition_index": i, "real_time": float(f"{time:.9g}"),
                    "cpu_time": float(f"{time:.9g}"), "sm_clock_hz": round(1e9 * clock, 1)}
                   for name in self._times for i, (time, clock) in enumerate(zip(self.times(name), self._clocks[name]))]
        return json.dumps({"context": suite.context, "benchmarks": entries})


class Suite:
    """Names, durations and spreads between processes of the H200's calibration.

    log time = u - share x k and log clock = k, u being the noise at equal clock and k the clock's, both drawn for every
    benchmark and process. Samples lie about that as far as the stored baseline says, alike in all processes, as layouts do.
    """

    def __init__(self, noise):
        self.noise = noise  # "normal" or "t3"
        calibration, stored = (json.loads((STORED / name).read_text()) for name in ("pr.calibration.json", "pr.json"))
        widths = {own["name"]: 1.4826 * own.get("spread", 0.002) for own in stored["benchmarks"]}
        self.counters = {own["name"]: {key: own["counters"][key] for key in ("flops", "min_bytes")}
                         for own in stored["benchmarks"]}
        self.rows = [(own["name"], own["time_ns"], *spreads(own), widths.get(own["name"], 0.003))
                     for own in calibration["benchmarks"]]
        self.benchmarks = sorted({row[0] for row in self.rows} - set(stored["controls"]))
        self.classes = {name: next(title for title, least in CLASSES if time >= least) for name, time, *_ in self.rows}
        self.families = {name: "/".join(name.split("/")[:3]) for name in self.benchmarks}
        self.context = {"date": calibration["date"], "fusegate": {
            "schema_version": 1, "environment": calibration["environment"], "protocol": calibration["protocol"],
            "suite": "pr", "provenance": {"commit": "0" * 40, "device_uuid": "GPU-simulated"}, "finished": True}}

    def comparison(self, number, processes):
        """Baseline and candidate."""
        source = numpy.random.default_rng([SEED, number])
        return [[self._process(source) for _ in range(processes)] for _ in range(2)]

    def _process(self, source):
        size = (2, len(self.rows))
        draws = source.standard_normal(size) if self.noise == "normal" else source.standard_t(3, size) / math.sqrt(3)
        times, clocks = {}, {}
        for (name, time, noise, clock_noise, share, width), u, k in zip(self.rows, *draws):
            across = -width * (share * SCORES + math.sqrt(1 - share ** 2) * ACROSS)
            clocks[name] = 1.9 * numpy.exp(clock_noise * k + across)
            times[name] = time * numpy.exp(noise * u - share * clock_noise * k + width * SCORES)
        return Process(times, clocks)

    def slowed(self, number):
        """In that comparison: the benchmarks of a family, all of them in turn, or a tenth of all."""
        families = sorted(set(self.families.values()))
        if number % 2 == 0:
            return [name for name in self.benchmarks if self.families[name] == families[number // 2 % len(families)]]
        return random.Random(f"{SEED} {number}").sample(self.benchmarks, max(1, len(self.benchmarks) // 10))


def spreads(own):
    """Noise at equal clock, noise of the clock, and the share by which time goes with the clock."""
    equal = own["spread_equal_clock"]
    in_time, in_cycles = (math.sqrt(max(0.0, own[key] ** 2 - equal ** 2)) for key in ("spread_time", "spread_cycles"))
    clock = in_time + in_cycles
    return equal, clock, in_time / clock if clock else 0.0


# called(baseline, candidate, suite): the benchmarks that are called slower.
Rule = collections.namedtuple("Rule", "name gets called compares why_not", defaults=("either", ""))


def rules_of_samples(name, calls, why_not=""):
    """Rules for one file a side get one process a side, or the samples of all processes as one file."""
    def called_of(own):
        def called(baseline, candidate, suite):
            def samples(side, benchmark):
                return (numpy.concatenate([one.times(benchmark) for one in side[own]]),
                        numpy.concatenate([one.cycles(benchmark) for one in side[own]]))
            return {each for each in suite.benchmarks if calls(samples(baseline, each), samples(candidate, each))}
        return called
    return [Rule(name, "1 process", called_of(slice(1)), why_not=why_not),
            Rule(name, "all processes in one file", called_of(slice(None)), why_not=why_not)]


def compare_py(folder="/usr/share/benchmark"):
    """Google Benchmark's own code: its two-sided U test has p below 0.05 (its default --alpha), and the median went up."""
    sys.path.insert(0, str(folder))
    try:
        report = importlib.import_module("gbench.report")
    except ImportError as error:
        return None, f"no compare.py in {folder} ({error}): install libbenchmark-tools"
    finally:
        sys.path.remove(str(folder))

    def calls(baseline, candidate):
        files = ({"benchmarks": [{"name": "benchmark", "run_type": "iteration", "real_time": value, "cpu_time": value,
                                  "time_unit": "ns"} for value in own[0].tolist()]} for own in (baseline, candidate))
        rows = report.get_difference_report(*files, utest=True)
        test = next(row for row in rows if row["name"] == "benchmark")["utest"]
        # compare.py leaves the test out below two repetitions.
        return bool(test) and test["time_pvalue"] < 0.05 and numpy.median(candidate[0]) > numpy.median(baseline[0])
    return calls, ""


def nvbench_robust(baseline, candidate):
    """The intervals [smallest, third quartile] have a gap of 0.5 % of the baseline's end, in time and in cycles; a quartile is
    the order statistic nearest to the rank, halves up. NVIDIA/nvbench, docs/nvbench_compare_robust.md, commit 66212f1da71c."""
    def has_gap(old, new):
        third_quartile = sorted(old)[(75 * (len(old) - 1) + 50) // 100]
        return (new.min() - third_quartile) / third_quartile >= 0.005
    return all(map(has_gap, baseline, candidate))


def nvbench_legacy(baseline, candidate):
    """The means differ by more than the smaller noise of both sides, noise being the standard deviation over the mean, of five
    samples at least. NVIDIA/nvbench, python/scripts/nvbench_compare.py (compare_benches), commit 66212f1da71c."""
    noise = [own.std(ddof=1) / own.mean() if len(own) >= 5 else math.inf for own, _ in (baseline, candidate)]
    least = min((value for value in noise if value > 0), default=0)
    return 0 < least < candidate[0].mean() / baseline[0].mean() - 1


def medians(side, benchmarks):
    return numpy.array([[numpy.median(one.times(name)) for name in benchmarks] for one in side])


def t_test(equal_variances):
    """One-sided, on logarithms of a median a process, with false discoveries held at 1 % over the suite (Benjamini and
    Hochberg 1995)."""
    def called(baseline, candidate, suite):
        logarithms = [numpy.log(medians(side, suite.benchmarks)) for side in (candidate, baseline)]
        test = stats.ttest_ind(*logarithms, equal_var=equal_variances, alternative="greater")
        # Without any noise, p is NaN where the sides are the same.
        adjusted = stats.false_discovery_control(numpy.nan_to_num(test.pvalue, nan=1.0))
        return {name for name, p in zip(suite.benchmarks, adjusted) if p <= 0.01}
    return Rule(f"{'pooled t' if equal_variances else 'Welch'} of the median, BH 1 %", "all processes", called)


def otava():
    """Apache Otava (E-divisive means, then a t test) with its defaults: the baseline's medians and then the candidate's are
    one series, which has a change point where the candidate begins or one beside it, and goes up there."""
    name, gets = "Apache Otava of the median", "all processes"
    try:
        find = importlib.import_module("otava.analysis").compute_change_points
        options = importlib.import_module("otava.series").AnalysisOptions()
    except ImportError as error:
        return Rule(name, gets, None, why_not=f"{error}: pip install apache-otava==0.8.0")

    def rises(series, begin):
        points, _ = find(series, window_len=options.window_len, max_pvalue=options.max_pvalue,
                         min_magnitude=options.min_magnitude)
        return any(abs(point.index - begin) <= 1 and point.stats.mean_2 > point.stats.mean_1 for point in points)

    def called(baseline, candidate, suite):
        series = medians([*baseline, *candidate], suite.benchmarks).T
        return {each for each, own in zip(suite.benchmarks, series) if rises(own, len(baseline))}
    return Rule(name, gets, called)


def gate(label, program, compares):
    """The built program on two run folders, by the suite's own rule."""
    def called(baseline, candidate, suite):
        with tempfile.TemporaryDirectory() as scratch:
            *sides, answer = (pathlib.Path(scratch) / name for name in ("baseline", "candidate", "answer"))
            for folder, side in zip(sides, (baseline, candidate)):
                write_run(folder, side, suite, "simulated" if compares == "side by side" else "")
            done = subprocess.run([program, "gate", "--baseline", sides[0], "--candidate", sides[1], "--json", answer],
                                  capture_output=True, text=True, check=False)
            if not answer.is_file():
                sys.exit(f"{program}: exit code {done.returncode}: {done.stderr.strip()}")
            verdicts = json.loads(answer.read_text(encoding="utf-8"))["verdicts"]
        return {row["benchmark"] for row in verdicts if row["first_sight"] == "regression"} & set(suite.benchmarks)
    why_not = "" if os.access(program, os.X_OK) else f"no program {program}"
    return Rule("fusegate gate" + (f" at {label}" if label else ""), "all processes", called, compares, why_not)


def write_run(folder, processes, suite, session):
    """As `fusegate run` writes it. Processes of a session are compared block by block."""
    folder.mkdir()
    for i, one in enumerate(processes, 1):
        (folder / f"{i}.json").write_text(one.text(suite), encoding="utf-8")
    record = {"session": session, "finished": True, "processes": [
        {"file": f"{i}.json", "block": i, "extension": False} for i in range(1, len(processes) + 1)]}
    if session:
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")


def all_rules(programs):
    return [*rules_of_samples("compare.py: U test, p < 0.05", *compare_py()),
            *rules_of_samples("medians: more than 2 % apart",
                              lambda old, new: numpy.median(new[0]) > 1.02 * numpy.median(old[0])),
            *rules_of_samples("nvbench-compare-robust", nvbench_robust),
            *rules_of_samples("nvbench-compare-legacy", nvbench_legacy),
            t_test(True), t_test(False), otava(),
            *(gate(*program, compares) for program in programs for compares in ("side by side", "stored"))]


def table_row(rule, suite, options):
    head = f"| {rule.name} | {rule.gets} | {rule.compares} | "
    if rule.why_not:
        return head + f"not run: {rule.why_not} |" + " |" * (1 + len(SLOWDOWNS))
    false_calls = []
    found = {slowdown: {title: [0, 0] for title, _ in CLASSES} for slowdown in SLOWDOWNS}
    for number in range(options.comparisons):
        baseline, candidate = suite.comparison(number, options.processes)
        false_calls.append(len(rule.called(baseline, candidate, suite)))
        slowed = suite.slowed(number)
        for slowdown in SLOWDOWNS if number < options.slowed else ():
            called = rule.called(baseline, [one.slower(slowed, 1 + slowdown) for one in candidate], suite)
            for name in slowed:
                counts = found[slowdown][suite.classes[name]]
                counts[0] += name in called
                counts[1] += 1
    with_false = sum(map(bool, false_calls))
    cells = [f"{with_false} of {options.comparisons} ({interval(with_false, options.comparisons)} %)",
             percent(sum(false_calls), options.comparisons * len(suite.benchmarks))]
    cells += [f"{percent(*map(sum, zip(*own.values())))} ({', '.join(percent(*own[title]) for title, _ in CLASSES)})"
              for own in found.values()]
    return head + " | ".join(cells) + " |"


def percent(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def interval(count, trials):
    """Clopper and Pearson's, of 95 %."""
    low = stats.beta.ppf(0.025, count, trials - count + 1) if count else 0.0
    high = stats.beta.ppf(0.975, count + 1, trials - count) if count < trials else 1.0
    return f"{100 * low:.2f} to {100 * high:.2f}"


def table(title, suite, options):
    titles = [name for name, _ in CLASSES]
    sizes = ", ".join(f"{sum(suite.classes[own] == name for own in suite.benchmarks)} of {name}" for name in titles)
    return "\n".join([
        f"**{title}.** {options.processes} processes a side, seed {SEED}; {sizes}. Found: all, and in brackets "
        f"{', '.join(titles)}, in %.", "", "| rule | gets | comparison | with a false call | benchmarks falsely called | " +
        " | ".join(f"finds +{100 * slowdown:g} %" for slowdown in SLOWDOWNS) + " |",
        "| --- | --- | --- | ---: | ---: |" + " ---: |" * len(SLOWDOWNS),
        *(table_row(rule, suite, options) for rule in options.rules)]).replace("<", "&lt;") + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--simulate", action="store_true", required=True, help="normal noise, and that of Student's t (3)")
    parser.add_argument("--fusegate", action="append", default=[], metavar="[LABEL=]PROGRAM", help="a built program; repeatable")
    parser.add_argument("--processes", type=int, default=5, metavar="N", help="of each side (default: 5)")
    parser.add_argument("--comparisons", type=int, default=200, metavar="N", help="of each rule (default: 200)")
    parser.add_argument("--slowed", type=int, default=100, metavar="N", help="of these, made slower too (default: 100)")
    options = parser.parse_args(arguments)
    options.rules = all_rules([path.rpartition("=")[::2] for path in options.fusegate])
    print("\n".join(table(f"Simulated, {title}", Suite(noise), options)
                    for title, noise in (("normal noise", "normal"), ("noise of Student's t (3)", "t3"))), end="")


if __name__ == "__main__":
    main()
