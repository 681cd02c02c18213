"""A benchmark's callable on tensors of its own: its arguments, its results, and whether it wrote outside of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable

from ..errors import text_of
from ..tensors import Tensor

Form = tuple[tuple[int, ...], str]


class WrongResult(RuntimeError):
    """The result is wrong, so that the benchmark must not be timed."""


class NotCapturable(RuntimeError):
    """No CUDA graph can capture the callable: it synchronises, allocates, or uses another stream."""


def drawn_inputs(device, operation, problem, seed) -> dict[str, Any]:
    """Draws the values of an operation's inputs once, for the reference and all implementations."""
    generator = device.generator(seed)
    return {name: _tensor(device, operation, problem, name, value, generator)[0]
            for name, value in operation.inputs(problem).items()}


class Call:
    """
    Parameters
    ----------
    device, benchmark
        Where, and which benchmark.
    function : callable
        The implementation's, made for this problem.
    values : dict
        The inputs by name: tensors to copy, :class:`Tensor` specifications to fill, or other values.
    outputs : dict of str to (shape, dtype)
        The forms of the operation's results, from the reference.
    generator
        Of the random numbers.
    """

    def __init__(self, device, benchmark, function: Callable, values: dict[str, Any], outputs: dict[str, Form],
                 generator=None):
        self._device, self._benchmark = device, benchmark
        self._implementation = benchmark.implementation
        self._names = list(outputs)
        self._buffers: dict[str, Any] = {}
        self._check_writes(values, outputs)
        arguments = [self._argument(name, value, generator) for name, value in values.items()]
        self._written: dict[str, Any] = {}
        for name in self._implementation.writes:
            if name in values:
                self._written[name] = self._buffers[name].array
            else:
                shape, dtype = outputs[name]
                self._buffers[name] = device.allocate(shape, dtype)
                self._written[name] = self._buffers[name].array
        # Restores what a call changes in place, before every check and sample.
        self._pristine = {name: device.clone(self._written[name]) for name in self._written if name in values}
        prepared = self._prepared(self._given(arguments))
        into = [array for name, array in self._written.items() if name not in values]
        self.launch = functools.partial(function, *prepared, *self._given(into))

    def restore(self) -> None:
        for name, array in self._pristine.items():
            self._device.copy(self._written[name], array)

    def run(self) -> list[Any]:
        """One call. Returns the results in the operation's order."""
        return self.outputs(self.launch())

    def outputs(self, result: Any) -> list[Any]:
        """result: what a launch returned."""
        returned = [name for name in self._names if name not in self._written]
        if not returned:
            return [self._written[name] for name in self._names]
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(results) != len(returned):
            raise WrongResult(f"returns {_count(len(results))}, not {_count(len(returned))}: {', '.join(returned)}")
        found = dict(self._written)
        for name, value in zip(returned, results):
            found[name] = self._device.taken(value)
            if not self._device.is_array(found[name]):
                raise WrongResult(f"returns {type(value).__name__}, not '{name}'; name results that it writes into its "
                                  f"arguments in writes=")
        return [found[name] for name in self._names]

    def copied(self, results: Sequence[Any]) -> list[Any]:
        return [self._device.clone(result) for result in results]

    def poison(self, results: Sequence[Any] = ()) -> None:
        """Poisons its outputs, and the results of an earlier call, except those that are inputs too."""
        inputs = {self._device.address(buffer.array) for name, buffer in self._buffers.items()
                  if name not in self._written or name in self._pristine}
        for array in (*self._written.values(), *results):
            if self._device.address(array) not in inputs:
                self._device.poison(array)

    def fault(self, values: dict[str, Any]) -> str:
        """A forbidden write, in words; empty if there is none. values: the inputs before the call."""
        for name, buffer in self._buffers.items():
            overrun = buffer.overrun()
            if overrun:
                return f"writes outside of '{name}': it changed {overrun}"
            if name not in self._written and not self._device.same(buffer.array, values[name]):
                return f"changes its input '{name}'; if that is intended, make it an output too and name it in writes="
        return ""

    def sizes(self) -> list[int]:
        """Bytes of the tensors, in the order of their allocation."""
        return [buffer.bytes for buffer in self._buffers.values()]

    def _given(self, arguments: Sequence[Any]) -> list[Any]:
        """The arguments as arrays of the implementation's library."""
        device, library = self._device, self._implementation.arrays
        return [device.given(each, library) if device.is_array(each) else each for each in arguments]

    def _prepared(self, inputs: list[Any]) -> list[Any]:
        if self._implementation.prepare is None:
            return inputs
        prepared = self._implementation.prepared(self._benchmark.problem, inputs)
        self._device.synchronize()  # it may have worked on any stream
        return prepared

    def _argument(self, name: str, value: Any, generator) -> Any:
        array, buffer = _tensor(self._device, self._benchmark.operation, self._benchmark.problem, name, value, generator)
        if buffer is not None:
            self._buffers[name] = buffer
        return array

    def _check_writes(self, values: dict[str, Any], outputs: dict[str, Form]) -> None:
        for name in self._implementation.writes:
            if name not in outputs:
                raise self._implementation.error("writes", f"'{name}' is not an output of {self._benchmark.operation.name}; "
                                                           f"known: {', '.join(outputs)}")
            if name in values and tuple(values[name].shape) != outputs[name][0]:
                raise self._implementation.error("writes", f"the input '{name}' has another shape than the output")


def _count(results: int) -> str:
    return f"{results} result{'' if results == 1 else 's'}"


def _tensor(device, operation, problem, name: str, value: Any, generator) -> tuple[Any, Any]:
    """The value for the callable, and its buffer if it is a tensor."""
    field, taken = f"inputs['{name}']", device.taken(value)
    try:
        if isinstance(value, Tensor):
            buffer = device.allocate(value.shape, value.dtype or problem.dtype)
            device.fill(buffer.array, value.fill, generator)
        elif device.is_array(taken):
            buffer = device.allocate(*device.form(taken))
            device.copy(buffer.array, taken)
        else:
            return value, None
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise operation.error(field, f"cannot be made: {text_of(error)}") from error
    except KeyError as error:
        raise operation.error(field, f"has a dtype that fusegate does not know: {error}") from error
    return buffer.array, buffer
