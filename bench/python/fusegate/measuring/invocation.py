"""The invocation: every benchmark is checked first, then all are measured, place by place. A place's samples are in
the run file before long, and what goes wrong with a benchmark costs that alone."""

from __future__ import annotations

import dataclasses
import json
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any, Callable, Optional

from ..console import complain
from ..errors import DeviceLost, InputError, WriteError, one_line
from .call import WrongResult
from .memory import layout_bytes
from .call_profile import ProfileFailed, profile_call
from .protocol import Protocol, place_order
from .run_file import EntryWriter, RunFile
from .session import Session
from .told_failures import ToldFailures
from .verification import Verifier
from .watchdog import Watchdog

# How often the machine is looked at, as fusegate_bench does.
BETWEEN_LOOKS_S = 0.5


@dataclasses.dataclass
class Request:
    """What an invocation is asked for. number: in its run. libraries: versions by name, of which a benchmark's choices
    tell those that it uses. say: prints progress lines, which fusegate reads. leave: leaves the process from another
    thread where a benchmark does not end, and has the rest measured by another one. left_out: implementations that are
    registered and not measured."""

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


class Account:
    """A benchmark's session, and what came of it so far."""

    def __init__(self, benchmark, session: Session, writer: EntryWriter, choices: dict[str, str]):
        self.name, self.benchmark, self.session, self.writer = benchmark.name, benchmark, session, writer
        self.choices, self.places, self.failure = choices, 0, ""
        self.times_ns: list[float] = []


