"""Speed-ups as maps, one an implementation: M or another axis upwards, shapes to the right."""

import math

import matplotlib
from matplotlib.colors import TwoSlopeNorm

from style import STYLE, panel_grid


def map_figure(picture):
    maps, shapes, rows = picture["maps"], picture["shapes"], picture["rows"]
    with matplotlib.rc_context(STYLE):
        figure, axes = panel_grid(1, len(maps), panel=(max(1.5, 0.6 * len(shapes)), 0.27 * len(rows)),
                                  margins=(0.65, 0.1, 0.65, 0.3), gap=(0.2, 0), sharey=True)
        norm = _norm([cell["value"] for one in maps for cell in one["cells"]])
        for axis, one in zip(axes, maps):
            _draw_map(axis, one, shapes, rows, norm)
            axis.set_xlabel(picture["shape_axes"])
        axes[0].set_ylabel(picture["axis"])
        return figure


def _norm(values):
    """Colours by the logarithm: half as fast is as far from even as twice as fast. One scale for all."""
    most = 1.2 * max([0.1] + [abs(math.log2(value)) for value in values])
    return TwoSlopeNorm(vmin=-most, vcenter=0, vmax=most)


def _draw_map(axis, one, shapes, rows, norm):
    colours = matplotlib.colormaps["RdBu"]
    for cell in one["cells"]:
        x, y = shapes.index(cell["shape"]), rows.index(cell["rows"])
        red, green, blue, _ = colour = colours(norm(math.log2(cell["value"])))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        axis.fill([x - 0.48, x + 0.48, x + 0.48, x - 0.48], [y - 0.46, y - 0.46, y + 0.46, y + 0.46],
                  color=colour, linewidth=0)
        axis.text(x, y, cell["text"], ha="center", va="center", fontsize=8, color="#ffffff" if dark else "#111111")
    axis.set_title(one["title"])
    axis.set_xlim(-0.5, len(shapes) - 0.5)
    axis.set_ylim(-0.5, len(rows) - 0.5)
    axis.set_xticks(range(len(shapes)), ["\n".join(str(size) for size in shape) for shape in shapes])
    axis.set_yticks(range(len(rows)), [str(value) for value in rows])
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
