"""Reports failures by cause: an implementation that is wrong on 48 problems has one cause, and takes two lines, not 48."""

from __future__ import annotations

import re
from typing import Callable

# Parts that differ between failures of one cause: a problem's name, numbers, addresses.
_VARIES = re.compile(r"0x[0-9a-f]+|[-+.\w]*\d[-+.\w]*(:[-+.\w]+|/[-+.:\w]+)*|\binf\b|\bnan\b")


class FailureReport:
    """say: prints a line. Prints the first failure of a cause at once, and the names of the others at the end."""

    def __init__(self, say: Callable[[str], None]):
        self._say = say
        self._others: dict[tuple[str, str], list[str]] = {}

    def report(self, implementation: str, benchmark: str, message: str) -> None:
        cause = implementation, _VARIES.sub("#", message)
        if cause in self._others:
            self._others[cause].append(benchmark)
            return
        self._others[cause] = []
        self._say(f"{benchmark}: {message}")

    def report_others(self) -> None:
        """Prints the names of the failures that report() did not print, once."""
        for (implementation, _), names in self._others.items():
            if names:
                problems = ", ".join(name[len(implementation) + 1:] for name in names)
                self._say(f"{implementation}: {len(names)} more failed in the same way: {problems}")
        self._others.clear()
