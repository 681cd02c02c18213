"""Hands the registered operations to the engine, and the engine's tensors to them as arrays on its memory."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Optional

from . import engine, integrity
from .arrays import Arrays, Form, is_array, library
from .errors import InputError
from .implementation import Implementation
from .operation import Operation
from .problem import Problem, axis_text, parse_axis_value
from .tensors import DTYPES, Tensor, is_integer

# The fill of an array that `inputs` returns: it is copied.
_GIVEN = ("given", 0, 0)
_ZEROS = ("full", 0, 0)
_WHOLE = -1  # of a tensor that no rank has a part of
_FILLS = {"uniform": engine.UNIFORM, "normal": engine.NORMAL, "integers": engine.INTEGERS, "full": engine.CONSTANT,
          "given": engine.FILLED}

# A factory is called once for each problem.
_callable_for = functools.lru_cache(maxsize=None)(Implementation.callable_for)


class Binding:
    """Must live as long as the engine runs."""

    def __init__(self, loaded: ctypes.CDLL):
        self._engine = loaded
        self._callbacks = engine.Callbacks()
        self._calls: dict[int, PreparedCall] = {}
        self._numbers = itertools.count(1)
        self._release = engine.Release(self._forget)
        self._last_given: tuple[Any, dict[str, Any]] = (None, {})

    def add(self, operation: Operation) -> None:
        def ask(kind: type, answer: Callable) -> Any:
            return self._callbacks(kind, functools.partial(answer, operation))
        axes, problems = engine.strings(operation.axes), _problems(operation)
        self._engine.fusegate_add_operation(ctypes.byref(engine.COperation(
            operation.name.encode(), operation.where.encode(), axes, len(axes), problems, len(problems),
            operation.is_control, operation.compared_with.encode(), None, ask(engine.AskForTensors, self._inputs),
            ask(engine.AskForTensors, self._outputs), ask(engine.FillTensor, self._fill),
            ask(engine.Reference, self._reference))))
        for implementation in operation.implementations.values():
            for device in ("cuda", "cpu"):
                self._add_implementation(implementation, device)

    def _add_implementation(self, implementation: Implementation, device: str) -> None:
        # It may be asked for number formats that it was not registered with.
        dtypes = engine.strings(list(DTYPES))
        why = _why_not(implementation, device)
        text = ctypes.c_char_p(why.encode())

        def refuses(_problem, reason) -> None:
            reason[0] = text
        self._engine.fusegate_add_implementation(ctypes.byref(engine.CImplementation(
            implementation.operation.name.encode(), implementation.name.encode(), device.encode(),
            implementation.where.encode(), dtypes, len(dtypes), None,
            self._callbacks(engine.Refuses, refuses) if why else engine.Refuses(),
            self._callbacks(engine.Prepare, functools.partial(self._prepare, implementation)))))

    def _inputs(self, operation: Operation, problem, specs) -> None:
        for name, tensor in _tensors(self._inputs_of(operation, self._problem(problem))).items():
            self._add_tensor(specs, name, tensor, is_weight=name in operation.weights,
                             is_exact=name in operation.exact, split_axis=operation.split.get(name, _WHOLE))

    def _outputs(self, operation: Operation, problem, specs) -> None:
        problem = self._problem(problem)
        inputs, forms = _tensors(self._inputs_of(operation, problem)), self._forms_of_outputs(operation, problem)
        operation.require_known("split", operation.split, {**inputs, **forms}, "a tensor")
        for name, (shape, dtype) in forms.items():
            self._add_tensor(specs, name, Tensor(shape, dtype, _ZEROS), operation.tolerance(problem, dtype),
                             name if name in inputs else None, split_axis=operation.split.get(name, _WHOLE))

    def _add_tensor(self, specs, name: str, tensor: Tensor, tolerance: float = -1, in_place_of: Optional[str] = None,
                    is_weight: bool = False, is_exact: bool = False, split_axis: int = _WHOLE) -> None:
        kind, first, second = _GIVEN if callable(tensor.fill) else tensor.fill
        shape = (ctypes.c_int64 * len(tensor.shape))(*tensor.shape)
        self._engine.fusegate_add_tensor(ctypes.c_void_p(specs), ctypes.byref(engine.CTensorSpec(
            name.encode(), shape, len(shape), tensor.dtype.encode(), _FILLS[kind], first, second, tolerance,
            in_place_of.encode() if in_place_of else None, is_weight, is_exact, split_axis)))

    def _fill(self, operation: Operation, problem, number: int, seed: int, tensor) -> None:
        problem = self._problem(problem)
        specs = _tensors(self._inputs_of(operation, problem))
        name, spec = list(specs.items())[number]
        arrays = self._library(operation.arrays)
        array = _view(arrays, tensor[0])
        if spec.fill is _GIVEN:
            # The engine's seeds of a layout's inputs differ by their numbers.
            arrays.copy(array, arrays.own(self._given(operation, problem, seed - number)[name]))
            if name == [each for each, other in specs.items() if other.fill is _GIVEN][-1]:
                self._last_given = (None, {})  # frees its memory
        else:
            operation.ask(f"inputs['{name}']", spec.fill, array, arrays.generator(seed), problem=problem)

    def _reference(self, operation: Operation, problem, inputs, _input_count: int, outputs, _output_count: int) -> None:
        problem, arrays = self._problem(problem), self._library(operation.arrays)
        arguments = self._arguments(operation, arrays, problem, inputs)
        for name, spec in _tensors(self._inputs_of(operation, problem)).items():
            if is_integer(spec.dtype):  # the engine's are doubles
                arguments[name] = arrays.cast(arguments[name], spec.dtype)
        for (name, result), output in zip(operation.reference(problem, list(arguments.values())).items(), outputs):
            target = _view(arrays, output)
            result, (shape, _) = _checked_result(arrays, operation, name, result)
            if shape != tuple(target.shape):
                raise operation.error("reference", f"'{name}' has the shape {shape}, but outputs declares "
                                                   f"{tuple(target.shape)} for {problem.name}")
            arrays.copy(target, result)

    def _problem(self, given) -> Problem:
        axes = given.contents.axes[:given.contents.axis_count]
        return Problem(tuple((axis.name.decode(), parse_axis_value(axis.text.decode())) for axis in axes),
                       given.contents.dtype.decode(), self._engine.fusegate_device().decode())

    def _library(self, name: str) -> Arrays:
        return library(name, self._engine.fusegate_device().decode(), self._engine.fusegate_stream(),
                       self._engine.fusegate_rank())

    @functools.lru_cache(maxsize=1)
    def _inputs_of(self, operation: Operation, problem: Problem) -> Mapping[str, Any]:
        """The operation's inputs by name. Arrays are as Tensor, and each Tensor has its dtype and its fill."""
        arrays, inputs = self._library(operation.arrays), operation.inputs(problem)
        for name, value in inputs.items():
            if isinstance(value, Tensor):
                inputs[name] = Tensor(value.shape, value.dtype or problem.dtype, value.fill or _ZEROS)
            elif is_array(value):
                shape, dtype = arrays.form(value)
                if dtype not in DTYPES:
                    raise operation.error(f"inputs['{name}']", f"has a dtype that fusegate does not know: {dtype}")
                inputs[name] = Tensor(shape, dtype, _GIVEN)
        return inputs

    def _arguments(self, operation: Operation, arrays: Arrays, problem: Problem, tensors: Iterable) -> dict[str, Any]:
        """The inputs by name, with the engine's tensors as arrays."""
        inputs = self._inputs_of(operation, problem)
        return {**inputs, **{name: _view(arrays, tensor) for name, tensor in zip(_tensors(inputs), tensors)}}

    def _given(self, operation: Operation, problem: Problem, seed: int) -> Mapping[str, Any]:
        """The inputs as `inputs` returns them with that seed."""
        key = (operation, problem, seed)
        if self._last_given[0] != key:
            self._last_given = (None, {})  # frees its memory first
            self._library(operation.arrays).generator(seed)
            self._last_given = (key, operation.inputs(problem))
        return self._last_given[1]

    @functools.lru_cache(maxsize=None)  # pylint: disable=method-cache-max-size-none
    def _forms_of_outputs(self, operation: Operation, problem: Problem) -> Mapping[str, Form]:
        declared = operation.output_tensors(problem)
        if declared:
            return {name: (tensor.shape, tensor.dtype or problem.dtype) for name, tensor in declared.items()}
        return {name: (shape, problem.dtype if dtype == "fp64" else dtype)
                for name, (shape, dtype) in self._forms_of_reference(operation, problem).items()}

    def _forms_of_reference(self, operation: Operation, problem: Problem) -> Mapping[str, Form]:
        """By calling it: on torch's tensors without memory if it can, else on numbers."""
        arrays, generator = self._library(operation.arrays), None

        def sample(name: str, spec: Tensor, wide: str) -> Any:
            if spec.fill is _GIVEN:
                return arrays.cast(arrays.own(self._given(operation, problem, 0)[name]), wide)
            if callable(spec.fill):
                array = arrays.full(spec.shape, spec.dtype, 0)
                operation.ask(f"inputs['{name}']", spec.fill, array, generator, problem=problem)
                return arrays.cast(array, wide)
            kind, first, _ = spec.fill
            return arrays.full(spec.shape, wide, first if kind in ("integers", "full") else 1)

        def forms(make: Callable[[str, Tensor, str], Any]) -> dict[str, Form]:
            arguments = dict(self._inputs_of(operation, problem))
            for name, spec in _tensors(arguments).items():
                arguments[name] = make(name, spec, spec.dtype if is_integer(spec.dtype) else "fp64")
            return {name: _checked_result(arrays, operation, name, result)[1]
                    for name, result in operation.reference(problem, list(arguments.values())).items()}
        if hasattr(arrays, "meta"):
            try:
                return forms(lambda _, spec, wide: arrays.meta(spec.shape, wide))
            except InputError:
                pass
        generator = arrays.generator(0)
        return forms(sample)

    def _prepare(self, implementation: Implementation, problem, inputs, _input_count: int, outputs, _output_count: int,
                 call) -> None:
        problem, operation = self._problem(problem), implementation.operation
        arrays = self._library(implementation.arrays)
        arguments = self._arguments(operation, arrays, problem, inputs)
        spans = {name: _span(tensor) for name, tensor in zip(_tensors(self._inputs_of(operation, problem)), inputs)}
        into = {name: _view(arrays, tensor) for name, tensor in zip(self._forms_of_outputs(operation, problem), outputs)}
        for name in implementation.writes:
            if name not in into:
                raise implementation.error("writes", f"'{name}' is not an output of {operation.name}; known: {', '.join(into)}")
        prepared = PreparedCall(implementation, arrays, {name: array for name, array in into.items()
                                                         if name not in implementation.writes})
        number = next(self._numbers)
        self._calls[number] = prepared
        self._engine.fusegate_set_release(ctypes.c_void_p(call), self._release, ctypes.c_void_p(number))
        function = _callable_for(implementation, problem)
        prepared.function = functools.partial(function, *implementation.prepared(problem, list(arguments.values())),
                                              *(into[name] for name in implementation.writes if name not in arguments))
        prepared.warm_up(problem, spans)
        self._add_stages(prepared, problem, call)

    def _add_stages(self, prepared: PreparedCall, problem: Problem, call) -> None:
        """The first is launched; others are marked within it (fusegate.stage)."""
        implementation = prepared.implementation
        choice = ", ".join(f"{name} {value}" for name, value in implementation.chosen(problem).items())
        first = (choice.encode(), prepared.callbacks(engine.Launch, prepared.launch))
        for stage in implementation.work(problem):
            self._engine.fusegate_add_stage(ctypes.c_void_p(call), ctypes.byref(engine.CStage(
                stage.name.encode(), stage.flops, stage.min_bytes, *first, None)))
            first = (None, engine.Launch())
        if prepared.returned:
            self._engine.fusegate_set_collect(ctypes.c_void_p(call), prepared.callbacks(engine.Launch, prepared.collect), None)

    def _forget(self, number: int) -> None:
        self._calls.pop(number).close()


