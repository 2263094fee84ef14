"""The augmented Lagrangian method on the whole system, in both forms, with mass-orthogonal projections.

Séguy 2003, II.4.2.4: the first form (II.34), (II.35) augments positions, lambda = lambda* + p phi, and is solved at the end of
a step of the trapezoidal rule (index 3); the second (II.36), (II.37) augments accelerations with an artificial mass (index 1).
lambda* is found by iteration. Velocities, and accelerations, are then projected to where the constraints allow them: E. Bayo, R.
Ledesma, "Augmented Lagrangian and mass-orthogonal projection methods for constrained multibody dynamics", Nonlinear Dynamics 9
(1996) 113-130; the first form with both projections is known as ALI3-P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.newton import RELATIVE_TOLERANCE, closed
from coordinator.couplings.centralized.saddle import Saddle
from coordinator.couplings.centralized.solver import NoSolution, Solver, State, finite
from coordinator.couplings.centralized.tangents import curvature, force_tangents
from modular.elements import Array
from modular.errors import ModelError
from modular.numbers import number

PROJECTIONS = ("none", "velocities", "both")
MAX_ITERATIONS = 60  # iterations in a step


@dataclass(frozen=True)
class AugmentedLagrangian(Solver):
    """form 1: positions augmented (index 3); form 2: accelerations, with omega and xi pulling violations back (index 1).

    `penalty`: the artificial stiffness p h^2 / 4, or the artificial mass, in multiples of the mass that a constraint
    sees; it decides how fast the multipliers converge, not what they converge to. projections: "none", "velocities" or "both".
    """

    form: int = 1
    projections: str = "both"
    penalty: float = 1e4
    omega: float = 10.0  # [1/s]
    xi: float = 1.0

    rough: ClassVar[bool] = True  # its multipliers carry what closed the positions, and belong to unprojected motion
    declared_order: ClassVar[int | None] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in (1, 2):
            raise ModelError(f"AugmentedLagrangian: form = {self.form!r}; give 1 (positions) or 2 (accelerations).")
        if self.projections not in PROJECTIONS:
            raise ModelError(
                f"AugmentedLagrangian: projections = {self.projections!r}; give one of {', '.join(PROJECTIONS)}."
            )
        for name, unit in (("penalty", "-"), ("omega", "1/s"), ("xi", "-")):
            number(getattr(self, name), f"AugmentedLagrangian: {name}", unit)
        if not 1.0 < self.penalty <= 1e9:
            raise ModelError(
                f"AugmentedLagrangian: penalty = {self.penalty}; give a factor from 1 to 1e9; 1e4 is usual."
            )
        if self.omega < 0.0 or self.xi < 0.0:
            raise ModelError(f"AugmentedLagrangian: omega = {self.omega}, xi = {self.xi}; neither can be negative.")

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """One step of the trapezoidal rule, then the projections."""
        found = (self._positions if self.form == 1 else self._accelerations)(equations, state, time, h)
        if self.projections == "none":
            return found
        v = equations.project_velocity(found.q, found.v)
        if self.projections == "velocities":
            return State(found.q, v, found.a, found.multipliers)
        bias = equations.bias(found.q, v)
        jacobian = equations.jacobian()
        change, _ = equations.saddle(equations.mass, jacobian).solve(
            np.zeros(equations.size), -bias - jacobian @ found.a
        )
        return State(found.q, v, found.a + change, found.multipliers)

    def _border(self, equations: Equations, matrix: Any, jacobian: Any) -> Saddle:
        return Saddle(matrix, jacobian, equations.scale, 1.0 / self.penalty)

    def _positions(self, equations: Equations, state: State, time: float, h: float) -> State:
        """(II.35) at the end of the step, times h^2 / 4; the multipliers grow by p phi until phi is gone."""
        weight = 0.25 * h**2
        q0, v0, a0 = closed(equations, state.q, state.v), state.v, state.a
        q, carried = q0 + h * v0 + 0.5 * h**2 * a0, weight * state.multipliers
        equations.at(time + h)

        def motion(place: Array) -> tuple[Array, Array]:
            a = (place - q0 - h * v0) / weight - a0
            return v0 + 0.5 * h * (a0 + a), a

        v, _ = motion(q)
        equations.go(q, v)
        stiffness, damping = force_tangents(equations, time + h)
        matrix = equations.mass + weight * stiffness + 0.5 * h * damping + curvature(equations, q, v, carried)
        small, before = RELATIVE_TOLERANCE * equations.extent, np.inf
        for _ in range(MAX_ITERATIONS):
            v, a = motion(q)
            equations.go(q, v)
            jacobian = equations.jacobian()
            rest = weight * (equations.mass @ a - equations.forces(time + h)) + jacobian.T @ carried
            change, _ = self._border(equations, matrix, jacobian).once(-rest, -equations.violations(0.5 * h))
            finite(change)
            q = q + change
            equations.go(q, motion(q)[0])
            carried = carried + self.penalty * equations.scale**2 * equations.violations(0.5 * h)
            step = float(np.abs(change).max(initial=0.0))
            if step <= small or (step <= 1e3 * small and step >= 0.5 * before):
                v, a = motion(q)
                equations.go(q, v)
                return State(q, v, a, carried / weight)
            before = step
        raise NoSolution(f"its multipliers were not found in {MAX_ITERATIONS} iterations (last change {before:.2g} m)")

    def _accelerations(self, equations: Equations, state: State, time: float, h: float) -> State:
        """(II.37) at the end of the step: Bayo's iteration inside, the trapezoidal rule outside."""
        q0, v0, a0 = state.q, state.v, state.a
        a, multipliers, before = a0, state.multipliers, np.inf
        small = RELATIVE_TOLERANCE * equations.extent
        for _ in range(MAX_ITERATIONS):
            q = q0 + h * v0 + 0.25 * h**2 * (a0 + a)
            v = v0 + 0.5 * h * (a0 + a)
            new, multipliers = self._bayo(equations, time + h, q, v)
            finite(new)
            step = 0.25 * h**2 * float(np.abs(new - a).max(initial=0.0))
            a = new
            if step <= small or (step <= 1e3 * small and step >= 0.5 * before):
                return State(q, v, a, multipliers)
            before = step
        raise NoSolution(f"its step did not close in {MAX_ITERATIONS} iterations (last change {before:.2g} m)")

    def _bayo(self, equations: Equations, time: float, q: Array, v: Array) -> tuple[Array, Array]:
        """(M + G^T alpha G) a' = M a - G^T alpha f from a = M^-1 Q until the constraint accelerations obey."""
        equations.at(time)
        f = equations.bias(q, v) + 2.0 * self.xi * self.omega * equations.rates() + self.omega**2 * equations.errors()
        jacobian = equations.jacobian()
        border = self._border(equations, equations.mass, jacobian)
        multipliers = np.zeros(equations.rows)
        force = equations.forces(time)
        # the same iteration on the multipliers: lambda* grows by alpha (G a + f) until that is gone
        for _ in range(MAX_ITERATIONS):
            a, change = border.once(force - jacobian.T @ multipliers, -f)
            multipliers = multipliers + change
            if float(np.abs(change).max(initial=0.0)) <= 1e-13 * float(np.abs(multipliers).max(initial=0.0)):
                break
        return a, multipliers
