"""The code that moves a model, generated from its formulas: written once for all models that differ in numbers with names."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from coordinator.equations.ledgers import powers_of
from coordinator.equations.one_of_many import Model, first_of
from coordinator.equations.runge_kutta import StepFormulas, compiled
from coordinator.equations.smallest import corrections_of_place, corrections_of_velocity
from coordinator.equations.solved import Solved
from coordinator.equations.source import python_source
from coordinator.equations.tangents import TangentFormulas, Tangents, compiled_tangents
from coordinator.equations.writing import write_running
from coordinator.equations.written import Held, Motion, Written
from coordinator.system import System
from modular.errors import ModelError

Content = tuple[Any, ...]

GOOD = 1e-2  # of what stood there before other rows went: those above go in an order that hangs on the pattern alone


@dataclass(frozen=True)
class _Content:
    """Formulas, by all that is in them: names, numbers, and where the model stands."""

    content: Content
    written: Written = field(compare=False)


def content_of(value: Any) -> Any:
    """What is in formulas, to be compared: all but the model that they are of."""
    if isinstance(value, Written):
        return tuple((name, content_of(own)) for name, own in vars(value).items() if name not in ("model", "led"))
    if isinstance(value, Mapping):
        return tuple((key, content_of(own)) for key, own in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(content_of, value))
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, slice):
        return value.start, value.stop
    if isinstance(value, Held | Motion):
        return tuple((each.name, content_of(getattr(value, each.name))) for each in fields(value))
    return value


@dataclass(frozen=True)
class Code:
    """Formulas of a model, solved, and compiled."""

    written: Written
    solved: Solved
    shared: list[Any]  # of rows that follow from others
    powers: dict[Any, Any]
    functions: tuple[tuple[Any, Any], ...]  # rates, corrections of places and of rates
    formulas: StepFormulas

    @classmethod
    def of(cls, system: System, model: Model, whole: frozenset[str], shown: Sequence[int]) -> Self:
        """Those of one of the models of a system, as it stands."""
        written = write_running(*first_of(system, model), whole, shown)
        _refuse(written, system)
        return cls._kept(_Content(content_of(written), written))

    @classmethod
    @functools.lru_cache(maxsize=8)
    def _kept(cls, content: _Content) -> Self:
        """Models that run again, over other steps or beside others, have the same."""
        written = content.written
        solved = Solved(written, (written.start[0], written.start[1]), GOOD)
        place, moved = corrections_of_place(written, GOOD)
        pace, paced = corrections_of_velocity(written, GOOD)
        shared = [*(x for idle in solved.idle for x in idle), *solved.seen] if solved.idle else []
        powers = powers_of(solved)
        every = [*solved.accelerations, *solved.multipliers, *solved.guards, *shared, *powers.values()]
        functions = ((solved, every), (place, moved), (pace, paced))
        formulas = _compiled(*(python_source(one, values) for one, values in functions))
        return cls(written, solved, shared, powers, functions, formulas)

    @functools.cached_property
    def tangents(self) -> TangentFormulas:
        """Those of its tangents, written where somebody asks."""
        tangents = Tangents(self.solved)
        return compiled_tangents(tangents.within(), tangents.at_the_end())


def _refuse(written: Any, system: System) -> None:
    if written.led.named:
        raise ModelError("a course given as a table or as Python code has no formula; take Glued(order=6).")
    for forces in system.forces:
        if hasattr(forces, "corners") and any(len(times) for times in forces.corners(0.0, np.inf)):
            raise ModelError(
                f"force '{forces.names[0]}' has corners over time (a table or a switch), which a formula cannot "
                "follow; take Glued()."
            )


@functools.lru_cache(maxsize=8)
def _compiled(rates: str, place: str, pace: str) -> StepFormulas:
    """Machine code of some formulas; models with the same formulas have the same."""
    return StepFormulas(*map(compiled, (rates, place, pace)))
