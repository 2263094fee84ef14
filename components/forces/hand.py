"""A hand: it holds a point of a body and draws it to a target that can be moved while it pulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from components.forces.isotropic import IsotropicForces, isotropic_demand
from modular.elements import GAIN_STEP, Array, Indices
from modular.errors import ModelError
from modular.force import Force
from modular.loop import NO_FAILED_ROW, loop
from modular.side import Mark, Side
from modular.views import View


@dataclass(frozen=True)
class Hand(Force):
    """Pulls with -k (x - target) - c v, shortened to `most` where it would be more.

    stiffness k [N/m], damping c [N s/m], most [N]. `point` is where it takes hold, in the world as the body stands then [m];
    left out, the port itself. `target` is where it draws to at first [m]; left out, where it took hold. `Simulation.aim` moves
    the target. The velocity is that of the new tick, v + dt a, as a `SpringDamper` reads it.
    """

    stiffness: float
    damping: float
    most: float
    point: Sequence[float] | None = None
    target: Sequence[float] | None = None

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    @property
    def order(self) -> int:
        """Two: it is shortened to `most`, which it meets within ticks."""
        return 2

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative or missing values, and places that are none here."""
        problems = []
        for label, value, unit in (("stiffness", self.stiffness, "N/m"), ("damping", self.damping, "N s/m")):
            if not (_is_number(value) and value >= 0):
                problems.append(f"hand '{name}': {label} = {value!r}; give a finite number from 0 on [{unit}].")
        if not (_is_number(self.most) and self.most > 0):
            problems.append(f"hand '{name}': most = {self.most!r}; give the largest pull, a finite number above 0 [N].")
        for label, place in (("point", self.point), ("target", self.target)):
            if place is not None and not _is_place(place, dimension):
                problems.append(f"hand '{name}': {label} = {place!r}; give {dimension} finite numbers [m].")
        return problems

    def new_stack(self, dimension: int) -> Hands:
        """An empty stack of hands."""
        return Hands(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The material point where it takes hold."""
        side = sides[0]
        place = side.position if self.point is None else np.array(self.point, float)
        mark = side.point(place)
        if mark is None:
            raise ModelError(
                f"hand '{name}': body '{side.owner}' cannot follow the point {tuple(np.round(place, 9).tolist())}, which lies off "
                "its line; take hold of it on the line, or give it inertia across it (Rod: radius=…)."
            )
        return [[mark]]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(stiffness=9.0, damping=1.3, most=25.0, target=(0.3, 0.9, -0.5)[:dimension])


class Hands(IsotropicForces):
    """Hands, one row each; their targets are columns, so that they go wherever the stack goes."""

    recorded = ("target",)
    law: Array  # k, c and the largest pull, (n, 3)
    target: Array  # [m], (n, d)
    aimed: Indices  # 1 once there is a target; before, the first look takes it from where the hand has taken hold

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension, pull_loop, request_demand_loop)
        self.column("law", 3)
        self.column("target", dimension)
        self.column("aimed", dtype=np.int64)

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a hand in."""
        assert isinstance(force, Hand)
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        self.law[row] = force.stiffness, force.damping, force.most
        target = force.point if force.target is None else force.target
        if target is not None:
            self.aim(name, np.array(target, float))

    def aim(self, name: str, target: Array) -> None:
        """From now on draw there."""
        row = self.row[name]
        self.target[row], self.aimed[row] = target, 1

    @property
    def turns(self) -> bool:
        """It pulls back alike in all directions, so what it asks turns with the body, as of a ball joint."""
        return False

    @property
    def read_velocity(self) -> list[str]:
        """Those with a damper."""
        return [name for name, damping in zip(self.names, self.law[:, 1], strict=False) if damping != 0.0]


@loop
def pull_loop(start: int, stop: int, hands: View, elements: View) -> int:
    """F = -k (x - target) - c v, shortened to the largest pull."""
    size = hands.target.shape[0]
    for n in range(start, stop):
        law, target, element = hands.law[n], hands.target[n], hands.first[n]
        x, v, force = elements.position[element], elements.current_velocity[element], elements.force[element]
        if hands.aimed[n] == 0:
            hands.aimed[n] = 1
            for c in range(size):
                target[c] = x[c]
        square = 0.0
        for c in range(size):
            force[c] = -law[0] * (x[c] - target[c]) - law[1] * v[c]
            square += force[c] * force[c]
        if square > law[2] * law[2]:
            share = law[2] / np.sqrt(square)
            for c in range(size):
                force[c] *= share
    return NO_FAILED_ROW


@loop
def request_demand_loop(start: int, stop: int, hands: View, elements: View) -> int:
    """dt^2 k + 4 dt c; where the pull is shortened it is softer than that."""
    dt = elements.clock[GAIN_STEP]
    for n in range(start, stop):
        law, element = hands.law[n], hands.first[n]
        hands.spring[n], hands.damper[n] = dt * dt * law[0], 4.0 * dt * law[1]
        isotropic_demand(hands.spring[n] + hands.damper[n], elements.response[element], elements.demand[element])
    return NO_FAILED_ROW


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _is_place(value: object, dimension: int) -> bool:
    try:
        place = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return place.shape == (dimension,) and bool(np.isfinite(place).all())
