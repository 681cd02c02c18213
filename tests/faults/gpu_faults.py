#!/usr/bin/env python3
"""What becomes of a run when its GPU fails: each fault in turn, what the record says of it, and what the gate says.

    tests/faults/gpu_faults.py [--programs build/release/bin] [--device cuda] [--only NAME,...]

Kernels that fault are those of fusegate_bench_faulty, on the GPU itself. What only a driver can say comes from a fake
NVML, beside the real GPU; nothing of the card or of its driver is set. --device=fake_gpu needs no GPU. Prints the table
of docs/how-it-measures.md and ends with 0 where every row is as it should be, with 1 where one is not."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH, FUSEGATE = "fusegate_bench_faulty", "fusegate"
STUCK_AFTER_S = {"cuda": 8, "fake_gpu": 1}


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    text: str
    warnings: frozenset = frozenset()  # that must be in the record
    planted: str = ""  # FUSEGATE_PLANTED_FAULT
    nvml: str = ""  # FUSEGATE_FAKE_NVML; where it is empty, the machine's own is asked
    failure: str = ""  # part of what the record says of the planted benchmark
    second: str = "0"  # FUSEGATE_FAKE_NVML of the second process; "0": as the first
    beside: bool = False  # a second program, on the same GPU
    gate: frozenset = frozenset({0})  # exit codes that are right


def changes(nvml):
    """In the middle of a process."""
    return ",".join(f"{change}@0.1" for change in nvml.split(","))


WARNING_ALONE = [
    ("corrected-ecc", "memory errors, corrected", "ecc_errors", "corrected=3"),
    ("uncorrected-ecc", "memory errors, not corrected", "ecc_errors", "uncorrected=1"),
    ("xid", "an Xid of the card (79)", "xid", "xid=79"),
    ("vanished", "the card vanishes between samples", "gpu_lost", "lost=1"),
    ("reset", "the driver resets the card", "gpu_lost", "energy_mj=10"),
    ("other-by-nvml", "another process, by NVML", "other_gpu_process", "processes=2"),
    ("power-cap", "the power cap is lowered", "limits_changed", "power_limit_mw=500000"),
    ("clocks-locked", "clocks are locked", "limits_changed", "clock_reasons=2"),
    ("application-clocks", "application clocks are set", "limits_changed", "application_clock_mhz=1200"),
    ("throttle", "a thermal slowdown", "throttled", "clock_reasons=64"),
]

FAULTS = [
    Fault("memory", "memory runs out part way", planted="memory", failure="cannot allocate", gate=frozenset({2})),
    Fault("address", "a kernel writes to an illegal address", planted="address", failure="llegal",
          gate=frozenset({2})),
    Fault("endless", "a kernel never ends", planted="endless", failure="did not end within", gate=frozenset({2})),
    Fault("other", "another process takes the card", frozenset({"other_gpu_process"}), beside=True,
          gate=frozenset({0, 1, 2})),
    *(Fault(name, text, frozenset({warning}), nvml=changes(nvml)) for name, text, warning, nvml in WARNING_ALONE),
    Fault("power-cap-between", "the power cap is lowered between two processes", nvml="power_limit_mw=700000",
          second="power_limit_mw=500000", gate=frozenset({2})),
    Fault("mig", "the card is a slice (MIG), the baseline's was whole", frozenset({"mig_slice"}),
          nvml="slice=1,mig=1", gate=frozenset({2})),
]


class Faults:
    def __init__(self, programs, device, folder):
        self._programs, self._device, self._folder = programs, device, folder
        # Real times of two processes a side may leave it undecided.
        self.could_not_judge = {2} if device == "cuda" else set()
        self._fake_nvml = programs.parent / "fake_nvml"
        self._suite = folder / "faults.json"
        self._suite.write_text(json.dumps(
            {"name": "faults",
             "protocol": {"samples": 6, "layouts": 3, "batch_us": 300, "idle_us": 12000},
             "sweeps": [{"operations": ["geglu"], "implementations": ["fused", "planted_fault"],
                         "dtype": ["bf16" if device == "cuda" else "fp32"],
                         "batch": [8], "seq": [128 if device == "cuda" else 8], "dim": [64], "hidden": [1024]}]}))

    def _environment(self, planted, nvml):
        environment = {**os.environ, "FUSEGATE_PLANTED_FAULT": planted}
        if nvml or self._device != "cuda":
            environment["FUSEGATE_FAKE_NVML"] = nvml
            environment["LD_LIBRARY_PATH"] = ":".join(
                filter(None, [str(self._fake_nvml), os.environ.get("LD_LIBRARY_PATH", "")]))
        return environment

    def _run(self, out, *flags, planted="", nvml=""):
        return subprocess.Popen(
            [self._programs / FUSEGATE, "run", f"--suite={self._suite}", f"--program={self._programs / BENCH}",
             f"--out={out}", *flags, "--", f"--device={self._device}", "--profile=off",
             f"--stuck-after-s={STUCK_AFTER_S[self._device]}"],
            env=self._environment(planted, nvml), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def measure(self, fault):
        """Two processes with the fault; returns the folder and what was printed."""
        out = self._folder / fault.name
        if fault.second != "0":
            printed = ""
            for number, nvml in (("1", fault.nvml), ("2", fault.second)):
                process = self._run(out, "--processes=1", *(["--append"] if number == "2" else []), nvml=nvml)
                printed += process.communicate()[0]
            return out, printed
        process = self._run(out, "--processes=2", planted=fault.planted, nvml=fault.nvml)
        if not fault.beside:
            return out, process.communicate()[0]
        with self._second_program(out):
            return out, process.communicate()[0]

    def _second_program(self, out):
        """Takes the card while the first process measures."""
        while not list(out.glob("[0-9].json")):
            time.sleep(0.02)
        return beside([self._programs / BENCH, f"--device={self._device}", f"--suite={self._suite}", "--profile=off",
                       "--implementation=fused", "--regime=sustained", "--samples=2000", "--layouts=1"],
                      self._environment("", "processes=2" if self._device != "cuda" else ""))

    def gate(self, baseline, candidate):
        result = subprocess.run([self._programs / FUSEGATE, "gate", f"--baseline={baseline}",
                                 f"--candidate={candidate}", f"--markdown={candidate}.md"],
                                capture_output=True, text=True, check=False)
        lines = (result.stdout + result.stderr).strip().splitlines()
        return result.returncode, lines[0] if lines else ""


@contextlib.contextmanager
def beside(command, environment):
    """Has a program run meanwhile."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def record_of(folder):
    """What the run files of a run say: warnings, failures, and whether the healthy benchmark is whole in all."""
    warnings, failures, whole = set(), set(), True
    for path in sorted(folder.glob("[0-9].json")):
        run_file = json.loads(path.read_text())
        fusegate = run_file["context"]["fusegate"]
        warnings |= set(fusegate["warnings"])
        whole = whole and fusegate["finished"]
        samples = 0
        for entry in run_file["benchmarks"]:
            if entry.get("error_occurred"):
                failures.add(entry["error_message"])
            elif "/fused/" in entry["name"]:
                samples += 1
        whole = whole and samples == 6
    return warnings, failures, whole


