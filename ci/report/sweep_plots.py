"""The shape sweep as pictures. Figures come from fusegate's model, and nothing is computed here but
where they go."""

import math

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import TwoSlopeNorm
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


def sweep_pictures(sweep, index):
    """Everything that is drawn of one operation and dtype: dicts with key, caption and svg."""
    name = f"{sweep['operation']} in {sweep['dtype']}"
    against = sweep["reference"]
    pictures = []
    if against and _has_speed_ups(sweep):
        pictures.append(_picture(
            _panels(sweep, "speed_up", f"times as fast as {against}", skip_reference=True, baseline=1),
            index, "speedup", f"Speed-up of {name} over {against}, by M = batch x seq.",
            _speed_up_description(sweep)))
        pictures.append(_picture(
            _heatmaps(sweep), index, "map",
            f"The same as a map. Blue: faster than {against}; red: slower.",
            _speed_up_description(sweep)))
    pictures.append(_picture(
        _panels(sweep, "time_ns", "time, us", scale=1e-3, log=True), index, "time",
        f"Time of {name}, both axes logarithmic.", f"Time of {name} over M, a line an implementation."))
    for key, label, what in (("tflops", "TFLOP/s", "Arithmetic"), ("gbps", "GB/s", "Memory traffic")):
        if any(point[key] is not None for series in sweep["series"] for point in series["points"]):
            pictures.append(_picture(
                _panels(sweep, key, label, from_zero=True), index, key,
                f"{what} achieved by {name}: the operation's own "
                f"{'floating-point operations' if key == 'tflops' else 'least traffic'} over its time.",
                f"{label} of {name} over M, a line an implementation."))
    return pictures


def _picture(figure, index, key, caption, description):
    with matplotlib.rc_context(STYLE):  # "svg.fonttype" acts only now
        return {"key": key, "caption": caption, "svg": inline_svg(figure, f"sweep{index}{key}", description)}


def _has_speed_ups(sweep):
    return any(point["speed_up"] is not None for series in _compared(sweep) for point in series["points"])


def _compared(sweep):
    return [series for series in sweep["series"] if series["implementation"] != sweep["reference"]]


def _speed_up_description(sweep):
    parts = []
    for series in _compared(sweep):
        if series["compared"]:
            parts.append(f"{series['implementation']}: {series['mean_speed_up']:.2f} times as fast on average, "
                         f"faster at {series['faster']} of {series['compared']} shapes")
    return f"{sweep['operation']} in {sweep['dtype']} against {sweep['reference']}. " + "; ".join(parts) + "."


def _shapes(sweep):
    return sorted({(point["dim"], point["hidden"]) for series in sweep["series"] for point in series["points"]})


def _rows(sweep):
    return sorted({point["rows"] for series in sweep["series"] for point in series["points"]})


