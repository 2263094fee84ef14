"""The rows of one joint, as its own loop writes them over symbols for the elements that it reads.

phi(x), J = d phi / dx and how J x' bends along the motion, x' J' x: worked out in the few symbols of two sides, and put together
with what bodies show afterwards. Joints of one form with the same numbers share theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from coordinator.equations.courses import ASKED
from coordinator.equations.tables import TableTwin, terms
from coordinator.equations.terms import NOTES, expression, tidy
from modular.elements import Elements
from modular.joint import JointForm
from modular.joints import Joints


@dataclass(frozen=True)
class Rows:
    """Of one joint; places in `slopes` are (row, side, element, direction)."""

    positions: list[Any]  # symbols of both sides, one after the other
    velocities: list[Any]
    courses: list[Any]  # symbols of what drives it follows: way, rate, acceleration, drive by drive
    errors: list[Any]
    slopes: dict[tuple[int, int, int, int], Any]
    bends: list[Any]  # x' J' x, row by row
    nonzero: list[Any]


class _Symbols:
    """Courses as symbols."""

    def __init__(self, drives: int) -> None:
        self.symbols = [[sympy.Symbol(f"f{i}{k}", real=True) for k in range(3)] for i in range(drives)]

    def follow(self, marker: Any, pieces: Any, time: Any, beyond: Any, course: Any) -> None:
        """Nothing is looked up."""
        for i, own in enumerate(self.symbols):
            course[i, :3] = terms(own)


_known: dict[Any, Rows] = {}


def rows_of(form: JointForm, marker: Any, dimension: int) -> Rows:
    """What a joint of a form with such numbers writes down."""
    numbers = tuple(tidy(float(x)) for x in marker)
    key = form.name, form.linearise, numbers, dimension
    if key not in _known:
        _known[key] = _written(form, numbers, dimension)
    found = _known[key]
    for one in found.nonzero:
        NOTES.expect(one)
    return found


def _written(form: JointForm, numbers: tuple[float, ...], dimension: int) -> Rows:
    joints, elements = Joints(form, dimension), Elements(dimension)
    first, second = elements.acquire(form.first), elements.acquire(form.second)
    row = joints.add_row("joint")
    joints.first[row], joints.second[row] = first, second
    twin, table, courses = TableTwin(joints), TableTwin(elements), _Symbols(form.drives)
    twin.marker[row] = numbers
    sides = ((first, form.first, "a"), (second, form.second, "b"))
    positions: list[Any] = []
    velocities: list[Any] = []
    for start, count, letter in sides:
        for k in range(count):
            own = [sympy.Symbol(f"{letter}{k}{axis}", real=True) for axis in "xyz"[:dimension]]
            moving = [sympy.Symbol(f"d{letter}{k}{axis}", real=True) for axis in "xyz"[:dimension]]
            table.position[start + k] = terms(own)
            positions, velocities = positions + own, velocities + moving
    before, kept = ASKED.led, NOTES.nonzero
    ASKED.led, NOTES.nonzero = courses, []
    try:
        twin.play("linearise", table, row, row + 1)
    finally:
        ASKED.led, nonzero = before, NOTES.nonzero
        NOTES.nonzero = kept
    slopes = {}
    for side, blocks in enumerate((twin.on_first[row], twin.on_second[row])):
        for (m, k, c), value in np.ndenumerate(blocks):
            if (slope := expression(value)) != 0:
                slopes[m, side, k, c] = slope
    bends = [sympy.Integer(0)] * form.rows
    offsets = (0, form.first * dimension)
    rate_of = dict(zip(positions, velocities, strict=True))
    for (m, side, k, c), slope in slopes.items():
        pace = velocities[offsets[side] + k * dimension + c]
        for one in slope.free_symbols & rate_of.keys():
            bends[m] += slope.diff(one) * rate_of[one] * pace
    flat = [one for own in courses.symbols for one in own]
    return Rows(positions, velocities, flat, [expression(e) for e in twin.error[row]], slopes, bends, nonzero)
