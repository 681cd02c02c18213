"""The kernels and memory operations of one call, from torch's profiler, in the run file's form (baselines/launches)."""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any, Callable

_CALLS = ("cuda_runtime", "cuda_driver")
_LAUNCHED = ("kernel", "gpu_memcpy", "gpu_memset")


class ProfileFailed(RuntimeError):
    """warning: its name in the run file."""

    def __init__(self, warning: str, why: str):
        super().__init__(why)
        self.warning = warning


def profile_call(torch, launch: Callable, stage: str) -> dict[str, Any]:
    """stage: of the whole call; "" if it has several stages. Raises ProfileFailed."""
    profiler = torch.profiler
    if not torch.autograd.kineto_available():
        raise ProfileFailed("profiler_missing", "this torch was built without Kineto")
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]) as recorded:
        launch()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        recorded.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8")).get("traceEvents", [])
    profile = call_profile(events, stage)
    if not profile["kernels"] and not profile["memory_operations"]:
        raise ProfileFailed("profile_failed", "torch's profiler recorded no GPU work")
    return profile


def call_profile(events: list[dict[str, Any]], stage: str) -> dict[str, Any]:
    """events: of a Chrome trace of torch's."""
    events = sorted((event for event in events if event.get("ph") == "X"), key=lambda event: event["ts"])
    calls = [event for event in events if event.get("cat") in _CALLS and _correlation(event)]
    launched = {_correlation(event) for event in events if event.get("cat") in _LAUNCHED}
    calls = [event for event in calls if _correlation(event) in launched]
    begin_us = calls[0]["ts"] if calls else events[0]["ts"] if events else 0.0

    def span(event):
        return {"stage": stage, "start_ns": max(0.0, 1e3 * (event["ts"] - begin_us)),
                "duration_ns": 1e3 * event.get("dur", 0.0), "correlation": _correlation(event)}

    kernels = [{"name": event["name"], **span(event), "grid": _three(event, "grid"), "block": _three(event, "block"),
                "registers": int(event["args"].get("registers per thread", 0)), "static_shared_bytes": 0,
                # Kineto reports the sum of static and dynamic.
                "dynamic_shared_bytes": int(event["args"].get("shared memory", 0))}
               for event in events if event.get("cat") == "kernel"]
    operations = [{"kind": event["cat"].replace("gpu_", ""), **span(event), "bytes": int(event["args"].get("bytes", 0))}
                  for event in events if event.get("cat") in _LAUNCHED[1:]]
    return {"kernels": kernels, "memory_operations": operations,
            "calls": [{"name": event["name"], **span(event)} for event in calls]}


def _correlation(event: dict[str, Any]) -> int:
    return int(event.get("args", {}).get("correlation", 0))


def _three(event: dict[str, Any], key: str) -> list[int]:
    sizes = [int(size) for size in event["args"].get(key, [])]
    return (sizes + [1, 1, 1])[:3]
