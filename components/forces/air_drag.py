"""Drag of the air, or of a wind, on a port."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from components.forces.alike import ask_alike
from modular.elements import GAIN_STEP, STEP, Array, Elements
from modular.errors import ModelError
from modular.force import Force
from modular.ledger import Booked, supply_loop
from modular.loop import FINE, loop
from modular.seen_mass import growth
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

    def kind(self) -> Hashable:
        """All drags share a stack."""
        return AirDrags

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


class AirDrags(Booked):
    """Drags, one row each."""

    law: Array  # b and c, (n, 2)
    wind: Array  # [m/s], (n, d)
    damper: Array  # 4 dt times the steepest slope of the force, as last asked
    margin: Array

    def __init__(self, dimension: int) -> None:
        super().__init__(1, 0, dimension)
        self.column("law", 2)
        self.column("wind", dimension)
        for name in ("damper", "margin"):
            self.column(name)
        self.loops = {"exert": drag_loop, "account": supply_loop, "ask": demand_loop, "grow": grow_loop}

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a drag in."""
        assert isinstance(force, AirDrag)
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        self.law[row] = force.linear, force.quadratic
        if force.wind is not None:
            self.wind[row] = force.wind

    def remove(self, name: str) -> None:
        """Let it go."""
        self.remove_row(name)

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements."""
        self.play("exert", elements)

    @property
    def turns(self) -> bool:
        """What it asks grows with the velocity."""
        return True

    @property
    def read_velocity(self) -> list[str]:
        """All."""
        return list(self.names)

    def ask(self, elements: Elements, dt: float) -> None:
        """E = 4 dt (b + 2 c |u|): the slope of the force along its velocity, which is the steepest."""
        elements.clock[GAIN_STEP] = dt
        self.play("ask", elements)

    def demands(self) -> tuple[Array, Array]:
        """No stiffness, and 4 dt C per drag, as last asked, (n, d, d)."""
        n, one = self.count, np.eye(self.wind.shape[1])
        return np.zeros((n, *one.shape)), self.damper[:n, None, None] * one

    def account(self, elements: Elements, dt: float) -> None:
        """Book the work of the tick that has just passed: it goes to the air, or comes from the wind."""
        elements.clock[STEP] = dt
        self.play("account", elements)


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
    return FINE


@loop
def demand_loop(start: int, stop: int, drags: View, elements: View) -> int:
    """4 dt (b + 2 c |u|), with the velocity that is shown."""
    dt = elements.clock[GAIN_STEP]
    for n in range(start, stop):
        law, wind, element = drags.law[n], drags.wind[n], drags.first[n]
        square = 0.0
        for c in range(wind.shape[0]):
            square += (elements.velocity[element, c] - wind[c]) ** 2
        drags.damper[n] = 4.0 * dt * (law[0] + 2.0 * law[1] * np.sqrt(square))
        ask_alike(drags.damper[n], elements.response[element], elements.load[element])
    return FINE


@loop
def grow_loop(start: int, stop: int, drags: View, elements: View) -> int:
    """The factor by which the step could grow before the body's answer reaches its limit."""
    for n in range(start, stop):
        drags.margin[n] = growth(0.0, drags.damper[n], elements.bound[drags.first[n]])
    return FINE
