"""The command line, whose flags are fusegate_bench's where both have them (bench/plan/options.h)."""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any, Callable, Optional

from .errors import InputError
from .loading import Kernels
from .measuring.protocol import CHOICES, FLAG_HELP, FLAGS, with_flags
from .plan import name_filter
from .problem import AXIS_VALUES, AxisValue, is_axis_value, parse_axis_value
from .suite import ALL, Suite, Sweep, read_suite
from .version import __version__

# Where relative paths of the command line begin, wherever the kernels go: fusegate is loaded before they are.
START = pathlib.Path.cwd()
STUCK_AFTER_S = 300
# fusegate's to set, which does not know the device (baselines/record/program_variables.h).
_STUCK_AFTER_VARIABLE = "FUSEGATE_STUCK_AFTER_S"
# Of fusegate_bench's, what a Python program cannot do; `fusegate run` asks for the first and goes on without.
_OTHERS = {"--identify": "a Python program does not tell the machine code that it launches, so that all is measured",
           "--trace": "record one by torch.profiler, or `nsys profile`"}


@dataclasses.dataclass
class Options:
    """What was asked for; the fields are named as the flags."""

    target: Optional[str]
    suite: Optional[str]
    device: str
    axes: dict[str, list[AxisValue]]
    problems: list[dict[str, AxisValue]]
    dtypes: Optional[list[str]]
    operations: Optional[list[str]]
    implementations: Optional[list[str]]
    protocol: dict[str, Any]
    wanted: Callable[[str], bool]
    seed: Optional[int]
    out: Optional[pathlib.Path]
    invocation: int
    progress: bool
    environment: bool
    plan: bool
    profile: bool
    energy_ms: int
    stuck_after: Optional[int]
    resume: bool
    force: bool

    def stuck_after_s(self, device: str) -> Optional[float]:
        """A check on a CPU may take long, so that nothing is given up there that no flag says it for."""
        if self.stuck_after is not None:
            return self.stuck_after
        told = os.environ.get(_STUCK_AFTER_VARIABLE, "")
        return None if device == "cpu" else int(told) if told.isdigit() and int(told) else STUCK_AFTER_S


class Parser(argparse.ArgumentParser):
    """Raises InputError in place of ending the program."""

    def error(self, message: str) -> None:
        flag = re.match(r"argument (--[\w-]+)[^:]*: (.*)", message, re.DOTALL)
        raise InputError(flag[1], "", flag[2]) if flag else InputError("the command line", "", message)


def parse_options(arguments: Sequence[str], takes_target: bool) -> Options:
    """takes_target: of `python -m fusegate run`, which is told the kernels' file; else they are loaded already. Raises
    InputError, and SystemExit after --help or --version."""
    for argument in arguments:
        flag = argument.partition("=")[0]
        if flag in _OTHERS:
            raise InputError(argument, "", f"unknown flag; {_OTHERS[flag]}")
    given = vars(_parser(takes_target).parse_args(arguments))
    axes, problems = _axes(given.pop("axis") or []), [_problem(text) for text in given.pop("problem") or []]
    if problems and (axes or given["suite"]):
        raise InputError("--problem", "", f"stands in place of {'--axis' if axes else '--suite'}")
    flags = {key: given.pop(key) for key in FLAGS}
    protocol = {key: value for key, value in flags.items() if value is not None}
    if given["resume"] and given["out"] is None:
        raise InputError("--resume", "", "needs --out")
    if given["out"] is not None:
        given["out"] = START / given["out"]
    return Options(axes=axes, problems=problems, protocol=protocol, wanted=given.pop("filter"),
                   target=given.pop("target", None), profile=given.pop("profile") == "on", **given)


def suite_of(options: Options, kernels: Kernels) -> Suite:
    """What is asked for, with the flags in place of what the suite says. Raises InputError."""
    operations = kernels.operations
    if options.problems:
        suite = Suite("custom", {}, {}, [Sweep(axes={axis: [value] for axis, value in problem.items()})
                                         for problem in options.problems])
    else:
        suite = read_suite(options.suite or ALL, kernels.folder / "suites", operations)
    for given, known, flag in ((options.operations, operations, "--operation"),
                               (options.implementations, kernels.implementation_names(), "--implementation")):
        for name in given or ():
            if name not in known:
                raise InputError(flag, "", f"unknown name '{name}'; known: {', '.join(known)}")
    for sweep in suite.sweeps:
        sweep.operations = options.operations or sweep.operations
        sweep.implementations = options.implementations or sweep.implementations
        sweep.dtypes = options.dtypes or sweep.dtypes
        sweep.axes.update(options.axes)
        if options.problems:  # of those that have just these axes
            sweep.operations = [name for name in sweep.operations or operations
                                if set(operations[name].axes) == set(sweep.axes)]
    named = {axis for sweep in suite.sweeps for axis in sweep.axes}
    swept = {axis for operation in operations.values() for axis in operation.axes
             if any(sweep.takes(operation) for sweep in suite.sweeps)}
    for axis in sorted(named - swept):
        raise InputError("--problem" if options.problems else f"--axis {axis}", "",
                         f"no operation that is measured has {'these axes' if options.problems else 'this axis'}; "
                         f"there are {_axes_text(kernels)}")
    suite.protocol = with_flags(suite.protocol, options.protocol)
    return suite


