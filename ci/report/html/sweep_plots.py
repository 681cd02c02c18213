"""The shape sweep as pictures. Figures come from fusegate's model, and nothing is computed here but
where they go."""

import math

import matplotlib
from matplotlib.colors import TwoSlopeNorm

from panels import MARKERS, REFERENCE_STYLE, SERIES_COLOURS, STYLE, panel_grid, panels_over_rows, picture


def sweep_pictures(sweep, index):
    """Everything that is drawn of one operation and dtype: dicts with key, caption and svg."""
    name = f"{sweep['operation']} in {sweep['dtype']}"
    against = sweep["reference"]
    pictures = []
    if against and _has_speed_ups(sweep):
        pictures.append(picture(
            _panels(sweep, "speed_up", f"times as fast as {against}", skip_reference=True, baseline=1),
            f"sweep{index}speedup", "speedup", f"Speed-up of {name} over {against}, by M = batch x seq.",
            _speed_up_description(sweep)))
        pictures.append(picture(
            _heatmaps(sweep), f"sweep{index}map", "map",
            f"The same as a map. Blue: faster than {against}; red: slower.",
            _speed_up_description(sweep)))
    pictures.append(picture(
        _panels(sweep, "time_ns", "time, us", scale=1e-3, log=True), f"sweep{index}time", "time",
        f"Time of {name}, both axes logarithmic.", f"Time of {name} over M, a line an implementation."))
    for key, label, what in (("tflops", "TFLOP/s", "Arithmetic"), ("gbps", "GB/s", "Memory traffic")):
        if any(point[key] is not None for series in sweep["series"] for point in series["points"]):
            pictures.append(picture(
                _panels(sweep, key, label, from_zero=True), f"sweep{index}{key}", key,
                f"{what} achieved by {name}: the operation's own "
                f"{'floating-point operations' if key == 'tflops' else 'least traffic'} over its time.",
                f"{label} of {name} over M, a line an implementation."))
    return pictures


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


def _panels(sweep, key, label, scale=1.0, log=False, from_zero=False, skip_reference=False, baseline=None):
    """A panel for each (dim, hidden), a line an implementation, over M."""
    styles = _styles(sweep)

    def draw(axis, shape):
        for series in _compared(sweep) if skip_reference else sweep["series"]:
            _draw_line(axis, series, shape, key, scale, styles[series["implementation"]])
        if baseline is not None:
            axis.axhline(baseline, **{**REFERENCE_STYLE, "marker": ""}, label=sweep["reference"])

    return panels_over_rows(_shapes(sweep), _rows(sweep), label, draw, log=log, from_zero=from_zero)


def _draw_line(axis, series, shape, key, scale, style):
    points = [point for point in series["points"]
              if (point["dim"], point["hidden"]) == shape and point[key] is not None]
    if points:
        axis.plot([point["rows"] for point in points], [point[key] * scale for point in points],
                  label=series["implementation"], **style)


def _heatmaps(sweep):
    """A map an implementation: M upwards, (dim, hidden) to the right."""
    with matplotlib.rc_context(STYLE):
        series_list = [series for series in _compared(sweep) if series["compared"]]
        shapes, rows = _shapes(sweep), _rows(sweep)
        figure, axes = panel_grid(1, len(series_list), panel=(max(1.5, 0.6 * len(shapes)), 0.27 * len(rows)),
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
