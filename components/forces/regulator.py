"""A regulator: a motor that reads an angle, a way or a distance elsewhere and drives it to where it should be."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from components.forces.coordinate import (
    ANGLE,
    MEASURES,
    WAY,
    AlongCoordinate,
    AlongCoordinates,
    measure_coordinate,
    pull,
    row_form_of,
)
from components.forces.coordinate import scratch_of as coordinate_scratch_of
from components.forces.vectors import measure_line
from components.joints.marks import across, line_mark, line_of, must, oriented
from components.joints.turns import turn, turn_in_plane, unwound
from modular.blocks import shaped
from modular.compliant import CompliantRows
from modular.elements import TIME, Array, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.joint import JointForm, unit
from modular.kernel import kernel
from modular.lanes import types
from modular.ledger import SUPPLIED
from modular.loop import NO_FAILED_ROW, loop
from modular.side import Mark, Side
from modular.views import View

# beside what all keep: the angle, the integral of its error, the error, and when that was
READ, SUM, ERROR, WHEN = range(3, 7)
PROPORTIONAL, INTEGRAL, DERIVATIVE, TARGET, MOST = range(5)
BEGAN, KNOWN, ALONG, ACROSS = range(4)  # where it was made, whether that is known, and in the plane the line of a way


@dataclass(frozen=True)
class Regulator(AlongCoordinate):
    """Drives its second port against the first, and reads an angle, a way or a distance of its third port against the first: PID.

    effort = proportional e + integral (sum of e over time) + derivative e', with e = `target` - what is read, held to `most`. It
    `reads` the "angle" about `axis`, over any number of turns, or the "way" of the third point along `axis`, both from where they
    were when the regulator was made; or the "distance" of the third point. The sum belongs to what is saved and repeated. Its work
    is the line `supplied` of its ledger. What it cannot read a `Controller` can.

    An inverted pendulum in the plane, where what leans to the right has a negative angle:
    `apply("hold", Regulator(90.0, derivative=15.0, along=(1, 0)), "ground", "cart.pin", "pole.foot")`.
    `along` is the line of the drive; left out, it drives the angle of its second port about `axis`. A servo, which reads its own
    hinge: `apply("servo", Regulator(90.0, derivative=15.0, target=0.5), "ground", "arm.start", "arm.end")`.
    """

    proportional: float
    integral: float = 0.0
    derivative: float = 0.0
    target: float = 0.0
    most: float | None = None
    along: Sequence[float] | None = None
    axis: Sequence[float] | None = None
    reads: str = "angle"

    what: ClassVar[str] = "regulator"

    @property
    def sides(self) -> int:
        """Three ports."""
        return 3

    @property
    def driven(self) -> int:
        """The first two; the third may be on the body of the second: a servo that reads its own hinge."""
        return 2

    @property
    def coordinate(self) -> str:
        """That of its drive."""
        return "angle" if self.along is None else "way"

    @property
    def line(self) -> Sequence[float] | None:
        """The line or axis of its drive, not of what it reads."""
        return self.axis if self.along is None else self.along

    def on_joint(self, coordinate: str, axis: Sequence[float] | None) -> Regulator:
        """A servo of that coordinate, which it reads too."""
        return replace(self, along=axis if coordinate == "way" else None, axis=axis, reads=coordinate)

    @property
    def sums(self) -> bool:
        """Errors, where there is a gain for their integral."""
        return self.integral != 0.0

    @property
    def order(self) -> int | None:
        """Two where it is held to `most`, which it meets within ticks."""
        return None if self.most is None else 2

    def check(self, name: str, dimension: int) -> list[str]:
        """Gains that are no numbers, lines that lead nowhere."""
        free = -np.inf
        problems = self.numbers(name, proportional=free, integral=free, derivative=free, target=free, most=0.0)
        if self.reads not in MEASURES:
            problems.append(f"regulator '{name}': reads = {self.reads!r}; give one of {', '.join(MEASURES)}.")
        for label in ("along", "axis"):
            line = getattr(self, label)
            if line is None:
                continue
            try:
                good = np.shape(line) == (dimension,) and 0.0 < float(np.linalg.norm(np.asarray(line, float))) < np.inf
            except (TypeError, ValueError):
                good = False
            turning = label == "axis" and dimension == 2 and self.reads != "way"
            if not good or turning:
                hint = "leave it out in the plane" if turning else f"give {dimension} numbers, not all zero"
                problems.append(f"regulator '{name}': {label} = {line!r}; {hint}.")
        return problems

    def kind(self) -> Hashable:
        """Those along the same coordinate share a stack."""
        return Regulators, self.coordinate, self.reads

    def new_stack(self, dimension: int) -> Regulators:
        """An empty stack of regulators."""
        return Regulators(self.coordinate, self.reads, dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """Points; on the first the axis and a direction across it, and one on those that turn."""
        first, second, third = sides
        points = [side.point(side.position) for side in sides[:2]]
        try:
            turning = [third] if self.reads == "angle" else []
            oriented(name, first, *turning, *([second] if self.along is None else []))
            if None in points:
                raise ModelError(f"regulator '{name}': '{second.name}' cannot take a force.")
            if len(first.position) == 2:
                line = must(first.direction(first.directions[0]))
                other = [must(second.direction(second.directions[0]))] if self.along is None else []
                read = must(third.direction(third.directions[0]) if turning else third.point(third.position))
                return [[must(points[0]), line], [must(points[1]), *other], [read]]
            axis = line_of(name, self.axis, first)
            drive = line_of(name, self.along, first) if self.along is not None else axis
            other = [across(name, second, axis)] if self.along is None else []
            held = [
                must(points[0]),
                line_mark(name, first, drive),
                across(name, first, axis),
                line_mark(name, first, axis),
            ]
            read = across(name, third, axis) if turning else must(third.point(third.position))
            return [held, [must(points[1]), *other], [read]]
        except ModelError as error:
            raise ModelError(str(error).replace("joint '", "regulator '", 1)) from error

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(2.0, 0.5, 0.1, 0.3, axis=None if dimension == 2 else (0.3, -0.5, 0.8))


class Regulators(AlongCoordinates):
    """Regulators, one row each."""

    row_taker = SUPPLIED

    pointing = ("first", "second", "third")
    third: Indices
    reads: Array  # its length tells what is read
    law: Array  # gains, target and most
    line: Array  # along which a way is read in the plane
    begin: Array  # what was read where it was made, whether it is known, and the line of a way in the plane

    def __init__(self, measure: str, reads: str, dimension: int) -> None:
        super().__init__(measure, dimension, regulator_loop, driven=True, keeps=7)
        self.column("third", dtype=np.int64)
        self.column("law", 5)
        self.column("begin", 4)
        self.column("line", dimension)
        self.fixed("reads", 1 + MEASURES.index(reads))  # its length tells the loop which it is

    def sizes(self, measure: str, dimension: int) -> tuple[int, int]:
        """Elements that it reads on either side."""
        return 4 if dimension == 3 else 2, 1 if measure == "way" else 2

    @property
    def turning(self) -> tuple[int, ...]:
        """The angle that it reads as well."""
        return (*super().turning, *((READ,) if self.reads.shape[0] == ANGLE else ()))

    @property
    def row_form(self) -> JointForm:
        """The angle that it drives."""
        return row_form_of(self)

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """A servo that reads the hinge which it drives, holds back, and has neither a sum nor an end of its strength."""
        gains, most = self.law[row, [PROPORTIONAL, DERIVATIVE]], self.law[row, MOST]
        turns = self.reads.shape[0] == self.measure.shape[0] == ANGLE
        return (
            bool(turns and owners[1] == owners[2] and (gains >= 0.0).all() and most == np.inf)
            and not self.law[row, INTEGRAL]
        )

    def write_row(self, rows: CompliantRows, at: int, row: int) -> None:
        """Its gains, and where it draws to."""
        law = self.law[row]
        rows.law[at, 0] = law[PROPORTIONAL], law[DERIVATIVE], -law[PROPORTIONAL] * law[TARGET]

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a regulator in."""
        assert isinstance(force, Regulator)
        row = self.take(name, force, first)
        self.third[row] = first[2]
        size = self.axis.shape[1]
        self.axis[row] = (
            np.eye(size)[0] if force.along is None else np.asarray(force.along) / np.linalg.norm(force.along)
        )
        self.line[row] = np.eye(size)[0] if force.axis is None else unit(name, force.axis, size)
        most = np.inf if force.most is None else force.most
        self.law[row] = force.proportional, force.integral, force.derivative, force.target, most
        self.gains[row] = abs(force.proportional), abs(force.derivative), 0.0


