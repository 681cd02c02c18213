"""Finds and changes links of a Markdown page, except in code."""

import posixpath
import re

LINK = re.compile(r'(\]\()([^)\s]+)(\))|((?:src|href)=")([^"]+)(")')


def is_elsewhere(target):
    return bool(re.match(r"[a-z][a-z+.-]*:", target))


def without_code_spans(line):
    """The line with code in backticks replaced by blanks."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda found: " " * len(found[0]), line)


def text_lines(text):
    """Pairs of a line and whether it is text, not fenced or indented code."""
    fence = ""
    for line in text.splitlines(keepends=True):
        opened = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            yield line, False
            if opened and opened[1].startswith(fence):
                fence = ""
        elif opened:
            fence = opened[1]
            yield line, False
        else:
            yield line, not line.startswith("    ")


def links_of(text):
    for line, is_text in text_lines(text):
        for found in LINK.finditer(without_code_spans(line)) if is_text else ():
            yield found[2] or found[5]


def with_links(text, change):
    """change: from a target to the new one."""
    def changed(line):
        parts, end = [], 0
        for found in LINK.finditer(without_code_spans(line)):
            group = 2 if found[2] else 5
            parts += [line[end:found.start(group)], change(found[group])]
            end = found.end(group)
        return "".join(parts) + line[end:]
    return "".join(changed(line) if is_text else line for line, is_text in text_lines(text))


def path_of(target, page):
    """The path in the repository that a page's link leads to, and its anchor. page: the page's path in the repository."""
    path, _, anchor = target.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page, anchor
