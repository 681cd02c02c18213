"""The command line. Flags that fusegate_bench has too are the same (bench/plan/options.h)."""

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

# The base of relative paths of the command line, taken before kernels are loaded, which may change the folder.
START = pathlib.Path.cwd()
STUCK_AFTER_S = 300
# Set by fusegate, which does not know the device (baselines/record/program_variables.h).
_STUCK_AFTER_VARIABLE = "FUSEGATE_STUCK_AFTER_S"
# Flags of fusegate_bench that a Python program lacks. `fusegate run` tries the first, and continues without it.
_OTHERS = {"--identify": "a Python program cannot identify the machine code that it launches, so all benchmarks are measured",
           "--trace": "record a trace with torch.profiler or `nsys profile`"}
# Flags under the names that they had before; they are not shown.
_OLD_FLAGS = {"process": "--invocation", "layouts": "--places"}


@dataclasses.dataclass
class Options:
    """The command line's values, named as its flags."""

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
    process: int
    progress: bool
    environment: bool
    plan: bool
    profile: bool
    energy_ms: int
    stuck_after: Optional[int]
    resume: bool
    force: bool

    def stuck_after_s(self, device: str) -> Optional[float]:
        """None: no limit, which is the default on a CPU, where a check may take long."""
        if self.stuck_after is not None:
            return self.stuck_after
        given = os.environ.get(_STUCK_AFTER_VARIABLE, "")
        return None if device == "cpu" else int(given) if given.isdigit() and int(given) else STUCK_AFTER_S


class Parser(argparse.ArgumentParser):
    """Raises InputError and does not end the program."""

    def error(self, message: str) -> None:
        flag = re.match(r"argument (--[\w-]+)[^:]*: (.*)", message, re.DOTALL)
        raise InputError(flag[1], "", flag[2]) if flag else InputError("the command line", "", message)


def parse_options(arguments: Sequence[str], takes_target: bool) -> Options:
    """takes_target: whether the kernels' file is an argument, as for `python -m fusegate run`. Raises InputError, and
    SystemExit after --help or --version."""
    for argument in arguments:
        flag = argument.partition("=")[0]
        if flag in _OTHERS:
            raise InputError(argument, "", f"unknown flag; {_OTHERS[flag]}")
    given = vars(_parser(takes_target).parse_args(arguments))
    axes, problems = _axes(given.pop("axis") or []), [_problem(text) for text in given.pop("problem") or []]
    if problems and (axes or given["suite"]):
        raise InputError("--problem", "", f"cannot be combined with {'--axis' if axes else '--suite'}")
    flags = {key: given.pop(key) for key in FLAGS}
    protocol = {key: value for key, value in flags.items() if value is not None}
    if given["resume"] and given["out"] is None:
        raise InputError("--resume", "", "needs --out")
    if given["out"] is not None:
        given["out"] = START / given["out"]
    return Options(axes=axes, problems=problems, protocol=protocol, wanted=given.pop("filter"),
                   target=given.pop("target", None), profile=given.pop("profile") == "on", **given)


def suite_of(options: Options, kernels: Kernels) -> Suite:
    """The suite to measure, changed by the flags. Raises InputError."""
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
        if options.problems:  # only the operations with exactly these axes
            sweep.operations = [name for name in sweep.operations or operations
                                if set(operations[name].axes) == set(sweep.axes)]
    named = {axis for sweep in suite.sweeps for axis in sweep.axes}
    swept = {axis for operation in operations.values() for axis in operation.axes
             if any(sweep.takes(operation) for sweep in suite.sweeps)}
    for axis in sorted(named - swept):
        raise InputError("--problem" if options.problems else f"--axis {axis}", "",
                         f"no measured operation has {'these axes' if options.problems else 'this axis'}; known: "
                         f"{_axes_text(kernels)}")
    suite.protocol = with_flags(suite.protocol, options.protocol)
    return suite


