"""How Jacobians change with places: of what is quadratic by numbers that are found once, elsewhere by differences each time.

Constraints of bodies in natural coordinates are quadratic, and so are the rows of most joints (Séguy 2003, III.8, annexe 2): their
second derivatives are the same everywhere. Whether they are is not declared, but looked at in two places, which are the same
wherever the model stands: so what goes on from a checkpoint finds the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from modular.elements import Array

CONSTANT_TOLERANCE = 1e-9  # of the largest: second derivatives that differ by less are the same
STRIDE = 0.5  # from place to place, of what is looked at anywhere

# Jacobians of all rows, with axes (row of a stack, constraint, …), at places (row, number)
Slopes = Callable[[Array], Array]


def differences(slopes: Slopes, places: Array, h: float) -> Array:
    """How they change as each of the numbers by which a row stands somewhere does, (number, row, constraint, …)."""
    found = []
    for c in range(places.shape[1]):
        sides = []
        for sign in (1.0, -1.0):
            moved = places.copy()
            moved[:, c] += sign * h
            sides.append(slopes(moved))
        found.append((sides[0] - sides[1]) / (2.0 * h))
    return np.array(found)


def constant(slopes: Slopes, shape: tuple[int, ...]) -> Array | None:
    """The same where they change alike everywhere; None where they do not."""
    numbers = np.random.default_rng(0)
    one, other = (differences(slopes, numbers.uniform(-1.0, 1.0, shape), STRIDE) for _ in range(2))
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    return one if np.abs(other - one).max(initial=0.0) <= CONSTANT_TOLERANCE * np.abs(one).max(initial=1.0) else None


class JacobianCurvature:
    """Those of some stacks, by their identity; as long as these stay as they are."""

    def __init__(self) -> None:
        self._known: dict[int, Array | None] = {}

    def of(self, stack: object, slopes: Slopes, places: Array, h: float) -> Array:
        """(number, row, constraint, …), of a stack that stands at these places."""
        if id(stack) not in self._known:
            self._known[id(stack)] = constant(slopes, places.shape)
        known = self._known[id(stack)]
        return differences(slopes, places, h) if known is None else known
