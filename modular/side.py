"""What one side of a joint can hold on to: points and directions of a body at its present pose, or of the ground."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from modular.elements import Array


@dataclass(frozen=True)
class Mark:
    """One element chosen by a joint: how its owner finds it again (`weights`) and where it stands now (`value`)."""

    weights: Array
    value: Array


class Side(ABC):
    """A port as a joint sees it when it takes its marks."""

    owner: str  # "crank" or "ground"
    name: str  # "crank.tip" or "ground"
    position: Array  # of the port [m]
    velocity: Array  # [m/s]
    acceleration: Array  # [m/s^2]

    @property
    @abstractmethod
    def frame(self) -> Array:
        """Axes of the port as rows."""

    @abstractmethod
    def point(self, x: Array) -> Mark | None:
        """The material point that stands at `x`; None where the body cannot follow that point."""

    @abstractmethod
    def direction(self, u: Array) -> Mark | None:
        """The body-fixed direction along the unit vector `u`; None where the body has no such direction."""

    @property
    @abstractmethod
    def directions(self) -> Array:
        """Orthonormal basis (rows) of the directions that this side can follow: all, one along a rod, or none."""


class GroundSide(Side):
    """The ground: it holds any point and any direction, and stays."""

    def __init__(self, position: Array, frame: Array) -> None:
        self.owner = self.name = "ground"
        self.position = np.array(position, float)
        self.velocity = np.zeros_like(self.position)
        self.acceleration = np.zeros_like(self.position)
        self._frame = frame

    @property
    def frame(self) -> Array:
        """The axes it was given."""
        return self._frame

    def point(self, x: Array) -> Mark:
        """Any point."""
        return Mark(np.empty(0), np.array(x, float))

    def direction(self, u: Array) -> Mark:
        """Any direction."""
        return Mark(np.empty(0), np.array(u, float))

    @property
    def directions(self) -> Array:
        """All of them."""
        return np.eye(len(self.position))
