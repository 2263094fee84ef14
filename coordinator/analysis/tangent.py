"""How what acts on a system changes along its motions, to sixth order: exact where constraints and forces are quadratic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from coordinator.couplings.centralized.equations import Equations
from modular.elements import Array

STEP = 5e-3  # of the extent, or of as much in a second
SHORTER_STEPS = 5  # that are tried at most, each an eighth of the one before
AGREE = 1e-9  # of the largest number: two steps that differ by less agree
# of a central difference of sixth order: a stiff body that turns along a straight line is stretched by that, to second order
STENCIL = [(sign * k, sign * weight) for k, weight in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)) for sign in (1, -1)]


class Slopes(NamedTuple):
    """How something changes along directions, by columns, and by how much two steps tell that differently."""

    values: Array
    doubt: Array


def stiffness_along(equations: Equations, q: Array, directions: Array, multipliers: Array) -> Slopes:
    """-d(Q - G^T lambda)/dq N at rest; leaves the system at q."""
    still = np.zeros(equations.size)

    def forces(step: Array) -> Array:
        equations.go(q + step, still)
        return np.asarray(equations.forces(0.0) - equations.jacobian().T @ multipliers)

    found = _along(forces, directions, STEP * equations.extent)
    equations.go(q, still)
    return found


def damping_along(equations: Equations, q: Array, directions: Array) -> Slopes:
    """-dQ/dv N at rest; leaves the system at q."""
    still = np.zeros(equations.size)

    def forces(step: Array) -> Array:
        equations.go(q, step)
        return equations.forces(0.0)

    found = _along(forces, directions, STEP * equations.extent)
    equations.go(q, still)
    return found


def _along(function: Callable[[Array], Array], directions: Array, h: float) -> Slopes:
    """Minus how a function changes along each of some directions."""
    values, doubt = np.zeros_like(directions), np.zeros_like(directions)
    for k, direction in enumerate(directions.T):
        values[:, k], doubt[:, k] = derivative(lambda step: function(-step * direction), h)  # noqa: B023
    return Slopes(values, doubt)


def derivative(function: Callable[[float], Array], h: float) -> tuple[Array, Array]:
    """Of a function of one number, at zero, and how doubtful that is; with a long step, for rounding grows as steps get short.

    A step that agrees with one an eighth as long is not too long for what bends, as a short spring does.
    """
    best, doubt, least, before = np.empty(0), np.empty(0), np.inf, np.empty(0)
    for turn in range(SHORTER_STEPS):
        step = h / 8.0**turn
        found = np.asarray(sum(weight / step * function(place * step) for place, weight in STENCIL))
        if turn:
            apart = np.abs(found - before)
            widest = float(apart.max(initial=0.0))
            if widest < least:
                best, doubt, least = before, apart, widest
            if widest <= AGREE * float(np.abs(found).max(initial=0.0)):
                break
        before = found
    return best, doubt


def dense(matrix: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
