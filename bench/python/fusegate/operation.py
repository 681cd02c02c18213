"""Operations, as a file of kernels registers them, and the decorator `fusegate.benchmark`."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Callable, Optional, Union

from .errors import InputError, Registered, caller
from .implementation import ARRAYS, Implementation, Stage
from .problem import AXIS_VALUES, AxisValue, Problem, is_axis_value, is_name
from .tensors import DTYPES, Tensor, dtype_name, is_integer

# A benchmark's name puts an axis before a colon.
_AXIS = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# Attributes of a problem, and keys of a suite's sweep that are not axes.
_RESERVED = {"items", "axes", "dtype", "device", "name", "itemsize", "torch_dtype", "operations", "implementations"}

OfProblem = Union[Callable[[Problem], Any], float, int]
Axes = Union[Mapping[str, Sequence[AxisValue]], Sequence[Mapping[str, AxisValue]]]

# The registered operations by name, in order of registration.
_operations: dict[str, "Operation"] = {}


class Operation(Registered):
    """What is computed: inputs, reference, and the problems to measure. All implementations of an operation get the same
    inputs and are checked against the same reference.

    Args:
      name: the first part of the benchmarks' names.
      inputs: ``inputs(problem)`` returns the arguments of the implementations and the reference, in order: a dict by name,
        or a list. fusegate allocates each :class:`Tensor` (:func:`uniform`, :func:`normal`, ...) and fills it with fresh
        numbers in every memory layout. It copies a tensor of yours into the layout. It passes on everything else, such as
        a number or ``None``, unchanged.
      reference: computes the right result. It gets the inputs, floating-point tensors in double precision, and returns one
        tensor or a tuple of them, in double precision or of integers.
      axes: the problems: a list of values for each axis, of which every combination is a problem (sizes, fractions, switches
        or names, as in ``{"rows": [8], "sparsity": [0.5], "causal": [True], "kind": ["gelu"]}``); or the problems one by
        one, as in ``[{"heads": 16, "kv": 4096}]``; or a function without parameters that returns one of the two.
      dtypes: the number formats: ``"bf16"`` or ``torch.bfloat16``, ``"fp16"``, ``"fp32"``, ...
      outputs: the names of the results; by default ``"out"``. If a result has another dtype than the problem, a callable
        ``outputs(problem)`` that returns tensors by name, as in ``{"q": fusegate.empty(p.rows, p.dim, dtype="int8")}``.
      tolerance: the largest error ``||out - ref|| / ||ref||`` (Frobenius norm) of a right result: one number, one for each
        dtype, or a function of the problem. By default 1e-5 for fp32, 1.5e-3 for fp16, 1e-2 for bf16, and 0 for integers.
      flops, bytes: the fewest floating-point operations of a call, and the fewest bytes that it reads and writes; a number,
        or a function of the problem. Reports compute rates from them.
      weights: names of inputs that stay from call to call, as a layer's weights do. Only these may be used by what ``prepare``
        or a ``factory`` makes ready: the numbers of the other inputs change after that.
      exact: names of inputs whose numbers are used as they are, as the scales of an fp8 tensor are. No rounding of them
        explains an error.
      split: of an operation that several GPUs compute together: by the name of an input or output, the axis along which each
        rank holds its part, as in ``{"w_up": 0, "w_down": 1}``; of an output 0. Each rank holds the others whole. ``axes`` has
        ``ranks``, the number of processes. ``inputs`` and ``reference`` see every tensor whole; implementations and
        ``prepare`` get the rank's parts.
      arrays: the library whose arrays the reference and the implementations get: ``"torch"``, ``"cupy"`` or ``"numpy"``.
      control: True if no change of yours touches its code, such as a library's. A different time then shows a different
        machine, and the gate never reports a regression of it.
      compared_with: the implementation that reports compare the others with; by default the first registered.
      where: "file:line" for messages; by default the caller's.

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
                 weights: Union[str, Sequence[str]] = (), exact: Union[str, Sequence[str]] = (),
                 split: Optional[Mapping[str, int]] = None, arrays: str = "torch",
                 control: bool = False, compared_with: Optional[str] = None, where: Optional[str] = None):
        self.where, self.name, self.path = where or caller(), name, name
        if not is_name(name):
            raise InputError(self.where, "operation", f"{name!r} is not a name; use letters, digits and _ . + -")
        self.arrays, self.is_control, self._compared_with, self.weights = arrays, control, compared_with, _names(weights)
        self.exact = _names(exact)
        self._inputs, self._reference, self._outputs = inputs, reference, outputs
        self._tolerance, self._flops, self._bytes = tolerance, flops or 0, bytes or 0
        self.implementations: dict[str, Implementation] = {}
        self.check("arrays", arrays, arrays in ARRAYS, f"one of {', '.join(ARRAYS)}")
        self.check("control", control, isinstance(control, bool), "True or False")
        self.check("inputs", inputs, callable(inputs), "a function")
        self.check("reference", reference, callable(reference), "a function")
        self.check("compared_with", compared_with, isinstance(compared_with, (str, type(None))), "an implementation's name")
        self.dtypes = self._checked_dtypes(dtypes)
        self.points = self._points(axes)
        self.axes = tuple(self.points[0])
        self.split = self._checked_split(split or {})
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
        """Register the decorated callable, which stays as it is, as an implementation of this operation.

        Args:
          implementation: its name; by default the function's.
          writes: the results that the callable writes into memory and does not return. For an output's name, it gets a fresh
            buffer after the inputs. A name that is both an input and an output is changed in place.
          factory: True if the decorated function makes the callable. It is called once for each problem, before the check,
            for work that is not to be timed: compiling, planning, a workspace.
          prepare: ``prepare(*inputs)`` returns other arguments for the callable (a tuple, a list, a dict by name, or one
            value), such as packed weights. It is called in each memory layout, before anything is captured or timed there.
            It must not change the inputs.
          requires: modules that it needs. Without them it is left out, and a line reports that. The run file has their
            versions.
          device: the only device that it runs on, ``"cuda"`` or ``"cpu"``; by default either.
          arrays: the library whose arrays it gets: ``"torch"``, ``"cupy"`` or ``"numpy"``; by default the operation's.
          stages: ``stages(problem)`` returns its parts as a list of :class:`Stage`. By default there is one, with the
            operation's ``flops`` and ``bytes``.
          choices: ``choices(problem)`` returns what was chosen for the problem as a dict, such as a tile or an algorithm. It
            is called after the check, and the run file records it.
        """
        if callable(implementation):  # @geglu.benchmark, without parentheses
            return self.benchmark()(implementation)
        where = caller()

        def register(function: Callable) -> Callable:
            if not callable(function):
                raise InputError(where, self.name, f"decorates {function!r}, which is not a function")
            name = implementation or getattr(function, "__name__", "")
            Implementation(self, name, function, where, _names(writes), factory, prepare, _names(requires), device,
                           arrays or self.arrays, stages, choices)
            return function
        return register

    # The methods below call user code while it is measured. They raise InputError, which names file, operation and field.

    def problems(self) -> Iterator[Problem]:
        """The registered problems."""
        for dtype, point in itertools.product(self.dtypes, self.points):
            yield Problem(tuple(point.items()), dtype)

    def inputs(self, problem: Problem) -> dict[str, Any]:
        given = self.ask("inputs", self._inputs, problem, problem=problem)
        if isinstance(given, (list, tuple)):
            given = {f"input {number}": value for number, value in enumerate(given)}
        if not isinstance(given, Mapping):
            raise self.error("inputs", f"must return a dict or a list, not {type(given).__name__}")
        for field, names in (("weights", self.weights), ("exact", self.exact)):
            self.require_known(field, names, given, "an input")
        return dict(given)

    def require_known(self, field: str, names: Iterable[str], known: Iterable[str], what: str) -> None:
        """Raises InputError for a name that is not known."""
        for name in names:
            if name not in known:
                raise self.error(field, f"{name!r} is not {what}; there are {', '.join(known)}")

    @property
    def compared_with(self) -> str:
        """The implementation that reports compare the others with."""
        name = next(iter(self.implementations)) if self._compared_with is None else self._compared_with
        if name not in self.implementations:
            raise self.error("compared_with", f"no implementation is named {name!r}; there are "
                                              f"{', '.join(self.implementations)}")
        return name

    def output_names(self, problem: Optional[Problem]) -> list[str]:
        return list(self.output_tensors(problem) if callable(self._outputs) else _names(self._outputs))

    def output_tensors(self, problem: Problem) -> dict[str, Tensor]:
        """The declared tensors by name; empty if only names are declared."""
        if not callable(self._outputs):
            return {}
        tensors = self.ask("outputs", self._outputs, problem, problem=problem)
        if not isinstance(tensors, Mapping) or not tensors:
            raise self.error("outputs", "must return a dict of tensors by name")
        for name, tensor in tensors.items():
            if not isinstance(tensor, Tensor):
                raise self.error(f"outputs['{name}']", "must be a tensor, such as fusegate.empty(rows, columns)")
        return dict(tensors)

    def reference(self, problem: Problem, arguments: Sequence[Any]) -> dict[str, Any]:
        """The right results by name. arguments: the inputs, widened to double precision."""
        result = self.ask("reference", self._reference, *arguments, problem=problem)
        return self.results("reference", result, self.output_names(problem))

    def tolerance(self, problem: Problem, dtype: str) -> float:
        """The largest relative error of a right output of that dtype. By default none is finer than the problem's own: a
        single-precision result of 16-bit numbers is as rough as these."""
        given = self._of_problem("tolerance", self._tolerance, problem)
        if isinstance(given, Mapping):
            given = given.get(dtype)
        if given is not None:
            return self.check_amount("tolerance", given)
        return 0.0 if is_integer(dtype) else max(DTYPES[dtype].error_bound, DTYPES[problem.dtype].error_bound)

    def work(self, problem: Problem) -> Stage:
        """A call as one stage."""
        return Stage(self.name, *(self.check_amount(field, self._of_problem(field, given, problem))
                                  for field, given in (("flops", self._flops), ("bytes", self._bytes))))

    def _of_problem(self, field: str, given: Any, problem: Problem) -> Any:
        return self.ask(field, given, problem, problem=problem) if callable(given) else given

    def _checked_dtypes(self, dtypes: Any) -> tuple[str, ...]:
        given = dtypes if isinstance(dtypes, (list, tuple)) else (dtypes,)
        if not given:
            raise self.error("dtypes", "must name at least one")
        try:
            return tuple(map(dtype_name, given))
        except ValueError as error:
            raise self.error("dtypes", str(error)) from error

    def _checked_split(self, split: Any) -> dict[str, int]:
        self.check("split", split, isinstance(split, Mapping), "a dict of axes by the names of tensors")
        for name, axis in split.items():
            self.check(f"split['{name}']", axis, type(axis) is int and axis >= 0, "an axis from 0")
        if split and "ranks" not in self.axes:
            raise self.error("split", "needs the axis 'ranks', the number of processes; add it to axes")
        return dict(split)

    def _points(self, axes: Union[Axes, Callable[[], Axes]]) -> list[dict[str, AxisValue]]:
        given = self.ask("axes", axes) if callable(axes) else axes
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
                if not isinstance(axis, str) or not _AXIS.fullmatch(axis) or axis in _RESERVED:
                    raise self.error(f"axes[{axis!r}]", "cannot name an axis; use letters, digits and _, and none of "
                                                        f"{', '.join(sorted(_RESERVED))}")
                self.check(f"axes['{axis}']", value, is_axis_value(value), AXIS_VALUES)
        return points


