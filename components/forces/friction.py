"""Dry and viscous friction in a joint, with stick."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from components.forces.coordinate import (
    DAMPING,
    DEMANDED,
    DISTANCE,
    EFFORT,
    REACHED,
    SPENT,
    STABLE_STIFFNESS_SHARE,
    STIFFNESS,
    AlongCoordinate,
    AlongCoordinates,
    demand_rows,
    measure_coordinate,
    pull,
    row_form_of,
    scratch_of,
    unit_of,
)  # fmt: skip
from components.forces.torsion_spring import TableSprings
from modular import friction_rows
from modular.compliant import CompliantRows
from modular.demand_sharing import request_demand_rows
from modular.elements import GAIN_STEP, RIGID_BODY_MOTIONS, STEP, TIME, Array, Elements, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.friction_rows import HOLDS, FrictionRows
from modular.joint import JointForm
from modular.kernel import kernel
from modular.ledger import STORED
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

# what is kept beside the coordinate: how it moved in the last tick, when that was, and what friction did then
ANCHOR, MODE, WAY, SPEED, SINCE, WHEN, PACE, PULLED, EARLIER, OWED, UNTIL, GRIP, YIELDED = range(3, 16)
KEEPS = 16
NEW, BEGINS, HELD, SLIDES, TURNS = range(5)
HOLD_STATIC, HOLD_KINETIC, HOLD_LOAD, SLIDING = (
    friction_rows.STATIC,
    friction_rows.KINETIC,
    friction_rows.LOAD,
    friction_rows.MODE,
)
INSTANT_TOLERANCE = 1e-6  # of a step
SPRING_RESPONSE_TICKS = 12.0  # ticks in which joints that are springs have answered a force that jumped
MAX_ANSWER_REDUCTION = 50.0  # times less than two bodies alone may all that hangs on them answer


@dataclass(frozen=True)
class Friction(AlongCoordinate):
    """Friction along a coordinate: it holds up to `dry` [N, N m], slides against no more than that, and `viscous` [N s/m, …] adds.

    `static`: what it holds before it slides, if that is more than `dry`. Under `Glued` and `Relaxed` what sticks is a joint, and
    where it begins or ends to slide is found within the step, so that steps keep their order (modular/friction_rows.py).

    Elsewhere, and where a `stiffness` [N/m, N m/rad] is given, what holds is a spring with a memory: its end stays where it is,
    until the spring carries as much; then it is dragged along. So what is stuck does not creep. Left out, its stiffness is
    chosen by the step and the mass that is seen along the coordinate when it is made, and the tick in which a slide begins or
    turns is weighed: it, or one after it, may carry more than `dry` for what is lacking. A little damping goes with the spring
    while it holds, `ratio` of the critical one. Springs are for couplings of order 2: steps of higher order go back in time in
    some stages, and refuse them.
    """

    dry: float
    viscous: float = 0.0
    stiffness: float | None = None
    measure: str = "angle"
    axis: Sequence[float] | None = None
    ratio: float = 0.1
    static: float | None = None

    what: ClassVar[str] = "friction"

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative values, and what would hold less than it does while it slides."""
        numbers = self.numbers(name, dry=0.0, viscous=0.0, stiffness=0.0, ratio=0.0, static=0.0)
        problems = super().check(name, dimension) + numbers
        if not problems and self.stiffness == 0.0:
            problems.append(f"friction '{name}': stiffness = 0; leave it out, or give a positive one.")
        if not problems and self.static is not None and self.static < self.dry:
            problems.append(
                f"friction '{name}': static = {self.static:g} is less than dry = {self.dry:g}; what sticks holds at least what "
                "slides does: leave static out, or give more."
            )
        if not problems and self.static and not self.dry:
            problems.append(
                f"friction '{name}': static = {self.static:g} and dry = 0; what does not rub does not stick: give a dry above 0."
            )
        return problems

    @property
    def order(self) -> int | None:
        """Two where it is dry: it turns round within ticks. One where it jumps besides."""
        if self.dry == 0.0:
            return None
        return 2 if self.static is None or self.static == self.dry else 1

    @property
    def order_as_row(self) -> int | None:
        """Any, where it is found and its switches are located."""
        return self.order if self.stiffness is not None else None

    def kind(self) -> Hashable:
        """What is viscous alone is a damper, and stands among springs: it has no memory and needs no step, and has formulas."""
        return super().kind() if self.dry > 0.0 else (TableSprings, self.measure)

    def new_stack(self, dimension: int) -> Frictions | TableSprings:
        """An empty stack of frictions, or of dampers."""
        return Frictions(self.measure, dimension) if self.dry > 0.0 else TableSprings(self.measure, dimension)

    @property
    def points(self) -> Array:
        """Of the line of force of a damper: no force anywhere."""
        return np.array([[0.0, 0.0], [1.0, 0.0]])

    @property
    def damping(self) -> float:
        """What is viscous, as a damper has it."""
        return self.viscous

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(0.05, 0.01, stiffness=5.0, axis=None if dimension == 2 else (0.3, -0.5, 0.8))


