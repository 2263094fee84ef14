"""Instruments on a mechanism that controllers read while it moves; Renaud and Dion 2024, 9.3.

What they show is what coordinator/record/sensors.py finds in a run afterwards. A sensor of your own says in `read` what it makes of
what there is to see (`Observation`): places, axes, forces of joints and of others, as they were at the end of the last tick.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Observation
from modular.joint import unit


class Sensor(Component):
    """Shows a number, or several."""

    turns: ClassVar[bool] = False  # whether it shows an angle, which is to go on over turns

    @abstractmethod
    def read(self, observation: Observation) -> Any:
        """What it shows now."""


@dataclass(frozen=True)
class AngleBetween(Sensor):
    """From the x axis of one port to that of another about the z axis of the first [rad], over any number of turns.

    `first` may be "ground".
    """

    first: str
    second: str

    turns: ClassVar[bool] = True

    def read(self, observation: Observation) -> float:
        """Between -pi and pi; whoever asks often enough counts the turns."""
        base, x = observation.axes(self.first), observation.axes(self.second)[0]
        return float(np.arctan2(base[1] @ x, base[0] @ x))


@dataclass(frozen=True)
class TurningBetween(Sensor):
    """How fast the second port turns against the first, about the z axis of the first [rad/s]."""

    first: str
    second: str

    def read(self, observation: Observation) -> float:
        """The difference of their angular velocities."""
        change = observation.spin(self.second) - observation.spin(self.first)
        return float(change[0] if len(change) == 1 else observation.axes(self.first)[2] @ change)


@dataclass(frozen=True)
class DistanceBetween(Sensor):
    """Of two ports [m]; with `rate` how fast it grows [m/s]."""

    first: str
    second: str
    rate: bool = False

    def read(self, observation: Observation) -> float:
        """The length of what lies between."""
        (a, da, _), (b, db, _) = observation.motion(self.first), observation.motion(self.second)
        length = float(np.linalg.norm(b - a))
        if not self.rate:
            return length
        return float((b - a) @ (db - da)) / length if length > 0.0 else 0.0


@dataclass(frozen=True)
class WayBetween(Sensor):
    """From one port to another along `axis`, a direction in the axes of the first port [m]; with `rate` as seen from it [m/s].

    Against the ground it is counted from the origin of the world.
    """

    first: str
    second: str
    axis: Sequence[float]
    rate: bool = False

    def read(self, observation: Observation) -> float:
        """The way along a line that goes with the first port."""
        (a, da, _), (b, db, _) = observation.motion(self.first), observation.motion(self.second)
        line = unit("sensor", self.axis, len(a)) @ observation.axes(self.first)
        if not self.rate:
            return float(line @ (b - a))
        spin, arm = observation.spin(self.first), b - a
        carried = spin[0] * np.array([-arm[1], arm[0]]) if len(arm) == 2 else np.cross(spin, arm)
        return float(line @ (db - da - carried))


@dataclass(frozen=True)
class Accelerometer(Sensor):
    """What an accelerometer fixed to a port feels along its axes: acceleration less gravity [m/s^2]."""

    port: str

    def read(self, observation: Observation) -> Array:
        """At rest it shows g upwards, in free fall nothing."""
        return np.asarray(observation.axes(self.port) @ (observation.motion(self.port)[2] - observation.gravity))


@dataclass(frozen=True)
class OutputOf(Sensor):
    """A variable that the program within a body shows, one of the `outputs` of an `Fmu`, in SI units."""

    body: str
    name: str

    def read(self, observation: Observation) -> float:
        """As it was at the end of the last tick."""
        return observation.output(self.body, self.name)


@dataclass(frozen=True)
class ForceIn(Sensor):
    """Force of a joint, a spring or any other force on its second port (or on its only one), along the axes of a port [N].

    `port` left out: along the axes of the world. `tension`: a number alone, by how much it pulls its two ports together.
    """

    name: str
    port: str = "ground"
    tension: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tension and self.port != "ground":
            raise ModelError(f"ForceIn('{self.name}'): a tension has no axes; leave port out.")

    def read(self, observation: Observation) -> Any:
        """As it was in the last tick."""
        force, between = observation.force(self.name)
        if not self.tension:
            return observation.axes(self.port) @ force
        length = float(np.linalg.norm(between))
        return -float(force @ between) / length if length > 0.0 else 0.0
