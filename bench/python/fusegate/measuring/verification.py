"""Checks a kernel before it is timed: compares its results on fresh random inputs with the reference in double precision,
as a whole and by the worst element, row and tile (kernels/contract/verify.h)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ..errors import InputError
from . import rounding
from .call import Call, Form, NotCapturable, WrongResult, drawn_inputs


@dataclasses.dataclass
class Verified:
    """The result of a check that passed."""

    relative_error: float
    launches: Any  # None if they cannot be counted
    outputs: dict[str, Form]
    sizes: list  # bytes of its tensors
    not_capturable: str  # why it cannot be captured; empty if it can


class Verifier:
    """Checks results. Remembers the last inputs and reference, which all implementations of an operation share on one
    problem."""

    def __init__(self, device, meter, seed):
        self._device, self._meter, self._seed = device, meter, seed
        self._key, self._values, self._reference, self._spreads = None, {}, {}, {}

    def check(self, benchmark, function) -> Verified:
        """Raises WrongResult, InputError for the operation's own functions, and the callable's exceptions."""
        self._prepare(benchmark.operation, benchmark.problem)
        outputs = self._output_forms(benchmark)
        call = Call(self._device, benchmark, function, self._values, outputs)
        results, launches, not_capturable = self._results(benchmark, call)
        error, fault = self._compared(benchmark, results)
        fault = call.fault(self._values) or fault
        if fault:
            raise WrongResult(fault)
        forms = {name: self._device.form(result) for name, result in zip(outputs, results)}
        return Verified(error, launches, forms, call.sizes(), not_capturable)

    def _results(self, benchmark, call):
        """The results, computed as when timed: captured if possible, else with the reason why not."""
        try:
            results, launches = self._meter.check(call)
        except NotCapturable as reason:
            return self._meter.check_uncaptured(call), None, str(reason)
        if self._compared(benchmark, results)[1]:
            # Work on another stream is not captured, and so missing from the replay.
            plain = self._meter.check_uncaptured(call)
            if not self._compared(benchmark, plain)[1]:
                return plain, None, "it launches on another stream than the current one"
        return results, launches, ""

    def _prepare(self, operation, problem) -> None:
        if self._key == (operation.name, problem):
            return
        self._key, self._values, self._reference = None, {}, {}  # frees their memory first
        self._values = drawn_inputs(self._device, operation, problem, self._seed)
        self._reference = self._checked_reference(operation, problem)
        self._spreads = self._measured_spreads(operation, problem)
        self._key = (operation.name, problem)

    def _checked_reference(self, operation, problem) -> dict[str, Any]:
        device = self._device
        arguments = [device.given(device.widened(value), operation.arrays) if device.is_array(value) else value
                     for value in self._values.values()]
        results = operation.reference(problem, arguments)
        device.synchronize()
        declared = operation.output_tensors(problem)
        for name, value in results.items():
            array = device.taken(value)
            if not device.is_array(array):
                raise operation.error("reference", f"'{name}' is {type(value).__name__}; it must be a tensor")
            shape, dtype = device.form(array)
            if device.is_float(array) and dtype != "fp64":
                raise operation.error("reference", f"'{name}' is {dtype}; it must be computed in double precision")
            if name in declared and declared[name].shape != shape:
                raise operation.error("reference", f"'{name}' has the shape {shape}, but outputs declares "
                                                   f"{declared[name].shape} for {problem.name}")
            not_finite = device.not_finite(array)
            if not_finite:
                raise operation.error("reference", f"{not_finite} elements of '{name}' are NaN or infinite for "
                                                   f"{problem.name}")
            results[name] = array
        return results

    def _measured_spreads(self, operation, problem) -> dict[str, rounding.Spread]:
        """The rounding errors of the floating-point outputs (rounding.Spread)."""
        device = self._device
        floats = {name: value for name, value in self._reference.items() if device.is_float(value)}
        if not floats:
            return {}
        arrays = [value for value in self._values.values() if device.is_array(value)]
        axes = [size for array in [*arrays, *self._reference.values()] for size in device.form(array)[0]] or [1]
        dtype = problem.dtype if problem.dtype in rounding.FORMATS else "fp32"
        unit = rounding.unit(dtype, problem.dtype, max(axes), 0)
        inputs = sum(map(device.is_float, arrays))
        fewest = min(math.prod(device.form(value)[0]) for value in floats.values())
        times = max(1, min(rounding.MOST, rounding.ENOUGH // max(1, fewest))) if inputs else 0
        try:
            perturbed = [self._perturbed_reference(operation, problem, unit, time) for time in range(times)]
        except InputError:  # the reference refuses changed inputs, such as those of a mask
            perturbed = []
        return {name: rounding.Spread.of(value, [each[name] for each in perturbed], unit=unit, inputs=inputs,
                                         shortest=max(1, min(axes)), longest=max(axes))
                for name, value in floats.items()}

    def _perturbed_reference(self, operation, problem, unit, time) -> dict[str, Any]:
        """The reference of inputs, each floating-point element changed by up to unit times itself."""
        device, generator = self._device, self._device.generator(f"{self._seed}/perturbed/{time}")

        def perturbed(value):
            wide = device.widened(value)
            if device.is_float(value):
                off = device.clone(wide)
                device.draw(off, "uniform", (-1.0, 1.0), generator)
                wide = wide * (1 + unit * off)
            return device.given(wide, operation.arrays)
        results = operation.reference(problem, [perturbed(value) if device.is_array(value) else value
                                                for value in self._values.values()])
        device.synchronize()
        return {name: device.taken(value) for name, value in results.items()}

    def _output_forms(self, benchmark) -> dict[str, Form]:
        """Shapes and dtypes of the buffers for the results."""
        declared = benchmark.operation.output_tensors(benchmark.problem)
        forms = {}
        for name, reference in self._reference.items():
            spec = declared.get(name)
            shape, dtype = self._device.form(reference)
            wanted = spec.dtype if spec is not None else None
            forms[name] = (shape, wanted or (benchmark.problem.dtype if dtype == "fp64" else dtype))
        return forms

    def _compared(self, benchmark, results):
        """The largest error of the outputs, and what is wrong with them; "" if nothing is."""
        worst = 0.0
        for (name, reference), result in zip(self._reference.items(), results):
            of_name = f" of '{name}'" if len(self._reference) > 1 else ""
            shape, dtype = self._device.form(result)
            expected = self._device.form(reference)[0]
            if shape != expected:
                return math.inf, f"wrong result: '{name}' has the shape {shape}, its reference has {expected}"
            error, not_finite = self._device.error(result, reference)
            bound = benchmark.operation.tolerance(benchmark.problem, dtype)
            beyond, element = self._beyond_rounding(benchmark, name, result, dtype, bound, not_finite)
            if not_finite:
                return math.inf, (f"wrong result: {not_finite} elements{of_name} are NaN, infinite or were never "
                                  f"written{element}")
            if not error <= bound:
                return error, (f"wrong result: relative error{of_name} {error:.2e} against the reference, "
                               f"{bound:.1e} allowed{element}")
            if beyond:
                return error, f"wrong result{of_name}: {beyond}{element}"
            worst = max(worst, error)
        return worst, ""

    def _beyond_rounding(self, benchmark, name, result, dtype, bound, not_finite) -> tuple[str, str]:
        """How a floating-point output exceeds the rounding error ("" if it does not), and its worst element."""
        spread, reference = self._spreads.get(name), self._reference[name]
        if spread is None or dtype not in rounding.FORMATS:
            return "", ""
        wide = self._device.widened(result)
        if not_finite:
            return "", f", such as {rounding.first_not_finite(wide, reference)}"
        unit = rounding.unit(dtype, benchmark.problem.dtype, spread.longest, bound)
        beyond, element = spread.beyond(wide, reference, dtype, unit)
        return beyond, f"; worst is {element}"
