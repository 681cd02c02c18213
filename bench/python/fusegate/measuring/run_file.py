"""The run file (baselines/record/run_file.h): Google Benchmark JSON, with an entry for each sample. The file on disk is
always complete and valid: it is written to a temporary file, flushed, and renamed."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import math
import os
import pathlib
import socket
import statistics
import tempfile
import time
from collections.abc import Iterable
from typing import Any, Optional

from ..errors import InputError, WriteError
from .protocol import OF_GATE, renamed_keys

# A write waits for this many times the last one's duration, so that writing takes 2 % of the time.
_TIMES_A_WRITE = 50
_LOCK_WAIT_S = 0.2
# In the names of temporary and lock files, after a leading dot (baselines/io/file_io.h).
_OWN_MARK = ".fusegate-"


def google_context(executable: str) -> dict[str, Any]:
    """The keys that Google Benchmark itself writes."""
    return {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "host_name": socket.gethostname(), "executable": executable, "num_cpus": os.cpu_count(),
            "mhz_per_cpu": 0, "cpu_scaling_enabled": False, "caches": [], "load_avg": list(os.getloadavg()),
            "library_build_type": "release"}


class EntryWriter:
    """Entries of one benchmark in Google Benchmark's layout."""

    def __init__(self, name: str, family: int, process: int, repetitions: int):
        self._head = {"name": name, "family_index": family, "per_family_instance_index": 0, "run_name": name,
                      "run_type": "iteration", "repetitions": repetitions, "threads": 1, "process": process}

    def layout_entries(self, first_index, samples, record, calls, choices, about_layout) -> list[dict[str, Any]]:
        """Entries of one layout. samples: pairs of a sample and the CPU time in ns that it took. The benchmark's first entry
        has its details; a later layout's first entry has only about_layout."""
        entries = [{**self._head, "repetition_index": first_index + i, "iterations": calls,
                    "real_time": sample.batch_ns / calls, "cpu_time": cpu_ns / calls, "time_unit": "ns",
                    **_counters(record, sample)} for i, (sample, cpu_ns) in enumerate(samples)]
        details = _details(record, choices) if first_index == 0 else {}
        details.update((key, value) for key, value in about_layout.items() if value)
        if details:
            entries[0]["details"] = details
        return entries

    def failure(self, index: int, message: str) -> dict[str, Any]:
        # Google Benchmark's compare.py reads the numbers of every entry.
        return {**self._head, "repetition_index": index, "error_occurred": True, "error_message": message,
                "iterations": 0, "real_time": 0.0, "cpu_time": 0.0, "time_unit": "ns"}


def _counters(record, sample) -> dict[str, float]:
    counters = {"flops": sum(stage.flops for stage in record.stages),
                "min_bytes": sum(stage.min_bytes for stage in record.stages),
                "host_ns": record.host_ns, "sm_clock_hz": sample.sm_clock_hz}
    if record.launches is not None:
        counters["kernel_launches"] = record.launches.kernels
        if record.launches.memory_operations:
            counters["memory_operations"] = record.launches.memory_operations
    return {name: float(value) for name, value in counters.items() if math.isfinite(value)}


def _details(record, choices) -> dict[str, Any]:
    details = {"stages": [{"name": stage.name, "flops": stage.flops, "min_bytes": stage.min_bytes}
                          for stage in record.stages],
               "choices": choices, "relative_error": record.relative_error}
    return {**details, "notes": {"not_capturable": record.not_capturable}} if record.not_capturable else details


