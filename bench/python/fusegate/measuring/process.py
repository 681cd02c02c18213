"""Measures in this process: checks every benchmark, then measures all of them, layout by layout. Writes a layout's samples
to the run file soon after they are taken. A benchmark that fails does not stop the others."""

from __future__ import annotations

import dataclasses
import json
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any, Callable, Optional

from ..console import log
from ..errors import DeviceLost, InputError, WriteError, one_line
from .call import WrongResult
from .memory import layout_bytes
from .call_profile import ProfileFailed, profile_call
from .protocol import Protocol, layout_order
from .run_file import EntryWriter, RunFile
from .session import Session
from .failure_report import FailureReport
from .verification import Verifier
from .watchdog import Watchdog

# How often the machine's state is read, as in fusegate_bench.
CHECK_INTERVAL_S = 0.5


@dataclasses.dataclass
class Request:
    """What to measure and how. number: of the process in its run. libraries: versions by name; a benchmark's choices
    record those that it uses. say: prints progress lines for fusegate. leave: called on another thread if a benchmark does
    not end; replaces this process by one that measures the others. left_out: registered implementations that are not
    measured."""

    protocol: Protocol
    seed: int
    number: int = 1
    libraries: dict[str, str] = dataclasses.field(default_factory=dict)
    program: str = "fusegate"
    say: Optional[Callable[[str], None]] = None
    stuck_after_s: Optional[float] = None
    leave: Optional[Callable[[], None]] = None
    energy_ms: int = 0
    profile: bool = False
    left_out: Sequence[str] = ()


class BenchmarkProgress:
    """A benchmark's session and results so far. layouts: measured ones. failure: empty if there is none."""

    def __init__(self, planned, session: Session, writer: EntryWriter, choices: dict[str, str]):
        self.name, self.planned, self.session, self.writer = planned.name, planned, session, writer
        self.choices, self.layouts, self.failure = choices, 0, ""
        self.times_ns: list[float] = []


