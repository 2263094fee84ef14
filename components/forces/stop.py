"""Stops: an angle, a way or a distance that meets a spring where it goes too far; and a joint with play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np

from components.forces.bounces import KEEPS, KEPT, OWED, RATE, SLOW, TOUCHED, YIELDS, book, bounce
from components.forces.coordinate import (
    DAMPING,
    REACHED,
    STIFFNESS,
    TICK,
    AlongCoordinate,
    AlongCoordinates,
    measure_coordinate,
    pull,
    scratch_of,
)  # fmt: skip
from modular.elements import GAIN_STEP, STEP, Array, Elements, Indices
from modular.errors import ModelError
from modular.force import Beyond, Force
from modular.kernel import kernel
from modular.ledger import STORED
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

LOW, HIGH = range(2)
STEPS_AHEAD = 4.0  # within which what comes at its present speed is near
WALL_STIFFNESS_SHARES = 2.0  # shares of what a step can bear: a wall is met seldom, and gives way by little


@dataclass(frozen=True)
class Stop(AlongCoordinate):
    """Nothing between `low` and `high`; beyond, a spring and a damper that push back and never pull.

    stiffness [N/m, N m/rad], damping [N s/m, N m s/rad]. Left out, the stiffness is chosen by the step and the mass that is seen
    along the coordinate when it is made: stiff, and easy on the step. `restitution`: the share of its speed with which things
    leave that come fast against `slow` [m/s, rad/s]; it softens the way back, whatever the masses are, and nothing is damped then.
    Between two points that coincide it is a ball in a socket with play: `Clearance(play)`.
    """

    low: float | None = None
    high: float | None = None
    stiffness: float | None = None
    damping: float = 0.0
    restitution: float | None = None
    measure: str = "angle"
    axis: Sequence[float] | None = None
    slow: float = 2e-2

    what: ClassVar[str] = "stop"
    between_limits: ClassVar[bool] = (
        True  # a model is the same without it, as long as it is open; a clearance holds a model together
    )

    def check(self, name: str, dimension: int) -> list[str]:
        """Stops that stop nothing."""
        problems = super().check(name, dimension)
        problems += self.numbers(name, low=-np.inf, high=-np.inf, stiffness=0.0, damping=0.0, restitution=0.0, slow=0.0)
        if problems:
            return problems
        if self.low is None and self.high is None:
            problems.append(f"stop '{name}': give low or high, or both.")
        if self.low is not None and self.high is not None and not self.low < self.high:
            problems.append(f"stop '{name}': low = {self.low}, high = {self.high}; low must lie below high.")
        if self.stiffness == 0.0:
            problems.append(f"stop '{name}': stiffness = 0; leave it out, or give a positive one.")
        if self.restitution is not None and not (self.restitution <= 1.0 and self.damping == 0.0 and self.slow > 0.0):
            problems.append(
                f"stop '{name}': restitution = {self.restitution}, damping = {self.damping}, slow = {self.slow}; "
                "give a restitution from 0 to 1, no damping with it, and a positive slow."
            )
        return problems

    @property
    def order(self) -> int:
        """Two with a stiffness of its own. One, where the wall is as stiff as the step allows, and so gives way for some ticks, and
        with a restitution, as long as the step does not resolve `slow`."""
        return 1 if self.stiffness is None or (self.restitution is not None and self.restitution < 1.0) else 2

    def new_stack(self, dimension: int) -> Stops:
        """An empty stack of stops."""
        return Stops(self.measure, dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        axis = None if dimension == 2 else (0.3, -0.5, 0.8)
        return cls(low=0.3, high=0.9, stiffness=4.0, damping=0.05, axis=axis)


class Stops(AlongCoordinates):
    """Stops, one row each."""

    begins_and_ends = True
    remembered = (*AlongCoordinates.remembered, "late", "looked")
    error_columns = ("late",)
    law: Array  # low, high, what of its energy the spring gives back, slow, 1 where its stiffness is left to the step
    late: Array  # by how much bounces came late and went astray so far [m], [rad]
    looked: Array  # 1 where it has been looked at whether it begins beyond a wall

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, stop_loop, keeps=KEEPS)
        self.loops["look_ahead"] = look_ahead_loop
        self.column("law", 5)
        self.column("late", 2)
        self.column("looked")

    def set_stages(self, stage: float, demanded: float) -> None:
        """The share of the step that is a tick while a wall is near, and the share of which a limit of the step is told."""
        self.stage[:] = stage, demanded

    def refuse_undecided(self, rows: Indices, elements: Elements) -> None:
        """Only those that touch: a stop that is open exerts nothing, whatever its stiffness."""
        chosen = self.gains[rows, STIFFNESS].copy()
        self.gains[rows, STIFFNESS] = 1.0  # so that the ledger of one that touches tells it
        try:
            self.play("exert", elements)
        finally:
            self.gains[rows, STIFFNESS] = chosen
        touching = rows[self.ledger[rows, STORED] > 0.0]
        if len(touching):
            raise ModelError(
                f"force '{self.names[int(touching[0])]}' is against its stop, whose stiffness is derived from the step, which this "
                "coupling does not limit; give stiffness=…, or leave it out (of a robot's file: --set stops=false)."
            )

    def begun_beyond(self, elements: Elements) -> Iterator[Beyond]:
        """Those that were beyond a wall as stiff as the step allows when they were first looked at; each is told once."""
        for row in np.flatnonzero(self.looked[: self.count] == 0.0).tolist():
            self.looked[row] = 1.0
            reached, (low, high) = float(self.tried[row, REACHED]), self.law[row, : HIGH + 1].tolist()
            by, limit = max((reached - high, high), (low - reached, low))
            if by > 0.0 and self.law[row, YIELDS] > 0.0:
                arm = self._arm(row, elements) if self.turning else 1.0
                yield Beyond(self.names[row], by, reached, limit, arm)

    def _arm(self, row: int, elements: Elements) -> float:
        """How far from the axis bodies have their mass, by how their points answer forces, and they themselves moments [m]."""
        points = elements.response[[self.first[row], self.second[row]]]
        turning = float(self.compliance[row, 0, 0])
        return float(np.sqrt(np.square(points).sum() / turning)) if turning > 0.0 else 1.0

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a stop in."""
        force = force if isinstance(force, Stop) else cast(Any, force).stop()
        assert isinstance(force, Stop)
        row = self.take(name, force, first)
        low, high = (-np.inf if force.low is None else force.low), (np.inf if force.high is None else force.high)
        kept = 1.0 if force.restitution is None else force.restitution**2
        self.law[row] = low, high, kept, force.slow, float(force.stiffness is None)
        self.gains[row] = -WALL_STIFFNESS_SHARES if force.stiffness is None else force.stiffness, force.damping, 0.0


