"""What all pictures of the page share: colours that stand out on light and on dark, text that stays text, and
panels side by side."""

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from inline_svg import INK

# Each has a contrast of at least 3 to 1 with the page's background, the light one and the dark one
# (WCAG 2.1, 1.4.11); markers distinguish them where colours do not.
SERIES_COLOURS = ("#3b82c4", "#d9731a", "#2f9e62", "#9b6bd0", "#d8557a", "#1f93a0", "#8f8420", "#7d858d")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
REFERENCE_STYLE = {"color": "#7d858d", "linestyle": "--", "marker": "o"}

LEGEND_LINE = 0.19  # of its height, in inches
# On the page, in inches: with its labels it fits a page of 400 pixels, at 96 an inch.
PAGE_PANEL = (2.55, 1.7)

STYLE = {
    "svg.hashsalt": "fusegate",  # the same identifiers for the same picture
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


def panel_grid(lines, columns, panel, margins, gap, **shared):
    """A figure and its axes, laid out by hand in inches: matplotlib's own layout engine takes ten times
    as long, and a nightly report has thirty of these. panel and gap: (width, height); margins: left,
    right, bottom and top."""
    figure = Figure()
    FigureCanvasSVG(figure)
    axes = figure.subplots(lines, columns, squeeze=False, **shared).flatten()
    lay_out(figure, lines, columns, panel, margins, gap)
    return figure, axes


def lay_out(figure, lines, columns, panel, margins, gap):
    left, right, bottom, top = margins
    width = left + columns * panel[0] + (columns - 1) * gap[0] + right
    height = bottom + lines * panel[1] + (lines - 1) * gap[1] + top
    figure.set_size_inches(width, height)
    figure.subplots_adjust(left=left / width, right=1 - right / width, bottom=bottom / height,
                           top=1 - top / height, wspace=gap[0] / panel[0], hspace=gap[1] / panel[1])
