"""Rooflines (Williams, Waterman and Patterson 2009): every benchmark by how much it computes a byte and how fast,
under the two roofs that the same run measured."""

import math

import matplotlib
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from inline_svg import INK
from style import LEGEND_LINE, MARKERS, STYLE, panel_grid

CLASS_COLOURS = {"compute-bound": "#3b82c4", "memory-bound": "#d9731a", "launch-bound": "#9b6bd0"}
UNKNOWN_COLOUR = "#7d858d"


def roofline_figure(picture):
    """Each point is a group "point<number>", for its tooltip."""
    points, gemm, copy = picture["points"], picture["gemm"], picture["copy"]
    operations = sorted({point["operation"] for point in points})
    markers = {operation: MARKERS[i % len(MARKERS)] for i, operation in enumerate(operations)}
    with matplotlib.rc_context(STYLE):
        figure, (axis,) = panel_grid(1, 1, panel=(6.6, 3.5), margins=(0.65, 0.15, 0.45, 0.6), gap=(0, 0))
        _prepare_axis(axis, points, gemm, copy)
        _draw_roofs(axis, gemm, copy)
        for i, point in enumerate(points):
            colour = _colour(point["class"])
            axis.plot([point["x"]], [point["y"]], gid=f"point{i}", linestyle="",
                      marker=markers[point["operation"]], markersize=5.5, markeredgecolor=colour,
                      markerfacecolor="none" if point["is_hollow"] else colour, markeredgewidth=1.2, alpha=0.85)
        _add_legend(figure, picture, markers)
        return figure


def _colour(of_class):
    return CLASS_COLOURS.get(of_class, UNKNOWN_COLOUR)


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


def _add_legend(figure, picture, markers):
    """Colours above, shapes below."""
    def marker(label, shape, colour, face):
        return Line2D([], [], linestyle="", marker=shape, markersize=5.5, color=colour, markerfacecolor=face,
                      label=label)

    classes = sorted({point["class"] for point in picture["points"]})
    colours = [marker(name, "o", _colour(name), _colour(name)) for name in classes]
    if any(point["is_hollow"] for point in picture["points"]):
        colours.append(marker(picture["hollow"], "o", INK, "none"))
    shapes = [marker(operation, shape, INK, INK) for operation, shape in markers.items()]
    for handles, down in ((colours, 1.0), (shapes, 1 - LEGEND_LINE / figure.get_figheight())):
        figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, down), ncols=len(handles),
                      frameon=False, borderaxespad=0, columnspacing=1.2, handletextpad=0.2)
