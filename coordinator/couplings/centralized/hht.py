"""Hilbert, Hughes and Taylor's method on the equations with positions constrained (index 3); Newmark where alpha = 0.

Séguy 2003, II.5.4, in the incremental form of II.5.3.2. The thesis's alpha is positive (0 ... 1/3), minus that of the
original paper, and reactions are weighted like forces, (II.51). Its own accelerations and multipliers belong to an instant
a little off the tick and ring from the start, without end where alpha = 0 (the thesis names the problem in II.5.3.2). They are
kept for the scheme; what is recorded is evaluated from positions and velocities, which do not ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coordinator.couplings.centralized.compiled.hht import advance_loop
from coordinator.couplings.centralized.compiled.step import CompiledStep, step_of
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.newton import close_step, closed
from coordinator.couplings.centralized.saddle import Saddle
from coordinator.couplings.centralized.solver import Solver, State
from coordinator.couplings.centralized.tangents import curvature, force_tangents
from coordinator.system import System
from modular.elements import Array
from modular.errors import ModelError
from modular.numbers import number


@dataclass(frozen=True)
class HHT(Solver):
    """Implicit, second order, positions closed to rounding; alpha damps what the step cannot resolve."""

    alpha: float = 0.1

    rough: ClassVar[bool] = True
    declared_order: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= number(self.alpha, "HHT: alpha", "-") <= 1.0 / 3.0 + 1e-12:
            raise ModelError(f"HHT: alpha = {self.alpha}; give a number from 0 (Newmark) to 1/3; 0.05 to 0.1 is usual.")

    def compiled_step(self, system: System, equations: Equations) -> CompiledStep | None:
        """Where all parts have loops for it."""
        return step_of(system, equations, advance_loop, self.alpha)

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """One step of (II.51)."""
        alpha = self.alpha
        beta, gamma = 0.25 * (1.0 + alpha) ** 2, 0.5 + alpha
        q0, v0, a0 = closed(equations, state.q, state.v), state.v, state.a
        weight = beta * h**2
        # what is known of the step: alpha (F + G^T lambda) at its start
        known = alpha * (equations.jacobian().T @ state.multipliers - equations.forces(time))
        start = equations.mass

        def mass() -> Any:
            # accelerations are those of a time between, and so are masses that change with the place
            return (1.0 - alpha) * equations.mass + alpha * start if equations.varying else equations.mass

        equations.at(time + h)

        def motion(q: Array) -> tuple[Array, Array]:
            # (II.45), with a_n in the velocity weighted (1 - gamma / (2 beta)) h: the print loses that factor
            a = (q - q0 - h * v0) / weight - (0.5 / beta - 1.0) * a0
            return v0 + h * ((1.0 - gamma) * a0 + gamma * a), a

        def residual(q: Array) -> Array:
            v, a = motion(q)
            equations.go(q, v)
            return np.asarray(weight * (mass() @ a + known - (1.0 - alpha) * equations.forces(time + h)))

        def tangent(q: Array, multipliers: Array) -> Saddle:
            v, _ = motion(q)
            stiffness, damping = force_tangents(equations, time + h)
            matrix = mass() + (1.0 - alpha) * (weight * stiffness + gamma * h * damping)
            matrix = matrix + curvature(equations, q, v, multipliers)
            return equations.saddle(matrix, equations.jacobian())

        # the first guess keeps the acceleration
        q, multipliers = close_step(
            equations,
            q0 + h * v0 + 0.5 * h**2 * a0,
            (1.0 - alpha) * weight * state.multipliers,
            residual,
            tangent,
            weight / (gamma * h),
        )
        v, a = motion(q)
        equations.go(q, v)
        return State(q, v, a, multipliers / ((1.0 - alpha) * weight))
