"""Operations and their implementations, as a file of kernels registers them."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, Optional, Union

from .errors import InputError, one_line
from .problem import AXIS_VALUES, AxisValue, Problem, is_axis_value
from .tensors import Tensor, default_bound, dtype_name

ARRAYS = ("torch", "cupy", "numpy")

# Names stand between the slashes of a benchmark's name, and an axis before a colon.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_AXIS = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
# What a problem has of its own, and what a sweep of a suite calls otherwise.
_NO_AXES = {"items", "axes", "dtype", "device", "name", "itemsize", "torch_dtype", "operations", "implementations"}

OfProblem = Union[Callable[[Problem], Any], float, int]
Axes = Union[Mapping[str, Sequence[AxisValue]], Sequence[Mapping[str, AxisValue]]]

# Every operation that was registered, by name, in order.
_operations: dict[str, "Operation"] = {}


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of an implementation: the work that it must do at least, for rates and rooflines.

    Attributes
    ----------
    name : str
        What the part is called in reports.
    flops : float
        Floating-point operations of one call.
    min_bytes : float
        Bytes that it must read and write at least: each operand once, the result once.
    """

    name: str
    flops: float = 0.0
    min_bytes: float = 0.0


class Operation:
    """What is computed: its inputs, its reference, and the problems that it is computed for.

    Every implementation of the operation gets the same inputs and is held against the same reference.

    Parameters
    ----------
    name : str
        The first part of its benchmarks' names.
    inputs : callable
        ``inputs(problem)`` returns what the implementations and the reference are called with, in order: a dict by
        name, or a list. A :class:`Tensor` (:func:`uniform`, :func:`normal`, ...) is allocated and filled by fusegate,
        with fresh numbers at every place in memory. A tensor of yours is copied there. Everything else, such as a
        number or ``None``, is passed on as it is.
    reference : callable
        The result, by definition: called with the inputs, in double precision where they are floating-point numbers,
        and as they are otherwise. It returns one tensor or a tuple of them, in double precision or of integers.
    axes : dict of str to list, list of dict, or callable
        What is measured: for each axis its values (sizes, fractions, switches or names, as in ``{"rows": [8], "sparsity":
        [0.5], "causal": [True], "kind": ["gelu"]}``), of which every combination is a problem; or the problems one by one, as in ``[{"heads": 16, "kv": 4096}]``; or a function without parameters that returns one
        of the two.
    dtypes : list of str or torch.dtype
        The number formats: ``"bf16"`` or ``torch.bfloat16``, ``"fp16"``, ``"fp32"``, ...
    outputs : str, list of str, or callable, optional
        The names of the results, ``"out"`` where left out. A callable ``outputs(problem)`` returns their tensors by
        name, as in ``{"q": fusegate.empty(p.rows, p.dim, dtype="int8")}``, where one is not of the problem's dtype.
    tolerance : float, dict of str to float, or callable, optional
        The largest ``||out - ref|| / ||ref||`` that is right, in the Frobenius norm: one for all, one for each dtype,
        or of the problem. By default 1e-5 for fp32, 1.5e-3 for fp16, 1e-2 for bf16, and 0 for integers.
    flops, bytes : float or callable, optional
        What a call must compute, and read and write at least; of the problem. For rates in reports.
    arrays : {"torch", "cupy", "numpy"}
        The library whose arrays the reference and the implementations get.
    control : bool
        No change touches its code, as that of a library: where its time differs, the machine does, and the gate never
        calls it slower.
    compared_with : str, optional
        The implementation that reports compare the others with; the first registered where left out.
    where : str, optional
        "file:line" for messages; found out where left out.

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
        self.where = where or _caller()
        self.name = self._checked_name(name)
        self.implementations: dict[str, Implementation] = {}
        self.arrays = self._one_of("arrays", arrays, ARRAYS)
        if not isinstance(control, bool):
            raise self.error("control", f"must be True or False, not {control!r}")
        self.is_control = control
        if compared_with is not None and not isinstance(compared_with, str):
            raise self.error("compared_with", f"must name an implementation, not {compared_with!r}")
        self._compared_with = compared_with
        self._inputs = self._callable("inputs", inputs)
        self._reference = self._callable("reference", reference)
        self._outputs, self._tolerance, self._flops, self._bytes = outputs, tolerance, flops, bytes
        self.dtypes = self._checked_dtypes(dtypes)
        self.points = self._points(axes)
        self.axes = tuple(self.points[0])
        if not callable(outputs) and not self.output_names(None):
            raise self.error("outputs", "must name one result at least")
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
            Its name; that of the function where left out.
        writes : str or list of str
            Results that the callable writes into memory that it is given, in place of returning them. An output's
            name: a fresh buffer is passed, after the inputs. An input's name that is an output's too: that input is
            changed in place. It returns the other results.
        factory : bool
            The decorated function makes the callable: it is called once with each problem, before anything is checked
            or timed, for what need not be timed (compiling, planning, a workspace).
        prepare : callable, optional
            ``prepare(*inputs)`` is called with the inputs at each place in memory, before anything is captured or timed
            there, and what it returns (a tuple, a list, a dict by name, or one value) is what the callable gets in
            their stead: packed weights, for example. The inputs themselves must stay as they are.
        requires : str or list of str
            Modules without which it is left out, with a line that says so.
        device : {"cuda", "cpu"}, optional
            Where it can run; anywhere where left out.
        arrays : {"torch", "cupy", "numpy"}, optional
            The library whose arrays it gets; the operation's where left out.
        stages : callable, optional
            ``stages(problem)`` returns the :class:`Stage` parts that it is made of. By default it is one, with the
            operation's ``flops`` and ``bytes``.
        choices : callable, optional
            ``choices(problem)`` returns a dict of what was chosen for the problem, such as a tile or an algorithm. It
            is asked once the result was checked, and what it says is kept in the run file.

        Returns
        -------
        callable
            A decorator, which returns the function as it is.
        """
        if callable(implementation):  # @geglu.benchmark, without parentheses
            return self.benchmark()(implementation)
        where = _caller()

        def register(function: Callable) -> Callable:
            if not callable(function):
                raise InputError(where, f"{self.name}", f"decorates {function!r}, which is no function")
            name = implementation or getattr(function, "__name__", "")
            Implementation(self, name, function, where, writes=_names(writes), factory=factory, prepare=prepare,
                           requires=_names(requires), device=device, arrays=arrays or self.arrays, stages=stages,
                           choices=choices)
            return function
        return register

    # What is asked of it while it is measured. Every one raises InputError naming file, operation and field.

    def problems(self, device: str) -> Iterator[Problem]:
        """Those that were registered."""
        for dtype, point in itertools.product(self.dtypes, self.points):
            yield Problem(tuple(point.items()), dtype, device)

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
        """Those that are declared; empty where only names are."""
        if not callable(self._outputs):
            return {}
        tensors = self._ask("outputs", self._outputs, problem)
        if not isinstance(tensors, Mapping) or not tensors:
            raise self.error("outputs", "must return a dict of tensors by name")
        for name, tensor in tensors.items():
            if not isinstance(tensor, Tensor):
                raise self.error(f"outputs['{name}']", "must be a tensor, as fusegate.empty(rows, columns)")
        return dict(tensors)

    def reference(self, problem: Problem, arguments: Sequence[Any]) -> dict[str, Any]:
        """arguments: the inputs, widened. Returns the results by name."""
        names = self.output_names(problem)
        result = self._ask("reference", self._reference, *arguments, about=problem)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        if len(results) != len(names):
            raise self.error("reference", f"returns {_count(len(results), 'result')} where the operation has "
                                          f"{_count(len(names), 'output')}: {', '.join(names)}")
        return dict(zip(names, results))

    def tolerance(self, problem: Problem, dtype: str) -> float:
        """dtype: of the output."""
        given = self._tolerance
        if callable(given):
            given = self._ask("tolerance", given, problem)
        elif isinstance(given, Mapping):
            given = given.get(dtype)
        if given is None:
            return default_bound(dtype, problem.dtype)
        return self._number("tolerance", given)

    def work(self, problem: Problem) -> Stage:
        """Of a call that is one part."""
        values = [self._number(field, self._ask(field, given, problem) if callable(given) else given or 0)
                  for field, given in (("flops", self._flops), ("bytes", self._bytes))]
        return Stage(self.name, *values)

    def error(self, field: str, problem: str) -> InputError:
        return InputError(self.where, f"{self.name}.{field}" if field else self.name, problem)

    def _ask(self, field: str, function: Callable, *arguments, about: Optional[Problem] = None) -> Any:
        """Another's function, whose exceptions become lines that name it."""
        try:
            return function(*arguments)
        except (InputError, KeyboardInterrupt):
            raise
        except BaseException as error:  # pylint: disable=broad-except
            problem = about or next(iter(arguments), None)
            of_problem = f" for {problem.name}" if isinstance(problem, Problem) else ""
            raise self.error(field, f"raised {one_line(error)}{_place_of(error)}{of_problem}") from error

    def _number(self, field: str, value: Any) -> float:
        if not _is_amount(value):
            raise self.error(field, f"must be a number from 0, not {value!r}")
        return float(value)

    def _checked_name(self, name: str) -> str:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(self.where, "operation", f"{name!r} is no name: letters, digits and _ . + - without blanks")
        return name

    def _callable(self, field: str, function: Callable) -> Callable:
        if not callable(function):
            raise self.error(field, f"must be a function, not {function!r}")
        return function

    def _one_of(self, field: str, value: str, known: Sequence[str]) -> str:
        if value not in known:
            raise self.error(field, f"must be one of {', '.join(known)}, not {value!r}")
        return value

    def _checked_dtypes(self, dtypes: Any) -> tuple[str, ...]:
        given = dtypes if isinstance(dtypes, (list, tuple)) else (dtypes,)
        if not given:
            raise self.error("dtypes", "must name one at least")
        try:
            return tuple(map(dtype_name, given))
        except ValueError as error:
            raise self.error("dtypes", str(error)) from error

    def _points(self, axes: Union[Axes, Callable[[], Axes]]) -> list[dict[str, AxisValue]]:
        given = self._ask("axes", axes) if callable(axes) else axes
        if isinstance(given, Mapping):
            values = [[values] if isinstance(values, (int, float, str)) else list(values) for values in given.values()]
            points = [dict(zip(given, combination)) for combination in itertools.product(*values)]
        else:
            points = [dict(point) for point in given]
        if not points or not points[0]:
            raise self.error("axes", "must have one axis with one value at least")
        for point in points:
            if list(point) != list(points[0]):
                raise self.error("axes", f"must be the same of every problem: {', '.join(points[0])}; "
                                         f"one has {', '.join(point)}")
            for axis, value in point.items():
                self._check_axis(axis, value)
        return points

    def _check_axis(self, axis: str, value: AxisValue) -> None:
        if not isinstance(axis, str) or not _AXIS.fullmatch(axis) or axis in _NO_AXES:
            raise self.error(f"axes[{axis!r}]", "is no name for an axis")
        if not is_axis_value(value):
            raise self.error(f"axes['{axis}']", f"must be {AXIS_VALUES}, not {value!r}")


