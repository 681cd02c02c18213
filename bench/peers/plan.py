"""Makes the list of benchmarks: of fusegate_bench's plan, what the installed libraries can run, registered as any
user of the package registers operations and implementations."""

import fusegate
from fusegate.errors import InputError
from fusegate.plan import Benchmark, Plan

import problems
from implementations import IMPLEMENTATIONS
from problems import DTYPES, Problem

WHERE = "bench/peers"


def make_plan(given, takes_name, libraries=None):
    """given: fusegate_bench's plan. takes_name: tells by an implementation's and a benchmark's name whether it is
    wanted. libraries: those that are installed; all where left out, of a plan that is only looked at. Raises
    InputError where nothing is left to run. The implementations that a suite names are fusegate's own; they choose
    nothing here."""
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
                         f"nothing is left to run: {next(iter(_told(refusals)), 'no peer fits')}")
    return Plan(list(benchmarks.values()), _told(refusals))


def _told(refusals):
    """One sentence for all that an operation lacks for the same reason."""
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
    """theirs: a function of the package's problem, which gives ours."""
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
            refusals[(f"{operation.name} in {problem.dtype}", "fusegate_bench has it on no GPU either")] = {}
        else:
            benchmarks[benchmark.name] = benchmark
