"""`fusegate gate`, as the pytest plugin calls it."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
from typing import Any, Optional

import pytest

from .console import for_log
from .version import __version__

# Programs may print any encoding.
TEXT = {"capture_output": True, "check": False, "encoding": "utf-8", "errors": "backslashreplace"}


@dataclasses.dataclass
class Answer:
    """exit_code: 0 no regression, 1 regression, 2 could not judge. headline: one line. verdicts: of `fusegate gate --json`.
    command: repeats it."""

    exit_code: int
    headline: str
    verdicts: list[dict[str, Any]]
    command: str

    def lines(self) -> list[str]:
        """The verdicts that did not pass, one a line."""
        return [for_log(_line(verdict)) for verdict in self.verdicts
                if verdict["verdict"] not in ("unchanged", "identical", "improvement", "missing")]


class Gate:
    """Compares runs with one baseline. Fails the test if the program is missing or of another version.

    Parameters
    ----------
    baseline : pathlib.Path
        A stored baseline, a run folder or a run file.
    program : str, optional
        By default the ``fusegate`` in PATH.
    """

    def __init__(self, baseline: pathlib.Path, program: Optional[str]):
        self._baseline = baseline
        found = shutil.which(program or "fusegate")
        if found is None:
            pytest.fail(f"--fusegate-baseline needs the program {program or 'fusegate'}, which was not found; install fusegate, "
                        f"or name the program with --fusegate-program", pytrace=False)
        self._program: str = found
        printed = subprocess.run([found, "--version"], **TEXT).stdout.strip()
        version = re.search(r"(\d+)\.\d+", printed)
        if version is None or version[1] != __version__.partition(".")[0]:
            pytest.fail(f"{found}: --version prints \"{for_log(printed)}\", but the Python package is fusegate {__version__}; "
                        f"install both with the same major version", pytrace=False)

    def judge(self, candidate: pathlib.Path) -> Answer:
        """candidate: a run folder. Writes the gate's JSON beside it, as FOLDER.gate.json."""
        path = candidate.with_name(f"{candidate.name}.gate.json")
        fresh = path.with_name(f"{path.name}.unfinished")  # an earlier answer stays until there is a later one
        fresh.unlink(missing_ok=True)
        result = subprocess.run([self._program, "gate", "--baseline", str(self._baseline), "--candidate", str(candidate),
                                 "--json", str(fresh)], **TEXT)
        if fresh.is_file():
            fresh.replace(path)
            gate = json.loads(path.read_text(encoding="utf-8"))
        else:
            path.unlink(missing_ok=True)
            gate = {}
        headline = gate.get("headline") or (result.stderr.strip().splitlines() or ["no answer"])[-1]
        return Answer(result.returncode, for_log(headline), gate.get("verdicts", []),
                      f"fusegate gate --baseline {self._baseline} --candidate {candidate}")


def _line(verdict: dict[str, Any]) -> str:
    """"regression  +3.1 %  geglu/triton/bf16/rows:8192: slower by more than ..." """
    effect = verdict.get("effect")
    change = f"{100 * effect:+.2f} %" if isinstance(effect, (int, float)) else ""
    return f"{verdict['verdict']:12} {change:>9}  {verdict['benchmark']}: {verdict.get('reason', '')}"
