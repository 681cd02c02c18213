"""Hands the registered operations to the engine, and the engine's tensors to them as arrays on its memory."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

from . import engine
from .arrays import Arrays, Form, is_array, library
from .call_sites import call_user_code
from .errors import InputError
from .implementation import Implementation
from .operation import Operation
from .problem import Problem, axis_text, parse_axis_value
from .tensors import DTYPES, Tensor

# The fill of an array that `inputs` returns: it is copied.
_GIVEN = ("given",)


class Binding:
    """Must live as long as the engine runs."""

    def __init__(self, loaded: ctypes.CDLL):
        self._engine = loaded
        self._callbacks = engine.Callbacks()
        self._calls: dict[int, PreparedCall] = {}
        self._release = engine.Release(self._forget)
        self._made: dict[tuple[Implementation, Problem], Callable] = {}
        self._output_forms: dict[tuple[str, Problem], dict[str, Form]] = {}
        self._last_inputs: tuple[Any, dict[str, Any]] = (None, {})
        self._last_given: tuple[Any, dict[str, Any]] = (None, {})

    # Registering.

    def add(self, operation: Operation) -> None:
        add, axes, problems = self._callbacks, engine.strings(operation.axes), _problems(operation)
        self._engine.fusegate_add_operation(ctypes.byref(engine.COperation(
            operation.name.encode(), operation.where.encode(), axes, len(axes), problems, len(problems),
            operation.is_control, operation.compared_with.encode(), None,
            add(engine.AskForTensors, functools.partial(self._inputs, operation)),
            add(engine.AskForTensors, functools.partial(self._outputs, operation)),
            add(engine.FillTensor, functools.partial(self._fill, operation)),
            add(engine.Reference, functools.partial(self._reference, operation)))))
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

    # What the engine asks an operation for.

    def _inputs(self, operation: Operation, problem, specs) -> None:
        for name, tensor in _tensors(self._inputs_of(operation, self._problem(problem))).items():
            self._add_tensor(specs, name, tensor)

    def _outputs(self, operation: Operation, problem, specs) -> None:
        problem = self._problem(problem)
        inputs = _tensors(self._inputs_of(operation, problem))
        for name, (shape, dtype) in self._forms_of_outputs(operation, problem).items():
            self._add_tensor(specs, name, Tensor(shape, dtype), operation.tolerance(problem, dtype),
                             name if name in inputs else None)

    def _add_tensor(self, specs, name: str, tensor: Tensor, tolerance: float = -1, in_place_of: Optional[str] = None) -> None:
        kind, first, second = _fill_of(tensor.fill)
        shape = (ctypes.c_int64 * len(tensor.shape))(*tensor.shape)
        self._engine.fusegate_add_tensor(ctypes.c_void_p(specs), ctypes.byref(engine.CTensorSpec(
            name.encode(), shape, len(shape), tensor.dtype.encode() if tensor.dtype else None, kind, first, second,
            tolerance, in_place_of.encode() if in_place_of else None)))

    def _fill(self, operation: Operation, problem, number: int, seed: int, tensor) -> None:
        problem = self._problem(problem)
        name, spec = list(_tensors(self._inputs_of(operation, problem)).items())[number]
        arrays = self._library(operation.arrays)
        array = _view(arrays, tensor[0])
        if spec.fill is _GIVEN:
            # The engine's seeds of a layout's inputs differ by their numbers.
            arrays.copy(array, arrays.own(self._given(operation, problem, seed - number)[name]))
        else:
            _fill(operation, problem, name, spec, array, arrays.generator(seed & (1 << 63) - 1))

    def _reference(self, operation: Operation, problem, inputs, _input_count: int, outputs, _output_count: int) -> None:
        problem = self._problem(problem)
        arrays, arguments = self._library(operation.arrays), dict(self._inputs_of(operation, problem))
        for number, (name, spec) in enumerate(_tensors(arguments).items()):
            wide = _view(arrays, inputs[number])
            arguments[name] = arrays.cast(wide, spec.dtype) if _is_integer(spec.dtype or problem.dtype) else wide
        results = operation.reference(problem, list(arguments.values()))
        for number, (name, result) in enumerate(results.items()):
            target = _view(arrays, outputs[number])
            result, form = _checked_result(arrays, operation, name, result)
            if form[0] != tuple(target.shape):
                raise operation.error("reference", f"'{name}' has the shape {form[0]}, but outputs declares "
                                                   f"{tuple(target.shape)} for {problem.name}")
            arrays.copy(target, result)

    # What it needs for its answers.

    def _problem(self, given) -> Problem:
        axes = [given.contents.axes[i] for i in range(given.contents.axis_count)]
        return Problem(tuple((axis.name.decode(), parse_axis_value(axis.text.decode())) for axis in axes),
                       given.contents.dtype.decode(), self._engine.fusegate_device().decode())

    def _library(self, name: str) -> Arrays:
        return library(name, self._engine.fusegate_device().decode(), self._engine.fusegate_stream())

    def _inputs_of(self, operation: Operation, problem: Problem) -> Mapping[str, Any]:
        """The operation's inputs by name. Arrays are as Tensor."""
        if self._last_inputs[0] != (operation.name, problem):
            arrays, forms = self._library(operation.arrays), {}
            for name, value in operation.inputs(problem).items():
                forms[name] = self._form_of(arrays, operation, name, value)
            self._last_inputs = ((operation.name, problem), forms)
        return self._last_inputs[1]

    @staticmethod
    def _form_of(arrays: Arrays, operation: Operation, name: str, value: Any) -> Any:
        if isinstance(value, Tensor) or not is_array(value):
            return value
        shape, dtype = arrays.form(value)
        if dtype not in DTYPES:
            raise operation.error(f"inputs['{name}']", f"has a dtype that fusegate does not know: {dtype}")
        return Tensor(shape, dtype, _GIVEN)

    def _given(self, operation: Operation, problem: Problem, seed: int) -> Mapping[str, Any]:
        """The inputs as `inputs` returns them with that seed."""
        key = (operation.name, problem, seed)
        if self._last_given[0] != key:
            self._last_given = (None, {})  # frees its memory first
            self._library(operation.arrays).generator(seed & (1 << 63) - 1)
            self._last_given = (key, operation.inputs(problem))
        return self._last_given[1]

    def _forms_of_outputs(self, operation: Operation, problem: Problem) -> Mapping[str, Form]:
        key = (operation.name, problem)
        if key not in self._output_forms:
            declared = operation.output_tensors(problem)
            forms = {name: (tensor.shape, tensor.dtype or problem.dtype) for name, tensor in declared.items()}
            self._output_forms[key] = forms or {
                name: (shape, problem.dtype if dtype == "fp64" else dtype)
                for name, (shape, dtype) in self._forms_of_reference(operation, problem).items()}
        return self._output_forms[key]

    def _forms_of_reference(self, operation: Operation, problem: Problem) -> Mapping[str, Form]:
        """By calling it: on torch's tensors without memory if it can, else on numbers."""
        arrays = self._library(operation.arrays)

        def forms(make: Callable[[str, Tensor, str], Any]) -> dict[str, Form]:
            arguments = {name: make(name, value, _wide(value.dtype or problem.dtype)) if isinstance(value, Tensor) else value
                         for name, value in self._inputs_of(operation, problem).items()}
            return {name: _checked_result(arrays, operation, name, result)[1]
                    for name, result in operation.reference(problem, list(arguments.values())).items()}
        if hasattr(arrays, "meta"):
            try:
                return forms(lambda _, spec, wide: arrays.meta(spec.shape, wide))
            except InputError:
                pass
        generator = arrays.generator(0)
        return forms(lambda name, spec, wide: self._sample(arrays, operation, problem, name, (spec, wide, generator)))

    def _sample(self, arrays: Arrays, operation: Operation, problem: Problem, name: str, wanted: tuple) -> Any:
        spec, wide, generator = wanted
        if spec.fill is _GIVEN:
            return arrays.cast(arrays.own(self._given(operation, problem, 0)[name]), wide)
        if callable(spec.fill):
            array = arrays.full(spec.shape, spec.dtype or problem.dtype, 0)
            _fill(operation, problem, name, spec, array, generator)
            return arrays.cast(array, wide)
        kind, first, _ = _fill_of(spec.fill)
        return arrays.full(spec.shape, wide, first if kind in (engine.INTEGERS, engine.CONSTANT) else 1)

    # Making an implementation ready.

    def _prepare(self, implementation: Implementation, problem, inputs, input_count: int, outputs, _output_count: int,
                 call) -> None:
        problem, operation = self._problem(problem), implementation.operation
        arrays, arguments = self._library(implementation.arrays), dict(self._inputs_of(operation, problem))
        for number, name in enumerate(_tensors(arguments)):
            arguments[name] = _view(arrays, inputs[number])
        into = {name: _view(arrays, outputs[number])
                for number, name in enumerate(self._forms_of_outputs(operation, problem))}
        for name in implementation.writes:
            if name not in into:
                raise implementation.error("writes", f"'{name}' is not an output of {operation.name}; known: {', '.join(into)}")
        prepared = PreparedCall(implementation, arrays, {name: array for name, array in into.items()
                                                         if name not in implementation.writes})
        key = len(self._calls) + 1
        while key in self._calls:
            key += 1
        self._calls[key] = prepared
        self._engine.fusegate_set_release(ctypes.c_void_p(call), self._release, ctypes.c_void_p(key))
        if (implementation, problem) not in self._made:
            self._made[implementation, problem] = implementation.callable_for(problem)
        given = implementation.prepared(problem, list(arguments.values()))
        prepared.function = functools.partial(self._made[implementation, problem], *given,
                                              *(into[name] for name in implementation.writes if name not in arguments))
        prepared.warm_up(problem, {name: _span(inputs[number]) for number, name in enumerate(_tensors(
            self._inputs_of(operation, problem)))})
        self._add_stages(prepared, problem, call)

    def _add_stages(self, prepared: PreparedCall, problem: Problem, call) -> None:
        """The first is launched; others are marked within it (fusegate.stage)."""
        implementation = prepared.implementation
        choice = ", ".join(f"{name} {value}" for name, value in implementation.chosen(problem).items())
        launch = prepared.callbacks(engine.Launch, prepared.launch)
        for number, stage in enumerate(implementation.work(problem)):
            self._engine.fusegate_add_stage(ctypes.c_void_p(call), ctypes.byref(engine.CStage(
                stage.name.encode(), stage.flops, stage.min_bytes, choice.encode() if number == 0 else None,
                launch if number == 0 else engine.Launch(), None)))
        if prepared.returned:
            self._engine.fusegate_set_collect(ctypes.c_void_p(call), prepared.callbacks(engine.Launch, prepared.collect), None)

    def _forget(self, key: int) -> None:
        self._calls.pop(key).close()