class PreparedCall:
    """A callable with its arguments, in one memory layout. returned: the engine's outputs for results that it returns."""

    def __init__(self, implementation: Implementation, arrays: Arrays, returned: Mapping[str, Any]):
        self.implementation, self.arrays, self.returned = implementation, arrays, returned
        self.callbacks = engine.Callbacks(str(implementation.error("", "forks, and the child ends here")))
        self.function: Callable[[], Any] = lambda: None
        self._result: Any = None
        self._leave_pool = arrays.enter_pool()

    def warm_up(self, problem: Problem, inputs: Mapping[str, range]) -> None:
        """Calls it, so that it compiles, loads and tunes, and poisons what it returns: later calls may get the same memory.
        inputs: their addresses."""
        results = self._results(self.implementation.ask("", self.function, problem=problem))
        for result in results.values():
            for name, span in inputs.items():
                if self.arrays.address(result) in span:
                    raise self.implementation.error("", f"returns a view of its input '{name}'; return new memory, or change "
                                                        f"the input in place and name it in writes")
            self.arrays.poison(result)

    def launch(self) -> None:
        self._result = None  # before the call, which then gets the same memory again
        self._result = self.implementation.ask("", self.function)

    def collect(self) -> None:
        for name, result in self._results(self._result).items():
            self.arrays.copy(self.returned[name], result)

    def close(self) -> None:
        self.function, self._result, self.returned = (lambda: None), None, {}
        self.callbacks = engine.Callbacks()  # the others refer to this call
        self._leave_pool()

    def _results(self, result: Any) -> dict[str, Any]:
        changed = integrity.changed() or self.arrays.changed_device()
        if changed:
            raise self.implementation.error("", f"{changed}; it must leave that as it is")
        if not self.returned:
            return {}
        found = self.implementation.results("", result, list(self.returned))
        for name, value in found.items():
            wrong = self.arrays.why_not_plain(value)
            if not wrong:
                found[name] = self.arrays.own(value)
                if not self.arrays.is_own(found[name]):
                    raise self.implementation.error("", f"returns {type(value).__name__}, not '{name}'; name results that it "
                                                        f"writes into its arguments in writes=")
                wrong = self.arrays.why_not_whole(found[name])
            if wrong:
                raise self.implementation.error("", f"returns {wrong}; return a plain {self.arrays.own_name}")
            shape, expected = tuple(found[name].shape), tuple(self.returned[name].shape)
            if shape != expected:
                of = "the rank's part" if name in self.implementation.operation.split else "its reference"
                raise self.implementation.error("", f"wrong result: '{name}' has the shape {shape}, {of} has {expected}")
        return found


