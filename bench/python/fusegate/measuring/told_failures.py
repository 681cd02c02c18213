"""Says what failed: an implementation that is wrong on 48 problems is one thing to mend, and not 48 lines."""

from __future__ import annotations

import re
from typing import Callable

# What differs between two failures of one cause: a problem's name, its numbers, an address.
_VARIES = re.compile(r"0x[0-9a-f]+|[-+.\w]*\d[-+.\w]*(:[-+.\w]+|/[-+.:\w]+)*|\binf\b|\bnan\b")


class ToldFailures:
    """say: prints a line. The first failure of a cause is told at once and whole; the names of the others, at the end."""

    def __init__(self, say: Callable[[str], None]):
        self._say = say
        self._rest: dict[tuple[str, str], list[str]] = {}

    def tell(self, implementation: str, benchmark: str, message: str) -> None:
        cause = implementation, _VARIES.sub("#", message)
        if cause in self._rest:
            self._rest[cause].append(benchmark)
            return
        self._rest[cause] = []
        self._say(f"{benchmark}: {message}")

    def tell_rest(self) -> None:
        """Once."""
        for (implementation, _), names in self._rest.items():
            if names:
                problems = ", ".join(name[len(implementation) + 1:] for name in names)
                self._say(f"{implementation}: {len(names)} more failed in the same way: {problems}")
        self._rest.clear()
