"""`fusegate run` and `fusegate gate`, as the pytest plugin calls them."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Optional

from .errors import InputError
from .gate_program import find_gate_program
from .version import __version__

_BENCH = [sys.executable, "-m", "fusegate.bench"]
_PACKAGE = pathlib.Path(__file__).resolve().parents[1]


class ProgramError(Exception):
    """What a program printed about its failure, as lines."""


def matching_program(given: Optional[str]) -> str:
    """The program `fusegate`. Raises InputError if it is missing or of another major version."""
    program = find_gate_program(given)
    printed = _run([program, "--version"]).stdout.strip()
    version = re.search(r"(\d+)\.\d+", printed)
    if version is None or version[1] != __version__.partition(".")[0]:
        raise InputError(program, "", f"--version prints \"{printed}\", but the Python package is fusegate {__version__}; "
                                      f"install both with the same major version")
    return program


def measure(program: str, kernels: str, kernels_folder: pathlib.Path, run: pathlib.Path, flags: Sequence[str]) -> None:
    """Fills the run folder. flags: of `fusegate run`. Raises ProgramError."""
    result = _run([program, "run", "--program", shlex.join([*_BENCH, kernels]), "--all", "--out", str(run), *flags],
                  kernels_folder)
    if result.returncode != 0:
        lines = [line for line in result.stderr.splitlines() if line.startswith("fusegate: ")] or [result.stderr]
        raise ProgramError("\n".join([f"fusegate could not measure {kernels} (exit code {result.returncode}):", *lines]))


def gate(program: str, baseline: pathlib.Path, run: pathlib.Path) -> tuple[int, str, list[dict[str, Any]]]:
    """Writes the gate's JSON beside the run folder, as FOLDER.gate.json. Returns the exit code, what it printed, and the
    verdicts."""
    path = run.with_name(f"{run.name}.gate.json")
    path.unlink(missing_ok=True)  # of an earlier run
    result = _run([program, "gate", "--baseline", str(baseline), "--candidate", str(run), "--json", str(path)])
    verdicts = json.loads(path.read_text(encoding="utf-8"))["verdicts"] if path.is_file() else []
    printed = result.stdout.strip() or result.stderr.strip() or f"exit code {result.returncode}"
    return result.returncode, printed.removeprefix("Could not judge: "), verdicts


def registered_benchmarks(kernels: str, kernels_folder: pathlib.Path) -> list[str]:
    """The names of those that this machine can measure; none if they cannot be listed."""
    printed = _run([*_BENCH, kernels, "--benchmark_list_tests"], kernels_folder).stdout
    return [name for name, suffix, _ in (line.partition("/manual_time") for line in printed.splitlines()) if suffix]


def run_files(folder: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("[0-9]*.json"))]


def median_times_ns(files: Sequence[dict[str, Any]]) -> dict[str, float]:
    """By benchmark: the median over the files of their median times."""
    samples: dict[str, dict[int, list[float]]] = {}  # by benchmark and file
    for number, file in enumerate(files):
        for entry in file["benchmarks"]:
            samples.setdefault(entry["name"], {}).setdefault(number, []).append(entry["real_time"])
    return {name: statistics.median(map(statistics.median, by_file.values())) for name, by_file in samples.items()}


def _run(command: Sequence[str], folder: Optional[pathlib.Path] = None) -> subprocess.CompletedProcess:
    """folder: where it runs."""
    environment = dict(os.environ)
    if "site-packages" not in _PACKAGE.parts:  # a checkout, which pytest may have found by its own settings
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_PACKAGE), environment.get("PYTHONPATH"))))
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, encoding="utf-8",
                          errors="backslashreplace")  # programs may print any encoding
