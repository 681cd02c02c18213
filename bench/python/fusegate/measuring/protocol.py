"""How a benchmark is measured: the protocol of fusegate_bench (bench/plan/protocol.h), whose defaults and names are
here again."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from typing import Any, Optional

from ..errors import InputError

_MINUTE_US = 60_000_000
# By key of a suite: the protocol's own name, its unit in it, and the least and largest value.
_NUMBERS = {"samples": ("samples", 1, 1, 100_000), "places": ("places", 1, 1, 1000),
            "batch_us": ("batch_ns", 1000, 1, _MINUTE_US), "idle_us": ("idle_ns", 1000, 0, _MINUTE_US),
            "warm_ms": ("warm_ns", 1_000_000, 0, 60_000), "spin_us": ("spin_ns", 1000, 0, 1_000_000)}
CHOICES = {"regime": ("burst", "sustained"), "order": ("interleaved", "contiguous"), "l2": ("warm", "flushed"),
            "layout": ("numbered", "driver")}
_SUSTAINED = {"idle_us": 0, "places": 12, "warm_ms": 100}

# What the gate goes by, which says nothing of how samples are taken.
OF_GATE = ("min_effect", "allow", "host_min_effect", "host_min_ns")

FLAG_HELP = {
    "samples": "how many samples of each benchmark are taken (default: 48)",
    "places": "how many places in memory the samples are spread over (default: 48)",
    "batch_us": "a sample takes at least so many microseconds (default: 1500)",
    "idle_us": "the device idles for so many microseconds before every sample (default: 3000)",
    "warm_ms": "the kernel runs for so many milliseconds at every place before its samples (default: 0)",
    "spin_us": "only 0: between idling and a sample, fusegate_bench keeps a GPU busy so long, and a Python program cannot",
    "regime": "burst (the default): the device idles before every sample; sustained: samples follow each other at once",
    "order": "interleaved (the default): the benchmarks' places are mixed; contiguous: one benchmark after the other",
    "l2": "what the L2 cache holds before a call. warm (the default): what the call before left; flushed: nothing of it",
    "layout": "where a place's tensors lie. numbered (the default on a GPU): where the place's number says; driver: where the "
              "driver puts them"}
FLAGS = {**{key: int for key in _NUMBERS}, **{key: str for key in CHOICES}}


@dataclasses.dataclass
class Protocol:
    """layout: None until the device is known. min_effect, allow, host_*: the gate's, of the suite."""

    samples: int = 48
    places: int = 48
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

    def first_sample(self, place: int) -> int:
        return self.samples * place // self.places

    def samples_at(self, place: int) -> int:
        return self.first_sample(place + 1) - self.first_sample(place)

    def to_json(self) -> dict[str, Any]:
        """As run files have it: a layout and what is the gate's only where there is one."""
        told = {key: value for key, value in dataclasses.asdict(self).items() if value is not None}
        return {key: value for key, value in told.items() if value or key not in ("min_effect", "allow")}


def with_own_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """fusegate_bench's "layouts" as "places", which this package still calls them."""
    return {"places" if key == "layouts" else key: value for key, value in given.items()}


def parse_protocol(given: Mapping[str, Any], source: str) -> Protocol:
    """given: "protocol" of a suite. Raises InputError naming the key."""
    if not isinstance(given, Mapping):
        raise InputError(source, "protocol", "must be an object")
    sets: dict[str, Any] = {}
    regime = given.get("regime", "burst")
    for key, value in {**(_SUSTAINED if regime == "sustained" else {}), **with_own_names(given)}.items():
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
    protocol.places = min(protocol.places, protocol.samples)
    if protocol.spin_ns:
        raise InputError(source, "protocol.spin_us", "Python programs have no kernel that spins")
    return protocol


def with_flags(given: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """A suite's protocol with flags in place of what it says."""
    kept = with_own_names(given)
    # Chosen for the suite's regime, these would make another regime something else.
    if flags.get("regime", kept.get("regime", "burst")) != kept.get("regime", "burst"):
        for key in _SUSTAINED:
            kept.pop(key, None)
    return {**kept, **flags}


def place_order(protocol: Protocol, left: list[int], shuffle: random.Random) -> list[int]:
    """The order in which places are measured: benchmarks by number, each as often as it has places left."""
    order = [benchmark for benchmark, places in enumerate(left) for _ in range(places)]
    if protocol.order == "interleaved":
        shuffle.shuffle(order)
    return order
