"""A uniform straight rod."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from components.bodies.natural.batched import BatchedBody
from components.bodies.natural.description import NaturalBody
from components.bodies.natural.many import Layout
from components.bodies.natural.straight import (
    ENDS,
    MAX_QUICK_MAGNITUDE,
    NUMBERS,
    check_straight,
    ends_as_ports,
    lengthened,
    plain_length,
    plain_motion,
    plain_rows,
    straight_elements,
)
from components.bodies.short_sums import length, outer
from modular.elements import Array
from modular.errors import ModelError
from modular.integrator import Integrator
from modular.numbers import SMALLEST_MAGNITUDE
from modular.port import Port
from modular.tiles import TileRows, column_of

MIN_RADIUS_OVER_LENGTH = 1e-4  # radius of a full body, as a share of its length


@dataclass(frozen=True, slots=True)
class Rod(BatchedBody):
    """A uniform rod with ports `start` and `end` [m], of a mass [kg] and a radius [m].

    In space a rod of radius 0 has no inertia about its own axis: it is carried by its two end points (6 numbers) and
    nothing can twist it. With a radius it is a full body (12 numbers). Optional: velocity of the mass centre [m/s],
    angular_velocity [rad/s].
    """

    plain_fields = frozenset({"start", "end", "mass", "velocity", "angular_velocity"})

    start: Sequence[float]
    end: Sequence[float]
    mass: float
    radius: float = 0.0
    velocity: Sequence[float] | None = field(kw_only=True, default=None)
    angular_velocity: Sequence[float] | float | None = field(kw_only=True, default=None)
    integrator: Integrator | None = field(kw_only=True, default=None)

    @property
    def places(self) -> Mapping[str, Port]:
        """Its two ends."""
        return {"start": Port(self.start), "end": Port(self.end)}

    @property
    def port_names(self) -> tuple[str, ...]:
        """`start` and `end`."""
        return ENDS

    @property
    def shape(self) -> tuple[int, int]:
        """Two points; u and v across where the rod has a radius in space."""
        d = len(self.start)
        return (4 if d == 3 and self.radius > 0 else 2), d

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.mass

    @property
    def by_rows(self) -> bool:
        """Its mass enters in proportion, where two points carry it."""
        return self.shape[0] > 2

    @classmethod
    def lay_out(cls, bodies: Sequence[Self]) -> Layout:
        """Of solid cylinders, A and B at their ends; in the plane the radius counts for nothing."""
        start, end, mass = column_of(bodies, "start"), column_of(bodies, "end"), column_of(bodies, "mass")[:, 0]
        radius = column_of(bodies, "radius")[:, 0] * (start.shape[1] == 3)
        full = radius > 0.0
        if np.any(full != full[0]):
            raise ModelError("Rod: some of the rods have a radius and some have none; give them in two lists.")
        size = length(end - start)
        axis = (end - start) / size[:, None]
        along, across = mass * size**2 / 12, mass * radius**2 / 4
        squares = outer(axis, axis)
        moment = along[:, None, None] * squares + across[:, None, None] * (np.eye(start.shape[1]) - squares)
        return Layout(
            straight_elements(start, end, full=bool(full[0])),
            mass,
            0.5 * (start + end),
            moment,
            ends_as_ports(start, end),
            np.full(len(bodies), 2),
        )

    @classmethod
    def named_columns(cls, bodies: TileRows) -> dict[str, Array]:
        """Its mass."""
        return {"mass": bodies.column("mass")[:, 0]}

    def check(self, name: str) -> list[str]:
        """Everything that is wrong with the data; the ends of a rod are ports that it can follow."""
        return [] if self._plainly_sound() else NaturalBody.check(self, name)

    def _plainly_sound(self) -> bool:
        """A quick look at data as most people give them; what it does not pass is looked at closely."""
        if self.mass.__class__ not in NUMBERS or self.radius.__class__ not in NUMBERS:
            return False
        size = plain_length(self.start, self.end)
        return (
            size > 0.0
            and 0.0 < self.mass < MAX_QUICK_MAGNITUDE
            and (self.radius == 0.0 or 1.001 * MIN_RADIUS_OVER_LENGTH * size < self.radius < MAX_QUICK_MAGNITUDE)
            and plain_motion(len(self.start), self.velocity, self.angular_velocity)
        )

    @classmethod
    def sound_rows(cls, bodies: TileRows) -> Array:
        """The same quick look at many."""
        plain, size = plain_rows(bodies)
        mass, radius = bodies.column("mass")[:, 0], bodies.column("radius")[:, 0]
        plain &= (mass > SMALLEST_MAGNITUDE) & (mass < MAX_QUICK_MAGNITUDE) & (radius < MAX_QUICK_MAGNITUDE)
        sound: Array = plain & ((radius == 0.0) | (1.001 * MIN_RADIUS_OVER_LENGTH * size < radius))
        return sound

    def check_data(self, name: str) -> list[str]:
        """Negative mass or radius, no length, a radius too thin for a full body."""
        problems = check_straight(name, self.start, self.end, self.velocity, self.angular_velocity)
        if not (np.isfinite(self.mass) and self.mass > 0):
            problems.append(f"body '{name}': mass = {self.mass} kg; a mass must be positive.")
        size = float(np.linalg.norm(np.subtract(self.end, self.start))) if not problems else 1.0
        if not (np.isfinite(self.radius) and self.radius >= 0):
            problems.append(f"body '{name}': radius = {self.radius} m; give a positive one, or 0 for a slender rod.")
        elif 0 < self.radius < MIN_RADIUS_OVER_LENGTH * size:
            problems.append(
                f"body '{name}': radius = {self.radius} m on a length of {size:.3g} m leaves next to no inertia about its "
                "axis; use radius=0, the slender rod."
            )
        return problems

    def adjustable(self) -> dict[str, float]:
        """Mass, radius and length."""
        return {**NaturalBody.adjustable(self), "length": float(np.linalg.norm(np.subtract(self.end, self.start)))}

    def adjusted(self, numbers: Mapping[str, float]) -> Self:
        """This rod with other numbers; a longer one keeps its start."""
        mass, radius = numbers.get("mass", self.mass), numbers.get("radius", self.radius)
        return replace(self, end=lengthened(self.start, self.end, numbers.get("length")), mass=mass, radius=radius)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        start, end = (0.3, -0.2, 0.5)[:dimension], (0.9, 0.4, -0.1)[:dimension]
        spin = 0.6 if dimension == 2 else (0.6, -0.3, 0.8)
        return cls(start, end, 1.7, 0.04, velocity=(0.2, 0.5, -0.4)[:dimension], angular_velocity=spin)
