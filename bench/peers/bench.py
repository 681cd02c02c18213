"""Gets the plan from fusegate_bench: problems, protocol and machine. So only one program reads suites and flags. The form of
the plan is in bench/program/plan_json.h."""

import json
import os
import pathlib
import shutil
import subprocess

from fusegate.errors import InputError
from fusegate.measuring.run_file import renamed

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
        raise InputError(NAME, "", "not found; build it, or name it with --bench or $FUSEGATE_BENCH")
    return found


def read_plan(program, flags):
    """Raises InputError if the program refuses the flags, with the program's own message."""
    try:
        result = subprocess.run([program, "--plan", *flags], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            message = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
            raise InputError("", "", message.removeprefix(f"{NAME}: "))
        plan = json.loads(result.stdout)
    except OSError as error:
        raise InputError(program, "", f"cannot be started: {error.strerror}") from error
    except ValueError as error:
        raise InputError(program, "", f"does not print a plan as JSON; name a fusegate_bench with --bench ({error})") from error
    plan["fusegate"] = renamed(plan["fusegate"])  # of an older program
    return plan


def require_same_gpu(plan, program, uuid):
    """Raises InputError if torch measures on another GPU than the plan's."""
    theirs = plan["fusegate"]["provenance"]["device_uuid"]
    if theirs != uuid:
        what = f"finds {theirs}" if theirs else "finds no GPU, or was built without CUDA"
        raise InputError(program, "", f"{what}, but torch measures on {uuid}; select the same GPU with CUDA_VISIBLE_DEVICES")