@dataclasses.dataclass(frozen=True, eq=False)
class Implementation:
    """A way to compute an operation. Made by :meth:`Operation.benchmark`, which says what the fields mean."""

    operation: Operation
    name: str
    function: Callable
    where: str
    writes: tuple[str, ...] = ()
    factory: bool = False
    prepare: Optional[Callable[..., Any]] = None
    requires: tuple[str, ...] = ()
    device: Optional[str] = None
    arrays: str = "torch"
    stages: Optional[Callable[[Problem], Sequence[Stage]]] = None
    choices: Optional[Callable[[Problem], Mapping[str, Any]]] = None

    def __post_init__(self):
        others = self.operation.implementations
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InputError(self.where, f"{self.operation.name}: implementation",
                             f"{self.name!r} is no name; give it one, as in benchmark(..., implementation=\"fused\")")
        if self.name in others:
            raise self.error("", f"is registered already, at {others[self.name].where}")
        if self.device not in (None, "cuda", "cpu"):
            raise self.error("device", f"must be \"cuda\" or \"cpu\", not {self.device!r}")
        if self.arrays not in ARRAYS:
            raise self.error("arrays", f"must be one of {', '.join(ARRAYS)}, not {self.arrays!r}")
        for field, given in (("prepare", self.prepare), ("choices", self.choices)):
            if given is not None and not callable(given):
                raise self.error(field, f"must be a function, not {given!r}")
        others[self.name] = self

    def callable_for(self, problem: Problem) -> Callable:
        """What is called, and timed."""
        if not self.factory:
            return self.function
        made = self.function(problem)
        if not callable(made):
            raise self.error("factory", f"must return a function, not {made!r}")
        return made

    def prepared(self, problem: Problem, inputs: Sequence[Any]) -> list[Any]:
        """What the callable gets in place of the inputs."""
        if self.prepare is None:
            return list(inputs)
        made = self._ask("prepare", problem, *inputs)
        if made is None:
            raise self.error("prepare", "returns None; it must return what the callable gets in place of the inputs")
        if isinstance(made, Mapping):
            return list(made.values())
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def work(self, problem: Problem) -> list[Stage]:
        if self.stages is None:
            return [self.operation.work(problem)]
        stages = self._ask("stages", problem, problem)
        if not isinstance(stages, (list, tuple)) or not all(isinstance(stage, Stage) for stage in stages):
            raise self.error("stages", "must return a list of fusegate.Stage")
        for stage in stages:
            for field, value in (("flops", stage.flops), ("min_bytes", stage.min_bytes)):
                if not _is_amount(value):
                    raise self.error("stages", f"'{stage.name}': {field} must be a number from 0, not {value!r}")
        return list(stages)

    def chosen(self, problem: Problem) -> dict[str, str]:
        """As the run file has it."""
        found = {} if self.choices is None else self._ask("choices", problem, problem)
        if not isinstance(found, Mapping):
            raise self.error("choices", f"must return a dict, not {type(found).__name__}")
        return {str(name): str(value) for name, value in found.items()}

    def _ask(self, field: str, problem: Problem, *arguments) -> Any:
        """Another's function, whose exceptions become lines that name it."""
        try:
            return getattr(self, field)(*arguments)
        except (InputError, KeyboardInterrupt):
            raise
        except BaseException as error:  # pylint: disable=broad-except
            raise self.error(field, f"raised {one_line(error)}{_place_of(error)} for {problem.name}") from error

    @property
    def full_name(self) -> str:
        return f"{self.operation.name}/{self.name}"

    def benchmark_name(self, problem: Problem) -> str:
        return f"{self.full_name}/{problem.name}"

    def error(self, field: str, problem: str) -> InputError:
        return InputError(self.where, ".".join(filter(None, (self.operation.name, self.name, field))), problem)


