#!/usr/bin/env python3
"""Times fusegate's peers: PyTorch, its compiler and Liger. Problems, protocol and run file are fusegate_bench's.

    bench/peers/peers.py --suite=ladder --out=FILE
    bench/peers/peers.py --problem=64,128,768,3072 --operation=geglu_mlp --out=FILE

What is missing (torch, a GPU, Triton, Liger) is said in a line and left out. Exits 0 where anything was measured,
2 where nothing could be or something stopped it. docs/peers.md has the rest.
"""

import json
import signal
import statistics
import sys
import time

from bench import find_bench, read_plan, require_same_gpu
from input_error import DeviceLost, InputError
from invocation import Invocation
from libraries import find_libraries, one_line
from meter import CudaMeter
from nvml import Nvml
from options import name_filter, parse_options
from plan import make_plan
from protocol import protocol_of
from run_file import RunFile, fusegate_context, google_context
from torch_device import TorchDevice
from watch import Watch

BAD_INPUT = 2
# Of fusegate_bench's, those that say nothing of what torch runs.
DOUBTS_OF_THE_BUILD = {"debug_library"}


def main(arguments=None):
    try:
        return run(parse_options(arguments))
    except InputError as error:
        complain(error)
    except DeviceLost as error:
        complain(f"the device was lost, and the rest was not measured ({error})")
    except KeyboardInterrupt:
        complain("interrupted; what was measured is kept in the run file, where one was asked for")
    return BAD_INPUT


def run(options):
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    takes_name, bench = name_filter(options), options.bench or find_bench()
    # Before torch is on the GPU: of what runs there fusegate_bench tells, and of itself it knows. What is wrong
    # with the plan is so told before torch takes seconds to load.
    given = read_plan(bench, options.plan_flags)
    protocol = protocol_of(given)
    make_plan(given, takes_name)
    libraries = find_libraries()
    device, meter = open_gpu(libraries)
    require_same_gpu(given, bench, device.uuid)
    watch = Watch(Nvml.open(), device.uuid, set(given["fusegate"]["doubts"]) - DOUBTS_OF_THE_BUILD)
    context = fusegate_context(given, device, libraries.versions, watch.doubts)
    if options.environment:
        print(json.dumps({"device_kind": device.kind, **{key: context[key] for key in (
            "environment", "libraries", "machine", "doubts")}}, indent=2))
        return 0
    plan = make_plan(given, takes_name, libraries.missing)
    for refusal in plan.refusals:
        complain(f"left out {refusal}")
    run_file = RunFile(options.out, {**google_context(), "fusegate": context})
    say = (lambda line: print(line, flush=True)) if options.progress else None
    return measure(Invocation(device, meter, watch, plan, protocol, context["seed"], context["invocation"], libraries,
                              run_file, say), run_file, options.progress)


def open_gpu(libraries):
    """The device and its meter. Triton is tried out there: without a C compiler, for one, it imports and
    compiles nothing. Raises InputError where nothing can be measured."""
    torch = libraries.torch_on_a_gpu()
    torch.cuda.set_stream(torch.cuda.Stream())  # the default one cannot be captured
    torch.set_grad_enabled(False)
    read_clocks = None
    if "triton" in libraries.modules:
        try:
            read_clocks = clock_reader(torch)
        except Exception as error:  # pylint: disable=broad-except
            libraries.drop("triton", f"Triton runs no kernel here ({one_line(error)})")
    if read_clocks is None:
        complain(f"SM clocks are not read: {libraries.missing['triton']}")
    return TorchDevice(torch), CudaMeter(torch, read_clocks)


def clock_reader(torch):
    """The kernel that reads the SM clocks. It has run once."""
    from sm_clock_kernel import FIELDS, enqueue_read_clocks  # pylint: disable=import-outside-toplevel
    enqueue_read_clocks(torch.zeros((1, FIELDS), dtype=torch.int64, device="cuda"))
    torch.cuda.synchronize()
    return enqueue_read_clocks


def measure(invocation, run_file, progress):
    start = time.monotonic()
    invocation.run()
    complain(f"{len(invocation.measured())} benchmarks in {time.monotonic() - start:.1f} s: "
             f"{invocation.checking_s:.1f} s compiling and checking, {run_file.writing_s:.1f} s on the run file")
    if not progress:
        print_table(invocation.measured())
    if not invocation.measured():
        complain("every benchmark failed")
        return BAD_INPUT
    return 0


def print_table(accounts):
    width = max((len(account.name) for account in accounts), default=0)
    for account in accounts:
        print(f"{account.name:{width}}  {statistics.median(account.times_ns) / 1e3:12.2f} us")


def complain(message):
    print(f"peers: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