@kernel
def overlap(beyond: float, way: float) -> tuple[Any, Any]:
    """How far beyond in the mean of a tick that goes so far before and behind, and for which part of it the wall is touched."""
    if way <= abs(beyond):
        return max(beyond, 0.0), 1.0 if beyond > 0.0 else 0.0
    return 0.25 * (beyond + way) ** 2 / way, 0.5 * (beyond + way) / way


@loop
def stop_loop(start: int, stop: int, stops: View, elements: View) -> int:
    """F = k x + c x' beyond, not below nothing, in the mean of half a tick before and half a tick behind.

    With a restitution e the spring gives back e^2 of what it took: on the way back its force is e^2 k x, and between the two
    ways it goes over as tanh of the rate, so that what rests on it does not shake. It goes over within `slow`, or within what the
    force that is to change would itself change of the rate in a tick: faster, it would be a damper that no step can bear.
    """
    scratch, dt = scratch_of(stops), stops.stage[TICK] * elements.clock[GAIN_STEP]
    for n in range(start, stop):
        s, rate = measure_coordinate(stops, elements, n, scratch)
        law, gains = stops.law[n], stops.gains[n]
        beyond, sign = s - law[HIGH], 1.0
        if law[LOW] - s > beyond:
            beyond, sign = law[LOW] - s, -1.0
        effort = 0.0
        ticks = stops.compliance[n, 0, 0] > 0.0  # solvers that try states at any time ask for no compliance
        mean, share = overlap(beyond, 0.5 * abs(rate * elements.clock[STEP]) if ticks else 0.0)
        stiffness, inward = max(gains[STIFFNESS], 0.0), sign * rate
        spring = stiffness * mean
        if mean > 0.0:
            back = 0.0
            if law[KEPT] < 1.0:
                back = 0.5 * (1.0 - law[KEPT]) * spring
                back *= 1.0 - np.tanh(inward / max(law[SLOW], back * dt * stops.compliance[n, 0, 0]))
            effort = max(spring - back + share * gains[DAMPING] * inward, 0.0)
        if ticks and law[YIELDS] > 0.0:
            effort = bounce(stops, elements, n, s, rate, beyond, sign, effort)
            book(stops, n, s, sign, effort)
        else:
            stops.ledger[n, STORED] = 0.5 * stiffness * max(beyond, 0.0) ** 2
            stops.power[n] = (effort - spring) * inward
        pull(stops, elements, n, sign * effort, scratch)
    return NO_FAILED_ROW


@loop
def look_ahead_loop(start: int, stop: int, stops: View, elements: View) -> int:
    """The last wall that may be touched soon, or whose touch goes on; what is far from one begins anew with its present speed."""
    scratch, dt = scratch_of(stops), elements.clock[GAIN_STEP]
    near = NO_FAILED_ROW
    for n in range(start, stop):
        s, rate = measure_coordinate(stops, elements, n, scratch)
        kept, law = stops.kept[n], stops.law[n]
        room = min(law[HIGH] - s, s - law[LOW])
        if room <= STEPS_AHEAD * dt * abs(rate) or kept[TOUCHED] > 0.0 or kept[OWED] > 0.0:
            near = n
        else:
            kept[RATE] = rate
    return near
