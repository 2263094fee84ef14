"""A controller: a motor whose effort a function in Python decides, once in so many ticks, from what instruments show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from components.forces.coordinate import AlongCoordinate, AlongCoordinates, measure_coordinate, pull, scratch_of
from components.forces.deciding import EFFORT, DecidingForces, problems_of
from components.sensors import Sensor
from modular.allowed import given, name_of
from modular.elements import Array
from modular.force import Force
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@dataclass(frozen=True)
class Controller(AlongCoordinate):
    """Drives the coordinate of its second port against the first with an effort [N m, N] that is held until it is asked again.

    function(time, readings, memory) -> effort is asked at every `period` [s], a whole number of ticks, or else before every tick
    whose number is a multiple of `every`: that is another controller at another step. It is given as a function or as
    "module:function"; a file keeps the name. `readings` are what the sensors of `inputs` show, by name;
    `memory` is an array of its own that begins as it is given here, and belongs to what is saved, restored and repeated: keep
    nothing elsewhere. The effort is held to `most`. Its work is the line `supplied` of its ledger.
    """

    function: Callable[[float, dict[str, Any], Array], float] | str
    inputs: Mapping[str, Sensor] = field(default_factory=dict)
    every: int = 1
    memory: Sequence[float] = ()
    most: float | None = None
    measure: str = "angle"
    axis: Sequence[float] | None = None
    period: float | None = field(kw_only=True, default=None)  # [s]

    what: ClassVar[str] = "controller"
    names_functions: ClassVar[tuple[str, ...]] = ("function",)

    def __post_init__(self) -> None:
        super().__post_init__()
        given(self.function)

    def check(self, name: str, dimension: int) -> list[str]:
        """Inputs that are no sensors, steps that are no numbers, functions that are none."""
        problems = [*super().check(name, dimension), *self.numbers(name, most=0.0)]
        problems += problems_of(self, self.what, name)
        return problems

    def to_data(self) -> dict[str, Any]:
        """As data; the function by its name."""
        named = object.__new__(type(self))
        named.__dict__.update(self.__dict__)
        object.__setattr__(named, "function", name_of(self.function))
        return super(Controller, named).to_data()

    def new_stack(self, dimension: int) -> Controllers:
        """An empty stack of controllers."""
        return Controllers(self.measure, dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        axis = None if dimension == 2 else (0.3, -0.5, 0.8)
        return cls("components.forces.controller:steady", memory=(0.3, 0.0), axis=axis)


def steady(time: float, readings: Mapping[str, Any], memory: Array) -> float:
    """The first number of its memory: a controller that has nothing to decide."""
    return float(memory[0])


class Controllers(DecidingForces, AlongCoordinates):
    """Controllers, one row each; between two decisions they are compiled."""

    what = "controller"
    recorded = (*AlongCoordinates.recorded, "law")

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, controller_loop, driven=True)
        self.prepare_to_decide()

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a controller in; it has not been asked yet."""
        assert isinstance(force, Controller)
        self.take_decider(self.take(name, force, first), name, force, np.inf if force.most is None else force.most)


@loop
def controller_loop(start: int, stop: int, controllers: View, elements: View) -> int:
    """The effort that was decided; it drives, so it pulls with -F."""
    scratch = scratch_of(controllers)
    for n in range(start, stop):
        _, rate = measure_coordinate(controllers, elements, n, scratch)
        effort = controllers.law[n, EFFORT]
        controllers.drawn[n, 0] = -effort * rate
        pull(controllers, elements, n, -effort, scratch)
    return NO_FAILED_ROW
