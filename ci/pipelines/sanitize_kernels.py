#!/usr/bin/env python3
"""Runs all kernels under compute-sanitizer's four tools, each with a time limit.

    ci/pipelines/sanitize_kernels.py [--programs build/release/bin] [--tool racecheck,...] [--tests REGEX] [--limit-s 240]

Runs the GPU tests of every kernel's edges, in few and small shapes, each in a process of its own; the test of every
implementation comes first. Needs compute-sanitizer in PATH, in the CUDA toolkit, or named with --sanitizer (it comes with
the toolkit, and as the wheel nvidia-cuda-sanitizer-api). Writes OUT/summary.md, and a log of each process beside it. Exits
with 0 if no tool found anything, with 1 if one did or a test failed, with 2 if nothing could be checked. Tests that the
time limit cuts off, or a tool itself fails at, are named and do not count as failures."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck")
FIRST = ("kernels_test", "*EveryImplementation.*/cuda")
EDGES = "kernels_gpu_test"

# Tests that launch the same kernels as others, but larger, more often or for autotuning; or that fail on purpose.
# EarlyLaunch and WithSm90 autotune first: racecheck and initcheck took 75 and 223 s for the former.
NOT_NEEDED = re.compile(r"Autotune\.|EarlyLaunch\.|WithSm90\.|Tuning\.|RequiredPinned\.|LayoutOnGpu\.|OverManyTilesABlock|"
                        r"WhereWeightsAreMany|RepeatToTheBit|BeyondTheRowsOfAGrid|SaysHowMuchMemory")
# Our kernels, also those that NVRTC compiles (named by their stage, gelu_mul), but not libraries'. Not for initcheck: it
# would report memory that an unwatched kernel wrote as uninitialised.
OURS = ["--kernel-name", "kns=fusegate", "--kernel-name", "kns=_mul"]
FOUND = 77  # the tools' exit code for a finding

# Tests that a tool cannot check. On an H200 initcheck reported cuBLAS's output as uninitialised, though every element agreed
# with the reference.
BEYOND = {("initcheck", FIRST[1]): "not for this tool: it does not see what cuBLAS writes"}
# racecheck fails so if cuBLAS's kernels run on an H200, whichever kernels it watches.
TOOL_FAILED = "Internal Sanitizer Error"

SUMMARY = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")


@dataclasses.dataclass
class Checked:
    name: str
    seconds: float
    findings: int = 0
    problem: str = ""  # why there is no result: skipped, failed, out of time


def find_sanitizer(named):
    toolkit = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin/compute-sanitizer"
    for candidate in (named, shutil.which("compute-sanitizer"), toolkit):
        if candidate and pathlib.Path(candidate).is_file():
            return pathlib.Path(candidate).resolve()
    return None


def tests_of(program):
    """Full names, as GoogleTest lists them."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    names, suite = [], ""
    for line in listed.splitlines():
        line = line.split("#")[0].rstrip()
        if line.endswith(".") and not line.startswith(" "):
            suite = line
        elif line.startswith("  ") and suite:
            names.append(suite + line.strip())
    return names


def pieces(programs):
    """(program, filter); the test of every implementation comes first."""
    edges = [name for name in tests_of(programs / EDGES) if not NOT_NEEDED.search(name)]
    return [(programs / FIRST[0], FIRST[1]), *((programs / EDGES, name) for name in edges)]


def command_of(sanitizer, tool, program, test):
    ours = [] if tool == "initcheck" else OURS
    return [sanitizer, "--tool", tool, "--error-exitcode", str(FOUND), "--require-cuda-init", "no", "--print-limit", "20",
            *ours, program, f"--gtest_filter={test}"]


def run_limited(command, log, limit_s):
    """The exit code; None if the time was up, and the process was killed."""
    environment = {**os.environ, "FUSEGATE_FEW_SHAPES": "1"}
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment,
                                                   start_new_session=True) as process:
        try:
            return process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def findings_in(text):
    """None if the tool did not end."""
    return max((int(errors or hazards) for errors, hazards in SUMMARY.findall(text)), default=None)


