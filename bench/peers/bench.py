"""fusegate_bench's plan: which problems are measured, by which protocol and where. It is asked, so that suites, flags
and the machine are read in one place (bench/program/plan_json.h has the plan's form)."""

import json
import os
import pathlib
import shutil
import subprocess

from input_error import InputError

NAME = "fusegate_bench"
PEERS = pathlib.Path(__file__).resolve().parent


def find_bench():
    """$FUSEGATE_BENCH; else the program that the peers are installed beside, the checkout's release build, or the
    one in PATH."""
    chosen = os.environ.get("FUSEGATE_BENCH")
    if chosen:
        return chosen
    built = (PEERS.parent / NAME, PEERS.parents[1] / "build" / "release" / "bin" / NAME)
    found = next((str(path) for path in built if path.is_file()), None) or shutil.which(NAME)
    if found is None:
        raise InputError(NAME, "", "is not built here; name it by --bench or $FUSEGATE_BENCH")
    return found


def read_plan(program, flags):
    """Raises InputError with what the program said where it refuses the flags."""
    try:
        result = subprocess.run([program, "--plan", *flags], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            complaint = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
            raise InputError("", "", complaint.removeprefix(f"{NAME}: "))
        return json.loads(result.stdout)
    except OSError as error:
        raise InputError(program, "", f"cannot be started: {error.strerror}") from error
    except ValueError as error:
        raise InputError(program, "", f"prints no plan: {error}") from error


def require_same_gpu(plan, program, uuid):
    """What the plan says of the machine must hold where torch measures."""
    theirs = plan["fusegate"]["provenance"]["device_uuid"]
    if theirs != uuid:
        what = f"sees {theirs}" if theirs else "sees no GPU, or was built without CUDA"
        raise InputError(program, "", f"{what}, and torch measures on {uuid}")