def _why_not(implementation: Implementation, device: str) -> str:
    if implementation.device not in (None, device):
        return f"it runs on {implementation.device} only, and this is {device}"
    if {"cupy": "cuda", "numpy": "cpu"}.get(implementation.arrays, device) != device:
        return f"it takes {implementation.arrays}'s arrays, and this is {device}"
    missing = [name for name in implementation.requires if not is_installed(name)]
    return f"{missing[0]} is not installed" if missing else ""


def is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _problems(operation: Operation):
    problems = []
    for problem in operation.problems():
        axes = [engine.CAxis(name.encode(), value if isinstance(value, int) and not isinstance(value, bool) else 0,
                             axis_text(value).encode()) for name, value in problem.items]
        problems.append(engine.CProblem(problem.dtype.encode(), (engine.CAxis * len(axes))(*axes), len(axes)))
    return (engine.CProblem * len(problems))(*problems)


def _tensors(inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    """The inputs that the engine allocates."""
    return {name: value for name, value in inputs.items() if isinstance(value, Tensor)}


def _view(arrays: Arrays, tensor) -> Any:
    return arrays.view(tensor.data, tuple(tensor.shape[:tensor.rank]), tensor.dtype.decode())


def _span(tensor) -> range:
    """Its addresses."""
    return range(tensor.data, tensor.data + math.prod(tensor.shape[:tensor.rank], start=DTYPES[tensor.dtype.decode()].itemsize))


def _checked_result(arrays: Arrays, operation: Operation, name: str, result: Any) -> tuple[Any, Form]:
    """A reference's."""
    array = arrays.own(result)
    if not arrays.is_own(array):
        raise operation.error("reference", f"'{name}' is {type(result).__name__}; it must be a tensor")
    shape, dtype = arrays.form(array)
    if dtype != "fp64" and not is_integer(dtype):
        raise operation.error("reference", f"'{name}' is {dtype}; it must be computed in double precision")
    return array, (shape, dtype)