def mismatches(fault, warnings, failures, whole, code, could_not_judge):
    """What is not as it should be. could_not_judge: exit codes that are right for any fault."""
    found = [f"lacks the warning {warning}" for warning in sorted(fault.warnings - warnings)]
    if fault.failure and not any(fault.failure in failure for failure in failures):
        found.append(f"no failure says '{fault.failure}'")
    if not fault.failure and failures:
        found.append("something failed")
    if not whole:
        found.append("the other benchmarks were not measured")
    if code not in fault.gate | could_not_judge:
        found.append(f"the gate's exit code is {code}")
    return found


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/bin",
                        help="the folder of fusegate and fusegate_bench_faulty; beside it lies fake_nvml")
    parser.add_argument("--device", choices=sorted(STUCK_AFTER_S), default="cuda")
    parser.add_argument("--only", help="names of faults, separated by commas: " + ", ".join(f.name for f in FAULTS))
    parser.add_argument("--keep", type=pathlib.Path, help="keep the run folders here; by default they are removed")
    return parser.parse_args(argv)


def chosen(only, device):
    # A program beside it would take nothing of a GPU that is none.
    possible = [fault for fault in FAULTS if device == "cuda" or not fault.beside]
    if only is None:
        return possible
    names = only.split(",")
    unknown = set(names) - {fault.name for fault in possible}
    if unknown:
        sys.exit(f"gpu_faults.py: --only: no such fault on {device}: {', '.join(sorted(unknown))}")
    return [fault for fault in possible if fault.name in names]


def go_through(faults, picked, own_warnings=frozenset({"dirty_tree", "debug_library", "unlocked_clocks"})):
    """Prints a row a fault; whether all are as they should be."""
    baselines = {}
    all_well = True
    print("| fault | record | failure | the gate |\n| --- | --- | --- | --- |", flush=True)
    for fault in picked:
        kind = "fake" if fault.nvml else "own"
        if kind not in baselines:
            healthy = Fault(f"healthy-{kind}", "", nvml="power_limit_mw=700000" if fault.nvml else "")
            baselines[kind], printed = faults.measure(healthy)
            if record_of(baselines[kind])[1:] != (set(), True):
                sys.exit(f"the healthy run fails:\n{printed}")
        folder, printed = faults.measure(fault)
        warnings, failures, whole = record_of(folder)
        code, headline = faults.gate(baselines[kind], folder)
        shown = ", ".join(f"`{warning}`" for warning in sorted(warnings - own_warnings - {"nvml_missing"}))
        said = "; ".join(sorted(failures)).replace("|", "\\|")
        print(f"| {fault.text} | {shown or '-'} | {said or '-'} | {code}: {headline} |", flush=True)
        for mismatch in mismatches(fault, warnings, failures, whole, code, faults.could_not_judge):
            all_well = False
            print(f"{fault.name}: {mismatch}\n{printed}", file=sys.stderr, flush=True)
    return all_well


def main(argv=None):
    options = parse_arguments(argv)
    picked = chosen(options.only, options.device)
    for program in (BENCH, FUSEGATE):
        if not (options.programs / program).exists():
            sys.exit(f"gpu_faults.py: {options.programs / program} is missing: build preset release, or name --programs")
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        faults = Faults(options.programs.resolve(), options.device, options.keep or pathlib.Path(folder))
        return 0 if go_through(faults, picked) else 1


if __name__ == "__main__":
    sys.exit(main())
