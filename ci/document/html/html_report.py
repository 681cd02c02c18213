"""Lays out fusegate's report: the document as JSON (ci/document/document.h) on standard input becomes one
self-contained HTML page on standard output; with --svg, one of its pictures becomes an SVG file of its own. Every
word and figure comes with the document; what is decided here is where it goes."""

import json
import pathlib
import re
import sys

try:
    import settings_folder  # noqa: F401 (before matplotlib)
    import jinja2
    import matplotlib
    import speed_up_map
    from inline_svg import inline_svg, standalone_svg, with_tooltips
    from line_plot import line_figure, line_legend, line_panels
    from roofline_plot import roofline_legend, roofline_panels
    from style import SERIES_COLOURS, STYLE
    from table_layout import FITS, laid_out
except ImportError as error:
    sys.exit(f"the HTML report needs the Python packages matplotlib and jinja2: pip install 'fusegate[report]' ({error})")

PANELS = {"lines": line_panels, "roofline": roofline_panels}
LEGENDS = {"lines": line_legend, "roofline": roofline_legend}


class Pictures:
    """Draws the pictures of a page, no identifier twice."""

    def __init__(self):
        self._drawn = 0

    def panels(self, picture):
        """Titles and SVG."""
        return [(title, self._svg(figure, title or picture["caption"], picture.get("points", [])))
                for title, figure in PANELS[picture["kind"]](picture)]

    def _svg(self, figure, title, points):
        name = f"picture{self._drawn}"
        self._drawn += 1
        drawn = written(lambda: inline_svg(figure, name, title))
        return with_tooltips(drawn, {f"{name}-point{i}": point["tooltip"] for i, point in enumerate(points)})


def written(as_svg):
    with matplotlib.rc_context(STYLE):  # "svg.fonttype" acts only when it is written
        return as_svg()


def legend(picture):
    return LEGENDS[picture["kind"]](picture)


class Anchors:
    """Names of sections for links to them, none twice."""

    def __init__(self):
        self._taken = set()

    def name(self, title):
        name = stem = "-".join(["section", *re.findall("[a-z0-9]+", title.lower())])
        while name in self._taken:
            name = f"{stem}-{len(self._taken)}"
        self._taken.add(name)
        return name


def folded_facts(facts):
    """What is behind a fold, in a line: which facts, and how many notes."""
    labels = list(dict.fromkeys(fact["label"] for fact in facts if fact["label"] != "note"))
    notes = sum(fact["label"] == "note" for fact in facts)
    if notes:
        labels.append(f"{notes} note{'s' if notes > 1 else ''}")
    text = " and ".join(filter(None, (", ".join(labels[:-1]), *labels[-1:])))
    return text[:1].upper() + text[1:]


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
    environment.globals.update(panels=Pictures().panels, legend=legend, stage_colours=stage_colours,
                               laid_end_to_end=laid_end_to_end, laid_out=laid_out, folded_facts=folded_facts,
                               speed_up_map=speed_up_map, fits=FITS)
    anchors = Anchors()
    sections = [{**section, "anchor": anchors.name(section["title"])} for section in document["sections"]]
    return environment.get_template("report.html.j2").render(document={**document, "sections": sections})


def main():
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    model = json.load(sys.stdin)
    if sys.argv[1:] == ["--svg"]:
        figure = line_figure(model)
        sys.stdout.write(written(lambda: standalone_svg(figure, model["description"])))
    else:
        sys.stdout.write(render(model))


if __name__ == "__main__":
    main()
