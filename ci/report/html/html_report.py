"""Draws fusegate's report: the model as JSON on standard input becomes one self-contained HTML page on
standard output. It formats and never decides: verdicts and speed-ups come with the model."""

import json
import math
import pathlib
import sys

try:
    import jinja2
    from crossover_plot import crossover_picture
    from launches import BAR_WIDTH, profile_groups, stories, unmet
    from roofline_plot import rooflines
    from sweep_plots import sweep_pictures
except ImportError as error:
    sys.exit(f"the HTML report needs the Python packages matplotlib and jinja2 ({error}): "
             "pip install -r ci/requirements.txt")

# In the order in which they are shown; those after the bar are folded.
SHOWN_VERDICTS = ("regression", "invalid", "missing", "improvement")
FOLDED_VERDICTS = ("inconclusive", "new", "unchanged")


def format_time(time_ns):
    """Four significant digits in a unit that fits, as fusegate's tables have it."""
    if time_ns is None:
        return "-"
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if time_ns >= factor * 0.99995:
            return f"{_significant(time_ns / factor, 4)} {unit}"
    return f"{_significant(time_ns, 4)} ns"


def format_effect(effect):
    return "-" if effect is None else f"{effect * 100:+.2f} %"


def format_interval(interval):
    if interval["low"] is None or interval["high"] is None:
        return "-"
    return f"[{interval['low'] * 100:+.2f}, {interval['high'] * 100:+.2f}] %"


def format_spread(fraction):
    return "-" if fraction is None else f"{fraction * 100:.3g} %"


def format_share(fraction):
    return "-" if fraction is None else f"{fraction * 100:.1f} %"


def format_rate(value):
    return "-" if value is None else _significant(value, 3)


def format_count(value):
    return "-" if value is None else f"{value:g}"


def _significant(value, digits):
    if value == 0:
        return "0"
    exponent = int(f"{value:.{digits - 1}e}".split("e")[1])
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def verdict_groups(gate):
    """title, rows with the largest effect first, and whether they are folded; none of them empty."""
    groups = []
    for kind in SHOWN_VERDICTS + FOLDED_VERDICTS:
        rows = [row for row in gate["verdicts"] if row["verdict"] == kind]
        rows.sort(key=lambda row: (-abs(row["effect"]) if row["effect"] is not None else math.inf,
                                   row["benchmark"]))
        if rows:
            groups.append({"title": _title(kind, len(rows)), "rows": rows, "folded": kind in FOLDED_VERDICTS})
    return groups


def _title(kind, count):
    countable = kind in ("regression", "improvement")
    return f"{count} {kind}{'s' if countable and count != 1 else ''}"


def facts(model):
    """Environment and provenance of both runs, line by line; differing marks what must not differ."""
    runs = [model["baseline"] or {}, model["candidate"]]
    lines = []
    for section in ("environment", "provenance"):
        tables = [run.get(section) or {} for run in runs]
        for field in sorted({field for table in tables for field in table}):
            values = [table.get(field, "") for table in tables]
            if any(value not in ("", None) for value in values):
                differing = section == "environment" and bool(model["baseline"]) and values[0] != values[1]
                lines.append({"field": field, "values": values, "differing": differing})
    return lines


# Of the table of all figures, beyond those that every run has; left out where nothing is known.
FIGURE_COLUMNS = (
    {"key": "copy_share", "title": "of copy rate", "is_share": True},
    {"key": "gemm_share", "title": "of GEMM rate", "is_share": True},
    {"key": "floor_ns", "title": "floor", "is_time": True},
    {"key": "time_over_floor", "title": "time / floor"},
    {"key": "host_ns", "title": "host", "is_time": True},
    {"key": "host_graph_ns", "title": "host, as a graph", "is_time": True})


def known_columns(model):
    return [{"is_time": False, "is_share": False, **column} for column in FIGURE_COLUMNS
            if any(benchmark[column["key"]] is not None for benchmark in model["benchmarks"])]


def sweep_section(model, sweep, index):
    crossovers = [one for one in model["crossovers"]
                  if (one["operation"], one["dtype"]) == (sweep["operation"], sweep["dtype"])]
    return {"sweep": sweep, "pictures": sweep_pictures(sweep, index), "crossovers": crossovers,
            "crossover": crossover_picture(crossovers, f"crossover{index}") if crossovers else None}


def render(model):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(time=format_time, effect=format_effect, interval=format_interval,
                               spread=format_spread, share=format_share, rate=format_rate, count=format_count)
    sweeps = [sweep_section(model, sweep, index) for index, sweep in enumerate(model["sweeps"])]
    return environment.get_template("report.html.j2").render(
        model=model, sweeps=sweeps, facts=facts(model), columns=known_columns(model),
        rooflines=rooflines(model), profile_groups=profile_groups(model), bar_width=BAR_WIDTH, unmet=unmet(model),
        stories=stories(model["gate"]) if model["gate"] else None,
        groups=verdict_groups(model["gate"]) if model["gate"] else [])


def main():
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(render(json.load(sys.stdin)))


if __name__ == "__main__":
    main()
