"""Makes the list of benchmarks: of fusegate_bench's plan, what the installed libraries can run."""

import dataclasses

from implementations import IMPLEMENTATIONS
from input_error import InputError
from problems import DTYPES, Problem


@dataclasses.dataclass(frozen=True)
class Benchmark:
    implementation: object
    problem: object

    @property
    def name(self):
        return self.implementation.benchmark_name(self.problem)


@dataclasses.dataclass
class Plan:
    # Implementations of one operation on one problem stand side by side: they share the reference.
    benchmarks: list
    refusals: list  # what was left out and why, one sentence each


def make_plan(given, takes_name, missing=None):
    """given: fusegate_bench's plan. takes_name: tells by an implementation's and a benchmark's name whether it is
    wanted. missing: why a library cannot be used, by its name. Raises InputError where nothing is left to run. The
    implementations that a suite names are fusegate's own; they choose nothing here."""
    benchmarks, refusals = {}, {}
    known = {implementation.operation for implementation in IMPLEMENTATIONS}
    for swept in given["work"]:
        operation = swept["operation"]
        if operation not in known:
            refusals[f"operation {operation}: no peer has it"] = None
            continue
        for problem in swept["problems"]:
            _add(operation, Problem(**problem), takes_name, missing or {}, benchmarks, refusals)
    if not benchmarks:
        raise InputError(given["fusegate"]["suite"], "sweeps",
                         f"nothing is left to run: {next(iter(refusals), 'no peer fits')}")
    return Plan(list(benchmarks.values()), list(refusals))


def _add(operation, problem, takes_name, missing, benchmarks, refusals):
    for implementation in IMPLEMENTATIONS:
        benchmark = Benchmark(implementation, problem)
        if implementation.operation != operation or not takes_name(implementation.name, benchmark.name):
            continue
        why = next((missing[name] for name in implementation.needs if name in missing), "")
        if why:
            refusals[f"{operation}/{implementation.name}: {why}"] = None
        elif problem.dtype not in DTYPES:
            refusals[f"{operation} in {problem.dtype}: fusegate_bench has it on no GPU either"] = None
        else:
            benchmarks[benchmark.name] = benchmark
