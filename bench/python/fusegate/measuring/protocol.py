"""How a benchmark is measured: the protocol of fusegate_bench (bench/plan/protocol.h), with the same names and
defaults."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Any, Optional

from ..errors import InputError

_MINUTE_US = 60_000_000
# By a suite's key: the protocol's name, its unit there, and the smallest and largest value.
_NUMBERS = {"samples": ("samples", 1, 1, 100_000), "layouts": ("layouts", 1, 1, 1000),
            "batch_us": ("batch_ns", 1000, 1, _MINUTE_US), "idle_us": ("idle_ns", 1000, 0, _MINUTE_US),
            "warm_ms": ("warm_ns", 1_000_000, 0, 60_000), "spin_us": ("spin_ns", 1000, 0, 1_000_000)}
CHOICES = {"regime": ("burst", "sustained"), "order": ("interleaved", "contiguous"), "l2": ("warm", "flushed"),
            "layout": ("numbered", "driver")}
_SUSTAINED = {"idle_us": 0, "layouts": 12, "warm_ms": 100}

# The gate's settings, which do not affect how samples are taken.
OF_GATE = ("min_effect", "allow", "host_min_effect", "host_min_ns")

FLAG_HELP = {
    "samples": "samples of each benchmark (default: 48)",
    "layouts": "memory layouts over which the samples are spread (default: 48)",
    "batch_us": "shortest sample in microseconds (default: 1500)",
    "idle_us": "idle time of the device before every sample in microseconds (default: 3000)",
    "warm_ms": "time for which the kernel runs in every layout before its samples, in milliseconds (default: 0)",
    "spin_us": "only 0: unlike fusegate_bench, a Python program cannot keep the GPU busy between idling and a sample",
    "regime": "burst (default): the device idles before every sample; sustained: samples follow each other at once",
    "order": "interleaved (default): the benchmarks' layouts are mixed; contiguous: one benchmark after the other",
    "l2": "contents of the L2 cache before a call. warm (default): the data of the call before; flushed: none of it",
    "layout": "addresses of tensors. numbered (default on a GPU): set by the layout's number; driver: set by the driver"}
FLAGS = {**{key: int for key in _NUMBERS}, **{key: str for key in CHOICES}}


@dataclasses.dataclass
class Protocol:
    """layout: None until the device is known. min_effect, allow, host_*: the suite's settings of the gate."""

    samples: int = 48
    layouts: int = 48
    batch_ns: int = 1_500_000
    idle_ns: int = 3_000_000
    warm_ns: int = 0
    spin_ns: int = 0
    order: str = "interleaved"
    l2: str = "warm"
    regime: str = "burst"
    layout: Optional[str] = None
    min_effect: float = 0.0
    allow: float = 0.0
    host_min_effect: Optional[float] = None
    host_min_ns: Optional[float] = None

    def first_sample(self, layout: int) -> int:
        return self.samples * layout // self.layouts

    def samples_at(self, layout: int) -> int:
        return self.first_sample(layout + 1) - self.first_sample(layout)

    def to_json(self) -> dict[str, Any]:
        """For run files: without settings that are not given."""
        given = {key: value for key, value in dataclasses.asdict(self).items() if value is not None}
        return {key: value for key, value in given.items() if value or key not in ("min_effect", "allow")}


def parse_protocol(given: Mapping[str, Any], source: str) -> Protocol:
    """given: a suite's "protocol". Raises InputError, which names the key."""
    if not isinstance(given, Mapping):
        raise InputError(source, "protocol", "must be an object")
    sets: dict[str, Any] = {}
    regime = given.get("regime", "burst")
    for key, value in {**(_SUSTAINED if regime == "sustained" else {}), **renamed_keys(given)}.items():
        if key in _NUMBERS:
            name, unit, least, most = _NUMBERS[key]
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InputError(source, f"protocol.{key}", f"must be a whole number from {least} to {most}")
            sets[name] = value * unit
        elif key in CHOICES:
            if value not in CHOICES[key]:
                names = " or ".join(f'"{name}"' for name in CHOICES[key])
                raise InputError(source, f"protocol.{key}", f"must be {names}")
            sets[key] = value
        else:
            raise InputError(source, f"protocol.{key}", f"unknown key; known: {', '.join(FLAGS)}")
    protocol = Protocol(**sets)
    protocol.layouts = min(protocol.layouts, protocol.samples)
    if protocol.spin_ns:
        raise InputError(source, "protocol.spin_us", "must be 0 for a Python program, which has no kernel that keeps a GPU busy")
    return protocol


def renamed_keys(protocol: Mapping[str, Any]) -> dict[str, Any]:
    """A protocol of any version under today's keys: suites and run files had "places" before."""
    return {"layouts" if key == "places" else key: value for key, value in protocol.items()}


def with_flags(given: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """A suite's protocol, changed by flags."""
    found = renamed_keys(given)
    # These were chosen for the suite's regime and do not fit another one.
    if flags.get("regime", found.get("regime", "burst")) != found.get("regime", "burst"):
        for key in _SUSTAINED:
            found.pop(key, None)
    return {**found, **flags}


def layout_order(protocol: Protocol, left: list[int], shuffle: random.Random) -> list[int]:
    """The order of measuring: benchmarks by number, each once for every layout left."""
    order = [benchmark for benchmark, layouts in enumerate(left) for _ in range(layouts)]
    if protocol.order == "interleaved":
        shuffle.shuffle(order)
    return order