class Process:
    """watch: an environment.Watch. earlier: the entries of the run file that --resume continues."""

    def __init__(self, device, meter, watch, planned: Sequence[Any], request: Request, run_file: RunFile,
                 earlier: Sequence[dict[str, Any]] = ()):
        self._device, self._meter, self._watch, self._run_file = device, meter, watch, run_file
        self._request, self._protocol, self._last_check = request, request.protocol, 0.0
        self._profile_warnings: set = set()
        self._failures = FailureReport(lambda line: log(line, request.program))
        self.benchmarks: list[BenchmarkProgress] = []
        self.checking_s = 0.0
        for family, benchmark in enumerate(planned):
            uses = (benchmark.implementation.arrays, *benchmark.implementation.requires)
            self.benchmarks.append(BenchmarkProgress(
                benchmark, Session(device, meter, self._protocol, request.seed, benchmark),
                EntryWriter(benchmark.name, family, request.number, self._protocol.samples),
                {name: request.libraries[name] for name in uses if name in request.libraries}))
        self._resume(earlier)
        patience = None if request.stuck_after_s is None else \
            request.stuck_after_s + 1e-9 * self._protocol.warm_ns + 1e-3 * request.energy_ms
        self._watchdog = Watchdog(patience, self._give_up)

    def run(self) -> None:
        """Raises DeviceLost if a benchmark breaks the CUDA context."""
        left_out = {"left_out": list(self._request.left_out)} if self._request.left_out else {}
        self._report({"event": "start", "total": len(self.benchmarks) * self._protocol.layouts,
                      "benchmarks": len(self.benchmarks), **left_out})
        try:
            self._verify()
            self._reserve()
            left = [0 if benchmark.failure else self._protocol.layouts - benchmark.layouts for benchmark in self.benchmarks]
            for index in layout_order(self._protocol, left, random.Random(self._request.seed)):
                if not self.benchmarks[index].failure:
                    self._attempt(index, self._measure)
            for is_asked_for, find in ((self._request.energy_ms, self._energy), (self._request.profile, self._profile)):
                if is_asked_for:
                    self._add_details(find)
            self._watch.check()
        except BaseException:
            self._run_file.leave(self._warnings())
            raise
        finally:
            self._failures.report_others()
        self._run_file.finish(self._warnings())

    def measured(self) -> list[BenchmarkProgress]:
        return [benchmark for benchmark in self.benchmarks
                if not benchmark.failure and benchmark.layouts == self._protocol.layouts]

    def failed(self) -> list[BenchmarkProgress]:
        return [benchmark for benchmark in self.benchmarks if benchmark.failure]

    def _resume(self, earlier: Sequence[dict[str, Any]]) -> None:
        by_name = {benchmark.name: benchmark for benchmark in self.benchmarks}
        samples: dict[str, int] = {}
        for entry in earlier:
            if entry["name"] in by_name and entry.get("error_occurred"):
                by_name[entry["name"]].failure = str(entry.get("error_message")) or "failed"
            else:
                samples[entry["name"]] = samples.get(entry["name"], 0) + 1
        for name, benchmark in by_name.items():
            while self._protocol.first_sample(benchmark.layouts) < samples.get(name, 0):
                benchmark.layouts += 1

    def _is_done(self, benchmark: BenchmarkProgress) -> bool:
        return bool(benchmark.failure) or benchmark.layouts == self._protocol.layouts

    def _verify(self) -> None:
        """Checks all benchmarks before any is timed, in the plan's order, so that memory holds one reference at a time."""
        start = time.monotonic()
        verifier = Verifier(self._device, self._meter, self._request.seed)
        for index, benchmark in enumerate(self.benchmarks):
            if not self._is_done(benchmark):
                self._attempt(index, lambda each: each.session.verify(verifier))
        self.checking_s = time.monotonic() - start

    def _reserve(self) -> None:
        """Allocates memory for the largest layout, which the checks found out."""
        sizes = [benchmark.session.verified.sizes for benchmark in self.benchmarks if benchmark.session.verified]
        if self._protocol.layout == "numbered" and sizes:
            self._device.reserve(max(sizes, key=layout_bytes), self._request.seed)

    def _measure(self, benchmark: BenchmarkProgress) -> None:
        layout = benchmark.session.enter(benchmark.layouts)
        samples = []
        for _ in range(self._protocol.samples_at(benchmark.layouts)):
            before = time.process_time_ns()
            sample = benchmark.session.run_sample(layout)
            samples.append((sample, time.process_time_ns() - before))
            self._watch.add(sample)
        about_layout = {"warnings": sorted(layout.warnings), "throttle_reasons": self._check_machine()}
        record = benchmark.session.record
        self._run_file.append(benchmark.writer.layout_entries(self._protocol.first_sample(benchmark.layouts), samples, record,
                                                   benchmark.session.calls, {**benchmark.choices, **record.choices},
                                                   about_layout))
        benchmark.layouts += 1
        benchmark.times_ns += [sample.batch_ns / benchmark.session.calls for sample, _ in samples]
        self._report_progress(benchmark)

    def _attempt(self, index: int, step: Callable[[BenchmarkProgress], None]) -> None:
        """A failure affects this benchmark alone."""
        benchmark = self.benchmarks[index]
        try:
            with self._watchdog.piece(index):
                step(benchmark)
        except (WriteError, KeyboardInterrupt):
            raise
        except BaseException as error:  # pylint: disable=broad-except
            self._fail(benchmark, _text(error))  # also for sys.exit(0): a benchmark may not end this process

    def _fail(self, benchmark: BenchmarkProgress, message: str) -> None:
        self._note_failure(benchmark, message)
        try:
            self._device.synchronize()
        except RuntimeError as error:  # with a broken context, every CUDA call fails
            raise DeviceLost(one_line(error)) from error

    def _note_failure(self, benchmark: BenchmarkProgress, message: str) -> None:
        benchmark.failure = message
        index = self._protocol.first_sample(benchmark.layouts)
        self._run_file.append([benchmark.writer.failure(index, message)], at_once=True)
        self._failures.report(benchmark.planned.implementation.full_name, benchmark.name, message)
        self._report_progress(benchmark)

    def _give_up(self, index: int) -> None:
        """Runs on the watchdog's thread while the main thread waits for the device."""
        benchmark = self.benchmarks[index]
        if self._is_done(benchmark):
            log(f"{benchmark.name}: profiling did not end", self._request.program)
            self._profile_warnings.add("profile_failed")
        else:
            self._note_failure(benchmark, f"did not end within {self._request.stuck_after_s:g} s")
        self._failures.report_others()
        self._run_file.leave(self._warnings())
        self._run_file.close()
        if self._request.leave:
            self._request.leave()

    def _check_machine(self) -> list[str]:
        """Reads the machine's state, unless that was done recently. Returns the throttle reasons, else none."""
        now = time.monotonic()
        if now - self._last_check < CHECK_INTERVAL_S:
            return []
        self._last_check = now
        self._watch.check()
        return self._watch.throttle_reasons

    # Runs after the last sample: it heats the device, and a profiler that was attached may slow down what follows.

    def _add_details(self, find: Callable[[BenchmarkProgress], dict[str, Any]]) -> None:
        found = {}
        for index, benchmark in enumerate(self.benchmarks):
            if not self._is_done(benchmark) or benchmark.failure or not benchmark.session.calls:
                continue
            try:
                with self._watchdog.piece(index):
                    found[benchmark.name] = find(benchmark)
            except ProfileFailed as error:
                self._profile_warnings.add(error.warning)
                if error.warning != "profile_failed":
                    break  # no benchmark can be profiled
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # pylint: disable=broad-except
                log(f"{benchmark.name}: {one_line(error)}", self._request.program)
        self._run_file.add_details({name: members for name, members in found.items() if members})

    def _energy(self, benchmark: BenchmarkProgress) -> dict[str, Any]:
        energy = benchmark.session.call_energy(self._watch.energy_mj, 1e6 * self._request.energy_ms)
        return {"energy_per_call_j": energy.joules, "energy_power_w": energy.power_w} if energy else {}

    def _profile(self, benchmark: BenchmarkProgress) -> dict[str, Any]:
        stages = benchmark.session.record.stages
        launch = benchmark.session.move_to(0).launch
        launch()
        self._device.synchronize()
        return {"profile": profile_call(self._device.torch, launch, stages[0].name if len(stages) == 1 else "")}

    def _warnings(self) -> set:
        return {*self._watch.warnings, *self._profile_warnings}

    def _layouts_done(self, benchmark: BenchmarkProgress) -> int:
        return self._protocol.layouts if benchmark.failure else benchmark.layouts

    def _report_progress(self, benchmark: BenchmarkProgress) -> None:
        done = [self._layouts_done(each) for each in self.benchmarks]
        event: dict[str, Any] = {
            "event": "benchmark", "index": sum(done), "total": len(done) * self._protocol.layouts,
            "benchmark": benchmark.name, "finished": done.count(self._protocol.layouts), "benchmarks": len(done)}
        if benchmark.failure:
            event["failure"] = benchmark.failure
        else:
            middle = statistics.median(benchmark.times_ns)
            event["time_ns"] = middle
            event["spread"] = statistics.median(abs(time_ns - middle) for time_ns in benchmark.times_ns) / middle
        self._report(event)

    def _report(self, event: dict[str, Any]) -> None:
        if self._request.say is not None:
            self._request.say(event_line(event))


def event_line(event: dict[str, Any]) -> str:
    """A progress event in the form that fusegate reads (ci/run/progress.h)."""
    return "@fusegate " + json.dumps(event)


def _text(error: BaseException) -> str:
    """This package's own exceptions are complete sentences."""
    return str(error) if isinstance(error, (InputError, WrongResult)) else one_line(error)
