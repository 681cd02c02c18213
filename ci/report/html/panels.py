"""What all pictures of the page share: colours that stand out on light and on dark, text that stays text, and
panels side by side over M."""

import math

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from inline_svg import INK, inline_svg

# Each has a contrast of at least 3 to 1 with the page's background, the light one and the dark one
# (WCAG 2.1, 1.4.11); markers tell them apart where colours do not.
SERIES_COLOURS = ("#3b82c4", "#d9731a", "#2f9e62", "#9b6bd0", "#d8557a", "#1f93a0", "#8f8420", "#7d858d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
REFERENCE_STYLE = {"color": "#7d858d", "linestyle": "--", "marker": "o"}

# Panels side by side.
MOST_COLUMNS = 4

LEGEND_LINE = 0.19  # of its height, in inches

STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be searched, read aloud and scaled
    "text.parse_math": False,  # names come from run files, and "$" in one is no formula
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


def picture(figure, name, key, caption, description):
    """As the page's template wants it. name: unique in the page, letters and digits."""
    with matplotlib.rc_context(STYLE):  # "svg.fonttype" acts only now
        return {"key": key, "caption": caption, "svg": inline_svg(figure, name, description)}


def panel_grid(lines, columns, panel, margins, gap, **shared):
    """A figure and its axes, laid out by hand in inches: matplotlib's own layout engine takes ten times
    as long, and a nightly report has thirty of these. panel and gap: (width, height); margins: left,
    right, bottom and top."""
    figure = Figure()
    FigureCanvasSVG(figure)
    axes = figure.subplots(lines, columns, squeeze=False, **shared).flatten()
    _lay_out(figure, lines, columns, panel, margins, gap)
    return figure, axes


def _lay_out(figure, lines, columns, panel, margins, gap):
    left, right, bottom, top = margins
    width = left + columns * panel[0] + (columns - 1) * gap[0] + right
    height = bottom + lines * panel[1] + (lines - 1) * gap[1] + top
    figure.set_size_inches(width, height)
    figure.subplots_adjust(left=left / width, right=1 - right / width, bottom=bottom / height,
                           top=1 - top / height, wspace=gap[0] / panel[0], hspace=gap[1] / panel[1])


def panels_over_rows(shapes, rows, label, draw, height=1.5, log=False, from_zero=False):
    """A panel for each (dim, hidden) over M, on one scale, with one legend. draw(axis, shape) draws its lines."""
    with matplotlib.rc_context(STYLE):
        lines = math.ceil(len(shapes) / MOST_COLUMNS)
        columns = math.ceil(len(shapes) / lines)  # five are three and two, not four and one
        panel, margins, gap = (3.4 if columns == 1 else 2.25, height), (0.65, 0.1, 0.45, 0.55), (0.15, 0.55)
        figure, axes = panel_grid(lines, columns, panel, margins, gap, sharex=True, sharey=True)
        for axis, shape in zip(axes, shapes):
            draw(axis, shape)
            axis.set_title(f"dim {shape[0]}, hidden {shape[1]}")
            _finish_axis(axis, rows, log)
        for axis in axes[len(shapes):]:
            axis.set_visible(False)
        if from_zero:
            axes[0].set_ylim(bottom=0)
        _label_outside(axes, columns, len(shapes), label)
        legend_lines = _add_legend(figure, axes[:len(shapes)])
        _lay_out(figure, lines, columns, panel, (*margins[:3], margins[3] + LEGEND_LINE * (legend_lines - 1)), gap)
        return figure


def _finish_axis(axis, rows, log):
    axis.set_xscale("log", base=2)
    axis.set_xticks(_readable_ticks(rows))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    axis.xaxis.set_minor_locator(NullLocator())
    if log:
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


def _label_outside(axes, columns, panels, label):
    for i, axis in enumerate(axes[:panels]):
        below = i + columns >= panels
        axis.tick_params(labelbottom=below)
        if below:
            axis.set_xlabel("M")
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
