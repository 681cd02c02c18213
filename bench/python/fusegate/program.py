"""The program `python -m fusegate run`, and of a file of kernels that ends in fusegate.main()."""

from __future__ import annotations

import json
import os
import pathlib
import random
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any, Callable, Optional

from . import loading
from .console import for_log, log, take_streams
from .errors import DeviceLost, InputError
from .machine.environment import Watch, environment, provenance
from .machine.libraries import loaded_versions
from .machine.nvml import Nvml
from .measuring.process import Process, Request, event_line
from .measuring.opening import open_device
from .measuring.run_file import RunFile, google_context, read_run_file, require_replaceable, require_same_measurement
from .options import START, Options, parse_options, suite_of
from .plan import Plan, make_plan
from .suite import ALL, read_suite, read_suites, unnamed_implementations
from .version import __version__

BAD_INPUT = 2
# Of baselines/record/run_file.h.
SCHEMA_VERSION = 1
_LIBRARIES = ("torch", "triton", "cupy", "numpy", "liger_kernel")
_USAGE = """usage: python -m fusegate run FILE_OR_MODULE [flags]
       python -m fusegate run --help | --version

Measures the benchmarks that a Python file registers with @fusegate.benchmark once.
`fusegate run --program "python3 -m fusegate run FILE"` makes a run of several such processes."""


def main(arguments: Optional[Sequence[str]] = None) -> None:
    """Measure the registered benchmarks, as the command line asks, and end the program.

    As the last line of a file of kernels, it makes the file a program for ``fusegate run --program``::

        if __name__ == "__main__":
            fusegate.main()

    Parameters
    ----------
    arguments : list of str, optional
        The command line; by default ``sys.argv[1:]``.

    Raises
    ------
    InputError
        If ``python -m fusegate run`` loads the file: it must call this only as the program itself.
    SystemExit
        With 0 if every benchmark was measured; with 2 if one failed, or the flags cannot be followed.
    """
    loading.require_loaded()
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(guarded(lambda: run(parse_options(given, takes_target=False))))


def command(arguments: Sequence[str]) -> int:
    """Runs `python -m fusegate`. Returns the exit code."""
    return guarded(lambda: _commanded(arguments))


