"""What is printed, by the rules of fusegate itself (baselines/io/printable.h, ci/console/output.h): others' names reach
a terminal or a log as text, never as something that it acts on."""

from __future__ import annotations

import contextlib
import os
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


def take_streams() -> None:
    """Readies standard output and error for any text. What the caller closed is opened: a file that is opened later
    would take its number, and what a library prints would go there. What is written to a closed output still fails."""
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        try:
            os.fstat(number)
        except OSError:
            _open_at(number, os.O_RDWR if name == "stderr" else os.O_RDONLY)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # of a test or a notebook
            stream.reconfigure(errors="backslashreplace")


def _open_at(number: int, flags: int) -> None:
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)


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
