"""Text as Markdown."""

import re


class InputError(Exception):
    """Says what a person has to mend, and in which page, schema or header."""


def fenced(text, language):
    """As code, whatever it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def for_python_markdown(text):
    """GitHub's Markdown as Python-Markdown wants it: lists within lists by four spaces, Markdown within HTML by name."""
    text = re.sub(r"^( {2,3})(?=(?:[-*]|\d+\.) )", "    ", text, flags=re.MULTILINE)
    return text.replace("<details>", '<details markdown="1">')
