"""An external moment on a body, in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from components.forces.external import External, follow
from components.forces.values import Table, Value, check_value
from modular.elements import TIME
from modular.errors import ModelError
from modular.force import Force
from modular.loop import NO_FAILED_ROW, loop
from modular.side import Mark, Side
from modular.views import View


@dataclass(frozen=True)
class Moment(Force):
    """An external moment [N m] on the body of a port, in world axes: a number in the plane, three in space.

    Numbers, a `Table` over time, or a `Law` of time and state of the port. It acts through the directions that the body
    carries; on a slender rod its component along the rod does nothing, as nothing twists one.
    """

    moment: Value

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    @property
    def order(self) -> int | None:
        """Two with a table, which has corners within ticks."""
        return 2 if isinstance(self.moment, Table) else None

    def unseen(self, dt: float, since: float) -> float | None:
        """A pulse of its table between two ticks."""
        return self.moment.unseen(dt, since) if isinstance(self.moment, Table) else None

    def check(self, name: str, dimension: int) -> list[str]:
        """A moment of the wrong dimension or without a value."""
        return check_value(self.moment, 2 * dimension - 3, f"moment '{name}': moment", "N m")

    def new_stack(self, dimension: int) -> Moments:
        """An empty stack of moments."""
        return Moments(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The point of its port, for the state that a law reads, and up to three directions to act on."""
        side = sides[0]
        point = side.point(side.position)
        lines = [side.direction(u) for u in side.directions]
        if point is None or not lines or None in lines:
            raise ModelError(
                f"moment '{name}': '{side.owner}' is a point mass, which has no orientation; give it inertia (RigidBody: "
                "inertia=…)."
            )
        marks = [point, *[line for line in lines if line is not None]]
        if len(side.position) == 2:
            marks = marks[:2]
        while len(marks) < (2 if len(side.position) == 2 else 4):
            marks.append(marks[1])  # a rod: its one direction, with no share of its own
        return [marks]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(0.3) if dimension == 2 else cls((0.3, -0.2, 0.15))


class Moments(External):
    """External moments, one row each."""

    def __init__(self, dimension: int) -> None:
        super().__init__(2 * dimension - 3, 2 if dimension == 2 else 4, dimension, moment_loop)

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a moment in."""
        assert isinstance(force, Moment)
        self.take(name, force.moment, first)


@loop
def moment_loop(start: int, stop: int, moments: View, elements: View) -> int:
    """Forces f on unit directions e with sum e x f = m: (m x e) / 2 on each of three, m x e on one alone."""
    x, force, moment, lines = elements.position, elements.force, moments.value, moments.first_side.shape[0] - 1
    for n in range(start, stop):
        if moments.number[n] > 0:
            follow(moments.knots[n], moments.number[n], elements.clock[TIME], moment[n])
        line = moments.first[n] + 1
        if lines == 1:
            square = x[line, 0] ** 2 + x[line, 1] ** 2
            force[line, 0] = -moment[n, 0] * x[line, 1] / square
            force[line, 1] = moment[n, 0] * x[line, 0] / square
            continue
        # a rod repeats its one direction three times: a third on each makes the whole
        same = True
        for c in range(3):
            same = same and x[line, c] == x[line + 1, c]
        share = 1.0 / 3.0 if same else 0.5
        for k in range(line, line + lines):
            force[k, 0] = share * (moment[n, 1] * x[k, 2] - moment[n, 2] * x[k, 1])
            force[k, 1] = share * (moment[n, 2] * x[k, 0] - moment[n, 0] * x[k, 2])
            force[k, 2] = share * (moment[n, 0] * x[k, 1] - moment[n, 1] * x[k, 0])
    return NO_FAILED_ROW
