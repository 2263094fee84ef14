"""Positions and velocities both kept on the constraints, after Gear, Gupta and Leimkuhler.

Séguy 2003, II.4.3, (II.38): a second set of multipliers mu lets the velocity differ from the rate of the positions by
C^T mu, just enough for positions to obey; mu = 0 in the exact solution (II.39). The thesis leaves the discretisation open. Here the
trapezoidal rule, with the reactions pulling along the mean of the Jacobians at both ends, and mu weighted by M^-1 so that
rows of any unit can be mixed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.newton import RELATIVE_TOLERANCE
from coordinator.couplings.centralized.solver import NoSolution, Solver, State, finite, settled
from coordinator.couplings.centralized.tangents import force_tangents

MAX_ITERATIONS = 60


@dataclass(frozen=True)
class GGL(Solver):
    """Implicit, second order; positions and velocities obey to rounding at the end of every step."""

    declared_order: ClassVar[int | None] = 2

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """One step: velocities that obey at the new place, positions that follow them and obey too."""
        q0, v0 = state.q, state.v
        equations.go(q0, v0)
        start = mass = equations.mass
        begin, force = equations.jacobian(), equations.forces(time)
        q, v = q0 + h * v0 + 0.5 * h**2 * state.a, v0 + h * state.a
        equations.at(time + h)
        equations.go(q, v)
        stiffness, damping = force_tangents(equations, time + h)
        small, before = RELATIVE_TOLERANCE * equations.extent, np.inf
        impulse = h * state.multipliers
        matrix = mass + 0.5 * h * damping + 0.25 * h**2 * stiffness
        for _ in range(MAX_ITERATIONS):
            end = equations.jacobian()
            if equations.varying:
                mass = 0.5 * (start + equations.mass)
            pull = 0.5 * (begin + end)
            rest = mass @ (v - v0) - 0.5 * h * (force + equations.forces(time + h)) + pull.T @ impulse
            velocity, more = equations.saddle(matrix, end).solve(-rest, -equations.rates())
            v, impulse = v + velocity, impulse + more
            # (II.38.b): q' = v + M^-1 C^T mu
            place = q0 + 0.5 * h * (v0 + v)
            equations.go(place, v)
            place = equations.project_position(place, v)
            step = float(max(np.abs(place - q).max(initial=0.0), h * np.abs(velocity).max(initial=0.0)))
            q = place
            finite(q, v)
            if step <= small or (step <= 1e3 * small and step >= 0.5 * before):
                v = equations.project_velocity(q, v)
                return settled(equations, time + h, q, v)
            before = step
        raise NoSolution(f"its step did not close in {MAX_ITERATIONS} iterations (last change {before:.2g} m)")
