"""Makes the list of benchmarks: the part of fusegate_bench's plan that the installed libraries can run. Operations and
implementations are registered like those of any user of the package."""

import fusegate
from fusegate.errors import InputError
from fusegate.plan import Benchmark, Plan

import problems
from implementations import IMPLEMENTATIONS
from problems import DTYPES, Problem

WHERE = "bench/peers"


def make_plan(given, takes_name, libraries=None):
    """given: fusegate_bench's plan; the implementations that its suite names are not the peers'. takes_name: whether an
    implementation's and a benchmark's name are wanted. libraries: the installed ones; by default all, for a plan that is not
    run. Raises InputError if nothing is left to run."""
    fusegate.clear()
    benchmarks, refusals = {}, {}
    known = {implementation.operation for implementation in IMPLEMENTATIONS}
    for operation, planned in _by_operation(given).items():
        if operation not in known:
            refusals[(f"operation {operation}", "no peer has it")] = {}
            continue
        registered = _register(operation, planned, libraries)
        for problem in planned.values():
            _add(registered, problem, takes_name, libraries.missing if libraries else {}, benchmarks, refusals)
    if not benchmarks:
        raise InputError(given["fusegate"]["suite"], "sweeps",
                         f"nothing is left to run: {next(iter(_sentences(refusals)), 'no peer fits')}")
    return Plan(list(benchmarks.values()), _sentences(refusals))


def _sentences(refusals):
    """One sentence for each operation and reason."""
    return [f"{what}{'/' if names else ''}{', '.join(names)}: {why}" for (what, why), names in refusals.items()]


def _by_operation(given):
    """Each problem of an operation once, by its name."""
    found = {}
    for swept in given["work"]:
        for problem in map(Problem.of, swept["problems"]) if _is_known(swept) else ():
            found.setdefault(swept["operation"], {})[problem.name] = problem
        found.setdefault(swept["operation"], {})
    return found


def _is_known(swept):
    return any(implementation.operation == swept["operation"] for implementation in IMPLEMENTATIONS)


def _register(name, planned, libraries):
    """planned: the operation's problems by name."""
    def theirs(problem):
        return planned[problem.name]

    operation = fusegate.Operation(
        name, axes=[dict(problem.measured.items) for problem in planned.values()],
        dtypes=list(dict.fromkeys(problem.dtype for problem in planned.values())),
        inputs=lambda problem: theirs(problem).tensors(), tolerance=lambda problem: theirs(problem).error_bound,
        reference=lambda *inputs: problems.reference(libraries.modules["torch"], name, inputs), where=WHERE)
    for implementation in IMPLEMENTATIONS:
        if implementation.operation == name:
            _register_implementation(operation, implementation, theirs, libraries)
    return operation


def _register_implementation(operation, implementation, theirs, libraries):
    """theirs: maps the package's problem to ours."""
    built = {}

    def build(problem):
        built[problem] = implementation.build(libraries.modules, theirs(problem))
        return built[problem]

    def prepare(*inputs):
        return implementation.prepare(libraries.modules)(*inputs)
    operation.benchmark(implementation.name, factory=True, requires=implementation.needs,
                        prepare=prepare if implementation.prepare else None,
                        stages=lambda problem: implementation.stages(theirs(problem)),
                        choices=lambda problem: getattr(built[problem], "choices", {}))(build)


def _add(operation, problem, takes_name, missing, benchmarks, refusals):
    for implementation in operation.implementations.values():
        benchmark = Benchmark(implementation, problem.measured)
        if not takes_name(implementation.name, benchmark.name):
            continue
        why = next((missing[name] for name in implementation.requires if name in missing), "")
        if why:
            refusals.setdefault((operation.name, why), {})[implementation.name] = None
        elif problem.dtype not in DTYPES:
            refusals[(f"{operation.name} in {problem.dtype}", "fusegate_bench does not run it on a GPU either")] = {}
        else:
            benchmarks[benchmark.name] = benchmark
