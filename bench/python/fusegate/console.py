"""Prints by fusegate's own rules (baselines/io/printable.h, ci/console/output.h): a terminal or a log shows others' names
as text and never acts on them."""

from __future__ import annotations

import contextlib
import os
import re
import sys

# C0, C1 and DEL; marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs;
# surrogates, with which Python stands in for bytes that are not UTF-8.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The text as one line, with escapes for characters that a terminal, a log or a viewer would not simply show."""
    return _HARMFUL.sub(_escape, text)


def for_log(line: str) -> str:
    """A printable line that GitHub's runner does not mistake for a workflow command."""
    line = printable(line).replace("##[", "##\\x5b")
    return re.sub("^( *):(?=:)", r"\1\\x3a", line)


def take_streams() -> None:
    """Prepares standard output and error for any text. Opens closed streams: otherwise a file that is opened later would
    take the number of one, and receive what libraries print. Writing to a closed output still fails."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)  # gets the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # tests and notebooks replace the streams
            stream.reconfigure(errors="backslashreplace")


def log(message: object, program: str = "fusegate") -> None:
    """Prints one line on standard error."""
    print(for_log(f"{program}: {message}"), file=sys.stderr, flush=True)


def _escape(match: re.Match) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # stands for a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return _NAMED.get(match[0], f"\\u{code:04x}" if code > 0x7F else f"\\x{code:02x}")