class RunFile:
    """
    Parameters
    ----------
    path : str or Path, optional
        The file; None writes nothing.
    context : dict
        Google Benchmark's, with the key "fusegate".
    entries : list of dict
        Those that the file has already, with --resume.
    """

    def __init__(self, path, context: dict[str, Any], entries: Iterable[dict[str, Any]] = ()):
        self._path, self._context = None if path is None else pathlib.Path(path), context
        self._entries: list[str] = []
        self._details_at: dict[str, int] = {}
        self._lock = FileLock(self._path) if self._path else None
        self._add(entries)
        self._last_write, self._last_took = 0.0, 0.0
        self.writing_s = 0.0
        # Before measuring, so that a folder that cannot be written is reported at once.
        self._write()

    def append(self, entries: Iterable[dict[str, Any]], at_once: bool = False) -> None:
        self._add(entries)
        if at_once or time.monotonic() - self._last_write >= _TIMES_A_WRITE * self._last_took:
            self._write()

    def add_details(self, details: dict[str, dict[str, Any]]) -> None:
        """Adds members to the details of benchmarks, by name, after their entries were written."""
        for name, members in details.items():
            number = self._details_at.get(name)
            if number is not None:
                entry = json.loads(self._entries[number])
                entry.setdefault("details", {}).update(members)
                self._entries[number] = json.dumps(entry, allow_nan=False)
        self._write()

    def leave(self, warnings: Iterable[str]) -> None:
        """Writes the file for the last time, unfinished: another process may resume it."""
        fusegate = self._context["fusegate"]
        fusegate["warnings"] = sorted({*fusegate["warnings"], *warnings})
        self._write()

    def finish(self, warnings: Iterable[str]) -> None:
        self._context["fusegate"]["finished"] = True
        self.leave(warnings)

    def close(self) -> None:
        if self._lock:
            self._lock.close()

    def _add(self, entries: Iterable[dict[str, Any]]) -> None:
        for entry in entries:
            if not entry.get("error_occurred"):
                self._details_at.setdefault(entry["name"], len(self._entries))
            # Serialised once, so that writing the file again only copies text.
            self._entries.append(json.dumps(entry, allow_nan=False))

    def _write(self) -> None:
        if self._path is None:
            return
        start = time.monotonic()
        body = ",\n".join(self._entries)
        write_atomically(self._path, f'{{\n"context": {json.dumps(self._context)},\n"benchmarks": [\n{body}\n]\n}}\n')
        self._last_write = time.monotonic()
        self._last_took = self._last_write - start
        self.writing_s += self._last_took


