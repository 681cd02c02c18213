"""An implementation: one way to compute an operation, as Operation.benchmark() registers it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import engine
from .errors import InputError, Registered
from .problem import Problem, is_name

if TYPE_CHECKING:
    from .operation import Operation

ARRAYS = ("torch", "cupy", "numpy")


@dataclasses.dataclass(frozen=True)
class Stage:
    """A part of an implementation, with the least work that it can do; for rates and rooflines.

    name: the part's name in reports. flops: floating-point operations of one call. min_bytes: the fewest bytes that a call
    reads and writes: each operand once, the result once.
    """

    name: str
    flops: float = 0.0
    min_bytes: float = 0.0


@contextlib.contextmanager
def stage(name: str) -> Iterator[None]:
    """Gives what a callable launches within ``with fusegate.stage("gate_proj"):`` a name: an NVTX range, a row of its own in
    profiles and traces, and times in reports. FLOPs and bytes come from the :class:`Stage` of that name, if ``stages`` of
    the implementation returns one. Where nothing is measured, it does nothing."""
    loaded = engine.loaded
    if loaded is not None:
        loaded.fusegate_begin_stage(name.encode())
    try:
        yield
    finally:
        if loaded is not None:
            loaded.fusegate_end_stage()


@dataclasses.dataclass(frozen=True, eq=False)
class Implementation(Registered):
    """A way to compute an operation. :meth:`Operation.benchmark` makes it and explains the fields."""

    operation: Operation
    name: str
    function: Callable
    where: str
    writes: tuple[str, ...]
    factory: bool
    prepare: Optional[Callable[..., Any]]
    requires: tuple[str, ...]
    device: Optional[str]
    arrays: str
    stages: Optional[Callable[[Problem], Sequence[Stage]]]
    choices: Optional[Callable[[Problem], Mapping[str, Any]]]

    def __post_init__(self):
        if not is_name(self.name):
            raise InputError(self.where, f"{self.operation.name}: implementation",
                             f"{self.name!r} is not a name; name it, as in benchmark(..., implementation=\"fused\")")
        others = self.operation.implementations
        if self.name in others:
            raise self.error("", f"is registered already, at {others[self.name].where}")
        self.check("device", self.device, self.device in (None, "cuda", "cpu"), "\"cuda\" or \"cpu\"")
        self.check("arrays", self.arrays, self.arrays in ARRAYS, f"one of {', '.join(ARRAYS)}")
        for field in ("prepare", "stages", "choices"):
            given = getattr(self, field)
            self.check(field, given, given is None or callable(given), "a function")
        others[self.name] = self

    @property
    def path(self) -> str:
        return f"{self.operation.name}.{self.name}"

    def callable_for(self, problem: Problem) -> Callable:
        """The callable that is timed."""
        made = self.function(problem) if self.factory else self.function
        if not callable(made):
            raise self.error("factory", f"must return a function, not {made!r}")
        return made

    def prepared(self, problem: Problem, inputs: Sequence[Any]) -> list[Any]:
        """The arguments of the callable, made from the inputs by ``prepare``."""
        if self.prepare is None:
            return list(inputs)
        made = self.ask("prepare", self.prepare, *inputs, problem=problem)
        if made is None:
            raise self.error("prepare", "returns None; it must return the arguments of the callable")
        if isinstance(made, Mapping):
            return list(made.values())
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def work(self, problem: Problem) -> list[Stage]:
        """The stages of a call; one, from the operation's ``flops`` and ``bytes``, unless ``stages`` is given."""
        if self.stages is None:
            return [self.operation.work(problem)]
        stages = self.ask("stages", self.stages, problem, problem=problem)
        if not isinstance(stages, (list, tuple)) or not all(isinstance(stage, Stage) for stage in stages):
            raise self.error("stages", "must return a list of fusegate.Stage")
        for stage in stages:
            for field in ("flops", "min_bytes"):
                self.check_amount(f"stages['{stage.name}'].{field}", getattr(stage, field))
        return list(stages)

    def chosen(self, problem: Problem) -> dict[str, str]:
        """The choices for the run file, as text by name."""
        found = {} if self.choices is None else self.ask("choices", self.choices, problem, problem=problem)
        if not isinstance(found, Mapping):
            raise self.error("choices", f"must return a dict, not {type(found).__name__}")
        return {str(name): str(value) for name, value in found.items()}
