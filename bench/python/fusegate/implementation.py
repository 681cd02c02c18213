"""An implementation: one way to compute an operation, as Operation.benchmark() registers it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Optional

from .call_sites import call_user_code
from .errors import InputError
from .problem import Problem, is_name

if TYPE_CHECKING:
    from .operation import Operation

ARRAYS = ("torch", "cupy", "numpy")


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of an implementation, with the least work that it can do; for rates and rooflines.

    Attributes
    ----------
    name : str
        The part's name in reports.
    flops : float
        Floating-point operations of one call.
    min_bytes : float
        The fewest bytes that a call reads and writes: each operand once, the result once.
    """

    name: str
    flops: float = 0.0
    min_bytes: float = 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Implementation:
    """A way to compute an operation. :meth:`Operation.benchmark` makes it and explains the fields."""

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
        if not is_name(self.name):
            raise InputError(self.where, f"{self.operation.name}: implementation",
                             f"{self.name!r} is not a name; name it, as in benchmark(..., implementation=\"fused\")")
        others = self.operation.implementations
        if self.name in others:
            raise self.error("", f"is registered already, at {others[self.name].where}")
        if self.device not in (None, "cuda", "cpu"):
            raise self.error("device", f"must be \"cuda\" or \"cpu\", not {self.device!r}")
        if self.arrays not in ARRAYS:
            raise self.error("arrays", f"must be one of {', '.join(ARRAYS)}, not {self.arrays!r}")
        for field in ("prepare", "stages", "choices"):
            given = getattr(self, field)
            if given is not None and not callable(given):
                raise self.error(field, f"must be a function, not {given!r}")
        others[self.name] = self

    @property
    def full_name(self) -> str:
        return f"{self.operation.name}/{self.name}"

    def benchmark_name(self, problem: Problem) -> str:
        return f"{self.full_name}/{problem.name}"

    def callable_for(self, problem: Problem) -> Callable:
        """The callable that is timed."""
        if not self.factory:
            return self.function
        made = self.function(problem)
        if not callable(made):
            raise self.error("factory", f"must return a function, not {made!r}")
        return made

    def prepared(self, problem: Problem, inputs: Sequence[Any]) -> list[Any]:
        """The arguments of the callable, made from the inputs by ``prepare``."""
        if self.prepare is None:
            return list(inputs)
        made = self._ask("prepare", problem, *inputs)
        if made is None:
            raise self.error("prepare", "returns None; it must return the arguments of the callable")
        if isinstance(made, Mapping):
            return list(made.values())
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def work(self, problem: Problem) -> list[Stage]:
        """The stages of a call; one, from the operation's ``flops`` and ``bytes``, unless ``stages`` is given."""
        if self.stages is None:
            return [self.operation.work(problem)]
        stages = self._ask("stages", problem, problem)
        if not isinstance(stages, (list, tuple)) or not all(isinstance(stage, Stage) for stage in stages):
            raise self.error("stages", "must return a list of fusegate.Stage")
        for stage in stages:
            for field, value in (("flops", stage.flops), ("min_bytes", stage.min_bytes)):
                if not is_amount(value):
                    raise self.error("stages", f"'{stage.name}': {field} must be a number from 0, not {value!r}")
        return list(stages)

    def chosen(self, problem: Problem) -> dict[str, str]:
        """The choices for the run file, as text by name."""
        found = {} if self.choices is None else self._ask("choices", problem, problem)
        if not isinstance(found, Mapping):
            raise self.error("choices", f"must return a dict, not {type(found).__name__}")
        return {str(name): str(value) for name, value in found.items()}

    def error(self, field: str, problem: str) -> InputError:
        return InputError(self.where, ".".join(filter(None, (self.operation.name, self.name, field))), problem)

    def _ask(self, field: str, problem: Problem, *arguments) -> Any:
        return call_user_code(getattr(self, field), *arguments, error=lambda text: self.error(field, text),
                              problem=problem)


def is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")
