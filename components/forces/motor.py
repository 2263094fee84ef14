"""A motor with a law of torque, or of force, between two bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from components.courses import Course
from components.forces.asked_laws import AskedLaw
from components.forces.coordinate import (
    AlongCoordinate,
    AlongCoordinates,
    measure_coordinate,
    pull,
    request_demand_loop,
    row_form_of,
    scratch_of,
)
from components.forces.values import Law
from components.joints.rows import rate_along
from modular.allowed import function_named, name_of
from modular.blocks import shaped
from modular.compliant import CompliantRows
from modular.courses import NUMBERS_PER_ROW, follow
from modular.elements import GAIN_STEP, TIME, Array, Elements
from modular.errors import ModelError
from modular.force import Force
from modular.joint import JointForm
from modular.lanes import types
from modular.ledger import SUPPLIED
from modular.loop import NO_FAILED_ROW, loop
from modular.numbers import number
from modular.views import View

EFFORT, NO_LOAD, MOST, STIFFNESS, DAMPING, SAID = range(6)
PIECE = 1 + NUMBERS_PER_ROW


@dataclass(frozen=True)
class Motor(AlongCoordinate):
    """Drives the coordinate of its second port against the first, with the sum of what it is given:

    - `effort`, a number or a course over time [N m, N]; a number with `no_load` is the line effort (1 - rate / no_load), which
      falls to nothing at that speed [rad/s, m/s];
    - towards a `target`, a course over time [rad, m]: stiffness (target - s) + damping (target' - s');
    - `law`, a Python function law(t, s, rate) as a `Law`, asked whenever forces are worked out. One that is too stiff for the step
      is found with the reactions of joints, as the straight line that touches it where a step begins (docs/glued.md).

    All together is held to `most`. What it does is the line `supplied` of its ledger.
    """

    effort: float | Course = 0.0
    no_load: float | None = None
    target: Course | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    most: float | None = None
    law: Law | None = None
    measure: str = "angle"
    axis: Sequence[float] | None = None

    what: ClassVar[str] = "motor"

    @property
    def order(self) -> int | None:
        """Two where it is held to `most`, which it meets within ticks."""
        return None if self.most is None else 2

    def check(self, name: str, dimension: int) -> list[str]:
        """Courses of the wrong width, negative gains, lines that need a number."""
        problems = super().check(name, dimension)
        problems += self.numbers(name, no_load=-np.inf, stiffness=0.0, damping=0.0, most=0.0)
        for label in ("effort", "target"):
            given = getattr(self, label)
            if isinstance(given, Course):
                if given.width != 1:
                    problems.append(f"motor '{name}': its {label} has {given.width} numbers at each time; give one.")
            elif label == "target" and given is not None:
                problems.append(f"motor '{name}': target = {given!r}; give a course: a Ramp, a Sine or a Smooth table.")
            elif label == "effort":
                try:
                    number(given, f"motor '{name}': effort", "N m")
                except ModelError as error:
                    problems.append(str(error))
        law: Any = self.law
        if law is not None and not isinstance(law, Law):
            problems.append(f"motor '{name}': law = {law!r}; give a Law, such as Law('my_laws:torque').")
        elif law is not None:
            problems += law.problems(f"motor '{name}': law")
        if self.no_load is not None and (isinstance(self.effort, Course) or not self.no_load * self.effort > 0.0):
            problems.append(
                f"motor '{name}': no_load = {self.no_load}, effort = {self.effort}; a line needs two numbers of one sign."
            )
        return problems

    def new_stack(self, dimension: int) -> Motors:
        """An empty stack of motors."""
        return Motors(self.measure, dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(0.3, no_load=40.0, axis=None if dimension == 2 else (0.3, -0.5, 0.8))


class Motors(AlongCoordinates):
    """Motors, one row each."""

    row_taker = SUPPLIED

    # effort, the rate at which none is left, the most, stiffness and damping, what a law has said
    characteristic: Array
    head: Array  # pieces of the two courses, (n, 4): how many, where they are counted from
    effort: Array  # the course of the effort
    target: Array
    rate: Array  # of the coordinate, as last looked at

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, motor_loop, driven=True)
        self.column("characteristic", 6)
        self.column("rate")
        self.column("head", 2, 2)
        self.column("effort", PIECE, listed=True)
        self.column("target", PIECE, listed=True)
        self.laws: dict[str, AskedLaw] = {}

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """The pieces of courses are no more than there is room for."""
        yield from super().limits(elements)
        yield "efforts", self.effort.shape[1] // PIECE
        yield "targets", self.target.shape[1] // PIECE

    @property
    def efforts(self) -> Array:
        """Pieces of the courses of efforts."""
        return self.head[:, 0, 0]

    @property
    def targets(self) -> Array:
        """Pieces of the courses of targets."""
        return self.head[:, 1, 0]

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a motor in."""
        assert isinstance(force, Motor)
        row = self.take(name, force, first)
        constant = 0.0 if isinstance(force.effort, Course) else float(force.effort)
        no_load, most = (np.inf if given is None else given for given in (force.no_load, force.most))
        self.characteristic[row] = constant, no_load, most, force.stiffness, force.damping, 0.0
        for which, (label, course) in enumerate((("effort", force.effort), ("target", force.target))):
            if isinstance(course, Course):
                pieces = course.pieces().ravel()
                if len(pieces) > getattr(self, label).shape[1]:
                    self.widen(label, len(pieces))
                getattr(self, label)[row, : len(pieces)] = pieces
                self.head[row, which, 0] = len(pieces) // PIECE
        self.gains[row] = force.stiffness, force.damping + constant / no_load, 0.0
        if force.law is not None:
            self.laws[name] = AskedLaw(name, force.law.resolved(), force.law.resolved_derivatives())
            self._ask()

    def remove(self, name: str) -> None:
        """Let it go."""
        self.laws.pop(name, None)
        self._ask()
        super().remove(name)

    def chosen(self, rows: Any) -> Self:
        """A stack of its own, with copies of some rows in the order asked for."""
        made = super().chosen(rows)
        made.laws = {name: law for name, law in self.laws.items() if name in made.row}
        made._ask()
        return made

    def _ask(self) -> None:
        """Loops know of no law in Python."""
        for verb, loop_ in (("exert", motor_loop), ("request_demand", request_demand_loop)):
            if self.laws:
                self.loops.pop(verb, None)
            else:
                self.loops[verb] = loop_

    @property
    def row_form(self) -> JointForm:
        """The coordinate that they drive."""
        return row_form_of(self)

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """Those whose law is all that they have."""
        law = self.characteristic[row]
        alone = self.names[row] in self.laws and not self.head[row, :, 0].any() and law[MOST] == np.inf
        return bool(alone and not law[[EFFORT, STIFFNESS, DAMPING]].any())

    def is_nonlinear(self, rows: CompliantRows) -> bool:
        """All of their laws may."""
        return bool(rows.count)

    def linearise_laws(self, rows: CompliantRows, begin: float, step: float) -> None:
        """The lines that touch the laws where a step begins."""
        for at in range(rows.count):
            s, rate = float(rows.gap[at, 0]), float(rows.gap_rate[at, 0])
            line = self.laws[self.names[rows.home[at]]].line(begin, step, s, rate)
            # it drives, and rows pull
            rows.law[at, 0] = line.stiffness, line.damping, -line.value - line.stiffness * s - line.damping * rate
            rows.later[at, 0] = line.value - line.later

    def request_demand(self, elements: Elements, dt: float) -> None:
        """Laws ask for as much as they hold back now."""
        if self.laws:
            look_loop(self, elements, 0, self.count)
            time = float(elements.clock[TIME])
            for name, law in self.laws.items():
                row = self.row[name]
                line = law.line(time, 0.0, float(self.tried[row, 0]), float(self.rate[row]))
                stiffness, damping = self.characteristic[row, STIFFNESS], self.characteristic[row, DAMPING]
                self.gains[row, :2] = stiffness + line.stiffness, damping + line.damping
            elements.clock[GAIN_STEP] = dt
            self.prepare("request_demand")
            request_demand_loop(self, elements, 0, self.count)
            return
        super().request_demand(elements, dt)

    def details(self) -> dict[str, Any]:
        """Names, and the laws by theirs."""
        named = {}
        for name, asked in self.laws.items():
            functions = [asked.law] + ([] if asked.derivatives is None else [asked.derivatives])
            named[name] = [name_of(function) for function in functions]
        return {**super().details(), "laws": named}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        super().recall(details)
        self.laws = {
            name: AskedLaw(name, *(function_named(each, name) for each in named))
            for name, named in details["laws"].items()
        }

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements; laws are asked at the coordinates that a first look finds."""
        elements.clock[TIME] = time
        motor_loop(self, elements, 0, self.count)
        for name, law in self.laws.items():
            row = self.row[name]
            self.characteristic[row, SAID] = law.value(time, float(self.tried[row, 0]), float(self.rate[row]))
        if self.laws:
            motor_loop(self, elements, 0, self.count)


courses = shaped(types.float64, lambda _: [(1, 3)])


@loop
def look_loop(start: int, stop: int, motors: View, elements: View) -> int:
    """Where the coordinates are, and how they change now: between two steps, what forces read is the velocity of none."""
    scratch = scratch_of(motors)
    for n in range(start, stop):
        measure_coordinate(motors, elements, n, scratch)
        _, _, on_a, on_b, _ = scratch
        motors.rate[n] = rate_along(on_a, on_b, elements.velocity, motors.first[n], motors.second[n])
    return NO_FAILED_ROW


@loop
def motor_loop(start: int, stop: int, motors: View, elements: View) -> int:
    """F = F_0(t) (1 - s' / s'_0) + k (s_d - s) + c (s_d' - s'), held to the most; it drives, so it pulls with -F."""
    scratch = scratch_of(motors)
    (course,) = courses(motors)
    for n in range(start, stop):
        s, rate = measure_coordinate(motors, elements, n, scratch)
        law, time = motors.characteristic[n], elements.clock[TIME]
        effort = law[EFFORT] - law[EFFORT] / law[NO_LOAD] * rate + law[SAID]
        if motors.head[n, 0, 0] > 0.0:
            follow(motors.head[n, 0], motors.effort[n], time, 0.0, course)
            effort += course[0, 0]
        if motors.head[n, 1, 0] > 0.0:
            follow(motors.head[n, 1], motors.target[n], time, 0.0, course)
            effort += law[STIFFNESS] * (course[0, 0] - s) + law[DAMPING] * (course[0, 1] - rate)
        effort = max(-law[MOST], min(effort, law[MOST]))
        motors.rate[n] = rate
        motors.drawn[n, 0] = -effort * rate
        pull(motors, elements, n, -effort, scratch)
    return NO_FAILED_ROW
