"""A matplotlib figure as SVG that stands inside an HTML page: in the page's colours, light or dark,
scaled to its column, with a name for those who cannot see it, and no identifier twice in the page."""

import html
import io
import re

# Text, axes and grids are drawn in this colour, which then becomes the page's own. Any would do that no
# series has; matplotlib itself knows no "colour of the surrounding text".
INK = "#010203"


def inline_svg(figure, name, description):
    """name: unique in the page, letters and digits. description: what the picture shows, in a sentence."""
    return _named(_with_own_ids(_svg(figure).replace(INK, "currentColor"), name), description)


def standalone_svg(figure, description):
    """A file of its own, dark on white: it fits any page around it. The same for the same figure."""
    text = _named(_with_own_ids(_svg(figure).replace(INK, "#1b1f24"), "picture"), description)
    opening, rest = text.split(">", 1)
    return f'{opening}><rect width="100%" height="100%" fill="#ffffff"/>{rest}'


def _svg(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg"):]  # HTML allows no XML declaration
    return re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)


def with_tooltips(text, tooltips):
    """tooltips: by identifier in the page, what a pointer on that group shows."""
    def opening(match):
        tooltip = tooltips.get(match.group(1))
        return match.group(0) + (f"<title>{html.escape(tooltip)}</title>" if tooltip else "")

    return re.sub(r'<g id="([^"]+)"[^>]*>', opening, text)


def _with_own_ids(text, prefix):
    text = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", text)


def _named(text, description):
    """The first tag without its fixed size, which would not shrink on a narrow screen."""
    opening, rest = text.split(">", 1)
    width = re.search(r'width="([\d.]+)pt"', opening)
    opening = re.sub(r' (width|height)="[^"]*"', "", opening)
    size = f' style="width:{float(width.group(1)):.0f}pt"' if width else ""
    label = html.escape(description, quote=True)
    return f'{opening} role="img" aria-label="{label}"{size}>{rest}'