def read_run_file(path: pathlib.Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """context.fusegate, under today's keys, and all entries. Raises InputError."""
    try:
        parsed = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(path, "", f"not valid JSON: {error}") from error
    if not isinstance(parsed, dict) or not isinstance(parsed.get("benchmarks"), list):
        raise InputError(path, "benchmarks", "must be a list")
    for number, entry in enumerate(parsed["benchmarks"]):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise InputError(path, f"benchmarks[{number}].name", "must be a text")
    context = parsed.get("context")
    fusegate = context.get("fusegate") if isinstance(context, dict) else None
    return renamed(fusegate) if isinstance(fusegate, dict) else {}, parsed["benchmarks"]


def renamed(fusegate: dict[str, Any]) -> dict[str, Any]:
    """context.fusegate of any version under today's keys: files had "invocation" and protocol.places before."""
    found = {"process" if key == "invocation" else key: value for key, value in fusegate.items()}
    if isinstance(found.get("protocol"), dict):
        found["protocol"] = renamed_keys(found["protocol"])
    return found


def median_times_ns(paths: Iterable[pathlib.Path]) -> dict[str, float]:
    """By benchmark: the median over the run files of their median times."""
    by_name: dict[str, list[float]] = {}
    for path in paths:
        own: dict[str, list[float]] = {}
        for entry in read_run_file(path)[1]:
            own.setdefault(entry["name"], []).append(entry["real_time"])
        for name, times in own.items():
            by_name.setdefault(name, []).append(statistics.median(times))
    return {name: statistics.median(times) for name, times in by_name.items()}


def require_same_measurement(path: pathlib.Path, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """For --resume. Raises InputError if the file holds something else, as in fusegate_bench."""
    keys = ("suite", "process", "protocol", "environment", "provenance")
    _require_equal(path, theirs, ours, keys, "--resume needs the same measurement; write another file")


def require_replaceable(path: pathlib.Path, ours: dict[str, Any], names: set[str]) -> None:
    """Without --force, replaces only an empty file, or one of the same measurement. Raises InputError."""
    force = "--force replaces the file"
    if not path.is_file() or path.stat().st_size == 0:
        return
    try:
        theirs, entries = read_run_file(path)
    except InputError as error:
        raise InputError(path, "", f"exists and is not a run file; {force}") from error
    _require_equal(path, theirs, ours, ("suite", "protocol"), force)
    for number, entry in enumerate(entries):
        if entry["name"] not in names:
            raise InputError(path, f"benchmarks[{number}]", f"{entry['name']} would be lost, since it is not measured now; "
                                                            f"{force}")


def _require_equal(path, theirs: dict[str, Any], ours: dict[str, Any], keys: Iterable[str], advice: str) -> None:
    there, here = _facts(theirs, keys), _facts(ours, keys)
    for key in sorted({*there, *here}):
        if there.get(key) != here.get(key):
            texts = ["(absent)" if key not in side else json.dumps(side[key]) for side in (there, here)]
            raise InputError(path, f"context.fusegate.{key}", f"is {texts[0]} in the file and {texts[1]} now; {advice}")


def _facts(fusegate: dict[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """The values of the keys; of an object each member, except the gate's."""
    facts: dict[str, Any] = {}
    for key in keys:
        value = fusegate.get(key)
        if isinstance(value, dict):
            facts.update((f"{key}.{name}", each) for name, each in value.items() if name not in OF_GATE)
        elif value is not None:
            facts[key] = value
    return facts


class FileLock:
    """Locks the file against other writers, the C++ programs too (baselines/io/write_lock.h)."""

    def __init__(self, path: pathlib.Path):
        self._lock_path = path.parent / f".{path.name}{_OWN_MARK}lock"
        self._descriptor: Optional[int] = None
        if is_stream(path):
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_leftovers(path.parent)
            self._descriptor = self._locked(path)
        except OSError as error:
            raise WriteError(path, "", f"cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Removes the lock file while it is locked: another process that has it open then finds it without a name."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._lock_path.unlink()
            os.close(self._descriptor)
            self._descriptor = None

    def _locked(self, path: pathlib.Path) -> Optional[int]:
        start = time.monotonic()
        while True:
            descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(descriptor, 16, 0).decode(errors="replace")
                os.close(descriptor)
                if time.monotonic() - start >= _LOCK_WAIT_S:
                    who = f"process {holder}" if holder else "another process"
                    raise InputError(path, "", f"{who} is writing this file; wait for it, or write another file") from None
                time.sleep(0.01)
                continue
            except OSError:  # a file system without locks
                os.close(descriptor)
                return None
            if os.fstat(descriptor).st_nlink:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                return descriptor
            os.close(descriptor)  # its last holder removed it


def remove_leftovers(folder: pathlib.Path) -> None:
    """Removes temporary files that killed processes left: those with fusegate's mark that nobody has locked."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f".*{_OWN_MARK}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(path)


def _remove_if_left(path: pathlib.Path) -> None:
    """Raises OSError if another process has locked it."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # By now the name may belong to another file, which may be locked.
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            path.unlink()
    finally:
        os.close(descriptor)


def _temporary_file(path: pathlib.Path):
    """Named and locked as in file_io.h, so that other processes remove it only if this one is killed."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}{_OWN_MARK}", dir=path.parent)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.fstat(descriptor).st_nlink > 0
        except BlockingIOError:
            is_ours = False  # another process is removing it as a leftover
        except OSError:
            is_ours = True  # a file system without locks
        if is_ours:
            return descriptor, name
        os.close(descriptor)


def is_stream(path: pathlib.Path) -> bool:
    """Whether the path is a device or a pipe, such as /dev/stdout, which has no contents and must not be renamed over."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_atomically(path, text: str) -> None:
    """Writes the file and missing folders. Raises WriteError; an old file is then unchanged."""
    path = pathlib.Path(path)
    path = path.resolve() if path.is_symlink() else path  # so that a link stays a link
    temporary = None
    try:
        if is_stream(path):
            path.write_text(text, encoding="utf-8")
            return
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
        raise WriteError(path, "", f"cannot be written: {error.strerror}") from error
