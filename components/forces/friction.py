"""Dry and viscous friction in a joint, with stick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.forces.coordinate import (
    ANCHOR,
    DAMPING,
    EFFORT,
    STIFFNESS,
    AlongCoordinate,
    AlongCoordinates,
    desk_of,
    pull,
    stand,
)  # fmt: skip
from modular.elements import Array
from modular.force import Force
from modular.ledger import STORED
from modular.loop import FINE, loop
from modular.views import View


@dataclass(frozen=True)
class Friction(AlongCoordinate):
    """Friction along a coordinate: it holds up to `dry` [N, N m], slides against no more than that, and `viscous` [N s/m, …] adds.

    What holds is a spring with a memory: its end stays where it is, until the spring carries `dry`; then it is dragged along. So
    what is stuck does not creep. Dry friction is for couplings of order 2: steps of higher order go back in time in some of their
    stages, and are refused. `stiffness` [N/m, N m/rad] of that spring; left out, it is chosen by the step and the mass that is
    seen along the coordinate when it is made. A little damping goes with it while it holds, `ratio` of the critical one.
    """

    dry: float
    viscous: float = 0.0
    stiffness: float | None = None
    measure: str = "angle"
    axis: Sequence[float] | None = None
    ratio: float = 0.1

    what: ClassVar[str] = "friction"

    def check(self, name: str, dimension: int) -> list[str]:
        """Negative values."""
        problems = super().check(name, dimension) + self.numbers(name, dry=0.0, viscous=0.0, stiffness=0.0, ratio=0.0)
        if not problems and self.stiffness == 0.0:
            problems.append(f"friction '{name}': stiffness = 0; leave it out, or give a positive one.")
        return problems

    def new_stack(self, dimension: int) -> Frictions:
        """An empty stack of frictions."""
        return Frictions(self.measure, dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(0.05, 0.01, stiffness=5.0, axis=None if dimension == 2 else (0.3, -0.5, 0.8))


class Frictions(AlongCoordinates):
    """Frictions, one row each."""

    law: Array  # dry and viscous

    def __init__(self, measure: str, dimension: int) -> None:
        super().__init__(measure, dimension, friction_loop)
        self.column("law", 2)

    @property
    def slips(self) -> bool:
        """Whether any of them is dry: where time goes back, what holds would push along instead of braking."""
        return bool(self.law[: self.count, 0].any())

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a friction in."""
        assert isinstance(force, Friction)
        row = self.take(name, force, first)
        self.law[row] = force.dry, force.viscous
        self.gains[row] = -1.0 if force.stiffness is None else force.stiffness, force.viscous, force.ratio


@loop
def friction_loop(start: int, stop: int, frictions: View, elements: View) -> int:
    """F = k (s - s_0) + d s', at most dry, and s_0 is moved where it has to slip; beside it c s'."""
    desk = desk_of(frictions)
    for n in range(start, stop):
        s, rate = stand(frictions, elements, n, desk)
        dry, viscous = frictions.law[n, 0], frictions.law[n, 1]
        stiffness, anchor = max(frictions.gains[n, STIFFNESS], 0.0), frictions.kept[n, ANCHOR]
        hold, damper = stiffness * (s - anchor), (frictions.gains[n, DAMPING] - viscous) * rate
        if abs(hold) > dry:
            hold, damper = dry if hold > 0.0 else -dry, 0.0
            anchor = s - hold / stiffness
        damper = max(-dry, min(hold + damper, dry)) - hold
        frictions.tried[n, ANCHOR] = anchor
        frictions.ledger[n, STORED] = 0.5 * hold * hold / stiffness if stiffness > 0.0 else 0.0
        frictions.power[n] = (damper + viscous * rate) * rate
        pull(frictions, elements, n, hold + damper + viscous * rate, desk)
        frictions.tried[n, EFFORT] = hold
    return FINE
