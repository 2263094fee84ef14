"""Forces that a function in Python decides about, once in so many ticks, from what instruments show: what all of them do alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np

from components.joints.turns import unwound
from components.sensors import Sensor
from modular.allowed import function_named
from modular.component import Component
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.force import Observation
from modular.forces import ForceStack
from modular.numbers import even_part, exactly, number

EFFORT, MOST, EVERY, ASKED = range(4)
NOT_YET_ASKED = -1.0
WHOLE_TICK_TOLERANCE = 1e-6  # of a tick


def problems_of(force: Any, what: str, name: str) -> list[str]:
    """Inputs that are no sensors, steps that are no numbers, functions that are none."""
    problems = []
    if not (isinstance(force.every, int) and not isinstance(force.every, bool) and force.every >= 1):
        problems.append(f"{what} '{name}': every = {force.every!r}; give a number of ticks from 1 on.")
    if force.period is not None and force.every != 1:
        problems.append(f"{what} '{name}': every = {force.every} and period = {force.period!r}; give ticks or seconds.")
    elif force.period is not None and not number(force.period, f"{what} '{name}': period", "s") > 0.0:
        problems.append(f"{what} '{name}': period = {force.period!r}; give a positive time, such as 0.01 s.")
    given: Mapping[str, Any] = force.inputs
    for label, sensor in given.items():
        if not isinstance(sensor, Sensor):
            problems.append(
                f"{what} '{name}': input '{label}' = {sensor!r}; give a sensor, such as DistanceBetween(…)."
            )
    try:
        good = np.ndim(force.memory) == 1 and bool(np.isfinite(np.asarray(force.memory, float)).all())
    except (TypeError, ValueError):
        good = False
    if not good:
        problems.append(f"{what} '{name}': memory = {force.memory!r}; give its finite initial numbers.")
    function: Any = force.function
    if not (isinstance(function, str) or callable(function)):
        problems.append(f"{what} '{name}': function = {function!r}; give a function, or 'module:function'.")
    return problems


def function_of(force: Any) -> Callable[..., Any]:
    """What it asks."""
    return function_named(force.function, type(force).__name__) if isinstance(force.function, str) else force.function


class DecidingForces(ForceStack):
    """A row each, with the memory of its function; between two decisions they are compiled."""

    what: str
    law: Array  # what was decided, the most, every so many ticks (less than nothing: seconds), and the tick when it was last asked
    store: Array  # the memory of its function
    seen: Array  # angles that its sensors showed last

    def prepare_to_decide(self) -> None:
        """Columns of what is decided, and by what."""
        self.column("law", 4)
        self.column("store", 1, listed=True)
        self.column("seen", 1, listed=True)
        self.forces: dict[str, Any] = {}
        self._functions: dict[str, Callable[..., Any]] = {}

    def take_decider(self, row: int, name: str, force: Any, most: float = np.inf) -> None:
        """Fill a row in; it has not been asked yet."""
        function = function_of(force)
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
        self.forces = {name: Component.from_data(data) for name, data in details["controllers"].items()}
        self._functions = {name: function_of(force) for name, force in self.forces.items()}

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
                f"{self.what} '{self.names[row]}': period = {-every[row]:g} s is not a whole number of steps of "
                f"{dt:g} s; take a step that divides it, such as dt = {exactly(even_part(-every[row], dt))} s."
            )
        return whole

    def decide(self, name: str, tick: int, time: float, observation: Observation) -> None:
        """Ask for the effort of the next ticks."""
        row, force = self.row[name], self.forces[name]
        first = self.law[row, ASKED] == NOT_YET_ASKED
        readings: dict[str, Any] = {}
        for k, (label, sensor) in enumerate(force.inputs.items()):
            shown = sensor.read(observation)
            if sensor.turns:
                last = shown if first else self.seen[row, k]
                self.seen[row, k] = shown = float(unwound(shown, last))
            readings[label] = shown
        memory = self.store[row, : len(force.memory)]
        try:
            given = float(self._functions[name](time, readings, memory))
        except Exception as error:
            raise ModelError(
                f"{self.what} '{name}': its function raised {type(error).__name__}: {error} (at {time:g} s); it is called as "
                "function(time, readings, memory)."
            ) from error
        if not np.isfinite(given) or not np.isfinite(memory).all():
            raise ModelError(
                f"{self.what} '{name}': its function returned {given!r} and left {memory.tolist()} in its memory at {time:g} s; "
                "both must be finite numbers."
            )
        most = self.law[row, MOST]
        self.law[row, EFFORT], self.law[row, ASKED] = max(-most, min(given, most)), tick