def benchmark(operation: Union[str, Operation], implementation: Optional[str] = None, *,
              writes: Union[str, Sequence[str]] = (), factory: bool = False,
              prepare: Optional[Callable[..., Any]] = None, requires: Union[str, Sequence[str]] = (),
              device: Optional[str] = None, stages: Optional[Callable[[Problem], Sequence[Stage]]] = None,
              choices: Optional[Callable[[Problem], Mapping[str, Any]]] = None, arrays: Optional[str] = None,
              **defining: Any) -> Callable[[Callable], Callable]:
    """Register a callable that launches GPU work on the current stream as a benchmark.

    Parameters
    ----------
    operation : str or Operation
        What it computes. A name with ``inputs``, ``reference``, ``axes`` and ``dtypes`` defines an operation; a name
        without them is that of an operation that was defined before, whose inputs and reference it shares.
    implementation : str, optional
        Its name; that of the function where left out.
    writes, factory, prepare, requires, device, stages, choices, arrays
        See :meth:`Operation.benchmark`.
    **defining
        ``inputs``, ``reference``, ``axes``, ``dtypes``, ``outputs``, ``tolerance``, ``flops``, ``bytes``,
        ``control`` and ``compared_with``, as of :class:`Operation`.

    Returns
    -------
    callable
        A decorator, which returns the function as it is.

    Examples
    --------
    >>> @fusegate.benchmark(operation="softmax", axes={"rows": [4096], "cols": [1024]}, dtypes=["fp16"],
    ...                     inputs=lambda p: {"x": fusegate.normal(p.rows, p.cols)},
    ...                     reference=lambda x: torch.softmax(x, dim=-1), implementation="eager")
    ... def softmax(x):
    ...     return torch.softmax(x, dim=-1)
    """
    where = _caller()
    if isinstance(operation, Operation):
        if defining:
            raise InputError(where, operation.name, f"{next(iter(defining))} is the operation's, at {operation.where}")
    elif defining:
        try:
            operation = Operation(operation, where=where, arrays=arrays or "torch", **defining)
        except TypeError as error:  # as Python has it: a missing argument, or one that there is not
            told = re.sub(r"(Operation\.)?__init__\(\)", "benchmark()", str(error))
            raise InputError(where, str(operation), told) from error
    elif not isinstance(operation, str):
        raise InputError(where, "operation", "must be a name, as in @fusegate.benchmark(operation=\"geglu\", ...), or an "
                                             f"Operation, not {operation!r}")
    elif operation in _operations:
        operation = _operations[operation]
    else:
        raise InputError(where, str(operation), "no operation of that name was defined before; define it by inputs, "
                                                "reference, axes and dtypes")
    return operation.benchmark(implementation, writes=writes, factory=factory, prepare=prepare, requires=requires,
                               device=device, stages=stages, choices=choices, arrays=arrays)


def operations() -> dict[str, Operation]:
    """Every operation that was registered, by its name.

    Returns
    -------
    dict of str to Operation
    """
    return dict(_operations)


def clear() -> None:
    """Forget every registration, as when a cell of a notebook is run again."""
    _operations.clear()


def _names(names: Union[str, Sequence[str]]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _is_own(path: str) -> bool:
    """Whether the file is this package's."""
    own = pathlib.Path(__file__).parent
    return own in pathlib.Path(path).parents and not path.endswith("_test.py")


def _caller() -> str:
    """"file:line" of the code that called this package."""
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_back is not None and _is_own(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"


def _place_of(error: BaseException) -> str:
    """" at kernels.py:12", where a function of another raised."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        if _is_own(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
            continue
        place = f" at {_short(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _short(path: str) -> str:
    """As a user would type it: relative where it lies below the current folder."""
    try:
        return str(pathlib.Path(path).resolve().relative_to(pathlib.Path.cwd()))
    except (ValueError, OSError):
        return path
