"""Operations, as a file of kernels registers them, and the decorator `fusegate.benchmark`."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, Optional, Union

from .call_sites import call_user_code, caller
from .errors import InputError
from .implementation import ARRAYS, Implementation, Stage, is_amount
from .problem import AXIS_VALUES, AxisValue, Problem, is_axis_value, is_name
from .tensors import Tensor, default_bound, dtype_name

# A benchmark's name puts an axis before a colon.
_AXIS = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Attributes of a problem, and keys of a suite's sweep that are not axes.
_RESERVED = {"items", "axes", "dtype", "device", "name", "itemsize", "torch_dtype", "operations", "implementations"}

OfProblem = Union[Callable[[Problem], Any], float, int]
Axes = Union[Mapping[str, Sequence[AxisValue]], Sequence[Mapping[str, AxisValue]]]

# The registered operations by name, in order of registration.
_operations: dict[str, "Operation"] = {}


class Operation:
    """What is computed: inputs, reference, and the problems to measure.

    All implementations of an operation get the same inputs and are checked against the same reference.

    Parameters
    ----------
    name : str
        The first part of the benchmarks' names.
    inputs : callable
        ``inputs(problem)`` returns the arguments of the implementations and the reference, in order: a dict by name, or
        a list. fusegate allocates each :class:`Tensor` (:func:`uniform`, :func:`normal`, ...) and fills it with fresh
        numbers in every memory layout. It copies a tensor of yours into the layout. It passes on everything else, such
        as a number or ``None``, unchanged.
    reference : callable
        Computes the right result. It gets the inputs, floating-point tensors in double precision, and returns one
        tensor or a tuple of them, in double precision or of integers.
    axes : dict of str to list, list of dict, or callable
        The problems: a list of values for each axis, of which every combination is a problem (sizes, fractions, switches
        or names, as in ``{"rows": [8], "sparsity": [0.5], "causal": [True], "kind": ["gelu"]}``); or the problems one by
        one, as in ``[{"heads": 16, "kv": 4096}]``; or a function without parameters that returns one of the two.
    dtypes : list of str or torch.dtype
        The number formats: ``"bf16"`` or ``torch.bfloat16``, ``"fp16"``, ``"fp32"``, ...
    outputs : str, list of str, or callable, optional
        The names of the results; by default ``"out"``. If a result has another dtype than the problem, a callable
        ``outputs(problem)`` that returns tensors by name, as in ``{"q": fusegate.empty(p.rows, p.dim, dtype="int8")}``.
    tolerance : float, dict of str to float, or callable, optional
        The largest error ``||out - ref|| / ||ref||`` (Frobenius norm) of a right result: one number, one for each dtype,
        or a function of the problem. By default 1e-5 for fp32, 1.5e-3 for fp16, 1e-2 for bf16, and 0 for integers.
    flops, bytes : float or callable, optional
        The fewest floating-point operations of a call, and the fewest bytes that it reads and writes; a number, or a
        function of the problem. Reports compute rates from them.
    arrays : {"torch", "cupy", "numpy"}
        The library whose arrays the reference and the implementations get.
    control : bool
        True if no change of yours touches its code, such as a library's. A different time then shows a different machine,
        and the gate never reports a regression of it.
    compared_with : str, optional
        The implementation that reports compare the others with; by default the first registered.
    where : str, optional
        "file:line" for messages; by default the caller's.

    Examples
    --------
    >>> geglu = fusegate.Operation(
    ...     "geglu", axes={"rows": [1024, 8192], "hidden": [3072]}, dtypes=["bf16"],
    ...     inputs=lambda p: {"gate": fusegate.uniform(p.rows, p.hidden), "up": fusegate.uniform(p.rows, p.hidden)},
    ...     reference=lambda gate, up: torch.nn.functional.gelu(gate, approximate="tanh") * up,
    ...     flops=lambda p: 10 * p.rows * p.hidden, bytes=lambda p: 3 * p.rows * p.hidden * p.itemsize)
    >>> @geglu.benchmark()
    ... def eager(gate, up):
    ...     return torch.nn.functional.gelu(gate, approximate="tanh") * up
    """

    def __init__(self, name: str, *, inputs: Callable[[Problem], Any], reference: Callable[..., Any],
                 axes: Union[Axes, Callable[[], Axes]], dtypes: Sequence[str],
                 outputs: Union[str, Sequence[str], Callable[[Problem], Mapping[str, Tensor]]] = "out",
                 tolerance: Union[float, Mapping[str, float], Callable[[Problem], float], None] = None,
                 flops: Optional[OfProblem] = None,
                 bytes: Optional[OfProblem] = None,  # pylint: disable=redefined-builtin
                 arrays: str = "torch", control: bool = False, compared_with: Optional[str] = None,
                 where: Optional[str] = None):
        self.where = where or caller()
        if not is_name(name):
            raise InputError(self.where, "operation", f"{name!r} is not a name; use letters, digits and _ . + -")
        self.name, self.arrays, self.is_control, self._compared_with = name, arrays, control, compared_with
        self._inputs, self._reference, self._outputs = inputs, reference, outputs
        self._tolerance, self._flops, self._bytes = tolerance, flops, bytes
        self.implementations: dict[str, Implementation] = {}
        for field, given, is_right, expected in (
                ("arrays", arrays, arrays in ARRAYS, f"one of {', '.join(ARRAYS)}"),
                ("control", control, isinstance(control, bool), "True or False"),
                ("inputs", inputs, callable(inputs), "a function"),
                ("reference", reference, callable(reference), "a function")):
            if not is_right:
                raise self.error(field, f"must be {expected}, not {given!r}")
        if not isinstance(compared_with, (str, type(None))):
            raise self.error("compared_with", f"must name an implementation, not {compared_with!r}")
        self.dtypes = self._checked_dtypes(dtypes)
        self.points = self._points(axes)
        self.axes = tuple(self.points[0])
        if not callable(outputs) and not self.output_names(None):
            raise self.error("outputs", "must name at least one result")
        if name in _operations:
            raise self.error("", f"is registered already, at {_operations[name].where}")
        _operations[name] = self

    def benchmark(self, implementation: Optional[str] = None, *, writes: Union[str, Sequence[str]] = (),
                  factory: bool = False, prepare: Optional[Callable[..., Any]] = None,
                  requires: Union[str, Sequence[str]] = (), device: Optional[str] = None,
                  arrays: Optional[str] = None, stages: Optional[Callable[[Problem], Sequence[Stage]]] = None,
                  choices: Optional[Callable[[Problem], Mapping[str, Any]]] = None
                  ) -> Callable[[Callable], Callable]:
        """Register the decorated callable as an implementation of this operation.

        Parameters
        ----------
        implementation : str, optional
            Its name; by default the function's.
        writes : str or list of str
            The results that the callable writes into memory and does not return. For an output's name, it gets a fresh
            buffer after the inputs. A name that is both an input and an output is changed in place.
        factory : bool
            True if the decorated function makes the callable. It is called once for each problem, before the check, for
            work that is not to be timed: compiling, planning, a workspace.
        prepare : callable, optional
            ``prepare(*inputs)`` returns other arguments for the callable (a tuple, a list, a dict by name, or one value),
            such as packed weights. It is called in each memory layout, before anything is captured or timed there. It
            must not change the inputs.
        requires : str or list of str
            Modules that it needs. Without them it is left out, and a line reports that. The run file has their versions.
        device : {"cuda", "cpu"}, optional
            The only device that it runs on; by default either.
        arrays : {"torch", "cupy", "numpy"}, optional
            The library whose arrays it gets; by default the operation's.
        stages : callable, optional
            ``stages(problem)`` returns its parts as a list of :class:`Stage`. By default there is one, with the
            operation's ``flops`` and ``bytes``.
        choices : callable, optional
            ``choices(problem)`` returns what was chosen for the problem as a dict, such as a tile or an algorithm. It is
            called after the check, and the run file records it.

        Returns
        -------
        callable
            A decorator that returns the function unchanged.
        """
        if callable(implementation):  # @geglu.benchmark, without parentheses
            return self.benchmark()(implementation)
        where = caller()

        def register(function: Callable) -> Callable:
            if not callable(function):
                raise InputError(where, f"{self.name}", f"decorates {function!r}, which is not a function")
            name = implementation or getattr(function, "__name__", "")
            Implementation(self, name, function, where, writes=_names(writes), factory=factory, prepare=prepare,
                           requires=_names(requires), device=device, arrays=arrays or self.arrays, stages=stages,
                           choices=choices)
            return function
        return register

    # The methods below call user code while it is measured. They raise InputError, which names file, operation and field.

    def problems(self) -> Iterator[Problem]:
        """The registered problems."""
        for dtype, point in itertools.product(self.dtypes, self.points):
            yield Problem(tuple(point.items()), dtype)

    def inputs(self, problem: Problem) -> dict[str, Any]:
        given = self._ask("inputs", self._inputs, problem)
        if isinstance(given, Mapping):
            return dict(given)
        if isinstance(given, (list, tuple)):
            return {f"input {number}": value for number, value in enumerate(given)}
        raise self.error("inputs", f"must return a dict or a list, not {type(given).__name__}")

    @property
    def compared_with(self) -> str:
        """The implementation that reports compare the others with."""
        if self._compared_with is None:
            return next(iter(self.implementations))
        if self._compared_with not in self.implementations:
            raise self.error("compared_with", f"no implementation is named {self._compared_with!r}; there are "
                                              f"{', '.join(self.implementations)}")
        return self._compared_with

    def output_names(self, problem: Optional[Problem]) -> list[str]:
        if callable(self._outputs):
            return list(self.output_tensors(problem))
        return list(_names(self._outputs))

    def output_tensors(self, problem: Problem) -> dict[str, Tensor]:
        """The declared tensors by name; empty if only names are declared."""
        if not callable(self._outputs):
            return {}
        tensors = self._ask("outputs", self._outputs, problem)
        if not isinstance(tensors, Mapping) or not tensors:
            raise self.error("outputs", "must return a dict of tensors by name")
        for name, tensor in tensors.items():
            if not isinstance(tensor, Tensor):
                raise self.error(f"outputs['{name}']", "must be a tensor, such as fusegate.empty(rows, columns)")
        return dict(tensors)

    def reference(self, problem: Problem, arguments: Sequence[Any]) -> dict[str, Any]:
        """The right results by name. arguments: the inputs, widened to double precision."""
        names = self.output_names(problem)
        result = call_user_code(self._reference, *arguments, error=lambda text: self.error("reference", text),
                                problem=problem)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(results) != len(names):
            raise self.error("reference", f"returns {_count(len(results), 'result')}, but the operation has "
                                          f"{_count(len(names), 'output')}: {', '.join(names)}")
        return dict(zip(names, results))

    def tolerance(self, problem: Problem, dtype: str) -> float:
        """The largest relative error of a right output of that dtype."""
        given = self._tolerance
        if callable(given):
            given = self._ask("tolerance", given, problem)
        elif isinstance(given, Mapping):
            given = given.get(dtype)
        if given is None:
            return default_bound(dtype, problem.dtype)
        return self._number("tolerance", given)

    def work(self, problem: Problem) -> Stage:
        """A call as one stage."""
        values = [self._number(field, self._ask(field, given, problem) if callable(given) else given or 0)
                  for field, given in (("flops", self._flops), ("bytes", self._bytes))]
        return Stage(self.name, *values)

    def error(self, field: str, problem: str) -> InputError:
        return InputError(self.where, f"{self.name}.{field}" if field else self.name, problem)

    def _ask(self, field: str, function: Callable, problem: Problem) -> Any:
        return call_user_code(function, problem, error=lambda text: self.error(field, text), problem=problem)

    def _number(self, field: str, value: Any) -> float:
        if not is_amount(value):
            raise self.error(field, f"must be a number from 0, not {value!r}")
        return float(value)

    def _checked_dtypes(self, dtypes: Any) -> tuple[str, ...]:
        given = dtypes if isinstance(dtypes, (list, tuple)) else (dtypes,)
        if not given:
            raise self.error("dtypes", "must name at least one")
        try:
            return tuple(map(dtype_name, given))
        except ValueError as error:
            raise self.error("dtypes", str(error)) from error

    def _points(self, axes: Union[Axes, Callable[[], Axes]]) -> list[dict[str, AxisValue]]:
        given = call_user_code(axes, error=lambda text: self.error("axes", text)) if callable(axes) else axes
        if isinstance(given, Mapping):
            values = [[values] if isinstance(values, (int, float, str)) else list(values) for values in given.values()]
            points = [dict(zip(given, combination)) for combination in itertools.product(*values)]
        else:
            points = [dict(point) for point in given]
        if not points or not points[0]:
            raise self.error("axes", "must have at least one axis with at least one value")
        for point in points:
            if list(point) != list(points[0]):
                raise self.error("axes", f"must be the same for every problem; one has {', '.join(points[0])}, "
                                         f"another {', '.join(point)}")
            for axis, value in point.items():
                self._check_axis(axis, value)
        return points

    def _check_axis(self, axis: str, value: AxisValue) -> None:
        if not isinstance(axis, str) or not _AXIS.fullmatch(axis) or axis in _RESERVED:
            raise self.error(f"axes[{axis!r}]", "cannot name an axis; use letters, digits and _, and none of "
                                                f"{', '.join(sorted(_RESERVED))}")
        if not is_axis_value(value):
            raise self.error(f"axes['{axis}']", f"must be {AXIS_VALUES}, not {value!r}")


def benchmark(operation: Union[str, Operation], implementation: Optional[str] = None, *, arrays: Optional[str] = None,
              **fields: Any) -> Callable[[Callable], Callable]:
    """Register a callable that launches its work on the current stream as a benchmark.

    Parameters
    ----------
    operation : str or Operation
        What it computes. A name with ``inputs``, ``reference``, ``axes`` and ``dtypes`` defines an operation. A name
        alone refers to an operation that was defined before, and shares its inputs and reference.
    implementation : str, optional
        Its name; by default the function's.
    arrays : {"torch", "cupy", "numpy"}, optional
        The library whose arrays it gets, and those of an operation that is defined here.
    **fields
        ``writes``, ``factory``, ``prepare``, ``requires``, ``device``, ``stages`` and ``choices``, as of
        :meth:`Operation.benchmark`; ``inputs``, ``reference``, ``axes``, ``dtypes``, ``outputs``, ``tolerance``, ``flops``,
        ``bytes``, ``control`` and ``compared_with``, as of :class:`Operation`.

    Returns
    -------
    callable
        A decorator that returns the function unchanged.

    Examples
    --------
    >>> @fusegate.benchmark(operation="softmax", axes={"rows": [4096], "cols": [1024]}, dtypes=["fp16"],
    ...                     inputs=lambda p: {"x": fusegate.normal(p.rows, p.cols)},
    ...                     reference=lambda x: torch.softmax(x, dim=-1), implementation="eager")
    ... def softmax(x):
    ...     return torch.softmax(x, dim=-1)
    """
    where = caller()
    of_implementation = inspect.signature(Operation.benchmark).parameters
    defining = {name: value for name, value in fields.items() if name not in of_implementation}
    if isinstance(operation, Operation):
        if defining:
            raise InputError(where, operation.name, f"{next(iter(defining))} belongs to the operation, which is defined at "
                                                    f"{operation.where}")
    elif defining:
        try:
            operation = Operation(operation, where=where, arrays=arrays or "torch", **defining)
        except TypeError as error:  # a missing or an unknown argument
            raise InputError(where, str(operation), re.sub(r"(Operation\.)?__init__\(\)", "benchmark()", str(error))) \
                from error
    elif not isinstance(operation, str):
        raise InputError(where, "operation", "must be a name, as in @fusegate.benchmark(operation=\"geglu\", ...), or an "
                                             f"Operation, not {operation!r}")
    elif operation in _operations:
        operation = _operations[operation]
    else:
        raise InputError(where, str(operation), "unknown operation; define it here with inputs, reference, axes and "
                                                "dtypes, or before")
    return operation.benchmark(implementation, arrays=arrays,
                               **{name: value for name, value in fields.items() if name not in defining})


def operations() -> dict[str, Operation]:
    """The registered operations by name.

    Returns
    -------
    dict of str to Operation
    """
    return dict(_operations)


def clear() -> None:
    """Forget every registration, for example to run a notebook's cell again."""
    _operations.clear()


def _names(names: Union[str, Sequence[str]]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
