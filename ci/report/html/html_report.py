"""Lays out fusegate's report: the document as JSON (ci/report/document.h) on standard input becomes one
self-contained HTML page on standard output; with --svg, one of its pictures becomes an SVG file of its own. Every
word and figure comes with the document; what is decided here is where it goes."""

import json
import pathlib
import sys

try:
    import jinja2
    import matplotlib
    from inline_svg import inline_svg, standalone_svg, with_tooltips
    from line_plot import line_figure
    from map_plot import map_figure
    from roofline_plot import roofline_figure
    from style import SERIES_COLOURS, STYLE
except ImportError as error:
    sys.exit(f"the HTML report needs the Python packages matplotlib and jinja2 ({error})")

FIGURES = {"lines": line_figure, "map": map_figure, "roofline": roofline_figure}


class Pictures:
    """Draws the pictures of a page, no identifier twice."""

    def __init__(self):
        self._drawn = 0

    def svg(self, picture):
        name = f"picture{self._drawn}"
        self._drawn += 1
        drawn = draw(picture, lambda figure: inline_svg(figure, name, picture["description"]))
        tooltips = {f"{name}-point{i}": point["tooltip"] for i, point in enumerate(picture.get("points", []))}
        return with_tooltips(drawn, tooltips)


def draw(picture, write):
    with matplotlib.rc_context(STYLE):  # "svg.fonttype" acts only when it is written
        return write(FIGURES[picture["kind"]](picture))


def stage_colours(bars):
    """One a stage in all bars; none for the gaps."""
    stages = dict.fromkeys(part["stage"] for bar in bars for part in bar["parts"] if not part["is_gap"])
    return {stage: SERIES_COLOURS[i % len(SERIES_COLOURS)] for i, stage in enumerate(stages)}


def laid_end_to_end(bar):
    """Each part with where it begins, in shares. Medians need not add up to the whole: what is too long ends with
    the bar."""
    at, parts = 0.0, []
    for part in bar["parts"]:
        width = min(part["share"], 1 - at)
        if width > 0:
            parts.append({**part, "at": at, "width": width})
        at += width
    return parts


def render(document):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.globals.update(svg=Pictures().svg, stage_colours=stage_colours, laid_end_to_end=laid_end_to_end)
    return environment.get_template("report.html.j2").render(document=document)


def main():
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    model = json.load(sys.stdin)
    if sys.argv[1:] == ["--svg"]:
        sys.stdout.write(draw(model, lambda figure: standalone_svg(figure, model["description"])))
    else:
        sys.stdout.write(render(model))


if __name__ == "__main__":
    main()
