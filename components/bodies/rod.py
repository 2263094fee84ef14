"""A uniform straight rod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np

from components.bodies.natural import MassProperties, NaturalBody
from components.bodies.straight import check_straight, straight_elements
from modular.elements import Array
from modular.port import Port


@dataclass(frozen=True)
class Rod(NaturalBody):
    """A uniform rod with ports `start` and `end` [m], of a mass [kg] and a radius [m].

    In space a rod of radius 0 has no inertia about its own axis: it is carried by its two end points (6 numbers) and
    nothing can twist it. With a radius it is a full body (12 numbers). Optional: velocity of the mass centre [m/s],
    angular_velocity [rad/s].
    """

    start: Sequence[float]
    end: Sequence[float]
    mass: float
    radius: float = 0.0
    velocity: Sequence[float] | None = field(kw_only=True, default=None)
    angular_velocity: Sequence[float] | float | None = field(kw_only=True, default=None)

    @cached_property
    def places(self) -> Mapping[str, Port]:
        """Its two ends."""
        return {"start": Port(self.start), "end": Port(self.end)}

    @cached_property
    def mass_properties(self) -> MassProperties:
        """Of a solid cylinder; in the plane the radius counts for nothing."""
        start, end = np.asarray(self.start, float), np.asarray(self.end, float)
        length = np.linalg.norm(end - start)
        axis = (end - start) / length
        along = self.mass * length**2 / 12
        across = self.mass * self.radius**2 / 4 if len(start) == 3 else 0.0
        moment = along * np.outer(axis, axis) + across * (np.eye(len(start)) - np.outer(axis, axis))
        return MassProperties(self.mass, 0.5 * (start + end), moment)

    @cached_property
    def elements(self) -> Array:
        """A and B at the ends; u and v across where the rod has a radius."""
        return straight_elements(self.start, self.end, full=len(self.start) == 3 and self.radius > 0)

    def check_data(self, name: str) -> list[str]:
        """Negative mass or radius, no length, a radius too thin for a full body."""
        problems = check_straight(name, self.start, self.end, self.velocity, self.angular_velocity)
        if not (np.isfinite(self.mass) and self.mass > 0):
            problems.append(f"body '{name}': mass = {self.mass} kg; a mass must be positive.")
        length = float(np.linalg.norm(np.subtract(self.end, self.start))) if not problems else 1.0
        if not (np.isfinite(self.radius) and self.radius >= 0):
            problems.append(f"body '{name}': radius = {self.radius} m; give a positive one, or 0 for a slender rod.")
        elif 0 < self.radius < 1e-4 * length:
            problems.append(
                f"body '{name}': radius = {self.radius} m on a length of {length:.3g} m leaves next to no inertia about its "
                "axis; use radius=0, the slender rod."
            )
        return problems

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        start, end = (0.3, -0.2, 0.5)[:dimension], (0.9, 0.4, -0.1)[:dimension]
        spin = 0.6 if dimension == 2 else (0.6, -0.3, 0.8)
        return cls(start, end, 1.7, 0.04, velocity=(0.2, 0.5, -0.4)[:dimension], angular_velocity=spin)
