"""Rooflines (Williams, Waterman and Patterson 2009): every benchmark by how much it computes a byte and how fast,
under the two roofs that the same run measured. Classes come with the model."""

import math

import matplotlib
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from inline_svg import INK, with_tooltips
from panels import LEGEND_LINE, MARKERS, STYLE, panel_grid, picture

# By class; grey where none is known.
CLASS_COLOURS = {"compute-bound": "#3b82c4", "memory-bound": "#d9731a", "launch-bound": "#9b6bd0", None: "#7d858d"}
UNKNOWN = "class not known"
ON_STREAM = "launch-bound on a stream"


def rooflines(model):
    """A picture a dtype that has a point: dicts with key, caption and svg."""
    pictures = []
    placed = [benchmark for benchmark in model["benchmarks"] if _has_point(benchmark)]
    operations = sorted({benchmark["operation"] for benchmark in placed})
    markers = {operation: MARKERS[i % len(MARKERS)] for i, operation in enumerate(operations)}
    for dtype in sorted({benchmark["dtype"] for benchmark in placed}):
        points = [benchmark for benchmark in placed if benchmark["dtype"] == dtype]
        gemm, copy = model["ceilings"]["gemm_tflops"].get(dtype), model["ceilings"]["copy_gbps"]
        name = f"roofline{len(pictures)}"
        drawn = picture(_figure(points, gemm, copy, markers), name, "roofline", _caption(dtype, gemm, copy),
                        _description(dtype, points, gemm, copy))
        drawn["svg"] = with_tooltips(drawn["svg"], {
            f"{name}-point{i}": _tooltip(point) for i, point in enumerate(points)})
        pictures.append(drawn)
    return pictures


def _has_point(benchmark):
    """What does no arithmetic, such as a copy, has no place on a logarithmic scale."""
    return bool(benchmark.get("dtype") and benchmark["tflops"] and benchmark["min_bytes"])


def _intensity(benchmark):
    return benchmark["flops"] / benchmark["min_bytes"]


def _is_hollow(benchmark):
    return benchmark["class_on_stream"] == "launch-bound" and benchmark["class"] != "launch-bound"


def _caption(dtype, gemm, copy):
    roofs = [f"flat: {gemm['value']:.3g} TFLOP/s of {gemm['benchmark']}" if gemm
             else f"no flat one, for no GEMM in {dtype} was measured that is long enough",
             f"slanted: {copy['value']:.4g} GB/s of {copy['benchmark']}" if copy
             else "no slanted one, for no copy was measured"]
    return f"Roofline in {dtype}. Roofs, as this run measured them: {'; '.join(roofs)}."


def _description(dtype, points, gemm, copy):
    counts = {}
    for point in points:
        counts[point["class"] or UNKNOWN] = counts.get(point["class"] or UNKNOWN, 0) + 1
    return (f"{_caption(dtype, gemm, copy)} {len(points)} benchmarks: "
            + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) + ".")


def _tooltip(point):
    shares = [f"{point[key] * 100:.1f} % of the {rate} rate"
              for key, rate in (("copy_share", "copy"), ("gemm_share", "GEMM")) if point[key] is not None]
    return "\n".join([point["name"], point["class_text"] if point["class_text"] != "-" else UNKNOWN,
                      f"{point['tflops']:.3g} TFLOP/s, {_intensity(point):.3g} FLOP/byte", *shares])


def _figure(points, gemm, copy, markers):
    with matplotlib.rc_context(STYLE):
        figure, (axis,) = panel_grid(1, 1, panel=(6.6, 3.5), margins=(0.65, 0.15, 0.45, 0.6), gap=(0, 0))
        _prepare_axis(axis, points, gemm, copy)
        _draw_roofs(axis, gemm, copy)
        for i, point in enumerate(points):
            colour = CLASS_COLOURS[point["class"]]
            axis.plot([_intensity(point)], [point["tflops"]], gid=f"point{i}", linestyle="",
                      marker=markers[point["operation"]], markersize=5.5,
                      markeredgecolor=colour, markerfacecolor="none" if _is_hollow(point) else colour,
                      markeredgewidth=1.2, alpha=0.85)
        _add_legend(figure, points, markers)
        return figure


def _prepare_axis(axis, points, gemm, copy):
    intensities, rates = [_intensity(point) for point in points], [point["tflops"] for point in points]
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
        _name_slanted(axis, left, end, slope, f"copy rate, {copy['value']:.4g} GB/s")
    if gemm:
        start = gemm["value"] * 1e3 / copy["value"] if copy else left
        axis.plot([start, right], [gemm["value"]] * 2, gid="gemmroof", **style)
        axis.annotate(f"GEMM rate, {gemm['value']:.3g} TFLOP/s", (right, gemm["value"]), (0, 3),
                      textcoords="offset points", ha="right", va="bottom", fontsize=8)


def _name_slanted(axis, left, end, slope, text):
    """Above the middle of the visible part, along the line."""
    start = max(left, axis.get_ylim()[0] / slope)
    (x0, y0), (x1, y1) = axis.transData.transform([(start, start * slope), (end, end * slope)])
    middle = math.sqrt(start * end)
    axis.annotate(text, (middle, middle * slope), (-3, 3), textcoords="offset points", ha="center", va="bottom",
                  rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", fontsize=8)


def _add_legend(figure, points, markers):
    """Colours above, shapes below."""
    def marker(label, shape, colour, face):
        return Line2D([], [], linestyle="", marker=shape, markersize=5.5, color=colour, markerfacecolor=face,
                      label=label)

    classes = [name for name in CLASS_COLOURS if any(point["class"] == name for point in points)]
    colours = [marker(name or UNKNOWN, "o", CLASS_COLOURS[name], CLASS_COLOURS[name]) for name in classes]
    if any(_is_hollow(point) for point in points):
        colours.append(marker(f"hollow: {ON_STREAM}", "o", INK, "none"))
    shapes = [marker(operation, shape, INK, INK) for operation, shape in markers.items()
              if any(point["operation"] == operation for point in points)]
    for handles, down in ((colours, 1.0), (shapes, 1 - LEGEND_LINE / figure.get_figheight())):
        figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, down), ncols=len(handles),
                      frameon=False, borderaxespad=0, columnspacing=1.2, handletextpad=0.2)
