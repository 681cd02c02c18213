"""Text as Markdown."""

import re


class InputError(Exception):
    """An error in a page, schema or header, which the message names."""


def fenced(text, language):
    """Any text as code."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def for_python_markdown(text):
    """GitHub's Markdown for Python-Markdown: nested lists with four spaces, Markdown in HTML with an attribute."""
    text = re.sub(r"^( {2,3})(?=(?:[-*]|\d+\.) )", "    ", text, flags=re.MULTILINE)
    return text.replace("<details>", '<details markdown="1">')
