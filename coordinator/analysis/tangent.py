"""How what acts on a system changes along its motions, to fourth order: exact where constraints and forces are quadratic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from coordinator.couplings.centralized.equations import STENCIL, Equations
from modular.elements import Array

STEP = 2e-3  # of the extent, or of as much in a second


def stiffness_along(equations: Equations, q: Array, directions: Array, multipliers: Array) -> Array:
    """-d(Q - G^T lambda)/dq N at rest; leaves the system at q."""
    still = np.zeros(equations.size)

    def forces(step: Array) -> Array:
        equations.go(q + step, still)
        return np.asarray(equations.forces(0.0) - equations.jacobian().T @ multipliers)

    found = _along(forces, directions, STEP * equations.extent)
    equations.go(q, still)
    return found


def damping_along(equations: Equations, q: Array, directions: Array) -> Array:
    """-dQ/dv N at rest; leaves the system at q."""
    still = np.zeros(equations.size)

    def forces(step: Array) -> Array:
        equations.go(q, step)
        return equations.forces(0.0)

    found = _along(forces, directions, STEP * equations.extent)
    equations.go(q, still)
    return found


def _along(function: Callable[[Array], Array], directions: Array, h: float) -> Array:
    """Minus how a function changes along each of some directions."""
    found = np.zeros_like(directions)
    for k, direction in enumerate(directions.T):
        for place, weight in STENCIL:
            found[:, k] -= weight / h * function(place * h * direction)
    return found


def dense(matrix: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
