"""A suite: what is swept and how, from the JSON that fusegate_bench reads (bench/plan/suite.h), by the same rules.
Two things differ: "implementations" name fusegate's own and choose nothing here, and an operation that no
peer has is left to the plan, which says so."""

import dataclasses
import json
import pathlib

from input_error import InputError
from protocol import L2_STATES, ORDERS, REGIMES, protocol_of

LARGEST_AXIS = 1 << 24
DTYPE_NAMES = ("bf16", "fp16", "fp32")
AXES = ("batch", "seq", "dim", "hidden")
SUITES = pathlib.Path(__file__).resolve().parent.parent / "suites"
# The suite's key, its range, the protocol's field and the factor to nanoseconds.
NUMBERS = (("samples", 1, 100_000, "samples", 1), ("places", 1, 1000, "places", 1),
           ("batch_us", 1, 60_000_000, "batch_ns", 1000), ("idle_us", 0, 60_000_000, "idle_ns", 1000),
           ("warm_ms", 0, 60_000, "warm_ns", 1_000_000))
CHOICES = (("order", ORDERS), ("l2", L2_STATES))


@dataclasses.dataclass
class Sweep:
    operations: list  # empty: all
    dtype: list
    batch: list
    seq: list
    dim: list
    hidden: list


@dataclasses.dataclass
class Suite:
    name: str
    protocol: object
    sweeps: list


class Node:
    """A value in the file, and where it stands there."""

    def __init__(self, value, source, path):
        self.value, self.source, self.path = value, source, path

    def fail(self, problem):
        raise InputError(self.source, self.path, problem)

    def has(self, key):
        return key in self.value

    def at(self, key):
        child = Node(self.value.get(key), self.source, f"{self.path}.{key}" if self.path else key)
        if key not in self.value:
            child.fail("is missing")
        return child

    def expect_object(self, keys):
        for key in self.keys():
            if key not in keys:
                self.at(key).fail(f"unknown key; known: {', '.join(keys)}")

    def keys(self):
        if not isinstance(self.value, dict):
            self.fail("must be an object")
        return list(self.value)

    def elements(self):
        if not isinstance(self.value, list) or not self.value:
            self.fail("must be a list with at least one element")
        return [Node(value, self.source, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def string(self):
        if not isinstance(self.value, str):
            self.fail("must be a string")
        return self.value

    def integer(self, low, high):
        whole = isinstance(self.value, int) and not isinstance(self.value, bool)
        if not whole or not low <= self.value <= high:
            self.fail(f"must be a whole number from {low} to {high}")
        return self.value

    def fraction(self):
        number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        if not number or not 0 < self.value < 1:
            self.fail("must be a number between 0 and 1")
        return float(self.value)

    def choice(self, known):
        if self.string() not in known:
            self.fail("must be " + " or ".join(f'"{name}"' for name in known))
        return self.value


def suite_path(name):
    """A file's path, or the name of a file in bench/suites without ".json"."""
    path = pathlib.Path(name) if name.endswith(".json") else SUITES / f"{name}.json"
    if not path.exists():
        known = ", ".join(sorted(each.stem for each in SUITES.glob("*.json")))
        raise InputError(name, "", f"no such suite; there are {known}, or name a .json file")
    return path


def read_suite_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(path, "", str(error)) from error


def parse_suite(value, source):
    root = Node(value, source, "")
    root.expect_object(("name", "protocol", "gate", "sweeps"))
    name = root.at("name").string()
    if not name or "/" in name:
        root.at("name").fail("must be a file's name")
    protocol = _protocol(root.at("protocol")) if root.has("protocol") else protocol_of("burst")
    if root.has("gate"):
        protocol.min_effect = _gate(root.at("gate")).get("cuda", 0.0)
    return Suite(name, protocol, [_sweep(node) for node in root.at("sweeps").elements()])


def _protocol(node):
    node.expect_object(("regime", "samples", "batch_us", "idle_us", "places", "order", "warm_ms", "spin_us", "l2",
                        "layout"))
    protocol = protocol_of(node.at("regime").choice(REGIMES) if node.has("regime") else "burst")
    for key, low, high, field, factor in NUMBERS:
        if node.has(key):
            setattr(protocol, field, factor * node.at(key).integer(low, high))
    for key, known in CHOICES:
        if node.has(key):
            setattr(protocol, key, node.at(key).choice(known))
    if node.has("spin_us") and node.at("spin_us").integer(0, 1_000_000) > 0:
        node.at("spin_us").fail("the peers have no kernel that spins")
    if node.has("layout") and node.at("layout").choice(("numbered", "driver")) == "numbered":
        node.at("layout").fail("torch leaves the layout of memory to its allocator")
    protocol.places = min(protocol.places, protocol.samples)
    return protocol


def _gate(node):
    effects = {}
    for kind in node.keys():
        node.at(kind).expect_object(("min_effect",))
        effects[kind] = node.at(kind).at("min_effect").fraction()
    return effects


def _sweep(node):
    node.expect_object(("operations", "implementations", *AXES, "dtype"))
    names = {}
    for key in ("operations", "implementations"):
        names[key] = [each.string() for each in node.at(key).elements()] if node.has(key) else []
    axes = {axis: [each.integer(1, LARGEST_AXIS) for each in node.at(axis).elements()] for axis in AXES}
    dtypes = node.at("dtype").elements()
    for each in dtypes:
        if each.string() not in DTYPE_NAMES:
            each.fail(f"unknown dtype '{each.value}'; known: {', '.join(DTYPE_NAMES)}")
    return Sweep(operations=names["operations"], dtype=[each.value for each in dtypes], **axes)
