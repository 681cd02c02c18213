"""Lines over M or another axis, a panel a shape: speed-ups, times, rates, and ratios with where they cross 1. On a page
each panel is a picture of its own, which fits a narrow one; as a file they are one picture."""

import math

import matplotlib
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from style import LEGEND_LINE, MARKERS, PAGE_PANEL, REFERENCE_STYLE, SERIES_COLOURS, STYLE, lay_out, panel_grid

X_MARGIN = 1.25

# Panels side by side in a file.
MOST_COLUMNS = 4


def line_panels(picture):
    """Titles and figures, all on one scale, without a legend."""
    rows, limits = _rows(picture), _limits(picture)
    for panel in picture["panels"]:
        with matplotlib.rc_context(STYLE):
            figure, (axis,) = panel_grid(1, 1, PAGE_PANEL, (0.6, 0.1, 0.45, 0.08), (0, 0))
            _draw_panel(axis, panel, picture["even"])
            _finish_axis(axis, rows, picture["is_log"])
            axis.set(title="", xlabel=picture["axis"], ylabel=picture["label"], ylim=limits)
            if picture["is_log"] and limits[1] / limits[0] < 100:  # less than two powers of ten lie in between
                axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_xlim(rows[0] / X_MARGIN, rows[-1] * X_MARGIN)
        yield panel["title"], figure


def line_legend(picture):
    """Of all panels: names and styles. One shape may lack an implementation that another has."""
    entries = {line["name"]: _style(line["style"]) for panel in picture["panels"] for line in panel["lines"]}
    if picture["even"]:
        entries[picture["even"]] = {**REFERENCE_STYLE, "marker": ""}
    return list(entries.items())


def _rows(picture):
    return sorted({x for panel in picture["panels"] for line in panel["lines"] for x, _ in line["points"]})


def _limits(picture):
    """Of the figures, over all panels."""
    lines = [line for panel in picture["panels"] for line in panel["lines"]]
    values = [y for line in lines for _, y in line["points"]] + ([1] if picture["even"] is not None else [])
    low, high = min(values), max(values)
    if picture["is_log"]:
        return low / 1.2, high * 1.2
    if picture["is_from_zero"]:
        return 0, high * 1.06
    margin = (0.2 if any(line["marks"] for line in lines) else 0.06) * (high - low or high)
    return low - margin, high + margin


def line_figure(picture):
    """All panels on one scale, with one legend."""
    panels, rows = picture["panels"], _rows(picture)
    with matplotlib.rc_context(STYLE):
        lines = math.ceil(len(panels) / MOST_COLUMNS)
        columns = math.ceil(len(panels) / lines)  # five are three and two, not four and one
        panel = (3.4 if columns == 1 else 2.25, 2.1 if picture["is_high"] else 1.5)
        margins, gap = (0.65, 0.1, 0.45, 0.55), (0.15, 0.55)
        figure, axes = panel_grid(lines, columns, panel, margins, gap, sharex=True, sharey=True)
        for axis, one in zip(axes, panels):
            _draw_panel(axis, one, picture["even"])
            _finish_axis(axis, rows, picture["is_log"])
        for axis in axes[len(panels):]:
            axis.set_visible(False)
        if picture["is_from_zero"]:
            axes[0].set_ylim(bottom=0)
        _label_outside(axes, columns, len(panels), picture["label"], picture["axis"])
        legend_lines = _add_legend(figure, axes[:len(panels)])
        lay_out(figure, lines, columns, panel, (*margins[:3], margins[3] + LEGEND_LINE * (legend_lines - 1)), gap)
        return figure


def _style(number):
    """Of an implementation; below 0: what the others are held against."""
    if number < 0:
        return REFERENCE_STYLE
    return {"color": SERIES_COLOURS[number % len(SERIES_COLOURS)], "marker": MARKERS[number % len(MARKERS)]}


def _draw_panel(axis, panel, even):
    for line in panel["lines"]:
        style = _style(line["style"])
        axis.plot([x for x, _ in line["points"]], [y for _, y in line["points"]], label=line["name"], **style)
        for mark in line["marks"]:
            axis.plot([mark["rows"]], [1], color=style["color"], linestyle="", marker="x", markersize=7,
                      markeredgewidth=1.8)
    marks = [mark for line in panel["lines"] for mark in line["marks"]]
    # Above and below in turn: two that lie close together stay legible.
    for i, mark in enumerate(sorted(marks, key=lambda mark: mark["rows"])):
        up = i % 2 == 0
        axis.annotate(mark["text"], (mark["rows"], 1), (0, 6 if up else -6), textcoords="offset points",
                      ha="center", va="bottom" if up else "top", fontsize=8)
    if marks:
        axis.margins(y=0.2)  # room for their names
    if even is not None:
        axis.axhline(1, **{**REFERENCE_STYLE, "marker": ""}, label=even or "_")  # matplotlib lists no "_"
    axis.set_title(panel["title"])


def _finish_axis(axis, rows, is_log):
    axis.set_xscale("log", base=2)
    axis.set_xticks(_readable_ticks(rows))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axis.xaxis.set_minor_locator(NullLocator())
    if is_log:
        axis.set_yscale("log")
        axis.yaxis.set_minor_formatter(NullFormatter())
    # Five digits would run into the axis's label.
    axis.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value >= 10000 else f"{value:g}"))
    axis.grid(True)
    if len(rows) == 1:
        axis.set_xlim(rows[0] / 2, rows[0] * 2)


def _readable_ticks(rows):
    """All where they fit, else every second, third, ...; the largest always."""
    most = 6
    step = math.ceil(len(rows) / most)
    return rows[::-1][::step][::-1]


def _short(value):
    value = round(value)
    return f"{value // 1024}k" if value >= 1024 and value % 1024 == 0 else str(value)


def _label_outside(axes, columns, panels, label, along):
    for i, axis in enumerate(axes[:panels]):
        below = i + columns >= panels
        axis.tick_params(labelbottom=below)
        if below:
            axis.set_xlabel(along)
        if i % columns == 0:
            axis.set_ylabel(label)


def _add_legend(figure, axes):
    """Of all panels: one shape may lack an implementation that another has. How many lines it takes."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    # As wide as text of 9 points comes to at most; a column is as wide as its longest entry.
    widest = max(0.45 + 0.078 * len(label) for label in entries)
    columns = max(1, min(len(entries), int(figure.get_figwidth() / widest)))
    figure.legend(entries.values(), entries.keys(), loc="upper left", ncols=columns, frameon=False,
                  borderaxespad=0, columnspacing=1.2)
    return math.ceil(len(entries) / columns)