class PreparedCall:
    """A callable with its arguments, in one memory layout. returned: the engine's outputs for results that it returns."""

    def __init__(self, implementation: Implementation, arrays: Arrays, returned: Mapping[str, Any]):
        self.implementation, self.arrays, self.returned = implementation, arrays, returned
        self.callbacks = engine.Callbacks(str(implementation.error("", "forks, and the child ends here")))
        self.function: Callable[[], Any] = lambda: None
        self._result: Any = None
        self._leave_pool = arrays.enter_pool()

    def warm_up(self, problem: Problem, inputs: Mapping[str, range]) -> None:
        """Calls it, so that it compiles, loads and tunes, and poisons what it returns: later calls may get the same memory."""
        results = self._results(self._called(problem))
        changed = self.arrays.changed_device()
        if changed:
            raise self.implementation.error("", f"{changed}; it must leave that as it is")
        for result in results.values():
            for name, span in inputs.items():
                if self.arrays.address(result) in span:
                    raise self.implementation.error("", f"returns a view of its input '{name}'; return new memory, or change "
                                                        f"the input in place and name it in writes")
            self.arrays.poison(result)

    def launch(self) -> None:
        self._result = None  # before the call, which then gets the same memory again
        self._result = self._called()

    def collect(self) -> None:
        for name, result in self._results(self._result).items():
            self.arrays.copy(self.returned[name], result)

    def close(self) -> None:
        self.function, self._result, self.returned = (lambda: None), None, {}
        self.callbacks = engine.Callbacks()  # the others refer to this call
        self._leave_pool()

    def _called(self, problem: Optional[Problem] = None) -> Any:
        return call_user_code(self.function, error=lambda text: self.implementation.error("", text), problem=problem)

    def _results(self, result: Any) -> dict[str, Any]:
        if not self.returned:
            return {}
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(results) != len(self.returned):
            raise self.implementation.error("", f"returns {len(results)} result{'' if len(results) == 1 else 's'}, not "
                                                f"{len(self.returned)}: {', '.join(self.returned)}")
        found = {}
        for name, value in zip(self.returned, results):
            found[name] = self.arrays.own(value)
            if not self.arrays.is_own(found[name]):
                raise self.implementation.error("", f"returns {type(value).__name__}, not '{name}'; name results that it writes "
                                                    f"into its arguments in writes=")
            shape, expected = tuple(found[name].shape), tuple(self.returned[name].shape)
            if shape != expected:
                raise self.implementation.error("", f"wrong result: '{name}' has the shape {shape}, its reference has {expected}")
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


