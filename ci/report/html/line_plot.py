"""Lines over M or another axis, a panel a shape: speed-ups, times, rates, and ratios with where they cross 1."""

import math

import matplotlib
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from style import LEGEND_LINE, MARKERS, REFERENCE_STYLE, SERIES_COLOURS, STYLE, lay_out, panel_grid

# Panels side by side.
MOST_COLUMNS = 4


def line_figure(picture):
    """All panels on one scale, with one legend."""
    panels = picture["panels"]
    rows = sorted({x for panel in panels for line in panel["lines"] for x, _ in line["points"]})
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