def _parser(takes_target: bool) -> Parser:
    program = "python3 -m fusegate run kernels.py" if takes_target else "python3 %(prog)s"
    parser = Parser(prog="python -m fusegate run" if takes_target else None, allow_abbrev=False,
                    epilog=f"Example: {program} --axis rows=64 --filter triton --out 1.json",
                    description="Measures benchmarks once, in one process. `fusegate run --program` makes a run of several "
                                "processes.")
    if takes_target:
        parser.add_argument("target", metavar="FILE_OR_MODULE", help="registers the benchmarks: kernels.py, or team.kernels")
    parser.add_argument("--version", action="version", version=f"fusegate {__version__}")
    what = parser.add_argument_group("What is measured")
    what.add_argument("--suite", help=f"{ALL} (default: every registered problem), a .json file, or the name of one in "
                                      f"suites/ beside the kernels")
    what.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto",
                      help="the device (default: auto, a GPU if there is one)")
    what.add_argument("--axis", action="append", metavar="NAME=VALUE,...",
                      help="values of an axis, such as rows=8,64; may be repeated")
    what.add_argument("--problem", action="append", metavar="AXIS:VALUE/...",
                      help="one problem, instead of a suite; may be repeated")
    for flag, name, text in (("--dtype", "dtypes", "number formats, such as bf16,fp32"),
                             ("--operation", "operations", "names of operations"),
                             ("--implementation", "implementations", "names of implementations")):
        what.add_argument(flag, dest=name, type=_names, metavar="NAME,...", help=f"{text} (default: all)")
    what.add_argument("--filter", "--benchmark_filter", type=_filter, default="", metavar="REGEX",
                      help="measure the benchmarks whose names match; with a leading '-', the others")
    how = parser.add_argument_group("How it is measured")
    for key, kind in FLAGS.items():
        how.add_argument(f"--{key.replace('_', '-')}", dest=key, type=kind, help=FLAG_HELP[key],
                         metavar="N" if kind is int else f"{{{','.join(CHOICES[key])}}}")
    how.add_argument("--seed", type=int, help="seed of the random inputs (default: a new one each time)")
    how.add_argument("--stuck-after-s", dest="stuck_after", type=_at_least_one,
                     help=f"longest time for a benchmark's check or for one layout, in seconds; a benchmark that takes longer "
                          f"fails, and a new process measures the others (default: {STUCK_AFTER_S} on a GPU, none on a CPU)")
    out = parser.add_argument_group("What is written")
    out.add_argument("--out", type=pathlib.Path, help="the run file to write")
    out.add_argument("--process", type=_at_least_one, metavar="N", default=1, help="the number of this process in its run")
    out.add_argument("--progress", action="store_true", help="print progress lines for fusegate instead of the table")
    out.add_argument("--environment", action="store_true", help="print the environment as JSON and stop")
    out.add_argument("--plan", action="store_true", help="print the plan as JSON and stop")
    out.add_argument("--profile", choices=("on", "off"), default="on",
                     help="record what each benchmark launches with torch's profiler, after all are measured")
    add_energy_flag(out)
    out.add_argument("--resume", action="store_true", help="measure what the run file of --out lacks, and add it")
    out.add_argument("--force", action="store_true",
                     help="replace the file of --out even if it holds another measurement")
    for name, flag in _OLD_FLAGS.items():
        parser.add_argument(flag, dest=name, type=_at_least_one if name == "process" else int, default=argparse.SUPPRESS,
                            help=argparse.SUPPRESS)
    return parser


def add_energy_flag(parser: Any) -> None:
    parser.add_argument("--energy-ms", type=_energy_ms, default=0,
                        help="after measuring, run each benchmark for this long and record the energy of a call, if the "
                             "GPU counts energy (default: 0, off)")


def _names(text: str) -> list[str]:
    return text.split(",")


def _energy_ms(text: str) -> int:
    if not text.isdigit() or int(text) > 60_000:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 to 60000")
    return int(text)


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def _filter(text: str) -> Callable[[str], bool]:
    try:
        return name_filter(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from error


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
