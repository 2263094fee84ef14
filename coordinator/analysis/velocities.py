"""Models that differ by the velocities with which they set out alone: their linear equations are written at three of them.

With v = v0 + s w, where no force reads velocities, inertia and constraints bring them in to second degree at most: accelerations
and multipliers of the motion, C and K, and how places change are polynomials in s. So three values of it tell them, and whether a
motion goes on (J.-P. Berrut, L. N. Trefethen, "Barycentric Lagrange interpolation", SIAM Rev. 46 (2004) 501-517); two more are
written to see that it is so. Every model is still built, and one that differs otherwise is written by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from coordinator.analysis.equilibrium import put_up
from coordinator.analysis.linear import Linear
from coordinator.analysis.smooth import Range, Turned, agrees
from modular.assembly import Assembly
from modular.elements import Array

KEYS = ("velocity", "angular_velocity")
NODES, LOOKS = (0.0, 0.5, 1.0), (0.27, 0.81)  # parts of the grid
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
    chosen = [build(float(grid[round(part * (len(grid) - 1))])) for part in (*NODES, *LOOKS)]
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
