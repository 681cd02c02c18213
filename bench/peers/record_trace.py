#!/usr/bin/env python3
"""Records torch.profiler's trace of a peer, with the schedule of "Profiling in PyTorch": wait 1, warm up 1, active 3.

    bench/peers/record_trace.py --problem=64,128,768,3072 --out=DIR
    bench/peers/record_trace.py --problem=64,128,768,3072 --operation=geglu_mlp --implementation=torch_eager --out=DIR

Writes DIR/OPERATION-IMPLEMENTATION.json for each, for `fusegate trace-table`. Every step is a range with the benchmark's
name, and ends when the GPU is done. Exits with 0 if any trace was recorded, else with 2.
"""

import argparse
import os
import pathlib
import sys
from functools import partial

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))  # where both lie side by side

# pylint: disable=wrong-import-position
from fusegate import console
from fusegate.errors import InputError, one_line
from fusegate.machine.libraries import find_libraries
from fusegate.measuring.call import drawn_inputs
from fusegate.measuring.torch_device import TorchDevice

from bench import find_bench, read_plan
from implementations import IMPLEMENTATIONS, load, needed_libraries
from plan import make_plan

BAD_INPUT = 2
WAIT, WARM_UP, ACTIVE = 1, 1, 3


def main(arguments=None):
    try:
        return run(parse_options(arguments))
    except InputError as error:
        log(error)
        return BAD_INPUT


def parse_options(arguments):
    parser = argparse.ArgumentParser(prog="record_trace.py", allow_abbrev=False)
    parser.add_argument("--problem", required=True, metavar="BATCH,SEQ,DIM,HIDDEN")
    parser.add_argument("--dtype", choices=("bf16", "fp16"), default="bf16")
    parser.add_argument("--operation", help="default: all")
    parser.add_argument("--implementation", help="default: all")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder of the traces")
    parser.add_argument("--bench", metavar="PROGRAM", help="the fusegate_bench that describes the problem's tensors "
                        "(default: $FUSEGATE_BENCH, else the one built here)")
    return parser.parse_args(arguments)


def run(options):
    operations = ",".join(sorted({each.operation for each in chosen(options)}))
    given = read_plan(options.bench or find_bench(), [f"--problem={options.problem}", f"--dtype={options.dtype}",
                                                     f"--operation={operations}"])

    def takes(implementation, _benchmark):
        return options.implementation in (None, implementation)
    needed = needed_libraries(make_plan(given, takes).benchmarks)
    libraries = find_libraries(needed, partial(load, device=given["fusegate"]["environment"]["device"]))
    torch = libraries.torch_on_a_gpu("no peer can be recorded")
    plan = make_plan(given, takes, libraries)
    for refusal in plan.refusals:
        log(f"left out {refusal}")
    options.out.mkdir(parents=True, exist_ok=True)
    device, recorded = TorchDevice(torch), 0
    for benchmark in plan.benchmarks:
        path = options.out / f"{benchmark.operation.name}-{benchmark.implementation.name}.json"
        try:
            function = benchmark.implementation.callable_for(benchmark.problem)
            inputs = drawn_inputs(device, benchmark.operation, benchmark.problem, 1)
            prepared = benchmark.implementation.prepared(benchmark.problem, list(inputs.values()))
            record(torch, benchmark.name, function, prepared, path)
        # A library may fail in any way; the others' traces are still wanted.
        except Exception as error:  # pylint: disable=broad-except
            log(f"{benchmark.name}: {one_line(error)}")
            continue
        print(console.for_log(str(path)))
        recorded += 1
    return 0 if recorded else BAD_INPUT


def chosen(options):
    wanted = [each for each in IMPLEMENTATIONS if options.operation in (None, each.operation)
              and options.implementation in (None, each.name)]
    if not wanted:
        known = ", ".join(f"{each.operation}/{each.name}" for each in IMPLEMENTATIONS)
        raise InputError("--operation, --implementation", "", f"no such peer; known: {known}")
    return wanted


def record(torch, name, function, inputs, path):
    """Compiles and warms up the function before the schedule begins. The file appears only when it is complete."""
    profiler = torch.profiler
    unfinished = path.with_name(path.name + ".unfinished")
    with torch.no_grad():
        function(*inputs)
        torch.cuda.synchronize()
        with profiler.profile(
                activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA],
                schedule=profiler.schedule(wait=WAIT, warmup=WARM_UP, active=ACTIVE, repeat=1),
                on_trace_ready=lambda trace: trace.export_chrome_trace(str(unfinished))) as steps:
            for _ in range(WAIT + WARM_UP + ACTIVE):
                with profiler.record_function(name):
                    function(*inputs)
                    torch.cuda.synchronize()
                steps.step()
    os.replace(unfinished, path)


def log(message):
    console.log(message, "record_trace")


if __name__ == "__main__":
    sys.exit(main())
