#!/usr/bin/env python3
"""Times fusegate's peers: PyTorch, its compiler, Liger, QuACK and cuDNN. Problems, protocol and run file are
fusegate_bench's.

    bench/peers/peers.py --suite=ladder --out=FILE
    bench/peers/peers.py --problem=64,128,768,3072 --operation=geglu_mlp --out=FILE

Leaves out what needs a missing library (torch, Triton, Liger, QuACK, cuDNN), with a line. Exits with 0 if anything was
measured, else with 2. docs/commands.md is the manual.
"""

import json
import pathlib
import sys
import time
from functools import partial

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # where both lie side by side

# pylint: disable=wrong-import-position
from fusegate import console
from fusegate.errors import InputError
from fusegate.machine.environment import Watch
from fusegate.machine.libraries import find_libraries
from fusegate.machine.nvml import Nvml
from fusegate.measuring.opening import open_cuda
from fusegate.measuring.process import Process, Request
from fusegate.measuring.protocol import Protocol, renamed_keys
from fusegate.measuring.run_file import RunFile, google_context, require_replaceable
from fusegate.program import guarded, print_table

from bench import find_bench, read_plan, require_same_gpu
from implementations import load, needed_libraries
from options import name_filter, parse_options
from plan import make_plan
from quack_mlp import tune_quickly

BAD_INPUT = 2
# Warnings of fusegate_bench that do not apply to torch.
WARNINGS_OF_THE_BUILD = {"debug_library"}
# Libraries for which torch installs its own.
LIBRARIES_OF_TORCH = ("cuda", "cublas")


def main(arguments=None):
    return guarded(lambda: run(parse_options(arguments)), "peers")


def run(options):
    takes_name, bench = name_filter(options), options.bench or find_bench()
    # Before torch loads, which takes seconds, and before it uses the GPU, where the plan would report it as another process.
    given = read_plan(bench, options.plan_flags)
    protocol = protocol_of(given)
    needed = needed_libraries(make_plan(given, takes_name).benchmarks)
    libraries = find_libraries(needed, partial(load, device=given["fusegate"]["environment"]["device"]))
    if options.quack_tuning == "quick" and "quack" in libraries.modules:
        tune_quickly(libraries.modules["quack"])
    device, meter = open_gpu(libraries)
    require_same_gpu(given, bench, device.uuid)
    watch = Watch(Nvml.open(), device.uuid, set(given["fusegate"]["warnings"]) - WARNINGS_OF_THE_BUILD)
    context = fusegate_context(given, device, libraries.versions, watch.warnings)
    if options.environment:
        print(json.dumps({"device_kind": device.kind, **{key: context[key] for key in (
            "environment", "libraries", "machine", "warnings")}}, indent=2))
        return 0
    plan = make_plan(given, takes_name, libraries)
    for refusal in plan.refusals:
        log(f"left out {refusal}")
    if options.out and not options.force:
        require_replaceable(pathlib.Path(options.out), context, {each.name for each in plan.benchmarks})
    run_file = RunFile(options.out, {**google_context("bench/peers"), "fusegate": context})
    request = Request(protocol, context["seed"], context["process"], libraries.versions, "peers",
                      (lambda line: print(line, flush=True)) if options.progress else None,
                      energy_ms=options.energy_ms)
    return measure(Process(device, meter, watch, plan.benchmarks, request, run_file), run_file, options.progress)


def open_gpu(libraries):
    """The device and its meter. Raises InputError if nothing can be measured."""
    device, meter = open_cuda(libraries.torch_on_a_gpu("no peer can be measured"), "peers")
    if not meter.reads_clocks and "triton" in libraries.modules:
        libraries.drop("triton", "Triton runs no kernel here")
    return device, meter


def protocol_of(given):
    """given: fusegate_bench's plan. Raises InputError for a protocol that peers cannot follow."""
    fusegate = given["fusegate"]
    source, protocol = f"suite {fusegate['suite']}", fusegate["protocol"]
    if protocol["spin_ns"] > 0:
        raise InputError(source, "protocol.spin_us", "must be 0 for peers, which have no kernel that keeps a GPU busy")
    if protocol.get("layout") == "numbered":
        raise InputError(source, "protocol.layout", "must be \"driver\" for peers: torch's allocator decides the layout")
    return Protocol(**{**renamed_keys(protocol), "layout": "driver"})


def fusegate_context(given, device, libraries, warnings):
    """given: fusegate_bench's plan, with everything that does not depend on torch. libraries: versions by name, under a key
    of their own: the environment must have fusegate_bench's keys, since both programs' files make one run."""
    fusegate = given["fusegate"]
    environment = {key: value for key, value in fusegate["environment"].items() if key not in LIBRARIES_OF_TORCH}
    return {**fusegate, "environment": {**environment, **device.versions()}, "libraries": libraries,
            "protocol": {**fusegate["protocol"], "layout": "driver"}, "controls": [], "warnings": sorted(warnings)}


def measure(process, run_file, progress):
    start = time.monotonic()
    try:
        process.run()
    finally:
        run_file.close()
    log(f"{len(process.measured())} benchmarks in {time.monotonic() - start:.1f} s: "
        f"{process.checking_s:.1f} s compiling and checking, {run_file.writing_s:.1f} s on the run file")
    if not progress:
        print_table(process)
    if not process.measured():
        log("every benchmark failed")
        return BAD_INPUT
    return 0


def log(message):
    console.log(message, "peers")


if __name__ == "__main__":
    sys.exit(main())
