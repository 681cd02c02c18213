"""Where fusion stops paying: the fused implementation's time over the less fused one's, over M, with the M at
which the ratio crosses 1. Ratios and crossings come with the model."""

from panels import MARKERS, REFERENCE_STYLE, SERIES_COLOURS, panels_over_rows, picture


def crossover_picture(crossovers, name):
    """Of one operation and dtype, at least one."""
    pairs = sorted({_pair(one) for one in crossovers}, key=[_pair(one) for one in crossovers].index)
    shapes = sorted({(one["dim"], one["hidden"]) for one in crossovers})
    rows = sorted({point["rows"] for one in crossovers for point in one["points"]})

    def draw(axis, shape):
        here = [one for one in crossovers if (one["dim"], one["hidden"]) == shape]
        for one in here:
            _draw(axis, one, pairs.index(_pair(one)))
        _name_crossings(axis, [crossing["rows"] for one in here for crossing in one["crossings"]])
        axis.axhline(1, **{**REFERENCE_STYLE, "marker": ""})
        axis.margins(y=0.2)  # room for the names

    figure = panels_over_rows(shapes, rows, "time over the other's", draw, height=2.1)
    of = f"{crossovers[0]['operation']} in {crossovers[0]['dtype']}"
    return picture(figure, name, "crossover",
                   f"Where fusion stops paying: time of {of} over the less fused one's. Below 1 it pays; a "
                   "cross marks where the ratio crosses 1, log of the ratio over log of M between two "
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
        axis.plot([crossing["rows"]], [1], color=colour, linestyle="", marker="x", markersize=7,
                  markeredgewidth=1.8)


def _name_crossings(axis, crossings):
    """Above and below in turn: two that lie close together stay legible."""
    for i, rows in enumerate(sorted(crossings)):
        up = i % 2 == 0
        axis.annotate(f"M {rows:.0f}", (rows, 1), (0, 6 if up else -6), textcoords="offset points",
                      ha="center", va="bottom" if up else "top", fontsize=8)