def _styles(sweep):
    """One style an implementation, the same in every picture of a sweep."""
    styles = {}
    for series in sweep["series"]:
        if series["implementation"] == sweep["reference"]:
            styles[series["implementation"]] = REFERENCE_STYLE
        else:
            i = len(styles) - (sweep["reference"] in styles)
            styles[series["implementation"]] = {
                "color": SERIES_COLOURS[i % len(SERIES_COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
    return styles


def _grid(lines, columns, panel, margins, gap, **shared):
    """A figure and its axes, laid out by hand in inches: matplotlib's own layout engine takes ten times
    as long, and a nightly report has thirty of these. panel and gap: (width, height); margins: left,
    right, bottom and top."""
    left, right, bottom, top = margins
    width = left + columns * panel[0] + (columns - 1) * gap[0] + right
    height = bottom + lines * panel[1] + (lines - 1) * gap[1] + top
    figure = Figure(figsize=(width, height))
    FigureCanvasSVG(figure)
    figure.subplots_adjust(left=left / width, right=1 - right / width, bottom=bottom / height,
                           top=1 - top / height, wspace=gap[0] / panel[0], hspace=gap[1] / panel[1])
    return figure, figure.subplots(lines, columns, squeeze=False, **shared).flatten()


def _panels(sweep, key, label, scale=1.0, log=False, from_zero=False, skip_reference=False, baseline=None):
    """A panel for each (dim, hidden), a line an implementation, over M."""
    with matplotlib.rc_context(STYLE):
        shapes = _shapes(sweep)
        lines = math.ceil(len(shapes) / MOST_COLUMNS)
        columns = math.ceil(len(shapes) / lines)  # five are three and two, not four and one
        figure, axes = _grid(lines, columns, panel=(3.4 if columns == 1 else 2.25, 1.5),
                             margins=(0.65, 0.1, 0.45, 0.55), gap=(0.15, 0.55), sharex=True, sharey=True)
        styles = _styles(sweep)
        for axis, shape in zip(axes, shapes):
            for series in _compared(sweep) if skip_reference else sweep["series"]:
                _draw_line(axis, series, shape, key, scale, styles[series["implementation"]])
            if baseline is not None:
                axis.axhline(baseline, **{**REFERENCE_STYLE, "marker": ""}, label=sweep["reference"])
            axis.set_title(f"dim {shape[0]}, hidden {shape[1]}")
            _finish_axis(axis, _rows(sweep), log)
        for axis in axes[len(shapes):]:
            axis.set_visible(False)
        if from_zero:
            axes[0].set_ylim(bottom=0)
        _label_outside(axes, columns, len(shapes), label)
        _add_legend(figure, axes[:len(shapes)])
        return figure


def _draw_line(axis, series, shape, key, scale, style):
    points = [point for point in series["points"]
              if (point["dim"], point["hidden"]) == shape and point[key] is not None]
    if points:
        axis.plot([point["rows"] for point in points], [point[key] * scale for point in points],
                  label=series["implementation"], **style)


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
    """Of all panels: one shape may lack an implementation that another has."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="upper left", ncols=len(entries), frameon=False,
                  borderaxespad=0, columnspacing=1.2)


def _heatmaps(sweep):
    """A map an implementation: M upwards, (dim, hidden) to the right."""
    with matplotlib.rc_context(STYLE):
        series_list = [series for series in _compared(sweep) if series["compared"]]
        shapes, rows = _shapes(sweep), _rows(sweep)
        figure, axes = _grid(1, len(series_list), panel=(max(1.5, 0.6 * len(shapes)), 0.27 * len(rows)),
                             margins=(0.65, 0.1, 0.65, 0.3), gap=(0.2, 0), sharey=True)
        for axis, series in zip(axes, series_list):
            _draw_map(axis, series, shapes, rows, _norm(series_list))
        axes[0].set_ylabel("M")
        return figure


def _norm(series_list):
    """Colours by the logarithm: half as fast is as far from even as twice as fast. One scale for all."""
    logs = [math.log2(point["speed_up"]) for series in series_list for point in series["points"]
            if point["speed_up"] is not None]
    most = 1.2 * max([0.1] + [abs(value) for value in logs])
    return TwoSlopeNorm(vmin=-most, vcenter=0, vmax=most)


def _draw_map(axis, series, shapes, rows, norm):
    colours = matplotlib.colormaps["RdBu"]
    for point in series["points"]:
        if point["speed_up"] is None:
            continue
        x, y = shapes.index((point["dim"], point["hidden"])), rows.index(point["rows"])
        red, green, blue, _ = colour = colours(norm(math.log2(point["speed_up"])))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        axis.fill([x - 0.48, x + 0.48, x + 0.48, x - 0.48], [y - 0.46, y - 0.46, y + 0.46, y + 0.46],
                  color=colour, linewidth=0)
        axis.text(x, y, f"{point['speed_up']:.2f}", ha="center", va="center", fontsize=8,
                  color="#ffffff" if dark else "#111111")
    axis.set_title(series["implementation"])
    axis.set_xlim(-0.5, len(shapes) - 0.5)
    axis.set_ylim(-0.5, len(rows) - 0.5)
    axis.set_xticks(range(len(shapes)), [f"{dim}\n{hidden}" for dim, hidden in shapes])
    axis.set_yticks(range(len(rows)), [str(value) for value in rows])
    axis.tick_params(length=0)
    axis.set_xlabel("dim above hidden")
    for spine in axis.spines.values():
        spine.set_visible(False)
