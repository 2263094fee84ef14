"""The step of the course text: new angles from the old rates, then new rates from the accelerations there.

Course text, 2.b, which calls it symplectic Euler. It is that where accelerations depend on positions alone. Here they depend
on the rates too, and the mass matrix on the angles, so the step does not preserve volume in phase space; it is first order and
its error in the energy wanders. The text adds up its time in floating point and makes 50 001 steps of 1 ms for its 50 s; here
steps are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from modular.elements import Array

Law = Callable[[Array, Array], tuple[Array, Any]]  # angles, rates -> accelerations, and what else is to be kept


def integrate(law: Law, angles: Array, rates: Array, dt: float, steps: int) -> tuple[Array, Array, list[Any]]:
    """Angles [rad] and rates [rad/s], (steps + 1, 2) each, and what the law gave beside each of them."""
    seen = [(angles, rates, law(angles, rates)[1])]
    for _ in range(steps):
        angles = angles + dt * rates
        accelerations, kept = law(angles, rates)
        rates = rates + dt * accelerations
        seen.append((angles, rates, kept))
    return np.array([row[0] for row in seen]), np.array([row[1] for row in seen]), [row[2] for row in seen]