def _commanded(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["--version"]:
        print(f"fusegate {__version__}")
        return 0
    if arguments[:1] in (["--help"], ["-h"]):
        print(_USAGE)
        return 0
    if arguments[:1] != ["run"]:
        what = f"{arguments[0]}: unknown command" if arguments else "no command"
        log(f"{what}; use `python -m fusegate run FILE_OR_MODULE`")
        return BAD_INPUT
    return run(parse_options(arguments[1:], takes_target=True))


def guarded(work: Callable[[], int], program: str = "fusegate") -> int:
    """Returns the exit code. Prints an error as one line."""
    take_streams()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        try:
            return work()
        finally:
            sys.stdout.flush()  # a full disk behind a redirection shows only now
    except InputError as error:
        log(error, program)
    except DeviceLost as error:
        log(f"the device was lost, and the other benchmarks were not measured ({error})", program)
    except KeyboardInterrupt:
        log("interrupted; with --out, the run file has the samples so far", program)
    except OSError as error:
        log(f"standard output: cannot be written: {error.strerror}", program)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else Python reports the same error when it ends
    return BAD_INPUT


def run(options: Options) -> int:
    kernels = loading.load(options.target) if options.target else _of_this_program()
    suite = suite_of(options, kernels)
    needs_torch = any(each.arrays != "numpy" for operation in kernels.operations.values()
                      for each in operation.implementations.values())
    device, meter = open_device(options.device, needs_torch)
    protocol = suite.protocol_on(device.kind)
    if device.kind == "cpu" and protocol.layout == "numbered":
        raise InputError(f"suite {suite.name}", "protocol.layout", "cannot be \"numbered\" on a CPU; use \"driver\"")
    protocol.layout = protocol.layout or ("numbered" if device.kind == "cuda" else "driver")
    watch = Watch(Nvml.open() if device.uuid else None, device.uuid)
    libraries = loaded_versions(_LIBRARIES)
    seed = random.SystemRandom().getrandbits(63) if options.seed is None else options.seed
    context = fusegate_context(suite.name, seed, options.process, protocol, device, watch, libraries, kernels.folder)
    if options.environment:
        print(json.dumps({"device_kind": device.kind, **{key: context[key] for key in (
            "environment", "libraries", "machine", "warnings")}}, indent=2))
        return 0
    plan = make_plan(suite, kernels.operations, device.kind, options.wanted)
    context["controls"] = plan.controls(suite)
    context["compared_with"] = plan.compared_with(suite)
    if options.plan:
        print(json.dumps({"fusegate": context, "work": [
            {"name": each.name, "operation": each.operation.name, "implementation": each.implementation.name,
             "problem": each.problem.name} for each in plan.benchmarks], "left_out": plan.refusals}, indent=1))
        return 0
    say = (lambda line: print(line, flush=True)) if options.progress else None
    for note in [*(f"left out {refusal}" for refusal in plan.refusals), *_unnamed(options, kernels)]:
        log(note)
        if say is not None:
            say(event_line({"event": "note", "text": note}))
    planned = {each.implementation.full_name for each in plan.benchmarks}
    request = Request(protocol, seed, options.process, libraries,
                      left_out=sorted(kernels.full_names() - planned), say=say,
                      stuck_after_s=options.stuck_after_s(device.kind),
                      leave=lambda: _resume_in_new_process(options), energy_ms=options.energy_ms,
                      profile=options.profile and device.kind == "cuda" and options.out is not None)
    return measure(device, meter, watch, plan, request, context, options)


def fusegate_context(suite: str, seed: int, number: int, protocol, device, watch: Watch, libraries: dict[str, str],
                     folder: pathlib.Path) -> dict[str, Any]:
    """context.fusegate of the run file."""
    origin = provenance(folder, device, libraries)
    warnings = {*watch.warnings, *({"dirty_tree"} if origin["dirty"] else ())}
    return {"schema_version": SCHEMA_VERSION, "suite": suite, "seed": seed, "process": number, "finished": False,
            "protocol": protocol.to_json(), "environment": environment(device, watch), "provenance": origin,
            "machine": watch.machine(), "libraries": libraries, "warnings": sorted(warnings)}


def measure(device, meter, watch: Watch, plan: Plan, request: Request, context: dict[str, Any],
            options: Options) -> int:
    entries: list[dict[str, Any]] = []
    if options.out is not None and options.resume and options.out.is_file():
        earlier, entries = read_run_file(options.out)
        require_same_measurement(options.out, earlier, context)
        context["warnings"] = sorted({*context["warnings"], *earlier.get("warnings", earlier.get("doubts", ()))})
    elif options.out is not None and not options.force:
        require_replaceable(options.out, context, {each.name for each in plan.benchmarks})
    run_file = RunFile(options.out, {**google_context(sys.argv[0]), "fusegate": context}, entries)
    process = Process(device, meter, watch, plan.benchmarks, request, run_file, entries)
    start = time.monotonic()
    try:
        process.run()
    except DeviceLost as error:
        run_file.close()
        log(f"the device was lost: {error}")
        if options.out is None:
            log("the other benchmarks were not measured; name a run file with --out, so that a new process measures them")
            return BAD_INPUT
        _resume_in_new_process(options)
    finally:
        run_file.close()
    if options.out is not None:
        log(f"{len(process.measured())} benchmarks in {time.monotonic() - start:.1f} s: "
                 f"{process.checking_s:.1f} s checking, {run_file.writing_s:.2f} s on the run file")
    if not options.progress:
        print_table(process)
    return BAD_INPUT if process.failed() else 0


def print_table(process: Process) -> None:
    benchmarks = [benchmark for benchmark in process.benchmarks if benchmark.times_ns and not benchmark.failure]
    width = max((len(benchmark.name) for benchmark in benchmarks), default=0)
    for benchmark in benchmarks:
        print(for_log(f"{benchmark.name:{width}}  {statistics.median(benchmark.times_ns) / 1e3:12.2f} us"))


def _unnamed(options: Options, kernels: loading.Kernels) -> list[str]:
    """A sentence if a registered implementation is in no suite."""
    if options.problems:
        return []
    folder = kernels.folder / "suites"
    suites = [read_suite(options.suite or ALL, folder, kernels.operations), *read_suites(folder, kernels.operations)]
    names = unnamed_implementations(suites, kernels.operations)
    return [f"no suite names {', '.join(names)}, so that no gate judges it; add it to a suite, or measure with --suite {ALL}"] \
        if names else []


def _of_this_program() -> loading.Kernels:
    """The registrations of the file that calls main()."""
    return loading.Kernels(sys.argv[0], pathlib.Path(sys.argv[0]).resolve().parent)


def _resume_in_new_process(options: Options) -> None:
    """Replaces this process by one that measures the other benchmarks. Without a run file, it only ends this one."""
    if options.out is None:
        os._exit(BAD_INPUT)  # pylint: disable=protected-access
    # Python 3.9 has no sys.orig_argv.
    started = getattr(sys, "orig_argv", None)
    arguments = list(started[1:]) if started else \
        ["-m", "fusegate", *sys.argv[1:]] if options.target else list(sys.argv)
    if "--resume" not in arguments:
        arguments = [*[each for each in arguments if each != "--force"], "--resume"]
    sys.stdout.flush()
    os.chdir(START)
    os.execv(sys.executable, [sys.executable, *arguments])
