"""The command line: the peers' own flags. All others say what is measured and how: they are fusegate_bench's, which
reads them, so that `fusegate run` drives both programs by the same flags."""

import argparse
import re

from implementations import IMPLEMENTATIONS, MAX_AUTOTUNE
from input_error import InputError


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise InputError("the command line", "", message)


def parse_options(arguments):
    """plan_flags: what fusegate_bench is asked for its plan by."""
    parser = Parser(prog="peers.py", allow_abbrev=False,
                    description="Times PyTorch, its compiler and Liger as fusegate_bench times its kernels: one "
                                "process an invocation.",
                    epilog="These are fusegate_bench's, which tells more of them by --help: --batch, --seq, --dim, "
                           "--hidden, --dtype, --operation, --regime, --samples, --places, --order, --batch-us, "
                           "--idle-us, --warm-ms, --spin-us (0 alone), --l2, --layout (driver alone), --invocation, "
                           "--seed.")
    parser.add_argument("--suite", help="by name (ladder, smoke, pr, nightly, claims) or .json file (default: ladder)")
    parser.add_argument("--problem", action="append", metavar="BATCH,SEQ,DIM,HIDDEN",
                        help="in place of a suite, in bf16 unless --dtype says otherwise; may be repeated")
    parser.add_argument("--implementation", type=_names, dest="implementations",
                        help=", ".join(_implementation_names()))
    parser.add_argument("--max-autotune", choices=("on", "off"), default="on",
                        help=f"off leaves out {MAX_AUTOTUNE}, whose compiling takes longest (default: on)")
    parser.add_argument("--filter", "--benchmark_filter", type=_expression, metavar="REGEX",
                        help="of benchmarks' names; a leading '-' negates it")
    parser.add_argument("--out", help="write the run file here")
    parser.add_argument("--progress", action="store_true", help="lines for fusegate in place of the table")
    parser.add_argument("--profile", choices=("off",),
                        help="off alone, since peers are not profiled (record_trace.py traces them)")
    parser.add_argument("--environment", action="store_true", help="print the environment as JSON and stop")
    parser.add_argument("--bench", metavar="PROGRAM", help="the fusegate_bench whose plan is measured (default: "
                        "$FUSEGATE_BENCH, else the one built here)")
    options, rest = parser.parse_known_args(arguments)
    suite = options.suite or (None if options.problem else "ladder")
    options.plan_flags = [*([f"--suite={suite}"] if suite else []),
                          *(f"--problem={problem}" for problem in options.problem or ()), *rest]
    return options


def name_filter(options):
    """Of an implementation's and a benchmark's name: whether the flags want it."""
    known = _implementation_names()
    wanted = options.implementations or known
    for name in wanted:
        if name not in known:
            raise InputError("--implementation", "", f"unknown name '{name}'; known: {', '.join(known)}")
    expression, negated = options.filter or (re.compile(""), False)

    def takes(implementation, benchmark):
        if implementation == MAX_AUTOTUNE and options.max_autotune == "off":
            return False
        return implementation in wanted and bool(expression.search(benchmark)) != negated
    return takes


def _implementation_names():
    return sorted({implementation.name for implementation in IMPLEMENTATIONS})


def _names(text):
    return text.split(",")


def _expression(text):
    try:
        return re.compile(text.removeprefix("-")), text.startswith("-")
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from error
