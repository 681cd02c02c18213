"""A suite: what is swept and how, in the JSON of fusegate_bench's suites (bench/plan/suite.h).

    {"name": "nightly", "protocol": {"samples": 48},
     "gate": {"cuda": {"min_effect": 0.005, "allow": 0.02, "host": {"min_effect": 0.1, "min_us": 1}}},
     "controls": ["^library_gemm/"],
     "compared_with": {"softmax": "eager"},
     "sweeps": [{"operations": ["attention"], "implementations": ["triton"], "dtype": ["bf16"],
                 "heads": [16, 32], "kv": [4096]}]}

A sweep without an axis, or without "dtype", takes the operation's registered values."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from .errors import InputError
from .measuring.protocol import Protocol, parse_protocol
from .operation import Operation
from .problem import AXIS_VALUES, AxisValue, Problem, axis_text, is_axis_value
from .tensors import DTYPES

# `--suite=all`, and the default: all registered problems.
ALL = "all"
_MOST_PROBLEMS = 100_000
_MOST_US = 1_000_000


@dataclasses.dataclass
class Sweep:
    """axes: the values of the axes that the sweep names. None: all."""

    operations: Optional[list[str]] = None
    implementations: Optional[list[str]] = None
    dtypes: Optional[list[str]] = None
    axes: dict[str, list[AxisValue]] = dataclasses.field(default_factory=dict)

    def takes(self, operation: Operation) -> bool:
        return self.operations is None or operation.name in self.operations

    def problems(self, operation: Operation, device: str) -> list[Problem]:
        """Every combination of the swept axes with the registered points."""
        named = {axis: values for axis, values in self.axes.items() if axis in operation.axes}
        # The registered points' values along the other axes, each once.
        rest = {tuple((axis, axis_text(value)) for axis, value in point.items() if axis not in named): point
                for point in operation.points}
        problems: dict[str, Problem] = {}
        for dtype in self.dtypes or operation.dtypes:
            for point in rest.values():
                for values in itertools.product(*named.values()):
                    chosen = {**point, **dict(zip(named, values))}
                    items = tuple((axis, chosen[axis]) for axis in operation.axes)
                    problem = Problem(items, dtype, device)
                    problems[problem.name] = problem
        return list(problems.values())


@dataclasses.dataclass
class Suite:
    """gate: by kind of device, the protocol's settings of the gate. controls: regular expressions for benchmarks' names.
    compared_with: by operation, the implementation that reports compare the others with."""

    name: str
    protocol: dict[str, Any]
    gate: dict[str, dict[str, float]]
    sweeps: list[Sweep]
    controls: list[str] = dataclasses.field(default_factory=list)
    compared_with: dict[str, str] = dataclasses.field(default_factory=dict)

    def protocol_on(self, device: str) -> Protocol:
        return dataclasses.replace(parse_protocol(self.protocol, f"suite {self.name}"), **self.gate.get(device, {}))


def registered_suite() -> Suite:
    return Suite(ALL, {}, {}, [Sweep()])


def read_suite(name: str, folder: pathlib.Path, operations: Mapping[str, Operation]) -> Suite:
    """name: a .json file, or the name of a file in the folder without ".json". Raises InputError."""
    path = pathlib.Path(name) if name.endswith(".json") else folder / f"{name}.json"
    if name == ALL and not path.is_file():
        return registered_suite()
    if not path.is_file():
        there = ", ".join([ALL, *sorted(found.stem for found in folder.glob("*.json"))])
        raise InputError(name, "", f"no such suite; known: {there}; or name a .json file")
    try:
        parsed = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, "", f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(path, "", f"not valid JSON: {error}") from error
    return parse_suite(parsed, str(path), operations)


def read_suites(folder: pathlib.Path, operations: Mapping[str, Operation]) -> list[Suite]:
    """The readable suites in the folder."""
    suites = []
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(InputError):
            suites.append(read_suite(str(path), folder, operations))
    return suites


def unnamed_implementations(suites: Sequence[Suite], operations: Mapping[str, Operation]) -> list[str]:
    """The registered implementations that no suite sweeps."""
    sweeps = [sweep for suite in suites for sweep in suite.sweeps]
    return [implementation.full_name for operation in operations.values()
            for implementation in operation.implementations.values()
            if not any(sweep.takes(operation) and implementation.name in (sweep.implementations or [implementation.name])
                       for sweep in sweeps)]


def parse_suite(given: Any, source: str, operations: Mapping[str, Operation]) -> Suite:
    """Raises InputError, which names the field."""
    _expect_keys(given, source, "", ("name", "protocol", "gate", "controls", "compared_with", "sweeps"))
    name = given.get("name")
    if not isinstance(name, str) or not name or "/" in name:
        raise InputError(source, "name", "must be a file's name, without /")  # it names the baseline's file
    protocol = given.get("protocol", {})
    parse_protocol(protocol, source)
    sweeps = [_parse_sweep(sweep, source, f"sweeps[{number}]", operations)
              for number, sweep in enumerate(_list(given.get("sweeps"), source, "sweeps"))]
    return Suite(name, dict(protocol), _gates(given.get("gate", {}), source), sweeps,
                 _patterns(given["controls"], source) if "controls" in given else [],
                 _compared_with(given.get("compared_with", {}), source, operations))


def _compared_with(given: Any, source: str, operations: Mapping[str, Operation]) -> dict[str, str]:
    _expect_keys(given, source, "compared_with", list(operations))
    for name, implementation in given.items():
        known = operations[name].implementations
        if implementation not in known:
            raise InputError(source, f"compared_with.{name}", f"unknown name {implementation!r}; known: {', '.join(known)}")
    return dict(given)


def planned_problems(sweep: Sweep, operation: Operation, device: str, source: str) -> list[Problem]:
    count = len(sweep.dtypes or operation.dtypes) * len(operation.points)
    for values in sweep.axes.values():
        count *= len(values)
    if count > _MOST_PROBLEMS:
        raise InputError(source, "sweeps", f"have {count} problems; at most {_MOST_PROBLEMS} can be measured")
    return sweep.problems(operation, device)


def _parse_sweep(sweep: Any, source: str, at: str, operations: Mapping[str, Operation]) -> Sweep:
    if not isinstance(sweep, Mapping):
        raise InputError(source, at, "must be an object")
    names = [name for operation in operations.values() for name in operation.implementations]
    parsed = Sweep(operations=_known(sweep, "operations", source, at, operations),
                   implementations=_known(sweep, "implementations", source, at, names),
                   dtypes=_known(sweep, "dtype", source, at, DTYPES))
    swept = [operation for operation in operations.values() if parsed.takes(operation)]
    axes = list(dict.fromkeys(axis for operation in swept for axis in operation.axes))
    for key, values in sweep.items():
        if key in ("operations", "implementations", "dtype"):
            continue
        if key not in axes:
            of = ", ".join(operation.name for operation in swept)
            raise InputError(source, f"{at}.{key}", f"unknown axis; {of} has {', '.join(axes)}")
        parsed.axes[key] = axis_values(values, source, f"{at}.{key}")
    return parsed


def axis_values(values: Any, source: str, at: str) -> list[AxisValue]:
    for number, value in enumerate(_list(values, source, at)):
        if not is_axis_value(value):
            raise InputError(source, f"{at}[{number}]", f"must be {AXIS_VALUES}")
    return list(values)


def _known(sweep: Mapping, key: str, source: str, at: str, known: Sequence[str]) -> Optional[list[str]]:
    if key not in sweep:
        return None
    for number, name in enumerate(_list(sweep[key], source, f"{at}.{key}")):
        if name not in known:
            raise InputError(source, f"{at}.{key}[{number}]", f"unknown name '{name}'; known: "
                                                              f"{', '.join(dict.fromkeys(known))}")
    return list(sweep[key])


def _patterns(given: Any, source: str) -> list[str]:
    for number, text in enumerate(_list(given, source, "controls")):
        at = f"controls[{number}]"
        if not isinstance(text, str) or not text:
            raise InputError(source, at, "must be a non-empty string")
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(source, at, f"\"{text}\" is not a regular expression: {error}") from error
    return list(given)


def _gates(gates: Any, source: str) -> dict[str, dict[str, float]]:
    _expect_keys(gates, source, "gate", ("cuda", "cpu"))
    return {kind: _gate(gate, source, f"gate.{kind}") for kind, gate in gates.items()}


def _gate(gate: Any, source: str, at: str) -> dict[str, float]:
    found = {}
    _expect_some(gate, source, at, ("min_effect", "allow", "host"))
    for key in ("min_effect", "allow"):
        if key in gate:
            found[key] = _fraction(gate[key], source, f"{at}.{key}")
    if found.get("allow", 1) < found.get("min_effect", 0):
        raise InputError(source, f"{at}.allow", f"must not be below min_effect, {gate['min_effect']}")
    if "host" not in gate:
        return found
    host, at = gate["host"], f"{at}.host"
    _expect_some(host, source, at, ("min_effect", "min_us"))
    if "min_effect" in host:
        found["host_min_effect"] = _fraction(host["min_effect"], source, f"{at}.min_effect")
    if "min_us" in host:
        value = host["min_us"]
        if not _is_number(value) or not 0 <= value <= _MOST_US:
            raise InputError(source, f"{at}.min_us", f"must be a number from 0 to {_MOST_US}")
        found["host_min_ns"] = 1000.0 * value
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _fraction(value: Any, source: str, at: str) -> float:
    if not _is_number(value) or not 0 < value < 1:
        raise InputError(source, at, "must be a number between 0 and 1")
    return float(value)


def _expect_some(given: Any, source: str, at: str, known: Sequence[str]) -> None:
    _expect_keys(given, source, at, known)
    if not given:
        raise InputError(source, at, f"must have at least one of {', '.join(known)}")


def _expect_keys(given: Any, source: str, at: str, known: Sequence[str]) -> None:
    if not isinstance(given, Mapping):
        raise InputError(source, at, "must be an object")
    for key in given:
        if key not in known:
            raise InputError(source, f"{at}.{key}" if at else key, f"unknown key; known: {', '.join(known)}")


def _list(value: Any, source: str, at: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise InputError(source, at, "must be a list with at least one element")
    return value
