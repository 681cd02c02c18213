"""The command line: fusegate_bench's flags where they apply, so that `fusegate run --program` drives both."""

import argparse
import re

from implementations import IMPLEMENTATIONS, MAX_AUTOTUNE
from input_error import InputError
from problems import OPERATIONS
from suite import AXES, LARGEST_AXIS, parse_suite, read_suite_json, suite_path

COMMAND_LINE = "the command line"
PROTOCOL_NUMBERS = {"samples": "samples a benchmark", "places": "allocations they are spread over",
                    "batch_us": "least length of a sample", "idle_us": "idle before every sample",
                    "warm_ms": "back to back at every place before its samples",
                    "spin_us": "0: no peer has a kernel that spins"}
PROTOCOL_TEXTS = {"regime": "burst (idle before every sample) or sustained (back to back)",
                  "order": "of places: interleaved over all benchmarks, or contiguous",
                  "l2": "L2 before a call: warm or flushed", "layout": "driver, which is all that torch has"}


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise InputError(COMMAND_LINE, "", message)


def parse_options(arguments):
    parser = Parser(prog="peers.py", allow_abbrev=False,
                    description="Times PyTorch, its compiler and Liger as fusegate_bench times its kernels: one "
                                "process an invocation.")
    parser.add_argument("--suite", help="by name (ladder, smoke, pr, nightly, claims) or .json file (default: ladder)")
    parser.add_argument("--problem", action="append", type=_problem, metavar="BATCH,SEQ,DIM,HIDDEN",
                        help="in place of a suite; may be repeated")
    for axis in AXES:
        parser.add_argument(f"--{axis}", type=_numbers, help="in place of the suite's, with commas between")
    parser.add_argument("--dtype", type=_names, help="bf16, fp16 (default with --problem: bf16)")
    parser.add_argument("--operation", type=_names, dest="operations", help=", ".join(sorted(OPERATIONS)))
    parser.add_argument("--implementation", type=_names, dest="implementations",
                        help=", ".join(_implementation_names()))
    parser.add_argument("--max-autotune", choices=("on", "off"), default="on",
                        help=f"off leaves out {MAX_AUTOTUNE}, whose compiling takes longest (default: on)")
    for key, text in PROTOCOL_NUMBERS.items():
        parser.add_argument(f"--{key.replace('_', '-')}", type=int, help=text)
    for key, text in PROTOCOL_TEXTS.items():
        parser.add_argument(f"--{key}", help=text)
    parser.add_argument("--filter", "--benchmark_filter", type=_expression, metavar="REGEX",
                        help="of benchmarks' names; a leading '-' negates it")
    parser.add_argument("--out", help="write the run file here")
    parser.add_argument("--invocation", type=_positive, default=1, help="this invocation's number in its run")
    parser.add_argument("--seed", type=int, help="of the random inputs and the order; fresh where not given")
    parser.add_argument("--progress", action="store_true", help="lines for fusegate in place of the table")
    parser.add_argument("--environment", action="store_true", help="print the environment as JSON and stop")
    return parser.parse_args(arguments)


def suite_of(options):
    """The suite with the flags in place of what it says. Raises InputError naming file and field."""
    if options.problem:
        if options.suite or any(getattr(options, axis) for axis in AXES):
            raise InputError("--problem", "", "stands in place of --suite and of the axes")
        source, value = COMMAND_LINE, {"name": "custom", "sweeps": options.problem}
    else:
        source = suite_path(options.suite or "ladder")
        value = read_suite_json(source)
        # Checked before the flags replace anything: a broken file is broken whatever the flags are.
        parse_suite(value, source)
    flags = {key: getattr(options, key) for key in (*AXES, "dtype") if getattr(options, key)}
    if options.operations:
        flags["operations"] = _known(options.operations, OPERATIONS, "--operation")
    for sweep in value["sweeps"]:
        sweep.update(flags)
    value["protocol"] = _protocol(value.get("protocol", {}), options)
    return parse_suite(value, source)


def name_filter(options):
    """Of an implementation's and a benchmark's name: whether the flags want it."""
    wanted = _known(options.implementations or _implementation_names(), _implementation_names(), "--implementation")
    expression, negated = options.filter or (re.compile(""), False)

    def takes(implementation, benchmark):
        if implementation == MAX_AUTOTUNE and options.max_autotune == "off":
            return False
        return implementation in wanted and bool(expression.search(benchmark)) != negated
    return takes


def _protocol(protocol, options):
    flags = {key: getattr(options, key) for key in (*PROTOCOL_NUMBERS, *PROTOCOL_TEXTS)
             if getattr(options, key) is not None}
    if flags.get("regime", protocol.get("regime", "burst")) != protocol.get("regime", "burst"):
        # Chosen for the suite's regime, these would make another regime something else.
        protocol = {key: value for key, value in protocol.items() if key not in ("idle_us", "places", "warm_ms")}
    return {**protocol, **flags}


def _implementation_names():
    return sorted({implementation.name for implementation in IMPLEMENTATIONS})


def _known(names, known, flag):
    for name in names:
        if name not in known:
            raise InputError(flag, "", f"unknown name '{name}'; known: {', '.join(sorted(known))}")
    return names


def _names(text):
    return text.split(",")


def _numbers(text):
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of whole numbers") from error


def _problem(text):
    numbers = _numbers(text)
    if len(numbers) != len(AXES) or not all(1 <= number <= LARGEST_AXIS for number in numbers):
        raise argparse.ArgumentTypeError(f"'{text}' is not batch,seq,dim,hidden, four whole numbers from 1 to "
                                         f"{LARGEST_AXIS}")
    return {**{axis: [number] for axis, number in zip(AXES, numbers)}, "dtype": ["bf16"]}


def _positive(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def _expression(text):
    try:
        return re.compile(text.removeprefix("-")), text.startswith("-")
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from error
