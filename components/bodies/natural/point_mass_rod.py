"""A massless rod with point masses at its ends (Séguy 2003, VI.2)."""

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
    check_straight,
    ends_as_ports,
    is_plain,
    lengthened,
    plain_length,
    plain_motion,
    plain_rows,
    straight_elements,
)
from components.bodies.short_sums import outer
from modular.elements import Array
from modular.integrator import Integrator
from modular.naming import Naming
from modular.numbers import SMALLEST_MAGNITUDE
from modular.port import Port
from modular.tiles import TileRows, column_of


@dataclass(frozen=True, slots=True)
class PointMassRod(BatchedBody):
    """A massless rod between ports `start` and `end` [m] with a mass [kg] at each.

    Its mass matrix is diagonal, (VI.3). Optional: velocity of the mass centre [m/s], angular_velocity [rad/s].
    """

    plain_fields = frozenset({"start", "end", "masses", "velocity", "angular_velocity"})

    start: Sequence[float]
    end: Sequence[float]
    masses: Sequence[float]
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
        """Two points."""
        return 2, len(self.start)

    @property
    def by_rows(self) -> bool:
        """Its masses enter in proportion."""
        return False

    @classmethod
    def lay_out(cls, bodies: Sequence[Self]) -> Layout:
        """Of two points each: A and B, the two masses."""
        start, end = column_of(bodies, "start"), column_of(bodies, "end")
        first, second = column_of(bodies, "masses").T
        total = first + second
        return Layout(
            straight_elements(start, end, full=False),
            total,
            (first[:, None] * start + second[:, None] * end) / total[:, None],
            (first * second / total)[:, None, None] * outer(end - start, end - start),
            ends_as_ports(start, end),
            np.full(len(bodies), 2),
        )

    def named_mass(self, symbol: Naming) -> Array:
        """Each point has its mass."""
        first, second = self.masses
        return np.array([[symbol("masses_1", first), 0.0], [0.0, symbol("masses_2", second)]], object)

    @classmethod
    def named_columns(cls, bodies: TileRows) -> dict[str, Array]:
        """The same of many."""
        first, second = bodies.column("masses").T
        return {"masses_1": first, "masses_2": second}

    def check(self, name: str) -> list[str]:
        """Everything that is wrong with the data; the ends of a rod are ports that it can follow."""
        return [] if self._plainly_sound() else NaturalBody.check(self, name)

    def _plainly_sound(self) -> bool:
        """A quick look at data as most people give them; what it does not pass is looked at closely."""
        return (
            plain_length(self.start, self.end) > 0.0
            and is_plain(self.masses, 2)
            and all(0.0 < mass < MAX_QUICK_MAGNITUDE for mass in self.masses)
            and plain_motion(len(self.start), self.velocity, self.angular_velocity)
        )

    @classmethod
    def sound_rows(cls, bodies: TileRows) -> Array:
        """The same quick look at many."""
        masses = bodies.column("masses")
        plain = (masses > SMALLEST_MAGNITUDE) & (masses < MAX_QUICK_MAGNITUDE)
        sound: Array = plain_rows(bodies)[0] & plain.all(axis=1)
        return sound

    def check_data(self, name: str) -> list[str]:
        """Masses that are not two positive numbers, a rod without length."""
        problems = check_straight(name, self.start, self.end, self.velocity, self.angular_velocity)
        if np.size(self.masses) != 2 or not all(np.isfinite(m) and m > 0 for m in self.masses):
            problems.append(
                f"body '{name}': masses = {self.masses}; give two positive masses [kg], at start and end. For a mass at one "
                "end only, use RigidBody with its centre and a port there and inertia=0, held by a Distance joint: a massless "
                "rod is nothing else."
            )
        return problems

    def adjustable(self) -> dict[str, float]:
        """Both masses and the length."""
        first, second = self.masses
        length = float(np.linalg.norm(np.subtract(self.end, self.start)))
        return {"mass_at_start": float(first), "mass_at_end": float(second), "length": length}

    def adjusted(self, numbers: Mapping[str, float]) -> Self:
        """This rod with other numbers; a longer one keeps its start."""
        first, second = self.masses
        masses = numbers.get("mass_at_start", first), numbers.get("mass_at_end", second)
        return replace(self, end=lengthened(self.start, self.end, numbers.get("length")), masses=masses)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""
        start, end = (0.3, -0.2, 0.5)[:dimension], (0.9, 0.4, -0.1)[:dimension]
        spin = 0.6 if dimension == 2 else (0.6, -0.3, 0.8)
        return cls(start, end, (0.7, 1.1), velocity=(0.2, 0.5, -0.4)[:dimension], angular_velocity=spin)
