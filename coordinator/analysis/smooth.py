"""Linear equations over a setting on which they depend smoothly, from few values of it.

At Chebyshev's points of a range the equations are written as ever, each in the motions that lie nearest to those of the first point
(P. H. Schoenemann, "A generalized solution of the orthogonal Procrustes problem", Psychometrika 31 (1966) 1-10); in between their
matrices are interpolated (J.-P. Berrut, L. N. Trefethen, "Barycentric Lagrange interpolation", SIAM Rev. 46 (2004) 501-517). Points
are doubled until equations that were written at other values agree, and once more; where that takes too many the range is parted.

Models that differ by the velocities with which they set out alone: their linear equations are written at three of them.

With v = v0 + s w, where no force reads velocities, inertia and constraints bring them in to second degree at most: accelerations
and multipliers of the motion, C and K, and how places change are polynomials in s. So three values of it tell them, and whether a
motion goes on (J.-P. Berrut, L. N. Trefethen, "Barycentric Lagrange interpolation", SIAM Rev. 46 (2004) 501-517); two more are
written to see that it is so. Every model is still built, and one that differs otherwise is written by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from coordinator.analysis.equilibrium import put_up
from coordinator.analysis.linear import Linear
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError

POINTS = (5, 9, 17, 33, 65)
LOOKS = (0.0871, 0.3719, 0.6413, 0.9337)  # of a range: where equations are written to see whether they agree
AGREE = 1e-9  # of the largest number of a matrix: differences leave some 1e-10 of it open
NEAR = 0.7  # cosine: motions that have turned further from those of the first point are others
PARTS = 3  # how often a range is parted

Written = Callable[[float], Linear]
MATRICES = ("mass", "damping", "stiffness", "motions", "places", "turning", "rates_of_places")


class Turned(Exception):
    """Motions at two points have too little in common."""


@dataclass(frozen=True)
class Range:
    """Points, and the equations there as rows of numbers, matrix by matrix."""

    points: Array
    weights: Array
    values: dict[str, Array]
    like: Linear
    doubts: tuple[Array, Array] | None

    @classmethod
    def through(cls, points: Array, weights: Array, written: list[Linear]) -> Range:
        """Equations that were written at points, with the barycentric weights of these."""
        first = written[0]
        alike = [alike_to(one, first) for one in written]
        keys = [key for key in MATRICES if getattr(first, key) is not None]
        if any((getattr(one, key) is None) != (key not in keys) for one in alike for key in MATRICES):
            raise Turned
        values = {key: np.array([getattr(one, key) for one in alike]) for key in keys}
        doubts = None
        if first.doubt is not None:
            whole = [one.doubt for one in alike if one.doubt is not None]
            doubts = (np.max([one for one, _ in whole], axis=0), np.max([other for _, other in whole], axis=0))
        return cls(points, weights, values, first, doubts)

    def at(self, value: float) -> Linear:
        """Between the points."""
        far = value - self.points
        if (hit := np.flatnonzero(far == 0.0)).size:
            found = {key: table[hit[0]] for key, table in self.values.items()}
        else:
            shares = self.weights / far
            shares = shares / shares.sum()
            found = {key: np.tensordot(shares, table, 1) for key, table in self.values.items()}
        places = found["motions"] if self.like.places is self.like.motions else found["places"]
        return replace(self.like, **{**found, "places": places}, doubt=self.doubts)


def smoothly(write: Written, low: float, high: float, setting: str) -> Written:
    """Equations at any value of a range; refused where they are no smooth functions of it."""
    parts = _parted(write, low, high, setting, PARTS)
    edges = np.array([first for first, _ in parts])

    def at(value: float) -> Linear:
        return parts[max(int(np.searchsorted(edges, value, side="right")) - 1, 0)][1].at(value)

    return at


def _parted(write: Written, low: float, high: float, setting: str, left: int) -> list[tuple[float, Range]]:
    known: dict[float, Linear] = {}

    def once(value: float) -> Linear:
        if value not in known:
            known[value] = write(value)
        return known[value]

    try:
        for count, more in pairwise(POINTS):
            found = _interpolated(once, low, high, count)
            if all(agrees(found, once(low + part * (high - low)), low + part * (high - low)) for part in LOOKS):
                # what is off by e with so many is off by e^2 with twice
                return [(low, _interpolated(once, low, high, more))]
    except Turned:
        pass
    if not left:
        raise ModelError(
            f"root_locus: between {setting} = {low:.6g} and {high:.6g} the linear equations are not a smooth function "
            "of it, or the model has another equilibrium or motion there; leave smooth out."
        )
    middle = 0.5 * (low + high)
    parted = partial(_parted, write, setting=setting, left=left - 1)
    return [*parted(low, middle), *parted(middle, high)]


def _interpolated(once: Written, low: float, high: float, count: int) -> Range:
    turns = np.pi * np.arange(count) / (count - 1)
    points = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(turns)
    weights: Array = np.where(np.arange(count) % 2, -1.0, 1.0) * np.where(
        (np.arange(count) % (count - 1)) == 0, 0.5, 1.0
    )
    return Range.through(points, weights, [once(float(point)) for point in points])


def alike_to(one: Linear, first: Linear) -> Linear:
    """The same equations in motions nearest to those of another: q = N p with N turned among its own columns."""
    if one is first:
        return one
    of_motions = _turn(one.motions, first.motions)
    of_places = of_motions if one.places is one.motions else _turn(one.places, first.places)
    motions, places = one.motions @ of_motions, one.places @ of_places
    doubt = one.doubt
    if doubt is not None:
        wide, other = np.abs(of_motions), np.abs(of_places)
        doubt = (wide.T @ doubt[0] @ other, wide.T @ doubt[1] @ wide)
    return replace(
        one,
        mass=of_motions.T @ one.mass @ of_motions,
        damping=of_motions.T @ one.damping @ of_motions,
        stiffness=of_motions.T @ one.stiffness @ of_places,
        motions=motions,
        places=motions if one.places is one.motions else places,
        turning=None if one.turning is None else of_places.T @ one.turning @ of_places,
        rates_of_places=None if one.rates_of_places is None else of_places.T @ one.rates_of_places @ of_motions,
        doubt=doubt,
    )


def _turn(basis: Array, wanted: Array) -> Array:
    """The orthogonal matrix that takes orthonormal columns nearest to others."""
    if basis.shape != wanted.shape:
        raise Turned
    left, cosines, right = np.linalg.svd(basis.T @ wanted)
    if float(cosines.min(initial=1.0)) < NEAR:
        raise Turned
    return np.asarray(left @ right)


def agrees(found: Range, there: Linear, value: float) -> bool:
    """Whether equations that were written at a value are those that come out there."""
    made, right = found.at(value), alike_to(there, found.like)
    for key in found.values:
        size = float(np.abs(found.values[key]).max(initial=0.0))
        if float(np.abs(getattr(made, key) - getattr(right, key)).max(initial=0.0)) > AGREE * size:
            return False
    return True


KEYS = ("velocity", "angular_velocity")
NODES, LOOKS_BETWEEN = (0.0, 0.5, 1.0), (0.27, 0.81)  # parts of the grid
FEWEST = 10  # values for which it is worth while
BESIDE = 1e-14  # of the largest velocity: rounding

Build = Callable[[float], Assembly]
Write = Callable[[Assembly], Linear]


def by_velocities(build: Build, write: Write, grid: Array) -> Callable[[float], Linear]:
    """Equations at any value of a setting, from few of them where only velocities change with it."""

    def alone(value: float) -> Linear:
        return write(build(value))

    line = _Line.between(build(float(grid[0])), build(float(grid[-1]))) if len(grid) >= FEWEST else None
    if line is None:
        return alone
    chosen = [build(float(grid[round(part * (len(grid) - 1))])) for part in (*NODES, *LOOKS_BETWEEN)]
    places = [line.place(model) for model in chosen]
    if None in places or len(set(places)) < len(places):
        return alone
    found, at = [write(model) for model in chosen], np.array(places, float)
    nodes, n = at[: len(NODES)], len(NODES)
    weights = 1.0 / np.prod(nodes[:, None] - nodes + np.eye(n), axis=1)
    try:
        known = Range.through(nodes, weights, found[:n])
        if not all(agrees(known, one, float(where)) for one, where in zip(found[n:], at[n:], strict=True)):
            return alone
    except Turned:
        return alone

    def told(value: float) -> Linear:
        model = build(value)
        where = line.place(model)
        return write(model) if where is None else replace(known.at(where), assembly=model)

    return told


class _Line:
    """Models that are like one but for velocities on a line: v0 + s w."""

    def __init__(self, like: Any, start: Array, way: Array) -> None:
        self.like, self.start, self.way = like, start, way

    @classmethod
    def between(cls, first: Assembly, last: Assembly) -> _Line | None:
        """That on which two models lie; None where they differ otherwise, or a force reads velocities."""
        with put_up(first) as equations:
            if any(forces.read_velocity for forces in equations.system.forces):
                return None
        like, start = _described(first)
        other, end = _described(last)
        same = like == other and len(start) == len(end) and bool((start != end).any())
        return cls(like, start, end - start) if same else None

    def place(self, model: Assembly) -> float | None:
        """s of a model; None where it lies elsewhere."""
        like, there = _described(model)
        if like != self.like or len(there) != len(self.start):
            return None
        far = there - self.start
        s = float(far @ self.way / (self.way @ self.way))
        size = max(float(np.abs(table).max()) for table in (self.start, self.start + self.way, there))
        return s if float(np.abs(far - s * self.way).max()) <= BESIDE * size else None


def _described(model: Assembly) -> tuple[dict[str, Any], Array]:
    """A model but for its velocities and what says nothing about it, and these."""
    data = model.to_data()
    numbers = []
    for body in data["bodies"].values():
        for key in KEYS:
            if body.get(key) is not None:
                numbers.append(np.ravel(body[key]))
                body[key] = len(numbers[-1])
    return {key: value for key, value in data.items() if key not in ("title", "suggested")}, (
        np.concatenate(numbers).astype(float) if numbers else np.empty(0)
    )
