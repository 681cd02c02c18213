"""The run file (baselines/record/run_file.h): Google Benchmark JSON, with an entry for each sample. The file
on disk is whole and valid at all times: it is written to a temporary file, flushed, and renamed."""

import contextlib
import datetime
import fcntl
import json
import math
import os
import pathlib
import socket
import tempfile
import time

from input_error import InputError

# What torch brings along in place of fusegate_bench's own.
LIBRARIES_OF_TORCH = ("cuda", "cublas")


def google_context():
    """The keys that Google Benchmark itself writes."""
    return {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "host_name": socket.gethostname(), "executable": "bench/peers", "num_cpus": os.cpu_count(),
            "mhz_per_cpu": 0, "cpu_scaling_enabled": False, "caches": [], "load_avg": list(os.getloadavg()),
            "library_build_type": "release"}


def fusegate_context(given, device, libraries, doubts):
    """given: fusegate_bench's plan, which has all that torch need not tell. libraries: versions by name. They have a
    key of their own, since the environment's keys must be fusegate_bench's: both programs' files make one run."""
    fusegate = given["fusegate"]
    environment = {key: value for key, value in fusegate["environment"].items() if key not in LIBRARIES_OF_TORCH}
    return {**fusegate, "environment": {**environment, **device.versions()}, "libraries": libraries,
            "protocol": {**fusegate["protocol"], "layout": "driver"}, "doubts": sorted(doubts)}


class EntryWriter:
    """Entries of one benchmark in Google Benchmark's layout."""

    def __init__(self, name, family, invocation, repetitions):
        self._head = {"name": name, "family_index": family, "per_family_instance_index": 0, "run_name": name,
                      "run_type": "iteration", "repetitions": repetitions, "threads": 1, "invocation": invocation}

    def place(self, first_index, samples, record, calls, choices, about_place):
        """samples: pairs of a sample and the process time in ns that it took. The benchmark's first entry carries
        its details; a later place's first entry says only what was noticed there (about_place)."""
        entries = [{**self._head, "repetition_index": first_index + i, "iterations": calls,
                    "real_time": sample.batch_ns / calls, "cpu_time": cpu_ns / calls, "time_unit": "ns",
                    **_counters(record, sample)} for i, (sample, cpu_ns) in enumerate(samples)]
        details = _details(record, choices) if first_index == 0 else {}
        details.update((key, value) for key, value in about_place.items() if value)
        if details:
            entries[0]["details"] = details
        return entries

    def failure(self, index, message):
        # compare.py of Google Benchmark reads the numbers of every entry.
        return {**self._head, "repetition_index": index, "error_occurred": True, "error_message": message,
                "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}


def _counters(record, sample):
    counters = {"flops": sum(stage.flops for stage in record.stages),
                "min_bytes": sum(stage.min_bytes for stage in record.stages),
                "host_ns": record.host_ns, "sm_clock_hz": sample.sm_clock_hz}
    if record.launches is not None:
        counters["kernel_launches"] = record.launches.kernels
        if record.launches.memory_operations:
            counters["memory_operations"] = record.launches.memory_operations
    return {name: float(value) for name, value in counters.items() if math.isfinite(value)}


def _details(record, choices):
    return {"stages": [{"name": stage.name, "flops": stage.flops, "min_bytes": stage.min_bytes}
                       for stage in record.stages],
            "choices": choices, "relative_error": record.relative_error}


class RunFile:
    """path: the file; None writes nothing."""

    def __init__(self, path, context):
        self._path, self._context, self._entries = path, context, []
        self.writing_s = 0.0
        # Now and not after the first place: a folder that cannot be written is best told before measuring.
        self._write()

    def append(self, entries):
        # Serialised once each, so that writing the file anew costs a copy.
        self._entries += [json.dumps(entry, allow_nan=False) for entry in entries]
        self._write()

    def finish(self, doubts):
        fusegate = self._context["fusegate"]
        fusegate["doubts"] = sorted({*fusegate["doubts"], *doubts})
        fusegate["finished"] = True
        self._write()

    def _write(self):
        if self._path is None:
            return
        start = time.monotonic()
        body = ",\n".join(self._entries)
        write_atomically(self._path, f'{{\n"context": {json.dumps(self._context)},\n"benchmarks": [\n{body}\n]\n}}\n')
        self.writing_s += time.monotonic() - start


def _temporary_file(path):
    """Named and locked as file_io.h has it: fusegate removes such files where nobody holds their lock."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.fusegate-", dir=path.parent)
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor, name
        os.close(descriptor)  # removed before it was locked


def write_atomically(path, text):
    """Creates missing folders. Raises InputError; the old file, if any, is then untouched."""
    path = pathlib.Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = _temporary_file(path)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(descriptor, 0o644)
            file.write(text)
            file.flush()
            os.fsync(descriptor)
            os.replace(temporary, path)  # while the lock is held
    except OSError as error:
        if temporary is not None:
            pathlib.Path(temporary).unlink(missing_ok=True)
        raise InputError(path, "", f"cannot be written: {error.strerror}") from error