def _reading(forces: Any) -> list[tuple[int, ...]]:
    d = forces.shape_of("first_side")[1]
    first = forces.shape_of("first_side")[0]
    return [(first, d), (1, d), (1, first, d), (1, 1, d)]


reading_of = shaped(types.float64, _reading)


@kernel
def read(regulators: View, elements: View, n: int, scratch: Any) -> tuple[Any, Any]:
    """What is read and its rate, from where it was made."""
    a, b, on_a, on_b = scratch
    size, last = a.shape[1], a.shape[0] - 1
    first, third, begin = regulators.first[n], regulators.third[n], regulators.begin[n]
    for k in range(a.shape[0]):
        for c in range(size):
            a[k, c] = elements.position[first + k, c]
            on_a[0, k, c] = 0.0
    for c in range(size):
        b[0, c] = elements.position[third, c]
        on_b[0, 0, c] = 0.0
    new = begin[KNOWN] == 0.0
    value = 0.0
    if regulators.reads.shape[0] == ANGLE:
        value = (
            turn(a, last, a, 2, b, 0, 0, 1.0, on_a, on_a, on_b)
            if size == 3
            else turn_in_plane(a, 1, b, 0, 0, 1.0, on_a, on_b)
        )
    elif regulators.reads.shape[0] == WAY:
        if size == 2 and new:
            line = regulators.line[n]
            begin[ALONG] = a[1, 0] * line[0] + a[1, 1] * line[1]
            begin[ACROSS] = a[1, 0] * line[1] - a[1, 1] * line[0]
        for c in range(size):
            arm = b[0, c] - a[0, c]
            if size == 3:
                along = a[last, c]
                on_a[0, last, c] = arm
            else:
                other, sign = 1 - c, 2.0 * c - 1.0  # the line is a_1, turned
                along = begin[ALONG] * a[1, c] + sign * begin[ACROSS] * a[1, other]
                on_a[0, 1, c] += begin[ALONG] * arm
                on_a[0, 1, other] += sign * begin[ACROSS] * arm
            value += along * arm
            on_a[0, 0, c] = -along
            on_b[0, 0, c] = along
    else:
        value = measure_line(a, b, elements.current_velocity, first, third, on_a, on_b)
    if new:
        begin[BEGAN], begin[KNOWN] = (value if regulators.reads.shape[0] <= WAY else 0.0), 1.0
    value -= begin[BEGAN]
    if regulators.reads.shape[0] == ANGLE:
        value = unwound(value, regulators.kept[n, READ])
    rate = 0.0
    for c in range(size):
        for k in range(a.shape[0]):
            rate += on_a[0, k, c] * elements.current_velocity[first + k, c]
        rate += on_b[0, 0, c] * elements.current_velocity[third, c]
    return value, rate


