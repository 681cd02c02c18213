"""The command line. The peers read their own flags and pass all others to fusegate_bench, which makes the plan. So
`fusegate run` can give both programs the same flags."""

import argparse
import re

from fusegate.errors import InputError
from fusegate.options import Parser, add_energy_flag
from fusegate.plan import name_filter as filter_of

from implementations import IMPLEMENTATIONS, MAX_AUTOTUNE


def parse_options(arguments):
    """The result's plan_flags are for fusegate_bench."""
    parser = Parser(prog="peers.py", allow_abbrev=False,
                    description="Times PyTorch, its compiler, Liger, QuACK and cuDNN as fusegate_bench times its kernels, in "
                                "one process.",
                    epilog="fusegate_bench reads more flags, which its --help explains: --batch, --seq, "
                           "--dim, --hidden, --dtype, --operation, --regime, --samples, --layouts, --order, --batch-us, "
                           "--idle-us, --warm-ms, --spin-us (only 0), --l2, --layout (only driver), --process, "
                           "--seed.")
    parser.add_argument("--suite", help="ladder (the default), smoke, pr, nightly, or a .json file")
    parser.add_argument("--problem", action="append", metavar="BATCH,SEQ,DIM,HIDDEN",
                        help="a problem, instead of a suite; in bf16 unless --dtype is given; may be repeated")
    parser.add_argument("--implementation", type=_names, dest="implementations",
                        help="the peers to measure: " + ", ".join(_implementation_names()))
    parser.add_argument("--max-autotune", choices=("on", "off"), default="on",
                        help=f"off leaves out {MAX_AUTOTUNE}, which takes longest to compile (default: on)")
    parser.add_argument("--quack-tuning", choices=("full", "quick"), default="full",
                        help="calls and warm-up of QuACK's tuner for each candidate. full (default): 200 after 200 ms; quick: "
                             "60 after 20 ms")
    parser.add_argument("--filter", "--benchmark_filter", type=_expression, default="", metavar="REGEX",
                        help="measure the benchmarks whose names match; with a leading '-', the others")
    parser.add_argument("--out", help="the run file to write; it replaces only the same measurement")
    parser.add_argument("--force", action="store_true", help="replace the file of --out even if it holds another measurement")
    parser.add_argument("--progress", action="store_true", help="print progress lines for fusegate instead of the table")
    parser.add_argument("--profile", choices=("off",),
                        help="only off: peers are not profiled")
    add_energy_flag(parser)
    parser.add_argument("--environment", action="store_true", help="print the environment as JSON and stop")
    parser.add_argument("--bench", metavar="PROGRAM", help="the fusegate_bench that makes the plan (default: "
                        "$FUSEGATE_BENCH, else the one built here)")
    options, rest = parser.parse_known_args(arguments)
    suite = options.suite or (None if options.problem else "ladder")
    options.plan_flags = [*([f"--suite={suite}"] if suite else []),
                          *(f"--problem={problem}" for problem in options.problem or ()), *rest]
    return options


def name_filter(options):
    """A function of an implementation's and a benchmark's name: whether the flags select it."""
    known = _implementation_names()
    wanted = options.implementations or known
    for name in wanted:
        if name not in known:
            raise InputError("--implementation", "", f"unknown name '{name}'; known: {', '.join(known)}")

    def takes(implementation, benchmark):
        if implementation == MAX_AUTOTUNE and options.max_autotune == "off":
            return False
        return implementation in wanted and options.filter(benchmark)
    return takes


def _implementation_names():
    return sorted({implementation.name for implementation in IMPLEMENTATIONS})


def _names(text):
    return text.split(",")


def _expression(text):
    try:
        return filter_of(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from error