class Invocation:
    """watch: an environment.Watch. kept: entries of a run file that is gone on with."""

    def __init__(self, device, meter, watch, benchmarks: Sequence[Any], request: Request, run_file: RunFile,
                 kept: Sequence[dict[str, Any]] = ()):
        self._device, self._meter, self._watch, self._run_file = device, meter, watch, run_file
        self._request, self._protocol, self._last_look = request, request.protocol, 0.0
        self._profile_doubts: set = set()
        self._told = ToldFailures(lambda line: complain(line, request.program))
        self.accounts: list[Account] = []
        self.checking_s = 0.0
        for family, benchmark in enumerate(benchmarks):
            uses = (benchmark.implementation.arrays, *benchmark.implementation.requires)
            self.accounts.append(Account(
                benchmark, Session(device, meter, self._protocol, request.seed, benchmark),
                EntryWriter(benchmark.name, family, request.number, self._protocol.samples),
                {name: request.libraries[name] for name in uses if name in request.libraries}))
        self._take_over(kept)
        patience = None if request.stuck_after_s is None else \
            request.stuck_after_s + 1e-9 * self._protocol.warm_ns + 1e-3 * request.energy_ms
        self._watchdog = Watchdog(patience, self._give_up)

    def run(self) -> None:
        """Raises DeviceLost where a benchmark breaks the device for the others."""
        left_out = {"left_out": list(self._request.left_out)} if self._request.left_out else {}
        self._report({"event": "start", "total": len(self.accounts) * self._protocol.places,
                      "benchmarks": len(self.accounts), **left_out})
        try:
            self._verify()
            self._reserve()
            left = [0 if account.failure else self._protocol.places - account.places for account in self.accounts]
            for index in place_order(self._protocol, left, random.Random(self._request.seed)):
                if not self.accounts[index].failure:
                    self._attempt(index, self._measure)
            for is_asked_for, find in ((self._request.energy_ms, self._energy), (self._request.profile, self._profile)):
                if is_asked_for:
                    self._add_details(find)
            self._watch.look()
        except BaseException:
            self._run_file.leave(self._doubts())
            raise
        finally:
            self._told.tell_rest()
        self._run_file.finish(self._doubts())

    def measured(self) -> list[Account]:
        return [account for account in self.accounts
                if not account.failure and account.places == self._protocol.places]

    def failed(self) -> list[Account]:
        return [account for account in self.accounts if account.failure]

    def _take_over(self, kept: Sequence[dict[str, Any]]) -> None:
        by_name = {account.name: account for account in self.accounts}
        samples: dict[str, int] = {}
        for entry in kept:
            if entry["name"] in by_name and entry.get("error_occurred"):
                by_name[entry["name"]].failure = str(entry.get("error_message")) or "failed"
            else:
                samples[entry["name"]] = samples.get(entry["name"], 0) + 1
        for name, account in by_name.items():
            while self._protocol.first_sample(account.places) < samples.get(name, 0):
                account.places += 1

    def _is_done(self, account: Account) -> bool:
        return bool(account.failure) or account.places == self._protocol.places

    def _verify(self) -> None:
        """All benchmarks, in the plan's order, before any is timed. One reference is held at a time."""
        start = time.monotonic()
        verifier = Verifier(self._device, self._meter, self._request.seed)
        for index, account in enumerate(self.accounts):
            if not self._is_done(account):
                self._attempt(index, lambda each: each.session.verify(verifier))
        self.checking_s = time.monotonic() - start

    def _reserve(self) -> None:
        """Memory for the largest layout, now that it is known."""
        sizes = [account.session.verified.sizes for account in self.accounts if account.session.verified]
        if self._protocol.layout == "numbered" and sizes:
            self._device.reserve(max(sizes, key=layout_bytes), self._request.seed)

    def _measure(self, account: Account) -> None:
        place = account.session.enter(account.places)
        samples = []
        for _ in range(self._protocol.samples_at(account.places)):
            before = time.process_time_ns()
            sample = account.session.run_sample(place)
            samples.append((sample, time.process_time_ns() - before))
            self._watch.saw(sample)
        about_place = {"doubts": sorted(place.doubts), "throttle_reasons": self._look()}
        record = account.session.record
        self._run_file.append(account.writer.place(self._protocol.first_sample(account.places), samples, record,
                                                   account.session.calls, {**account.choices, **record.choices},
                                                   about_place))
        account.places += 1
        account.times_ns += [sample.batch_ns / account.session.calls for sample, _ in samples]
        self._report_progress(account)

    def _attempt(self, index: int, step: Callable[[Account], None]) -> None:
        """Where a step fails, only its benchmark is left out."""
        account = self.accounts[index]
        try:
            with self._watchdog.piece(index):
                step(account)
        except (WriteError, KeyboardInterrupt):
            raise
        except BaseException as error:  # pylint: disable=broad-except
            self._fail(account, _text(error))  # sys.exit(0) too: this process is not the benchmark's to end

    def _fail(self, account: Account, message: str) -> None:
        self._note_failure(account, message)
        try:
            self._device.synchronize()
        except RuntimeError as error:  # CUDA reports a broken context at every call from then on
            raise DeviceLost(one_line(error)) from error

    def _note_failure(self, account: Account, message: str) -> None:
        account.failure = message
        index = self._protocol.first_sample(account.places)
        self._run_file.append([account.writer.failure(index, message)], at_once=True)
        self._told.tell(account.benchmark.implementation.full_name, account.name, message)
        self._report_progress(account)

    def _give_up(self, index: int) -> None:
        """By the watchdog's thread, while the main one is held by the device."""
        account = self.accounts[index]
        if self._is_done(account):
            complain(f"{account.name}: looking at what it launches did not end", self._request.program)
            self._profile_doubts.add("profile_failed")
        else:
            self._note_failure(account, f"did not end within {self._request.stuck_after_s:g} s")
        self._told.tell_rest()
        self._run_file.leave(self._doubts())
        self._run_file.close()
        if self._request.leave:
            self._request.leave()

    def _look(self) -> list[str]:
        """The throttle reasons, where the last look at the machine was long enough ago; else none."""
        now = time.monotonic()
        if now - self._last_look < BETWEEN_LOOKS_S:
            return []
        self._last_look = now
        self._watch.look()
        return self._watch.throttle_reasons

    # After the last sample: it heats the device, and a profiler that was attached once may leave traces.

    def _add_details(self, find: Callable[[Account], dict[str, Any]]) -> None:
        found = {}
        for index, account in enumerate(self.accounts):
            if not self._is_done(account) or account.failure or not account.session.calls:
                continue
            try:
                with self._watchdog.piece(index):
                    found[account.name] = find(account)
            except ProfileFailed as error:
                self._profile_doubts.add(error.doubt)
                if error.doubt != "profile_failed":
                    break  # it holds for all
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # pylint: disable=broad-except
                complain(f"{account.name}: {one_line(error)}", self._request.program)
        self._run_file.add_details({name: members for name, members in found.items() if members})

    def _energy(self, account: Account) -> dict[str, Any]:
        energy = account.session.call_energy(self._watch.energy_mj, 1e6 * self._request.energy_ms)
        return {"energy_per_call_j": energy.joules, "energy_power_w": energy.power_w} if energy else {}

    def _profile(self, account: Account) -> dict[str, Any]:
        stages = account.session.record.stages
        launch = account.session.move_to(0).launch
        launch()
        self._device.synchronize()
        return {"profile": profile_call(self._device.torch, launch, stages[0].name if len(stages) == 1 else "")}

    def _doubts(self) -> set:
        return {*self._watch.doubts, *self._profile_doubts}

    def _places_done(self, account: Account) -> int:
        return self._protocol.places if account.failure else account.places

    def _report_progress(self, account: Account) -> None:
        done = [self._places_done(each) for each in self.accounts]
        event: dict[str, Any] = {
            "event": "benchmark", "index": sum(done), "total": len(done) * self._protocol.places,
            "benchmark": account.name, "finished": done.count(self._protocol.places), "benchmarks": len(done)}
        if account.failure:
            event["failure"] = account.failure
        else:
            middle = statistics.median(account.times_ns)
            event["time_ns"] = middle
            event["spread"] = statistics.median(abs(time_ns - middle) for time_ns in account.times_ns) / middle
        self._report(event)

    def _report(self, event: dict[str, Any]) -> None:
        if self._request.say is not None:
            self._request.say(event_line(event))


def event_line(event: dict[str, Any]) -> str:
    """As fusegate reads it (ci/run/progress.h)."""
    return "@fusegate " + json.dumps(event)


def _text(error: BaseException) -> str:
    """What this package raises is a sentence already."""
    return str(error) if isinstance(error, (InputError, WrongResult)) else one_line(error)
