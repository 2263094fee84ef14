"""Multipliers substituted into the equations of motion, without any stabilisation: violations drift.

Séguy 2003, II.4.2.1, (II.23)-(II.26).

Accelerations from the bordered system, violations pulled back as Baumgarte proposed, driven by any explicit method.

Séguy 2003, II.4.2.2, (II.28)-(II.30). The matrix form is written in three variants by the 2D course (section 8.2, (20)): 1: the
integral of the multipliers is part of the state; 2: the multipliers are found first, then the accelerations; 3: both at
once, and only positions and velocities are integrated. In the first the reactions are means over a tick.
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
from modular.errors import ModelError
from modular.numbers import number

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


@dataclass(frozen=True)
class Baumgarte(Explicit):
    """phi'' + 2 alpha phi' + beta^2 phi = 0 in place of phi'' = 0; method: RK4 with the tick as its step, or a method of scipy."""

    alpha: float = 20.0  # [1/s]
    beta: float = 20.0  # [1/s]
    method: str = "RK45"
    rtol: float = 1e-8
    atol: float = 1e-10
    variant: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method("Baumgarte", self.method, self.rtol, self.atol)
        if self.variant not in (1, 2, 3):
            raise ModelError(f"Baumgarte: variant = {self.variant!r}; give 1, 2 or 3.")
        if min(number(self.alpha, "Baumgarte: alpha", "1/s"), number(self.beta, "Baumgarte: beta", "1/s")) < 0.0:
            raise ModelError(f"Baumgarte: alpha = {self.alpha}, beta = {self.beta}; neither can be negative.")

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """Integrate over one tick."""
        n = equations.size

        def pull(errors: Array, rates: Array) -> Array:
            return 2.0 * self.alpha * rates + self.beta**2 * errors  # (II.28); without a place, 2 alpha is its gamma

        def solve(t: float, q: Array, v: Array) -> tuple[Array, Array]:
            if self.variant == 2:
                return multipliers_first(equations, t, q, v, pull)
            return equations.accelerate(t, q, v, pull)

        def rates(t: float, y: Array) -> Array:
            q, v = y[:n], y[n : 2 * n]
            a, multipliers = solve(t, q, v)
            return np.concatenate([v, a, -multipliers] if self.variant == 1 else [v, a])

        start = [state.q, state.v, np.zeros(equations.rows)] if self.variant == 1 else [state.q, state.v]
        corners = equations.corners(time, time + h)
        end = integrate(rates, time, np.concatenate(start), h, self.method, self.rtol, self.atol, memory, corners)
        q, v = end[:n], end[n : 2 * n]
        a, multipliers = solve(time + h, q, v)
        return State(q, v, a, -end[2 * n :] / h if self.variant == 1 else multipliers)