def _parser(takes_target: bool) -> Parser:
    program = "python3 -m fusegate run kernels.py" if takes_target else "python3 %(prog)s"
    parser = Parser(prog="python -m fusegate run" if takes_target else None, allow_abbrev=False,
                    epilog=f"Example: {program} --axis rows=64 --filter triton --out 1.json",
                    description="Measures benchmarks once, each in fresh memory: a run is several such processes. "
                                "`fusegate run --program` starts them.")
    if takes_target:
        parser.add_argument("target", metavar="FILE_OR_MODULE", help="what registers the benchmarks: kernels.py, or "
                                                                     "team.kernels")
    parser.add_argument("--version", action="version", version=f"fusegate {__version__}")
    what = parser.add_argument_group("What is measured")
    what.add_argument("--suite", help=f"{ALL} (the default: every problem that is registered), a .json file, or the name "
                                      f"of one in suites/ beside the kernels")
    what.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto",
                      help="where it is measured (default: auto, a GPU where there is one)")
    what.add_argument("--axis", action="append", metavar="NAME=VALUE,...",
                      help="values of an axis, as in --axis rows=8,64; may be repeated")
    what.add_argument("--problem", action="append", metavar="AXIS:VALUE/...",
                      help="one problem, in place of a suite; may be repeated")
    for flag, name, told in (("--dtype", "dtypes", "number formats, such as bf16,fp32"),
                             ("--operation", "operations", "names of operations"),
                             ("--implementation", "implementations", "names of implementations")):
        what.add_argument(flag, dest=name, type=_names, metavar="NAME,...", help=f"{told}; all where left out")
    what.add_argument("--filter", "--benchmark_filter", type=_filter, default="", metavar="REGEX",
                      help="measure the benchmarks whose names fit; with a leading '-', those that do not")
    how = parser.add_argument_group("How it is measured")
    for key, kind in FLAGS.items():
        how.add_argument(f"--{key.replace('_', '-')}", *(["--layouts"] if key == "places" else []), dest=key, type=kind, help=FLAG_HELP[key],
                         metavar="N" if kind is int else f"{{{','.join(CHOICES[key])}}}")
    how.add_argument("--seed", type=int, help="of the random inputs; by default another one each time")
    how.add_argument("--stuck-after-s", dest="stuck_after", type=_at_least_one,
                     help=f"a benchmark of which a check or a place takes longer has failed; the rest is measured in a "
                          f"fresh process (default: {STUCK_AFTER_S} on a GPU, never on a CPU)")
    out = parser.add_argument_group("What is written")
    out.add_argument("--out", type=pathlib.Path, help="the run file")
    out.add_argument("--invocation", "--process", type=_at_least_one, default=1, help="the number of this process in its run")
    out.add_argument("--progress", action="store_true", help="print lines that fusegate reads, in place of the table")
    out.add_argument("--environment", action="store_true", help="print the environment as JSON and stop")
    out.add_argument("--plan", action="store_true", help="print as JSON what would be measured, and stop")
    out.add_argument("--profile", choices=("on", "off"), default="on",
                     help="whether torch's profiler records what each benchmark launches, after all are measured")
    add_energy_flag(out)
    out.add_argument("--resume", action="store_true", help="measure what the run file of --out lacks, and add it there")
    out.add_argument("--force", action="store_true",
                     help="replace the file of --out also where it holds something else than what is measured now")
    return parser


def add_energy_flag(parser: Any) -> None:
    parser.add_argument("--energy-ms", type=_energy_ms, default=0,
                        help="run each benchmark so long after all are measured, and record the energy that a call "
                             "takes, where the GPU counts it; by default not at all")


def _names(text: str) -> list[str]:
    return text.split(",")


def _energy_ms(text: str) -> int:
    if not text.isdigit() or int(text) > 60_000:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 0 to 60000")
    return int(text)


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number from 1")
    return int(text)


def _filter(text: str) -> Callable[[str], bool]:
    try:
        return name_filter(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from error


def _value(text: str) -> Optional[AxisValue]:
    value = parse_axis_value(text)
    return value if is_axis_value(value) else None


def _axes(texts: Sequence[str]) -> dict[str, list[AxisValue]]:
    axes: dict[str, list[AxisValue]] = {}
    for text in texts:
        name, _, given = text.partition("=")
        values = [_value(value) for value in given.split(",")]
        if not name or None in values:
            raise InputError("--axis", "", f"'{text}' is not NAME=VALUE,...; a value is {AXIS_VALUES}")
        axes.setdefault(name, []).extend(values)
    return axes


def _problem(text: str) -> dict[str, AxisValue]:
    parts = [part.partition(":") for part in text.split("/")]
    problem = {axis: _value(value) for axis, _, value in parts}
    if None in problem.values() or "" in problem or len(problem) != len(parts):
        raise InputError("--problem", "", f"'{text}' is not AXIS:VALUE/...; a value is {AXIS_VALUES}")
    return problem


def _axes_text(kernels: Kernels) -> str:
    return "; ".join(f"{name}: {', '.join(operation.axes)}" for name, operation in kernels.operations.items())