@loop
def regulator_loop(start: int, stop: int, regulators: View, elements: View) -> int:
    """Read, sum up the error by trapezes since the last tick, and drive."""
    scratch, reading = coordinate_scratch_of(regulators), reading_of(regulators)
    for n in range(start, stop):
        law, kept, tried = regulators.law[n], regulators.kept[n], regulators.tried[n]
        new = regulators.begin[n, KNOWN] == 0.0
        _, rate = measure_coordinate(regulators, elements, n, scratch)
        value, pace = read(regulators, elements, n, reading)
        force = elements.force[regulators.third[n]]
        force[:] = 0.0
        error, time = law[TARGET] - value, elements.clock[TIME]
        if new:
            kept[ERROR], kept[WHEN] = error, time
        tried[READ], tried[ERROR], tried[WHEN] = value, error, time
        tried[SUM] = kept[SUM] + 0.5 * (error + kept[ERROR]) * (time - kept[WHEN])
        effort = law[PROPORTIONAL] * error + law[INTEGRAL] * tried[SUM] - law[DERIVATIVE] * pace
        effort = max(-law[MOST], min(effort, law[MOST]))
        regulators.drawn[n, 0] = -effort * rate
        pull(regulators, elements, n, -effort, scratch)
    return NO_FAILED_ROW
