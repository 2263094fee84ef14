"""Independent coordinates, found automatically: as many equations as degrees of freedom, and no constraints left.

Séguy 2003, II.4.1 (projection methods) and VI.2.1, "paramétrage 1", without the work by hand. At the start of a tick the
independent motions N are found (freedoms.py) and the place is written q = q0 + N s + what the constraints ask, so s are as many
numbers as there are degrees of freedom. Of s'' = f(t, s, s') nothing is approximated: dependent coordinates are solved for to
rounding at every evaluation, so the only error is that of the method that integrates s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.centralized.equations import Equations
from coordinator.centralized.explicit import check_method, integrate
from coordinator.centralized.freedoms import Freedoms, find_freedoms
from coordinator.centralized.solver import NoSolution, Solver, State, settled
from modular.elements import Array

CLOSED = 4e-16  # of the extent: dependent coordinates are solved for to this
MOST = 25


@dataclass(frozen=True)
class MinimalCoordinates(Solver):
    """method: RK4 (II.5.2) with the tick as its step, or a method of scipy such as DOP853 that chooses its steps within a tick."""

    method: str = "RK4"
    rtol: float = 1e-10
    atol: float = 1e-12

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method("MinimalCoordinates", self.method, self.rtol, self.atol)

    def refuses(self, equations: Equations) -> str | None:
        """Joints that lock velocities and not places have more places than motions."""
        blades = [name for joints in equations.joints if not joints.form.holonomic for name in joints.names]
        if blades:
            return (
                f"MinimalCoordinates cannot treat {', '.join(repr(name) for name in blades)}: a non-holonomic joint leaves more "
                "coordinates independent than velocities. Choose HHT(), AugmentedLagrangian(), Baumgarte() or GGL()."
            )
        return None

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """Integrate the independent coordinates over one tick."""
        equations.go(state.q, state.v)
        chart = Chart(equations, state, find_freedoms(equations, memory.get("freedoms")))
        memory["freedoms"] = chart.freedoms.number
        n = chart.freedoms.number
        start = np.concatenate([np.zeros(n), chart.freedoms.basis.T @ state.v])
        end = integrate(chart.rates, time, start, h, self.method, self.rtol, self.atol, memory)
        equations.at(time + h)
        q, v, _ = chart.point(end[:n], end[n:])
        return settled(equations, time + h, q, v)


class Chart:
    """Places near q0 by their independent coordinates s = N^T (q - q0)."""

    def __init__(self, equations: Equations, state: State, freedoms: Freedoms) -> None:
        self.equations = equations
        self.freedoms = freedoms
        self.origin = state.q
        self._last = (np.zeros(freedoms.number), state.q)  # the place found last, for a first guess

    def _border(self) -> Array:
        """Inverse of the independent rows of G over N^T where the system stands: they make a regular square matrix."""
        jacobian = self.freedoms.kept @ self.equations.jacobian()
        return np.linalg.inv(np.concatenate([jacobian, self.freedoms.basis.T]))

    def point(self, s: Array, ds: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and the inverse border there; leaves the system there."""
        equations, n = self.equations, self.freedoms.number
        kept, basis = self.freedoms.kept, self.freedoms.basis
        q = self._last[1] + basis @ (s - self._last[0])
        still, inverse, before = np.zeros(equations.size), np.empty(0), np.inf
        for _ in range(MOST):
            equations.go(q, still)
            error = np.concatenate([kept @ equations.errors(), basis.T @ (q - self.origin) - s])
            if not inverse.size or float(np.abs(error).max()) > 0.01 * before:
                inverse = self._border()
            size = float(np.abs(error).max(initial=0.0))
            q = q - inverse @ error
            if size <= CLOSED * equations.extent or (size <= 1e3 * CLOSED * equations.extent and size >= 0.5 * before):
                break
            before = size
        else:
            raise NoSolution(f"its loops did not close ({before:.2g} m)")
        equations.go(q, still)
        inverse = self._border()
        v = inverse[:, equations.size - n :] @ ds
        v = v - inverse[:, : equations.size - n] @ (kept @ equations.rates())  # drives move also what is at rest
        self._last = (s, q)
        equations.go(q, v)
        return q, v, inverse

    def rates(self, time: float, y: Array) -> Array:
        """s' and s'' from N^T M_reduced: T^T M T s'' = T^T (Q - M c), with v = T s' and a = T s'' + c."""
        n, size = self.freedoms.number, self.equations.size
        self.equations.at(time)
        q, v, inverse = self.point(y[:n], y[n:])
        t = inverse[:, size - n :]
        c = -inverse[:, : size - n] @ (self.freedoms.kept @ self.equations.bias(q, v))
        force = self.equations.forces(time)
        mass = self.equations.mass
        reduced = t.T @ (mass @ t)
        return np.concatenate([y[n:], np.linalg.solve(reduced, t.T @ (force - mass @ c))])
