"""A mechanism as every program understands it: rods end to end in a vertical plane, taken from one of our assemblies.

So all programs get the same lengths, masses, inertias and gravity, and none of these is written down twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import atan2, hypot
from typing import Any

import numpy as np

from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError


@dataclass(frozen=True)
class Link:
    """A rigid rod in the plane (x, up), from `start` at `angle` from the x axis."""

    start: tuple[float, float]  # [m]
    angle: float  # [rad]
    length: float  # [m]
    mass: float  # [kg]
    centre: float  # distance of the mass centre from the start [m]
    inertia: float  # about the mass centre, across the rod [kg m^2]
    axial: float  # about its own axis, where it is a body in space; else 0

    @property
    def end(self) -> tuple[float, float]:
        """Where it ends [m]."""
        return (
            self.start[0] + self.length * float(np.cos(self.angle)),
            self.start[1] + self.length * float(np.sin(self.angle)),
        )

    @property
    def compliance(self) -> float:
        """Largest acceleration per unit of forces at its two ends, 1/kg: what bounds a spring at an end."""
        first, second = self.centre, self.length - self.centre
        across = np.array([[first * first, -first * second], [-first * second, second * second]])
        return float(np.linalg.eigvalsh(1.0 / self.mass + across / self.inertia)[-1])


@dataclass(frozen=True)
class Mechanism:
    """Rods in a row, the first held at its start; `slide` holds the last end on the x axis."""

    links: tuple[Link, ...]
    spatial: bool
    gravity: float = 9.81  # downwards [m/s^2]
    slide: bool = False

    @property
    def ends(self) -> Array:
        """Ends of all rods at the start [m], (rods, 2)."""
        return np.array([link.end for link in self.links])

    def stiffness(self, dt: float, share: float) -> float:
        """Spring of every joint [N/m], at a share of the largest one that is surely stable at a step, 4 / (dt² λ)."""
        most = 2.0 * max(link.compliance for link in self.links)  # two rods at a joint
        return share * 4.0 / (most * dt * dt)


def mechanism(assembly: Assembly, *, slide: bool = False) -> Mechanism:
    """Read from an assembly of rods at rest; the last axis points up."""
    gravity = -float(assembly.gravity[-1])
    bodies: list[Any] = list(assembly.bodies.values())
    links = []
    for name, body in assembly.bodies.items():
        if not (hasattr(body, "start") and hasattr(body, "end")):
            raise ModelError(f"mechanism: '{name}' is a {type(body).__name__}; only rods with a start and an end do.")
        links.append(_link(body))
    found = Mechanism(tuple(links), spatial=len(assembly.gravity) == 3, gravity=gravity, slide=slide)
    gaps = [np.subtract(b.start, a.end) for a, b in pairwise(bodies)]
    if any(np.abs(gap).max() > 1e-12 for gap in gaps):
        raise ModelError("mechanism: the rods do not follow each other end to end; order them along the chain.")
    return found


def _link(body: Any) -> Link:
    start, end = np.asarray(body.start, float)[[0, -1]], np.asarray(body.end, float)[[0, -1]]
    about = body.mass_properties
    moment = np.asarray(about.second_moment, float)  # second moment of mass about the mass centre
    plane = float(moment[0, 0] + moment[-1, -1])
    along = end - start
    length = hypot(*along)
    centre = float((np.asarray(about.centre, float)[[0, -1]] - start) @ along) / length
    axial = float(np.trace(moment) - np.einsum("i,ij,j", along, moment[np.ix_([0, -1], [0, -1])], along) / length**2)
    spatial = len(body.start) == 3
    return Link(
        (float(start[0]), float(start[1])), atan2(along[1], along[0]), length, float(about.mass), centre, plane,
        axial if spatial else 0.0,
    )  # fmt: skip
