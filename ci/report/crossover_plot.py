"""Where fusion stops paying: the fused implementation's time over the less fused one's, over M, with the M at
which the ratio crosses 1. Ratios and crossings come with the model."""

from panels import MARKERS, REFERENCE_STYLE, SERIES_COLOURS, panels_over_rows, picture


def crossover_picture(crossovers, name):
    """Of one operation and dtype, at least one."""
    pairs = sorted({_pair(one) for one in crossovers}, key=[_pair(one) for one in crossovers].index)
    shapes = sorted({(one["dim"], one["hidden"]) for one in crossovers})
    rows = sorted({point["rows"] for one in crossovers for point in one["points"]})

    def draw(axis, shape):
        for one in crossovers:
            if (one["dim"], one["hidden"]) == shape:
                _draw(axis, one, pairs.index(_pair(one)))
        axis.axhline(1, **{**REFERENCE_STYLE, "marker": ""})

    figure = panels_over_rows(shapes, rows, "time over the other's", draw)
    of = f"{crossovers[0]['operation']} in {crossovers[0]['dtype']}"
    return picture(figure, name, "crossover",
                   f"Where fusion stops paying: time of {of} over the less fused one's. Below 1 it pays; a "
                   "diamond marks where the ratio crosses 1, log of the ratio over log of M between two "
                   "measured ones.",
                   f"{of}. " + "; ".join(f"dim {one['dim']}, hidden {one['hidden']}, {_pair(one)}: {one['text']}"
                                         for one in crossovers) + ".")


def _pair(crossover):
    return f"{crossover['implementation']} / {crossover['against']}"


def _draw(axis, crossover, index):
    colour = SERIES_COLOURS[index % len(SERIES_COLOURS)]
    points = crossover["points"]
    axis.plot([point["rows"] for point in points], [point["ratio"] for point in points],
              color=colour, marker=MARKERS[index % len(MARKERS)], label=_pair(crossover))
    for crossing in crossover["crossings"]:
        axis.plot([crossing["rows"]], [1], color=colour, linestyle="", marker="D", markersize=8,
                  markerfacecolor="none", markeredgewidth=1.6)
        axis.annotate(f"M {crossing['rows']:.0f}", (crossing["rows"], 1), (0, 8), textcoords="offset points",
                      ha="center", va="bottom", fontsize=8)
