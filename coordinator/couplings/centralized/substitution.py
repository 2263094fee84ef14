"""Multipliers substituted into the equations of motion, without any stabilisation: violations drift.

Séguy 2003, II.4.2.1, (II.23)-(II.26).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.explicit import Explicit, check_method, integrate
from coordinator.couplings.centralized.solver import State
from modular.elements import Array

RANK_TOLERANCE = 1e-10  # of the largest eigenvalue: what is smaller is redundant


def multipliers_first(
    equations: Equations, time: float, q: Array, v: Array, pull: Callable[[Array, Array], Array] | None = None
) -> tuple[Array, Array]:
    """lambda = (C M^-1 C^T)^-1 (C M^-1 Q - D), then M a = Q - C^T lambda (II.25), (II.26); the inverse on the range."""
    equations.at(time)
    d = -equations.bias(q, v)
    if pull is not None:
        d = d - pull(equations.errors(), equations.rates())
    c = equations.jacobian()
    force = equations.forces(time)
    free = equations.inverse_mass @ force
    scaled = equations.scale[:, None] * (c.toarray() if sparse.issparse(c) else c)
    seen = scaled @ equations.inverse_mass @ scaled.T
    values, vectors = np.linalg.eigh(0.5 * (seen + seen.T))
    kept = values > RANK_TOLERANCE * values[-1] if len(values) else np.zeros(0, bool)
    basis = vectors[:, kept]
    multipliers = equations.scale * (basis @ ((basis.T @ (equations.scale * (c @ free - d))) / values[kept]))
    return free - equations.inverse_mass @ (c.T @ multipliers), multipliers


@dataclass(frozen=True)
class Substitution(Explicit):
    """Constraints hold at the level of accelerations only; positions drift away. For comparison."""

    method: str = "RK4"
    rtol: float = 1e-8
    atol: float = 1e-10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method("Substitution", self.method, self.rtol, self.atol)

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """Integrate over one tick."""
        n = equations.size

        def rates(t: float, y: Array) -> Array:
            return np.concatenate([y[n:], multipliers_first(equations, t, y[:n], y[n:])[0]])

        start = np.concatenate([state.q, state.v])
        corners = equations.corners(time, time + h)
        end = integrate(rates, time, start, h, self.method, self.rtol, self.atol, memory, corners)
        a, multipliers = multipliers_first(equations, time + h, end[:n], end[n:])
        return State(end[:n], end[n:], a, multipliers)
