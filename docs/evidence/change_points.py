#!/usr/bin/env python3
"""What fusegate and other tools' rules make of nights: the side by side of change-points.md.

    change_points.py --judge build/host/bin/fusegate_nights_audit [--years 4] [--only RULE] [--annotated TCPD]

Simulated nights are ratios to a fixed reference, 60 benchmarks; from night 120 on three of them are slower. Each rule sees a
night after the other and reports what changed. --annotated: a checkout of the Turing Change Point Dataset. The tables go to stdout.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy
    from scipy import stats
except ImportError as missing:
    print(f"change_points.py: {missing}: pip install apache-otava==0.8.0, which brings numpy and scipy", file=sys.stderr)
    sys.exit(77)  # ctest: skipped

BENCHMARKS, NIGHTS, FIRST, SLOWED = 60, 160, 120, (10, 30, 50)
START = 30  # nights before the first alarm
LATEST = 60  # nights that Otava sees of nights: its time grows with their square
MARGIN = 5  # nights by which a date may be off


def merged(alarms):
    """(first night, night of the alarm) in order, without those dated as one before."""
    reported = []
    for first, alarm in alarms:
        if all(abs(first - other) > MARGIN for other, _ in reported):
            reported.append((first, alarm))
    return reported


def nightly(rule):
    """Of a rule that sees a series up to tonight, and returns the first nights of changes."""
    def run(series):
        return [merged((first, night) for night in range(START, len(own)) for first in rule(own[:night + 1]))
                for own in series.T]
    return run


def otava(series):
    """The change points of Apache Otava 0.8 with its defaults."""
    from otava.analysis import compute_change_points
    from otava.series import AnalysisOptions
    options = AnalysisOptions()
    # A list: with arrays it fails or finds next to nothing.
    points, _ = compute_change_points([float(value) for value in series], window_len=options.window_len,
                                      max_pvalue=options.max_pvalue, min_magnitude=options.min_magnitude)
    return [point.index for point in points]


def otava_of_latest(series):
    skipped = max(0, len(series) - LATEST)
    return [skipped + first for first in otava(series[skipped:])]


def ratio(limit):
    """As PyTorch HUD has it: two nights in a row beyond a ratio to the median of the 4th to 8th night before (test-infra
    #7473); its dashboard highlights 5 % (#4284)."""
    def rule(series):
        base = statistics.median(series[-9:-4])
        beyond = [value / base - 1 for value in series[-2:]]
        return [len(series) - 2] if min(beyond) > limit or max(beyond) < -limit else []
    return rule


def vote(series):
    """Three of four two-sample tests at p < 0.1 %, of the last six nights against the 24 before."""
    before, after = series[-30:-6], series[-6:]
    if len(before) < 12:
        return []
    p = [stats.ttest_ind(before, after, equal_var=False).pvalue, stats.mannwhitneyu(before, after).pvalue,
         stats.ks_2samp(before, after).pvalue, stats.cramervonmises_2samp(before, after).pvalue]
    return [len(series) - 6] if sum(value < 0.001 for value in p) >= 3 else []


def fusegate(program):
    def run(series):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            numpy.savetxt(file, series, delimiter=",", fmt="%.9g")
            file.flush()
            lines = subprocess.run([program, "judge", file.name], check=True, capture_output=True, text=True).stdout
        reported = [[] for _ in series.T]
        for line in lines.splitlines():
            first, alarm, *columns = (int(cell) for cell in line.split(","))
            for column in columns:
                reported[column].append((first, alarm))
        return reported
    return run


def rules(program):
    return {"fusegate": fusegate(program), "Apache Otava 0.8": nightly(otava_of_latest), "ratio of 5 %": nightly(ratio(0.05)),
            "ratio of 1 %": nightly(ratio(0.01)), "vote of four tests": nightly(vote)}


def simulated(step, deviation, heavy, seed):
    random = numpy.random.default_rng(seed)
    noise = random.standard_t(3, (NIGHTS, BENCHMARKS)) / math.sqrt(3) if heavy else random.standard_normal((NIGHTS, BENCHMARKS))
    figures = deviation * noise
    figures[FIRST:, SLOWED] += step
    return numpy.exp(figures)


def simulate(chosen, years):
    print("| rule | noise | step | false alarms in 100 nights | missed | nights to detection |")
    print("| --- | --- | ---: | ---: | ---: | --- |")
    for name, rule in chosen.items():
        for deviation, heavy in ((0.00034, False), (0.0018, False), (0.0018, True)):
            for step in (0.003, 0.01):
                false, nights = 0, []
                for seed in range(years):
                    for column, reported in enumerate(rule(simulated(step, deviation, heavy, seed))):
                        true = [alarm - FIRST + 1 for first, alarm in reported
                                if column in SLOWED and abs(first - FIRST) <= MARGIN and alarm >= FIRST]
                        nights += [min(true, default=math.inf)] if column in SLOWED else []
                        false += len(reported) - len(true[:1])
                missed = sum(math.isinf(own) for own in nights)
                middle = statistics.median_low(nights)
                print(f"| {name} | {100 * deviation:g} %{', t (3)' if heavy else ''} | {100 * step:g} % | "
                      f"{100 * false / years / (NIGHTS - START):.1f} | {missed} of {len(nights)} | "
                      f"{'-' if math.isinf(middle) else middle} |", flush=True)


def f1(found, annotated):
    """Of van den Burg and Williams, "An evaluation of change point detection algorithms" (arXiv 2003.06222): precision over
    the annotators together, recall as the mean over them; within five steps, and the first element counts as one."""
    def hits(truth, own):
        left = set(own)
        count = 0
        for change in sorted(truth):
            near = [other for other in left if abs(other - change) <= MARGIN]
            if near:
                left.remove(min(near, key=lambda other: abs(other - change)))
                count += 1
        return count
    found = {0, *found}
    together = {0}.union(*annotated)
    precision = hits(together, found) / len(found)
    recall = statistics.mean(hits({0, *own}, found) / len({0, *own}) for own in annotated)
    return 2 * precision * recall / (precision + recall), precision, recall


def series_of(path):
    data = json.loads(path.read_text())
    if len(data["series"]) != 1:
        return None
    values = [math.nan if value is None else value for value in data["series"][0]["raw"]]
    return numpy.array(values) if all(value > 0 for value in values) else None


def annotated(chosen, folder):
    annotations = json.loads((folder / "annotations.json").read_text())
    known = {path.stem: series_of(path) for path in sorted(folder.glob("datasets/*/*.json"))}
    known = {name: series for name, series in known.items() if series is not None and name in annotations}
    print(f"\n{len(known)} series.\n\n| rule | mean F1 | precision | recall | changes reported |\n| --- | ---: | ---: | ---: | ---: |")
    for name, rule in chosen.items():
        scores, reported = [], 0
        for dataset, series in known.items():
            found = (otava(series) if name.startswith("Apache") else  # once, with all values
                     [first for first, _ in rule(series.reshape(-1, 1))[0]])
            reported += len(found)
            scores.append(f1(found, list(annotations[dataset].values())))
        means = [statistics.mean(column) for column in zip(*scores)]
        print(f"| {name} | {means[0]:.2f} | {means[1]:.2f} | {means[2]:.2f} | {reported} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", required=True, help="fusegate_nights_audit")
    parser.add_argument("--years", type=int, default=4)
    parser.add_argument("--annotated", type=pathlib.Path, help="a checkout of the Turing Change Point Dataset")
    parser.add_argument("--only", default="", help="rules with this in their names")
    arguments = parser.parse_args()
    chosen = {name: rule for name, rule in rules(arguments.judge).items() if arguments.only in name}
    if arguments.years:
        simulate(chosen, arguments.years)
    if arguments.annotated:
        annotated(chosen, arguments.annotated)


if __name__ == "__main__":
    main()
