"""Penalties with an artificial mass in place of multipliers, on the whole system at once: violations stay, and drift.

Séguy 2003, II.4.2.3, (II.32), (II.33).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.explicit import Explicit, check_method, integrate
from coordinator.couplings.centralized.saddle import Saddle
from coordinator.couplings.centralized.solver import State
from modular.elements import Array
from modular.errors import ModelError
from modular.numbers import number


@dataclass(frozen=True)
class GlobalPenalty(Explicit):
    """(M + C^T alpha C) a = Q - C^T alpha (dC/dt v + 2 xi omega phi' + omega^2 phi); alpha in multiples of the seen mass."""

    alpha: float = 1e5
    omega: float = 10.0  # [1/s]
    xi: float = 1.0
    method: str = "RK4"
    rtol: float = 1e-8
    atol: float = 1e-10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method("GlobalPenalty", self.method, self.rtol, self.atol)
        for name, unit in (("alpha", "-"), ("omega", "1/s"), ("xi", "-")):
            number(getattr(self, name), f"GlobalPenalty: {name}", unit)
        if not (self.alpha > 0.0 and self.omega >= 0.0 and self.xi >= 0.0):
            raise ModelError(
                f"GlobalPenalty: alpha = {self.alpha}, omega = {self.omega}, xi = {self.xi}; give a positive alpha (1e5 is "
                "usual) and no negative gain."
            )

    def refuses(self, equations: Equations) -> str | None:
        """Bodies that are led would give way."""
        if equations.led:
            names = ", ".join(map(repr, equations.led))
            return (
                f"GlobalPenalty cannot treat {names}: springs cannot hold a body on a prescribed course. Choose "
                "HHT(), GGL() "
                "or MinimalCoordinates()."
            )
        return None

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """Integrate over one tick."""
        n = equations.size

        def solve(t: float, q: Array, v: Array) -> tuple[Array, Array]:
            equations.at(t)
            f = equations.bias(q, v) + 2.0 * self.xi * self.omega * equations.rates()
            f = f + self.omega**2 * equations.errors()
            # lambda = alpha (C a + f) as a border: the same as M + C^T alpha C, and better conditioned
            border = Saddle(equations.mass, equations.jacobian(), equations.scale, 1.0 / self.alpha)
            return border.once(equations.forces(t), -f)

        def rates(t: float, y: Array) -> Array:
            return np.concatenate([y[n:], solve(t, y[:n], y[n:])[0]])

        start = np.concatenate([state.q, state.v])
        corners = equations.corners(time, time + h)
        end = integrate(rates, time, start, h, self.method, self.rtol, self.atol, memory, corners)
        a, multipliers = solve(time + h, end[:n], end[n:])
        return State(end[:n], end[n:], a, multipliers)
