"""How Jacobians change with places: of what is quadratic by numbers that are found once, elsewhere by differences each time.

Constraints of bodies in natural coordinates are quadratic, and so are the rows of most joints (Séguy 2003, III.8, annexe 2): their
second derivatives are the same everywhere. Whether they are is not declared, but looked at in two places.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from modular.elements import Array

CONSTANT_TOLERANCE = 1e-9  # of the largest: second derivatives that differ by less are the same
ELSEWHERE = 0.37  # of the step of places: how far off they are looked at again, times numbers by lot

Slopes = Callable[
    [Array], Array
]  # Jacobians of all rows, with axes (row of a stack, constraint, …), by displacements (row, number)


def differences(slopes: Slopes, rows: int, numbers: int, h: float, from_: Array | float = 0.0) -> Array:
    """How they change as each of the numbers by which a row may be displaced does, (number, row, constraint, …)."""
    found = []
    for c in range(numbers):
        sides = []
        for sign in (1.0, -1.0):
            moved = np.zeros((rows, numbers)) + from_
            moved[:, c] += sign * h
            sides.append(slopes(moved))
        found.append((sides[0] - sides[1]) / (2.0 * h))
    return np.array(found)


def constant(slopes: Slopes, rows: int, numbers: int, h: float) -> Array | None:
    """The same where they change alike everywhere; None where they do not."""
    here = differences(slopes, rows, numbers, h)
    away = ELSEWHERE * np.random.default_rng(0).uniform(-1.0, 1.0, (rows, numbers))
    there = differences(slopes, rows, numbers, h, away)
    if not np.isfinite(there).all():
        return None
    return here if np.abs(there - here).max(initial=0.0) <= CONSTANT_TOLERANCE * np.abs(here).max(initial=1.0) else None


class Bends:
    """Those of some stacks, by their identity; as long as these stay as they are."""

    def __init__(self) -> None:
        self._known: dict[int, Array | None] = {}

    def of(self, stack: object, slopes: Slopes, rows: int, numbers: int, h: float) -> Array:
        """(number, row, constraint, …)."""
        if id(stack) not in self._known:
            self._known[id(stack)] = constant(slopes, rows, numbers, h)
        known = self._known[id(stack)]
        return differences(slopes, rows, numbers, h) if known is None else known
