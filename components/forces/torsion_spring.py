"""Springs with a given line of force over an angle, a way or a distance; and the straight one about an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np

from components.forces.coordinate import (
    STIFFNESS,
    AlongCoordinate,
    AlongCoordinates,
    measure_coordinate,
    pull,
    row_form_of,
    scratch_of,
)
from modular.compliant import CompliantRows
from modular.elements import Array, Indices
from modular.force import Force
from modular.joint import JointForm
from modular.kernel import kernel
from modular.ledger import STORED
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@dataclass(frozen=True)
class TorsionSpring(AlongCoordinate):
    """A torque -k (angle - rest) - c rate about `axis`, over any number of turns; `rest` [rad] from where it is made.

    stiffness k [N m/rad], damping c [N m s/rad].
    """

    stiffness: float
    damping: float = 0.0
    rest: float = 0.0
    axis: Sequence[float] | None = None

    what: ClassVar[str] = "spring"

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative values."""
        return super().check(name, dimension) + self.numbers(name, stiffness=0.0, damping=0.0, rest=-np.inf)

    @property
    def points(self) -> Array:
        """Two points of its line of force."""
        return np.array([[self.rest, 0.0], [self.rest + 1.0, self.stiffness]])

    def kind(self) -> tuple[type, str]:
        """All springs about axes share a stack with those of `TableSpring`."""
        return TableSprings, "angle"

    def new_stack(self, dimension: int) -> TableSprings:
        """An empty stack of springs."""
        return TableSprings("angle", dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(3.0, 0.02, 0.1, axis=None if dimension == 2 else (0.3, -0.5, 0.8))


@dataclass(frozen=True)
class TableSpring(AlongCoordinate):
    """A spring whose force goes through the points (`places`, `forces`), straight between them and on beyond the last ones.

    A positive force pulls the coordinate back. places [m] or [rad]: a distance as it is, an angle or a way from where it was made.
    `damping` [N s/m, N m s/rad] comes beside it.
    """

    places: Sequence[float]
    forces: Sequence[float]
    damping: float = 0.0
    measure: str = "distance"
    axis: Sequence[float] | None = None

    what: ClassVar[str] = "spring"

    @property
    def order(self) -> int | None:
        """Two, unless its line is straight: it passes corners within ticks."""
        slopes = np.diff(self.forces) / np.diff(self.places)
        return None if np.ptp(slopes) <= 1e-12 * np.abs(slopes).max() else 2

    def check(self, name: str, dimension: int) -> list[str]:
        """Tables that are none."""
        problems = super().check(name, dimension) + self.numbers(name, damping=0.0)
        try:
            places, forces = np.asarray(self.places, float), np.asarray(self.forces, float)
            good = places.ndim == 1 and len(places) >= 2 and places.shape == forces.shape
            good = good and bool(
                np.isfinite(places).all() and np.isfinite(forces).all() and (np.diff(places) > 0).all()
            )
        except (TypeError, ValueError):
            good = False
        if not good:
            problems.append(
                f"spring '{name}': places = {self.places}, forces = {self.forces}; give at least two places that rise, and "
                "equally many forces, all finite."
            )
        return problems

    @property
    def points(self) -> Array:
        """Points of its line of force."""
        return np.stack([np.asarray(self.places, float), np.asarray(self.forces, float)], -1)

    def kind(self) -> tuple[type, str]:
        """Those along the same coordinate share a stack."""
        return TableSprings, self.measure

    def new_stack(self, dimension: int) -> TableSprings:
        """An empty stack of springs."""
        return TableSprings(self.measure, dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls((0.2, 0.5, 0.9, 1.1), (-9.0, 0.0, 15.0, 30.0), 0.4)


class LineOfForce(Protocol):
    """What stands among springs."""

    @property
    def points(self) -> Array:
        """Of its line of force."""

    @property
    def damping(self) -> float:
        """What comes beside it."""


class TableSprings(AlongCoordinates):
    """Springs with lines of force, one row each."""

    points: Array  # places, forces, and the energy up to there, (n, points, 3)
    number: Indices
    damping: Array

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, spring_loop)
        self.column("points", 2, 3, listed=True)
        self.column("number", dtype=np.int64)
        self.column("damping")

    @property
    def row_form(self) -> JointForm:
        """The coordinate."""
        return row_form_of(self)

    def may_be_row(self, row: int, owners: Sequence[str]) -> bool:
        """Those with a straight line of force that rises."""
        slopes = np.diff(self.points[row, : self.number[row], 1]) / np.diff(self.points[row, : self.number[row], 0])
        return bool(slopes.min() >= 0.0 and np.ptp(slopes) <= 1e-12 * slopes.max())

    def write_row(self, rows: CompliantRows, at: int, row: int) -> None:
        """Its line."""
        (place, force), stiffness = self.points[row, 0, :2], self.gains[row, STIFFNESS]
        rows.law[at, 0] = stiffness, self.damping[row], force - stiffness * place

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """There are no more points than there is room for."""
        yield from super().limits(elements)
        yield "number", self.points.shape[1]

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a spring in."""
        line = cast(LineOfForce, force)
        row, given = self.take(name, force, first), line.points
        if len(given) > self.points.shape[1]:
            self.widen("points", len(given))
        self.points[row, : len(given), :2] = given
        energy = np.cumsum(0.5 * np.diff(given[:, 0]) * (given[1:, 1] + given[:-1, 1]))
        self.points[row, 1 : len(given), 2] = energy
        self.points[row, : len(given), 2] -= _least(given, self.points[row, : len(given), 2])
        self.number[row] = len(given)
        slopes = np.diff(given[:, 1]) / np.diff(given[:, 0])
        self.damping[row] = line.damping
        self.gains[row] = max(float(slopes.max()), 0.0), line.damping, 0.0


def _least(points: Array, energy: Array) -> float:
    """The energy where the line of force first rises through zero, the place of rest; that of a point, where it never does."""
    for k in range(len(points) - 1):
        (x, f), (y, g) = points[k], points[k + 1]
        slope = (g - f) / (y - x)
        at = x - f / slope if slope > 0.0 else np.nan
        if (k == 0 or at >= x) and (k == len(points) - 2 or at <= y):
            return float(energy[k] - 0.5 * f * f / slope) if slope > 0.0 else float(energy.min())
    return float(energy.min())


@kernel
def line_of_force(points: View, number: int, s: float) -> tuple[float, float]:
    """Force and energy at a place."""
    low, high = 0, number - 1
    while high - low > 1:
        middle = (low + high) // 2
        if points[middle, 0] <= s:
            low = middle
        else:
            high = middle
    slope = (points[high, 1] - points[low, 1]) / (points[high, 0] - points[low, 0])
    way = s - points[low, 0]
    return points[low, 1] + slope * way, points[low, 2] + way * (points[low, 1] + 0.5 * slope * way)


@loop
def spring_loop(start: int, stop: int, springs: View, elements: View) -> int:
    """F(s) + c s'."""
    scratch = scratch_of(springs)
    for n in range(start, stop):
        s, rate = measure_coordinate(springs, elements, n, scratch)
        force, energy = line_of_force(springs.points[n], springs.number[n], s)
        springs.ledger[n, STORED] = energy
        springs.power[n] = springs.damping[n] * rate * rate
        pull(springs, elements, n, force + springs.damping[n] * rate, scratch)
    return NO_FAILED_ROW
