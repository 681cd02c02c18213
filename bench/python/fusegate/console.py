"""What is printed, by the rules of fusegate itself (baselines/io/printable.h, ci/console/output.h): others' names reach
a terminal or a log as text, never as something that it acts on."""

from __future__ import annotations

import re
import sys

# C0, C1 and DEL; marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs;
# halves of characters, which stand for bytes that are no UTF-8.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The text as one line, with escapes where a terminal, a log or a viewer would do something else than show it."""
    return _HARMFUL.sub(_escape, text)


def for_log(line: str) -> str:
    """A printable line that GitHub's runner does not take for a command of a workflow."""
    line = printable(line).replace("##[", "##\\x5b")
    blanks = len(line) - len(line.lstrip(" "))
    return f"{line[:blanks]}\\x3a{line[blanks + 1:]}" if line.startswith("::", blanks) else line


def complain(message: object, program: str = "fusegate") -> None:
    """One line on standard error."""
    print(for_log(f"{program}: {message}"), file=sys.stderr, flush=True)


def _escape(match: re.Match) -> str:
    character = match[0]
    if character in _NAMED:
        return _NAMED[character]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # Python's own stand-in for a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code > 0x7F else f"\\x{code:02x}"
