"""Newmark's one-step scheme in predictor-corrector form.

Séguy 2003, (II.44) and II.5.5; N. M. Newmark, "A method of computation for structural dynamics", J. Eng. Mech.
Div. ASCE 85 (1959) 67-94. The thesis prints "gamma = 1/6, beta = 1/4" for the linear acceleration: the two letters
are exchanged there (beta = 1/6, gamma = 1/2).

In predict-evaluate-correct form with gamma = 1/2 the predicted positions follow the central difference (velocity
Verlet) whatever beta is, so beta does not touch stability; it decides where the corrected position stands. With
beta = 1/4 a constant force works exactly on the mean of the two velocities, so that the energy of a body is that of the
works on it, to rounding. The predicted velocity is the velocity half a step ago, in time: v_n + dt/2 a_n.
"""

from __future__ import annotations

from dataclasses import dataclass

from modular.component import Component
from modular.errors import ModelError


@dataclass(frozen=True)
class Newmark(Component):
    """Weights of the new acceleration in the corrected position (beta) and velocity (gamma)."""

    beta: float = 0.25
    gamma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.beta <= 0.5:
            raise ModelError(f"Newmark: beta = {self.beta} lies outside 0 ... 0.5; the usual value is 0.25.")
        if not 0.5 <= self.gamma <= 1.0:
            raise ModelError(
                f"Newmark: gamma = {self.gamma} lies outside 0.5 ... 1; below 0.5 the scheme gains energy by "
                "itself, above 0.5 it is first order. The usual value is 0.5."
            )
