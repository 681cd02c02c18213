"""The rules of Chrome's trace-event format that a viewer needs kept, checked on a file of ours.

Source: "Trace Event Format", Google, 2016, and what Perfetto's importer drops: a slice that begins inside another
of its thread and outlasts it, an arrow without an end in a slice."""

import collections
import numbers

REQUIRED = {"X": ("name", "cat", "pid", "tid", "ts", "dur"), "M": ("name", "pid", "args"),
            "C": ("name", "pid", "ts", "args"), "s": ("name", "cat", "id", "pid", "tid", "ts"),
            "f": ("name", "cat", "id", "pid", "tid", "ts", "bp")}


def broken_rules(trace):
    """What is wrong, as texts."""
    events = trace["traceEvents"]
    problems = [problem for index, event in enumerate(events) for problem in broken_keys(index, event)]
    return problems or [*misplaced_slices(events), *loose_arrows(events)]


def broken_keys(index, event):
    phase = event.get("ph")
    if phase not in REQUIRED:
        yield f"event {index}: phase {phase!r}"
        return
    for key in REQUIRED[phase]:
        if key not in event:
            yield f"event {index}: no {key}"
    for key in ("pid", "tid", "ts", "dur"):
        if key in event and (not isinstance(event[key], numbers.Real) or isinstance(event[key], bool)):
            yield f"event {index}: {key} is {event[key]!r}"
    if event.get("dur", 0) < 0:
        yield f"event {index}: lasts {event['dur']}"
    if phase == "C" and not all(isinstance(value, numbers.Real) for value in event["args"].values()):
        yield f"event {index}: counts {event['args']}"


def slices_by_thread(events):
    threads = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append((nanoseconds(event["ts"]),
                                                        nanoseconds(event["ts"]) + nanoseconds(event["dur"])))
    return threads


def nanoseconds(microseconds):
    return round(microseconds * 1000)


def misplaced_slices(events):
    for thread, slices in slices_by_thread(events).items():
        open_ends = []
        for start, end in sorted(slices, key=lambda span: (span[0], -span[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                yield f"thread {thread}: {start} to {end} ns outlasts what it began in"
            open_ends.append(end)


def loose_arrows(events):
    threads = slices_by_thread(events)
    ends = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["id"]].append(event["ph"])
            at = nanoseconds(event["ts"])
            if not any(start <= at <= end for start, end in threads[event["pid"], event["tid"]]):
                yield f"arrow {event['id']}: its {event['ph']} at {at} ns is in no slice"
    for arrow, phases in ends.items():
        if sorted(phases) != ["f", "s"]:
            yield f"arrow {arrow}: has {phases}"
