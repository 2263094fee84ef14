"""The two rods of the course text: their data, and what angles and rates mean for positions and energy.

Rods are numbered 2 and 3 in the text, because 1 is the ground; here they are first and second. The text draws x downward
and y to the right, and its angles turn from x to y. Everything given out here stands in our axes: x to the right, y upward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modular.elements import Array
from scenarios.systems.two_rods import GRAVITY, pair


@dataclass(frozen=True)
class Rods:
    """Masses [kg], lengths [m] and moments of inertia about the mass centres [kg m^2] of the two rods."""

    masses: Sequence[float] = (1.0, 1.0)
    lengths: Sequence[float] = (1.0, 1.0)
    inertias: Sequence[float] = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name, unit in (("masses", "kg"), ("lengths", "m"), ("inertias", "kg m^2")):
            object.__setattr__(self, name, pair(name, getattr(self, name), unit, 0))

    def ends(self, angles: Array) -> Array:
        """Where both rods end [m], (..., 2) -> (..., 2 rods, 2)."""
        arms = np.asarray(self.lengths)[:, None] * np.stack([np.sin(angles), -np.cos(angles)], axis=-1)
        return np.asarray(np.cumsum(arms, axis=-2))

    def energy(self, angles: Array, rates: Array) -> Array:
        """Kinetic energy and that of gravity, zero at the height of the pivot [J], (..., 2) -> (...)."""
        (m2, m3), (l2, l3), (J2, J3) = self.masses, self.lengths, self.inertias
        first, second = angles[..., 0], angles[..., 1]
        w2, w3 = rates[..., 0], rates[..., 1]
        kinetic = 0.5 * (m2 * l2**2 / 4 + m3 * l2**2 + J2) * w2**2 + 0.5 * (m3 * l3**2 / 4 + J3) * w3**2
        kinetic = kinetic + 0.5 * m3 * l2 * l3 * np.cos(first - second) * w2 * w3
        height = -(m2 * l2 / 2 + m3 * l2) * np.cos(first) - m3 * l3 / 2 * np.cos(second)
        return np.asarray(kinetic + GRAVITY * height)