def benchmark(operation: Union[str, Operation], implementation: Optional[str] = None, *, arrays: Optional[str] = None,
              **fields: Any) -> Callable[[Callable], Callable]:
    """Register a callable that launches its work on the current stream as a benchmark; the function stays as it is.

    Args:
      operation: what it computes. A name with ``inputs``, ``reference``, ``axes`` and ``dtypes`` defines an operation. A name
        alone refers to an operation that was defined before, and shares its inputs and reference.
      implementation: its name; by default the function's.
      arrays: the library whose arrays it gets, and those of an operation that is defined here.
      fields: ``writes``, ``factory``, ``prepare``, ``requires``, ``device``, ``stages`` and ``choices``, as of
        :meth:`Operation.benchmark`; ``inputs``, ``reference``, ``axes``, ``dtypes``, ``outputs``, ``tolerance``, ``flops``,
        ``bytes``, ``weights``, ``exact``, ``split``, ``control`` and ``compared_with``, as of :class:`Operation`.
    """
    where = caller()
    of_implementation = inspect.signature(Operation.benchmark).parameters
    defining = {name: fields.pop(name) for name in list(fields) if name not in of_implementation}
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
        raise InputError(where, operation, "unknown operation; define it here with inputs, reference, axes and dtypes, or "
                                           "before")
    return operation.benchmark(implementation, arrays=arrays, **fields)


def operations() -> dict[str, Operation]:
    """The registered operations by name."""
    return dict(_operations)


def clear() -> None:
    """Forget every registration, for example to run a notebook's cell again."""
    _operations.clear()


def _names(names: Union[str, Sequence[str]]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
