"""The plan: the suite's benchmarks that can be measured here."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
from typing import Callable, Optional

from .errors import InputError
from .implementation import Implementation, Stage
from .operation import Operation
from .problem import Problem
from .suite import Suite, planned_problems


@dataclasses.dataclass(frozen=True)
class Benchmark:
    """An implementation on a problem."""

    implementation: Implementation
    problem: Problem

    @property
    def operation(self) -> Operation:
        return self.implementation.operation

    @property
    def name(self) -> str:
        return self.implementation.benchmark_name(self.problem)

    def work(self) -> list[Stage]:
        return self.implementation.work(self.problem)


@dataclasses.dataclass
class Plan:
    """benchmarks: each once; those of one operation and problem are neighbours, since they share the reference. refusals:
    what is left out and why, one sentence each."""

    benchmarks: list[Benchmark]
    refusals: list[str]

    def controls(self, suite: Suite) -> list[str]:
        """The sorted names of those that are registered as controls or named by the suite."""
        return sorted(each.name for each in self.benchmarks if each.operation.is_control or
                      any(re.search(pattern, each.name) for pattern in suite.controls))


    def compared_with(self, suite: Suite) -> dict[str, list[str]]:
        """By operation, the implementation that reports compare the others with."""
        operations = {each.operation.name: each.operation for each in self.benchmarks}
        return {name: [suite.compared_with.get(name) or operation.compared_with]
                for name, operation in sorted(operations.items())}


def make_plan(suite: Suite, operations: dict[str, Operation], device: str, wanted: Callable[[str], bool],
              is_installed: Optional[Callable[[str], bool]] = None) -> Plan:
    """wanted: by a benchmark's name. Raises InputError if nothing is left to measure."""
    is_installed = is_installed or _is_installed
    benchmarks: dict[str, Benchmark] = {}
    refusals: dict[str, None] = {}
    for sweep in suite.sweeps:
        for operation in operations.values():
            if not sweep.takes(operation):
                continue
            chosen = [each for each in operation.implementations.values()
                      if sweep.implementations is None or each.name in sweep.implementations]
            fitting = [each for each in chosen if not _refuse(each, device, is_installed, refusals)]
            for problem in planned_problems(sweep, operation, device, suite.name):
                for each in fitting:
                    benchmark = Benchmark(each, problem)
                    if wanted(benchmark.name):
                        benchmarks[benchmark.name] = benchmark
    if not benchmarks:
        raise InputError(suite.name, "sweeps", f"nothing is left to run: "
                                               f"{next(iter(refusals), 'no benchmark matches --filter')}")
    return Plan(list(benchmarks.values()), list(refusals))


def name_filter(expression: str) -> Callable[[str], bool]:
    """A regular expression; a leading '-' negates it. Raises re.error, or RecursionError for too many brackets."""
    negated = expression.startswith("-")
    pattern = re.compile(expression[1:] if negated else expression)
    # Google Benchmark matches the name with this suffix.
    return lambda name: bool(pattern.search(f"{name}/manual_time")) != negated


def _refuse(implementation: Implementation, device: str, is_installed: Callable[[str], bool],
            refusals: dict[str, None]) -> bool:
    missing = [name for name in implementation.requires if not is_installed(name)]
    why = ""
    if implementation.device not in (None, device):
        why = f"it runs on {implementation.device} only, and this is {device}"
    elif implementation.arrays == "cupy" and device != "cuda":
        why = f"it takes CuPy's arrays, and this is {device}"
    elif implementation.arrays == "numpy" and device != "cpu":
        why = f"it takes NumPy's arrays, and this is {device}"
    elif missing:
        why = f"{missing[0]} is not installed"
    if why:
        refusals[f"{implementation.full_name}: {why}"] = None
    return bool(why)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