def check(command, name, log, limit_s):
    began = time.monotonic()
    code = run_limited(command, log, limit_s)
    checked = Checked(name, time.monotonic() - began)
    text = log.read_text(errors="replace")
    findings = findings_in(text)
    if code is None:
        checked.problem = f"not finished in {checked.seconds:.0f} s"
    elif TOOL_FAILED in text:
        checked.problem = "not finished: the tool itself failed: " + re.findall(f"({TOOL_FAILED}.*)", text)[0]
    elif findings:
        checked.findings = findings
    elif "[  PASSED  ] 1 test" in text and findings is not None:
        pass
    elif "[  SKIPPED ]" in text:
        checked.problem = "skipped: " + (re.findall(r"Skipped\n(.+)", text) or ["this machine cannot run it"])[0]
    elif findings is None and "[ RUN " not in text:
        checked.problem = "not started: " + (text.strip().splitlines() or ["the tool printed nothing"])[-1].lstrip("= ")
    else:
        checked.problem = f"failed with exit code {code}"
    return checked


def check_all(sanitizer, tool, work, out, limit_s):
    """The results of one tool by test. Tests after the time limit are not begun."""
    ends = time.monotonic() + limit_s
    results = []
    for number, (program, test) in enumerate(work):
        left_s = ends - time.monotonic()
        reason = BEYOND.get((tool, test)) or ("not begun: the time was up" if left_s < 5 else "")
        if reason:
            results.append(Checked(test, 0, problem=reason))
            continue
        log = out / f"{tool}-{number:02}.log"
        results.append(check(command_of(sanitizer, tool, program, test), test, log, left_s))
        last = results[-1]
        print(f"{tool}: {test}: {last.problem or f'{last.findings} found'} ({last.seconds:.0f} s)", flush=True)
    return results


def is_left_out(result):
    return result.problem.startswith(("not ", "skipped"))


def summary_of(by_tool, limit_s):
    lines = ["| tool | tests checked | found | seconds | left out |", "| --- | ---: | ---: | ---: | ---: |"]
    notes = []
    for tool, results in by_tool.items():
        whole = [result for result in results if not is_left_out(result)]
        lines.append(f"| {tool} | {len(whole)} | {sum(result.findings for result in results)} | "
                     f"{sum(result.seconds for result in results):.0f} | {len(results) - len(whole)} |")
        notes += [f"- {tool}: {result.name}: {result.problem or f'{result.findings} found'}"
                  for result in results if result.problem or result.findings]
    return "\n".join([*lines, "", f"At most {limit_s:g} s a tool.", *notes]) + "\n"


def exit_code_of(by_tool):
    results = [result for results in by_tool.values() for result in results]
    if any(result.findings or result.problem.startswith("failed") for result in results):
        return 1
    return 2 if all(is_left_out(result) for result in results) else 0


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help=f"the folder of {FIRST[0]} and {EDGES}")
    parser.add_argument("--sanitizer", help="the program compute-sanitizer")
    parser.add_argument("--tool", default=",".join(TOOLS), help="tools, separated by commas; by default all four")
    parser.add_argument("--tests", type=re.compile, default=re.compile(""), metavar="REGEX",
                        help="only tests whose names match")
    parser.add_argument("--limit-s", type=float, default=240, help="the longest time of each tool, in seconds")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build/sanitizer", help="folder of the summary and logs")
    options = parser.parse_args(argv)
    options.tools = options.tool.split(",")
    for tool in options.tools:
        if tool not in TOOLS:
            parser.error(f"--tool: '{tool}' is not a tool; expected {', '.join(TOOLS)}")
    return options


def main(argv=None):
    options = parse_arguments(argv)
    sanitizer = find_sanitizer(options.sanitizer)
    if sanitizer is None:
        print("sanitize_kernels.py: compute-sanitizer not found; name it with --sanitizer", file=sys.stderr)
        return 2
    for program in (FIRST[0], EDGES):
        if not (options.programs / program).exists():
            print(f"sanitize_kernels.py: {options.programs / program} is missing: build preset release",
                  file=sys.stderr)
            return 2
    options.out.mkdir(parents=True, exist_ok=True)
    work = [piece for piece in pieces(options.programs.resolve()) if options.tests.search(piece[1])]
    by_tool = {tool: check_all(sanitizer, tool, work, options.out, options.limit_s) for tool in options.tools}
    summary = summary_of(by_tool, options.limit_s)
    (options.out / "summary.md").write_text(summary)
    print(summary, end="")
    return exit_code_of(by_tool)


if __name__ == "__main__":
    sys.exit(main())
