"""Rooflines (Williams, Waterman and Patterson 2009): every benchmark by its operations a byte and its speed,
under the two roofs that the same run measured. A panel an operation, all on one scale."""

import math

import matplotlib
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from inline_svg import INK
from style import PAGE_PANEL, STYLE, panel_grid

CLASS_STYLES = {"compute-bound": {"color": "#3b82c4", "marker": "s"},
                "memory-bound": {"color": "#d9731a", "marker": "o"},
                "launch-bound": {"color": "#9b6bd0", "marker": "^"}}
UNKNOWN_STYLE = {"color": "#7d858d", "marker": "D"}


def roofline_panels(picture):
    """Titles and figures. Each point is a group "point<number>", for its tooltip."""
    points = picture["points"]
    for operation in sorted({point["operation"] for point in points}):
        own = [(i, point) for i, point in enumerate(points) if point["operation"] == operation]
        yield operation, roofline_figure(picture, own)


def roofline_legend(picture):
    """Names and styles."""
    classes = sorted({point["class"] for point in picture["points"]})
    entries = [(name, {**_style(name), "linestyle": ""}) for name in classes]
    if any(point["is_hollow"] for point in picture["points"]):
        entries.append((picture["hollow"], {"color": "currentColor", "marker": "o", "linestyle": "", "is_hollow": True}))
    return entries


def roofline_figure(picture, numbered_points):
    """Of those points alone, on the scale of all."""
    points, gemm, copy = picture["points"], picture["gemm"], picture["copy"]
    with matplotlib.rc_context(STYLE):
        figure, (axis,) = panel_grid(1, 1, panel=PAGE_PANEL, margins=(0.6, 0.1, 0.45, 0.15), gap=(0, 0))
        _prepare_axis(axis, points, gemm, copy)
        _draw_roofs(axis, gemm, copy)
        for i, point in numbered_points:
            style = _style(point["class"])
            axis.plot([point["x"]], [point["y"]], gid=f"point{i}", linestyle="", marker=style["marker"], markersize=5.5,
                      markeredgecolor=style["color"], markeredgewidth=1.2, alpha=0.85,
                      markerfacecolor="none" if point["is_hollow"] else style["color"])
        return figure


def _style(of_class):
    return CLASS_STYLES.get(of_class, UNKNOWN_STYLE)


def _prepare_axis(axis, points, gemm, copy):
    intensities, rates = [point["x"] for point in points], [point["y"] for point in points]
    ridge = [gemm["value"] * 1e3 / copy["value"]] if gemm and copy else []
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(min(intensities + ridge) / 2, max(intensities + ridge) * 3)
    axis.set_ylim(min(rates) / 2, max(rates + ([gemm["value"]] if gemm else [])) * 2)
    for one, (low, high) in ((axis.xaxis, axis.get_xlim()), (axis.yaxis, axis.get_ylim())):
        if high / low < 100:  # less than two powers of ten lie in between
            one.set_major_locator(LogLocator(subs=(1, 2, 5)))
        one.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        one.set_minor_formatter(NullFormatter())
    axis.set_xlabel("FLOP/byte")
    axis.set_ylabel("TFLOP/s")  # and no grid, which would run through the roofs' names


def _draw_roofs(axis, gemm, copy):
    left, right = axis.get_xlim()
    top = axis.get_ylim()[1]
    style = {"color": INK, "linewidth": 1.2, "alpha": 0.7}
    if copy:
        slope = copy["value"] / 1e3  # TFLOP/s a FLOP/byte
        end = min(right, gemm["value"] / slope if gemm else top / slope)
        axis.plot([left, end], [left * slope, end * slope], gid="copyroof", **style)
        _name_slanted(axis, left, end, slope, copy["text"])
    if gemm:
        start = gemm["value"] * 1e3 / copy["value"] if copy else left
        axis.plot([start, right], [gemm["value"]] * 2, gid="gemmroof", **style)
        axis.annotate(gemm["text"], (right, gemm["value"]), (0, 3),
                      textcoords="offset points", ha="right", va="bottom", fontsize=8)


def _name_slanted(axis, left, end, slope, text):
    """Above the middle of the visible part, along the line."""
    start = max(left, axis.get_ylim()[0] / slope)
    (x0, y0), (x1, y1) = axis.transData.transform([(start, start * slope), (end, end * slope)])
    middle = math.sqrt(start * end)
    axis.annotate(text, (middle, middle * slope), (-3, 3), textcoords="offset points", ha="center", va="bottom",
                  rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", fontsize=8)
