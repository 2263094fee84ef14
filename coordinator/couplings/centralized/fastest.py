"""The fastest motion that springs and elastic bodies make, held against what an explicit method can follow in a step.

From the linearised equations of the free coordinates, M s'' + D s' + K s = 0. The classical Runge-Kutta method multiplies a motion
e^(z t / h) by R(z) = 1 + z + z^2/2 + z^3/6 + z^4/24 in a step h; what swings undamped grows beyond |z| = 2.83 (E. Hairer,
G. Wanner, "Solving Ordinary Differential Equations II", IV.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import Freedoms
from coordinator.couplings.centralized.tangents import force_tangents
from modular.elements import Array

RESOLVED_RADIUS = 2.5  # |z| below which R(z) is not looked at: what grows there grows by itself
RK4_STABILITY_RADIUS = 2.8  # |z| that RK4 can follow, swinging or damped


@dataclass(frozen=True)
class Fastest:
    """The motion of the largest eigenvalue."""

    body: str  # that it moves most
    rate: float  # |eigenvalue| [rad/s]
    followed: bool  # whether RK4 can follow all motions in the step that was asked for

    def describe(self, h: float) -> str:
        """Against a step, as a sentence goes on."""
        return (
            f"body '{self.body}' swings or decays at {self.rate:.3g} rad/s, {self.rate * h:.3g} in a step of {h:.3g} s"
        )

    @property
    def step(self) -> float:
        """That RK4 could follow, with a little to spare [s]."""
        return 0.7 * RK4_STABILITY_RADIUS / self.rate


def find_fastest(equations: Equations, freedoms: Freedoms, time: float, h: float) -> Fastest | None:
    """Where the system stands; None where nothing is elastic or damped."""
    if not len(equations.force_rows) and not any(getattr(stack, "elastic", False) for stack in equations.stacks):
        return None
    basis, n = freedoms.basis, freedoms.number
    if n == 0:
        return None
    stiffness, damping = (basis.T @ (matrix @ basis) for matrix in force_tangents(equations, time))
    mass = basis.T @ (equations.mass @ basis)
    if not (np.isfinite(stiffness).all() and np.isfinite(damping).all()):
        return None
    first = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(mass, np.hstack([stiffness, damping]))]])
    values, vectors = np.linalg.eig(first)
    largest = int(np.argmax(np.abs(values)))
    z = h * values
    grows = np.abs(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))) > 1.0
    moved = np.abs(basis @ vectors[:n, largest])
    return Fastest(
        body=_most_energy(equations, moved),
        rate=float(np.abs(values[largest])),
        followed=not bool((grows & (np.abs(z) > RESOLVED_RADIUS)).any()),
    )


def _most_energy(equations: Equations, moved: Array) -> str:
    """The body with most of the kinetic energy of a motion."""
    weight = moved * (equations.mass @ moved)
    return max(equations.columns, key=lambda name: float(np.abs(weight[equations.columns[name]]).sum()))
