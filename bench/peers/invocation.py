"""The invocation: every benchmark is checked first, then all are measured, place by place. A place's samples are in
the run file before the next place begins."""

import json
import random
import statistics
import sys
import time

from input_error import DeviceLost, InputError
from libraries import one_line
from protocol import place_order
from run_file import EntryWriter
from session import Session, Verifier

# How often the machine is looked at, as fusegate_bench does.
BETWEEN_LOOKS_S = 0.5


class Account:
    """A benchmark's session, and what came of it so far."""

    def __init__(self, benchmark, session, writer, choices):
        self.name, self.session, self.writer, self.choices = benchmark.name, session, writer, choices
        self.places, self.times_ns, self.failure = 0, [], ""


class Invocation:
    """libraries: from find_libraries. say: prints progress lines, which fusegate reads; may be None."""

    def __init__(self, device, meter, watch, plan, protocol, seed, number, libraries, run_file, say=None):
        self._device, self._meter, self._watch = device, meter, watch
        self._protocol, self._seed, self._libraries = protocol, seed, libraries
        self._run_file, self._say, self._last_look = run_file, say, 0.0
        self.accounts, self.checking_s = [], 0.0
        for family, benchmark in enumerate(plan.benchmarks):
            needs = benchmark.implementation.needs
            self.accounts.append(Account(
                benchmark, Session(device, meter, protocol, seed, benchmark),
                EntryWriter(benchmark.name, family, number, protocol.samples),
                {name: libraries.versions[name] for name in needs}))

    def run(self):
        """Raises DeviceLost where a benchmark breaks the device for the others."""
        total = len(self.accounts) * self._protocol.places
        self._report({"event": "start", "total": total, "benchmarks": len(self.accounts)})
        start = time.monotonic()
        self._verify()
        self.checking_s = time.monotonic() - start
        for index in place_order(self._protocol, len(self.accounts), random.Random(self._seed)):
            account = self.accounts[index]
            if not account.failure:
                self._attempt(account, self._measure)
        self._run_file.finish(self._watch.doubts)

    def measured(self):
        return [account for account in self.accounts if account.times_ns and not account.failure]

    def _verify(self):
        """All benchmarks, in the plan's order, before any is timed. One reference is held at a time."""
        verifier = Verifier(self._device, self._meter, self._seed)
        for account in self.accounts:
            self._attempt(account, lambda each: each.session.verify(verifier, self._libraries.modules))

    def _measure(self, account):
        place = account.session.enter(account.places)
        samples = []
        for _ in range(self._protocol.samples_at(account.places)):
            before = time.process_time_ns()
            sample = account.session.run_sample(place)
            samples.append((sample, time.process_time_ns() - before))
            self._watch.saw_clock(sample.sm_clock_hz)
        about_place = {"doubts": sorted(place.doubts), "throttle_reasons": self._look()}
        self._run_file.append(account.writer.place(self._protocol.first_sample(account.places), samples,
                                                   account.session.record, account.session.calls, account.choices,
                                                   about_place))
        account.places += 1
        account.times_ns += [sample.batch_ns / account.session.calls for sample, _ in samples]
        self._report_progress(account)

    def _attempt(self, account, step):
        """Where a step fails, only its benchmark is left out."""
        try:
            step(account)
        except InputError:
            raise  # the run file cannot be written
        except Exception as error:  # pylint: disable=broad-except
            self._fail(account, one_line(error))

    def _fail(self, account, message):
        account.failure = message
        index = self._protocol.first_sample(account.places)
        self._run_file.append([account.writer.failure(index, message)])
        print(f"peers: {account.name}: {message}", file=sys.stderr)
        self._report_progress(account)
        try:
            self._device.synchronize()
        except RuntimeError as error:  # CUDA reports a broken context at every call from then on
            raise DeviceLost(one_line(error)) from error

    def _look(self):
        """The throttle reasons, where the last look at the machine was long enough ago; else none."""
        now = time.monotonic()
        if now - self._last_look < BETWEEN_LOOKS_S:
            return []
        self._last_look = now
        self._watch.look()
        return self._watch.throttle_reasons

    def _places_done(self, account):
        return self._protocol.places if account.failure else account.places

    def _report_progress(self, account):
        done = [self._places_done(each) for each in self.accounts]
        event = {"event": "benchmark", "index": sum(done), "total": len(done) * self._protocol.places,
                 "benchmark": account.name, "finished": done.count(self._protocol.places),
                 "benchmarks": len(done)}
        if account.failure:
            event["failure"] = account.failure
        else:
            middle = statistics.median(account.times_ns)
            event["time_ns"] = middle
            event["spread"] = statistics.median(abs(time_ns - middle) for time_ns in account.times_ns) / middle
        self._report(event)

    def _report(self, event):
        if self._say is not None:
            self._say("@fusegate " + json.dumps(event))
