"""Clearance: a ball in its socket, or a pin in its bush, with play."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar, Self

from components.forces.coordinate import AlongCoordinate
from components.forces.stop import Stop, Stops


@dataclass(frozen=True)
class Clearance(AlongCoordinate):
    """A hinge or ball joint with play: two points go freely within `play` of each other, half the difference of the diameters [m].

    Beyond it the ball meets the wall of its socket: a spring and a damper that push back and never pull. stiffness [N/m]: left out,
    it is chosen by the step and the mass that is seen when it is made: stiff, and easy on the step. `restitution`: the share of its
    speed with which the ball leaves a wall that it met fast against `slow` [m/s]; give None beside a damping [N s/m] of your own.
    In the plane it is a pin in a bush; in space a pin in a long bush is two of them, one at either end. It rubs nowhere.
    """

    play: float
    stiffness: float | None = None
    damping: float = 0.0
    restitution: float | None = 0.5
    slow: float = 2e-2

    what: ClassVar[str] = "clearance"

    @property
    def coordinate(self) -> str:
        """Between its two points."""
        return "distance"

    def stop(self) -> Stop:
        """The stop that it is, along the distance of its points."""
        return Stop(
            high=self.play,
            stiffness=self.stiffness,
            damping=self.damping,
            restitution=self.restitution,
            measure="distance",
            slow=self.slow,
        )

    def check(self, name: str, dimension: int) -> list[str]:
        """Play that is none, and what a stop refuses."""
        problems = self.numbers(name, play=0.0)
        if not problems and self.play == 0.0:
            problems.append(f"clearance '{name}': play = 0; a joint without play is a Revolute or a Spherical.")
        return problems or [text.replace("stop '", "clearance '", 1) for text in self.stop().check(name, dimension)]

    @property
    def order(self) -> int:
        """As a stop."""
        return self.stop().order

    def kind(self) -> Hashable:
        """It shares a stack with stops along distances."""
        return self.stop().kind()

    def new_stack(self, dimension: int) -> Stops:
        """An empty stack of stops."""
        return Stops("distance", dimension)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(0.2, stiffness=4.0, restitution=None, damping=0.05)
