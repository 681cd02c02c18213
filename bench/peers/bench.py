"""Asks fusegate_bench for its plan: which problems are measured, by which protocol and on which machine. So suites and
flags are read in one program alone. bench/program/plan_json.h has the plan's form."""

import json
import os
import pathlib
import shutil
import subprocess

from fusegate.errors import InputError

NAME = "fusegate_bench"
PEERS = pathlib.Path(__file__).resolve().parent


def find_bench():
    """The program that $FUSEGATE_BENCH names. Without it: the one beside the peers, the checkout's release build, or
    the one in PATH."""
    chosen = os.environ.get("FUSEGATE_BENCH")
    if chosen:
        return chosen
    built = (PEERS.parent / NAME, PEERS.parents[1] / "build" / "release" / "bin" / NAME)
    found = next((str(path) for path in built if path.is_file()), None) or shutil.which(NAME)
    if found is None:
        raise InputError(NAME, "", "is not built here; name it by --bench or $FUSEGATE_BENCH")
    return found


def read_plan(program, flags):
    """Raises InputError where the program refuses the flags, in the program's own words."""
    try:
        result = subprocess.run([program, "--plan", *flags], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            fault = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
            raise InputError("", "", fault.removeprefix(f"{NAME}: "))
        return json.loads(result.stdout)
    except OSError as error:
        raise InputError(program, "", f"cannot be started: {error.strerror}") from error
    except ValueError as error:
        raise InputError(program, "", f"prints no plan: {error}") from error


def require_same_gpu(plan, program, uuid):
    """The plan describes one GPU; torch must measure on the same."""
    theirs = plan["fusegate"]["provenance"]["device_uuid"]
    if theirs != uuid:
        what = f"sees {theirs}" if theirs else "sees no GPU, or was built without CUDA"
        raise InputError(program, "", f"{what}, and torch measures on {uuid}")
