"""A controller: a motor whose effort a function in Python decides, once in so many ticks, from what instruments show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from components.forces.coordinate import AlongCoordinate, AlongCoordinates, measure_coordinate, pull, scratch_of
from components.joints.turns import wrapped
from components.sensors import Sensor
from modular.allowed import function_named, given, name_of
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.force import Force, Sight
from modular.loop import NO_FAILED_ROW, loop
from modular.numbers import even_part, exactly, number
from modular.views import View

EFFORT, MOST, EVERY, ASKED = range(4)
NOT_YET_ASKED = -1.0
WHOLE_TICK_TOLERANCE = 1e-6  # of a tick


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
        if not (isinstance(self.every, int) and not isinstance(self.every, bool) and self.every >= 1):
            problems.append(f"controller '{name}': every = {self.every!r}; give a number of ticks from 1 on.")
        if self.period is not None and self.every != 1:
            problems.append(
                f"controller '{name}': every = {self.every} and period = {self.period!r}; give ticks or seconds."
            )
        elif self.period is not None and not number(self.period, f"controller '{name}': period", "s") > 0.0:
            problems.append(f"controller '{name}': period = {self.period!r}; give a positive time, such as 0.01 s.")
        given: Mapping[str, Any] = self.inputs
        for label, sensor in given.items():
            if not isinstance(sensor, Sensor):
                problems.append(
                    f"controller '{name}': input '{label}' = {sensor!r}; give a sensor, such as DistanceBetween(…)."
                )
        try:
            good = np.ndim(self.memory) == 1 and bool(np.isfinite(np.asarray(self.memory, float)).all())
        except (TypeError, ValueError):
            good = False
        if not good:
            problems.append(f"controller '{name}': memory = {self.memory!r}; give its finite initial numbers.")
        function: Any = self.function
        if not (isinstance(function, str) or callable(function)):
            problems.append(f"controller '{name}': function = {function!r}; give a function, or 'module:function'.")
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


def _function(force: Controller) -> Callable[..., Any]:
    """What it asks."""
    return function_named(force.function, "Controller") if isinstance(force.function, str) else force.function


def steady(time: float, readings: Mapping[str, Any], memory: Array) -> float:
    """The first number of its memory: a controller that has nothing to decide."""
    return float(memory[0])


class Controllers(AlongCoordinates):
    """Controllers, one row each; between two decisions they are compiled."""

    recorded = (*AlongCoordinates.recorded, "law")
    law: Array  # effort, the most, every so many ticks (less than nothing: seconds), and the tick at which it was last asked
    store: Array  # the memory of its function
    seen: Array  # angles that its sensors showed last

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, controller_loop, driven=True)
        self.column("law", 4)
        self.column("store", 1, listed=True)
        self.column("seen", 1, listed=True)
        self.forces: dict[str, Controller] = {}
        self._functions: dict[str, Callable[..., Any]] = {}

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a controller in; it has not been asked yet."""
        assert isinstance(force, Controller)
        function = _function(force)
        row = self.take(name, force, first)
        most = np.inf if force.most is None else force.most
        self.law[row] = 0.0, most, force.every if force.period is None else -force.period, NOT_YET_ASKED
        for column, width in (("store", len(force.memory)), ("seen", len(force.inputs))):
            if width > getattr(self, column).shape[1]:
                self.widen(column, width)
        self.store[row, : len(force.memory)] = force.memory
        self.forces[name], self._functions[name] = force, function

    def remove(self, name: str) -> None:
        """Let it go."""
        del self.forces[name], self._functions[name]
        super().remove(name)

    def chosen(self, rows: Any) -> Self:
        """A stack of its own, with copies of some rows in the order asked for."""
        made = super().chosen(rows)
        made.forces = {name: self.forces[name] for name in made.names}
        made._functions = {name: self._functions[name] for name in made.names}
        return made

    def details(self) -> dict[str, Any]:
        """Names, and the controllers as they were described."""
        return {**super().details(), "controllers": {name: force.to_data() for name, force in self.forces.items()}}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        super().recall(details)
        self.forces = {name: Controller.from_data(data) for name, data in details["controllers"].items()}
        self._functions = {name: _function(force) for name, force in self.forces.items()}

    # --- between two ticks -------------------------------------------------------------------------------------------

    def due(self, tick: int, dt: float) -> list[str]:
        """Those that are to be asked before this tick."""
        found = (tick % self._pauses(dt) == 0) & (self.law[: self.count, ASKED] != tick)
        return [name for name, asked in zip(self.names, found, strict=True) if asked]

    def next_due(self, tick: int, dt: float) -> int:
        """The first tick after this one before which somebody is to be asked."""
        every = self._pauses(dt)
        return int((tick - tick % every + every).min())

    def _pauses(self, dt: float) -> Indices:
        """Ticks from one question to the next, of each."""
        every = self.law[: self.count, EVERY]
        ticks = np.where(every < 0.0, -every / dt, every)
        whole = np.rint(ticks).astype(np.int64)
        wrong = np.flatnonzero((np.abs(ticks - whole) > WHOLE_TICK_TOLERANCE) | (whole < 1))
        if wrong.size:
            row = int(wrong[0])
            raise ModelError(
                f"controller '{self.names[row]}': period = {-every[row]:g} s is not a whole number of steps of "
                f"{dt:g} s; take a step that divides it, such as dt = {exactly(even_part(-every[row], dt))} s."
            )
        return whole

    def decide(self, name: str, tick: int, time: float, sight: Sight) -> None:
        """Ask for the effort of the next ticks."""
        row, force = self.row[name], self.forces[name]
        first = self.law[row, ASKED] == NOT_YET_ASKED
        readings: dict[str, Any] = {}
        for k, (label, sensor) in enumerate(force.inputs.items()):
            shown = sensor.read(sight)
            if sensor.turns:
                last = shown if first else self.seen[row, k]
                self.seen[row, k] = shown = float(last + wrapped(shown - last, 2.0 * np.pi))
            readings[label] = shown
        memory = self.store[row, : len(force.memory)]
        try:
            given = float(self._functions[name](time, readings, memory))
        except Exception as error:
            raise ModelError(
                f"controller '{name}': its function raised {type(error).__name__}: {error} (at {time:g} s); it is called as "
                "function(time, readings, memory)."
            ) from error
        if not np.isfinite(given) or not np.isfinite(memory).all():
            raise ModelError(
                f"controller '{name}': its function returned {given!r} and left {memory.tolist()} in its memory at {time:g} s; "
                "both must be finite numbers."
            )
        most = self.law[row, MOST]
        self.law[row, EFFORT], self.law[row, ASKED] = max(-most, min(given, most)), tick


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