class Frictions(AlongCoordinates):
    """Frictions, one row each."""

    remembered = (*AlongCoordinates.remembered, "yielded", "hold", "shown", "aside")
    recorded = (*AlongCoordinates.recorded, "shown")
    error_columns = ("yielded",)
    row_class = FrictionRows
    law: (
        Array  # dry, viscous, 1 where the stiffness is chosen by the step: then what slides turns in an instant; static
    )
    yielded: Array  # by how much what is held has moved, where its spring is as stiff as the step says [m], [rad]
    hold: Array  # of those that are rows of the interface (modular/friction_rows.py)
    aside: Array  # what they exert beside dry friction
    shown: Array  # what dry friction does at the end of a step, and whether the interface has found it

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, friction_loop, keeps=KEEPS)
        self.column("law", 4)
        self.column("yielded", 2)
        self.column("hold", HOLDS)
        self.column("aside")
        self.column("shown", 2)
        self.loops["request_demand"] = request_friction_demand_loop

    def refuse_undecided(self, rows: Indices, elements: Elements) -> None:
        """What holds here is a spring, and no step says how stiff."""
        name, (dry, viscous) = self.names[int(rows[0])], self.law[int(rows[0]), :2]
        raise ModelError(
            f"friction '{name}' sticks through a spring whose stiffness is derived from the step, which does not limit it here. "
            f"Give a stiffness, Friction({dry:g}, stiffness=…), or leave the dry part out, Friction(0.0, viscous={viscous:g})."
        )

    @property
    def slips(self) -> bool:
        """Whether any of them is dry: where time goes back, what holds would push along instead of braking."""
        return bool(self.law[: self.count, 0].any())

    @property
    def springs_slip(self) -> bool:
        """The same of those that are no rows of the interface under any coupling."""
        return bool((self.law[: self.count, 0] * (1.0 - self.law[: self.count, 2])).any())

    @property
    def row_form(self) -> JointForm:
        """The coordinate."""
        return row_form_of(self)

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """Not for being stiffer than a step."""
        return False

    def rubbing(self) -> list[int]:
        """Those that are dry, and hold by no spring of their own."""
        return [int(row) for row in np.flatnonzero(self.law[: self.count, 2] > 0.0)]

    def take_rubbing(self, rows: Sequence[int]) -> None:
        """Whether they stick is decided anew."""
        super().take_rubbing(rows)
        self.hold[rows, friction_rows.KNOWN] = 0.0

    def as_rows(self, these: Sequence[int], motions: int = RIGID_BODY_MOTIONS) -> CompliantRows:
        """These, which go on from what is known of them."""
        made = super().as_rows(these, motions)
        made.lay("held", self.hold)
        made.lay("aside", self.aside)
        made.lay("shown", self.shown)
        return made

    @property
    def read_velocity(self) -> list[str]:
        """Those of which a part depends on it: of rows what is viscous."""
        return [name for name, row in self.row.items() if not self.implicit[row] or self.law[row, 1] > 0.0]

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a friction in."""
        assert isinstance(force, Friction)
        row = self.take(name, force, first)
        static = force.dry if force.static is None else force.static
        self.law[row] = force.dry, force.viscous, float(force.stiffness is None and force.dry > 0.0), static
        self.hold[row, [HOLD_STATIC, HOLD_KINETIC]] = static, force.dry
        self.gains[row] = -1.0 if force.stiffness is None else force.stiffness, force.viscous, force.ratio


@kernel
def load_of(kept: Array, pace: float, low: float, high: float) -> Any:
    """What friction would have to bear, from what two forces have made of the pace: w = da / dF, within bounds."""
    change = kept[PULLED] - kept[EARLIER]
    w = (kept[PACE] - pace) / change if change != 0.0 else 0.0
    return kept[PULLED] + pace / max(low, min(w, high))


@kernel
def turn_or_slide(
    kept: Array, tried: Array, s: float, time: float, dt: float, dry: float, static: float, stiffness: float
) -> tuple[Any, Any]:
    """Whether this tick is one in which friction begins, turns or knows how it has turned; then its mean force, and what it holds.

    Forces act from half a tick before to half a tick behind. A slide of speed u that slows down by a is over at tau = u / a; if it
    goes on the other way, the force is +-dry before and after, and (2 tau / dt - 1) dry in the mean. The next tick shows whether it
    does; if not, it is held, with the load that two forces and the paces under them tell.
    """
    span = time - kept[WHEN]
    speed = (s - kept[REACHED]) / span
    since = time - 0.5 * span
    pace = (speed - kept[SPEED]) / (since - kept[SINCE])
    mode, way = kept[MODE], kept[WAY]
    # of the two bodies alone; all that hangs on them answers less
    answer = STABLE_STIFFNESS_SHARE / (stiffness * dt * dt)
    tried[SPEED], tried[SINCE], tried[WHEN], tried[PACE], tried[EARLIER] = speed, since, time, pace, kept[PULLED]
    tried[WAY], tried[MODE] = way, HELD
    if mode == NEW:
        if abs(kept[SPEED]) * span * stiffness > dry:
            load = dry if kept[SPEED] > 0.0 else -dry
        else:
            load = max(-static, min(kept[PULLED] + pace / answer, static))
            tried[MODE] = BEGINS
        return 1.5 * load - 0.5 * kept[PULLED], load
    if mode == BEGINS:
        load = max(-static, min(load_of(kept, pace, answer / MAX_ANSWER_REDUCTION, answer), static))
        tried[WAY] = 1.0 if load > 0.0 else -1.0
        tried[OWED], tried[UNTIL] = 2.5 * span * (tried[WAY] * dry - load), time + SPRING_RESPONSE_TICKS * span
        return 2.5 * load - kept[PULLED] - 0.5 * kept[EARLIER], load
    if mode == TURNS:
        load = -way * dry
        if speed * way >= 0.0 and abs(kept[PULLED] - kept[EARLIER]) < 0.5 * dry:  # too little was tried to tell
            tried[MODE] = TURNS
            return load, load
        if speed * way >= 0.0:
            load = max(-static, min(load_of(kept, pace, answer / MAX_ANSWER_REDUCTION, answer), static))
        tried[WAY], tried[OWED], tried[UNTIL] = -way, span * (-way * dry - load), time + SPRING_RESPONSE_TICKS * span
        return load, load
    if mode == SLIDES:
        if way * (speed + pace * span) <= 0.0:
            tried[MODE] = TURNS
            left = max(0.0, min(way * speed / abs(pace * span), 1.0)) if pace != 0.0 else 0.0
            return way * dry * (2.0 * left - 1.0), way * dry
        tried[MODE] = SLIDES
    return np.inf, 0.0


@kernel
def pay(kept: Array, tried: Array, time: float, effort: float, dry: float) -> Any:
    """What is added to friction that slides, after all, where it was thought to hold: what it lacked meanwhile, some ticks long.

    Joints that are springs answer late, and what two paces tell of a load is too little then.
    """
    span = time - kept[WHEN]
    full = kept[WAY] * dry
    paid = max(-dry, min(kept[OWED] / span, dry)) if effort == full else 0.0
    tried[OWED] = kept[OWED] + (full - effort - paid) * span
    return paid


@kernel
def give_way(kept: Array, tried: Array, s: float, holds: bool, held: bool) -> None:
    """By how much what is held has moved from where that began: it should not."""
    tried[GRIP] = kept[GRIP] if holds and held else s
    tried[YIELDED] = max(kept[YIELDED], abs(s - tried[GRIP]))


@kernel
def exert_beside_row(frictions: View, elements: View, n: int, s: float, rate: float, scratch: Any) -> None:
    """Viscous friction alone: what is dry the interface has found; a spring would go on from here."""
    kept, tried, hold, time = frictions.kept[n], frictions.tried[n], frictions.hold[n], elements.clock[TIME]
    viscous, stiffness, load = frictions.law[n, 1] * rate, frictions.gains[n, STIFFNESS], hold[HOLD_LOAD]
    for k in range(MODE, KEEPS):
        tried[k] = kept[k]
    tried[MODE], tried[WAY] = HELD if hold[SLIDING] == 0.0 else SLIDES, hold[SLIDING]
    tried[SPEED], tried[SINCE], tried[WHEN], tried[PULLED] = rate, time, time, load
    tried[ANCHOR] = s - load / stiffness if stiffness > 0.0 else s
    tried[SPENT] = 0.0
    frictions.aside[n], frictions.power[n], frictions.ledger[n, STORED] = viscous, viscous * rate, 0.0
    pull(frictions, elements, n, load + viscous, scratch)
    tried[EFFORT] = load


@loop
def request_friction_demand_loop(start: int, stop: int, frictions: View, elements: View) -> int:
    """What springs and dampers ask of a step; of those that are rows of the interface, what is viscous."""
    demand_rows(start, stop, frictions, elements)
    for n in range(start, stop):
        if frictions.implicit[n] == 1:
            asked = 4.0 * frictions.stage[DEMANDED] * elements.clock[GAIN_STEP] * frictions.law[n, 1]
            frictions.damper[n, 0, 0] = frictions.block[n, 0, 0] = asked
    request_demand_rows(start, stop, frictions, elements)
    return NO_FAILED_ROW


@loop
def friction_loop(start: int, stop: int, frictions: View, elements: View) -> int:
    """F = k (s - s_0) + d s', at most dry, and s_0 is moved where it has to slip; beside it c s'."""
    scratch, time = scratch_of(frictions), elements.clock[TIME]
    for n in range(start, stop):
        s, rate = measure_coordinate(frictions, elements, n, scratch)
        dry, viscous, static = frictions.law[n, 0], frictions.law[n, 1], frictions.law[n, 3]
        kept, tried = frictions.kept[n], frictions.tried[n]
        if frictions.measure.shape[0] == DISTANCE and frictions.fresh[n] == 1:  # it is not counted from where it began
            kept[REACHED] = kept[ANCHOR] = s
        if frictions.implicit[n] == 1:
            exert_beside_row(frictions, elements, n, s, rate, scratch)
            continue
        stiffness, anchor = max(frictions.gains[n, STIFFNESS], 0.0), kept[ANCHOR]
        chosen, sudden, load = frictions.law[n, 2] > 0.0 and stiffness > 0.0, np.inf, 0.0
        between = frictions.fresh[n] == 1 or elements.clock[STEP] == 0.0
        for k in range(MODE, KEEPS):
            tried[k] = kept[k]
        later = time - kept[WHEN] > INSTANT_TOLERANCE * elements.clock[GAIN_STEP]
        if chosen and frictions.shown[n, 1] == 1.0 and not later:  # as rows of the interface have done it
            sudden = load = frictions.shown[n, 0]
        elif chosen and not between:
            frictions.shown[n, 1] = 0.0
            if later:
                sudden, load = turn_or_slide(kept, tried, s, time, elements.clock[GAIN_STEP], dry, static, stiffness)
            else:  # back where the tick began
                sudden, load = kept[PULLED], kept[EFFORT]
        if sudden < np.inf:
            anchor, hold, damper = s - load / stiffness, load, sudden - load
        else:
            hold, damper = stiffness * (s - anchor), (frictions.gains[n, DAMPING] - viscous) * rate
            if abs(hold) > (dry if abs(kept[EFFORT]) == dry else static):  # what slides holds no more than dry
                hold, damper = dry if hold > 0.0 else -dry, 0.0
                anchor = s - hold / stiffness
                if abs(s - kept[REACHED]) * stiffness > dry:  # further in a tick than its spring reaches
                    tried[MODE], tried[WAY] = SLIDES, 1.0 if hold > 0.0 else -1.0
            else:
                tried[MODE] = HELD
            most = max(dry, abs(hold))
            damper = max(-most, min(hold + damper, most)) - hold
            if chosen and not between and time < kept[UNTIL] and tried[WAY] == kept[WAY]:
                damper += pay(kept, tried, time, hold + damper, dry)
        tried[ANCHOR], tried[PULLED] = anchor, hold + damper
        stored = 0.5 * hold * hold / stiffness if stiffness > 0.0 else 0.0
        tried[SPENT] = hold * (anchor - kept[ANCHOR])
        frictions.power[n] = (damper + viscous * rate) * rate
        if sudden < np.inf:
            # the rest is the damper's
            past = kept[PULLED] if kept[MODE] == TURNS or kept[MODE] == BEGINS else kept[EFFORT]
            tried[SPENT] = 0.5 * (sudden + past) * (s - kept[REACHED]) - stored + 0.5 * kept[EFFORT] ** 2 / stiffness
            frictions.power[n] = viscous * rate * rate
        if chosen and between:
            kept[SPEED], kept[SINCE], kept[WHEN], kept[PULLED] = rate, time, time, hold + damper
            kept[MODE] = HELD if kept[MODE] == TURNS or kept[MODE] == BEGINS else kept[MODE]
            for k in range(MODE, KEEPS):
                tried[k] = kept[k]
        frictions.ledger[n, STORED] = stored
        pull(frictions, elements, n, hold + damper + viscous * rate, scratch)
        tried[EFFORT] = hold
        if chosen:
            held = abs(kept[EFFORT]) != dry and kept[MODE] == HELD
            give_way(kept, tried, s, abs(hold) != dry and tried[MODE] == HELD, held)
            frictions.yielded[n, unit_of(frictions)] = tried[YIELDED]
    return NO_FAILED_ROW
