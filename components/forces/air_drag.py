"""Drag of the air, or of a wind, on a port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from components.forces.isotropic import IsotropicForces, isotropic_demand
from modular.elements import GAIN_STEP, Array
from modular.errors import ModelError
from modular.force import Force
from modular.loop import NO_FAILED_ROW, loop
from modular.side import Mark, Side
from modular.views import View


@dataclass(frozen=True)
class AirDrag(Force):
    """A force -(b + c |u|) u on a port that moves with u against the air; `wind` [m/s] is the velocity of the air, left out none.

    c [N s^2/m^2] is half the density times drag coefficient and area; b [N s/m] the drag of slow motion, proportional to it. The
    velocity is that of the new tick, v + dt a, as a `SpringDamper` reads it.
    """

    quadratic: float
    linear: float = 0.0
    wind: Sequence[float] | None = None

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative coefficients, and winds that blow nowhere here."""
        problems = []
        for label, value, unit in (("quadratic", self.quadratic, "N s^2/m^2"), ("linear", self.linear, "N s/m")):
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
                problems.append(f"drag '{name}': {label} = {value!r}; give a finite number from 0 on [{unit}].")
        if self.wind is not None:
            try:
                wind = np.asarray(self.wind, float)
            except (TypeError, ValueError):
                wind = np.array(np.nan)
            if wind.shape != (dimension,) or not np.isfinite(wind).all():
                problems.append(f"drag '{name}': wind = {self.wind!r}; give {dimension} finite numbers [m/s].")
        return problems

    def new_stack(self, dimension: int) -> AirDrags:
        """An empty stack of drags."""
        return AirDrags(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The point of its port."""
        mark = sides[0].point(sides[0].position)
        if mark is None:
            raise ModelError(f"drag '{name}': port '{sides[0].name}' cannot take a force.")
        return [[mark]]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(quadratic=0.4, linear=0.1, wind=(1.3, -0.7, 0.4)[:dimension])


class AirDrags(IsotropicForces):
    """Drags, one row each."""

    hardens = True  # its slope grows with the velocity (coordinator/checks/run_warnings.py)
    law: Array  # b and c, (n, 2)
    wind: Array  # [m/s], (n, d)

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension, drag_loop, request_demand_loop)
        self.column("law", 2)
        self.column("wind", dimension)

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a drag in."""
        assert isinstance(force, AirDrag)
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        self.law[row] = force.linear, force.quadratic
        if force.wind is not None:
            self.wind[row] = force.wind

    @property
    def read_velocity(self) -> list[str]:
        """All."""
        return list(self.names)


@loop
def drag_loop(start: int, stop: int, drags: View, elements: View) -> int:
    """F = -(b + c |u|) u with u = v - wind."""
    for n in range(start, stop):
        law, wind, element = drags.law[n], drags.wind[n], drags.first[n]
        v, force = elements.current_velocity[element], elements.force[element]
        square = 0.0
        for c in range(wind.shape[0]):
            square += (v[c] - wind[c]) ** 2
        share = law[0] + law[1] * np.sqrt(square)
        for c in range(wind.shape[0]):
            force[c] = -share * (v[c] - wind[c])
    return NO_FAILED_ROW


@loop
def request_demand_loop(start: int, stop: int, drags: View, elements: View) -> int:
    """4 dt (b + 2 c |u|): the slope of the force along its velocity, which is the steepest, with the velocity that is shown."""
    dt = elements.clock[GAIN_STEP]
    for n in range(start, stop):
        law, wind, element = drags.law[n], drags.wind[n], drags.first[n]
        square = 0.0
        for c in range(wind.shape[0]):
            square += (elements.velocity[element, c] - wind[c]) ** 2
        drags.damper[n] = 4.0 * dt * (law[0] + 2.0 * law[1] * np.sqrt(square))
        isotropic_demand(drags.damper[n], elements.response[element], elements.demand[element])
    return NO_FAILED_ROW