def _fill(operation: Operation, problem: Problem, name: str, spec: Tensor, array: Any, generator: Any) -> None:
    call_user_code(spec.fill, array, generator, error=lambda text: operation.error(f"inputs['{name}']", text), problem=problem)


def _view(arrays: Arrays, tensor) -> Any:
    return arrays.view(tensor.data, tuple(tensor.shape[axis] for axis in range(tensor.rank)), tensor.dtype.decode())


def _span(tensor) -> range:
    """Its addresses."""
    count = DTYPES[tensor.dtype.decode()][0]
    for axis in range(tensor.rank):
        count *= tensor.shape[axis]
    return range(tensor.data, tensor.data + count)


def _checked_result(arrays: Arrays, operation: Operation, name: str, result: Any) -> tuple[Any, Form]:
    """A reference's."""
    array = arrays.own(result)
    if not arrays.is_own(array):
        raise operation.error("reference", f"'{name}' is {type(result).__name__}; it must be a tensor")
    shape, dtype = arrays.form(array)
    if dtype != "fp64" and not _is_integer(dtype):
        raise operation.error("reference", f"'{name}' is {dtype}; it must be computed in double precision")
    return array, (shape, dtype)


def _is_integer(dtype: str) -> bool:
    return "int" in dtype


def _wide(dtype: str) -> str:
    return dtype if _is_integer(dtype) else "fp64"


def _fill_of(fill: Any) -> tuple[int, float, float]:
    if callable(fill) or fill is _GIVEN:
        return engine.FILLED, 0, 0
    kind, *numbers = fill or ("full", 0)
    if kind == "integers":
        return engine.INTEGERS, numbers[0], numbers[1] - 1
    return {"uniform": engine.UNIFORM, "normal": engine.NORMAL, "full": engine.CONSTANT}[kind], *(numbers + [0])[:2]
