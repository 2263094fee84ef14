"""Mass properties from shapes: what a body weighs, where its centre is and how it resists turning, from what people can measure.

All is kept as second moments P = integral of r r^T dm about the mass centre, which add by Steiner's theorem; the inertia is
tr(P) 1 - P (Séguy 2003, A1.11, the other way round).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import pi
from typing import Any

import numpy as np

from components.bodies import RigidBody
from components.polyhedra import moments_of
from modular.elements import Array
from modular.errors import ModelError
from modular.numbers import number

VANISHING = 1e-12  # of the larger mass: what is left of a difference below it is rounding


@dataclass(frozen=True, eq=False)
class Solid:
    """A mass: how much [kg], its centre [m] and its second moment about that [kg m^2], in the axes that it was written in.

    Made by `Solid.box`, `ball`, `cylinder`, `capsule`, `mesh`, each with `density` [kg/m^3] or `mass` [kg], about the origin;
    `moved` and `turned` put it elsewhere, `+` joins two, `-` takes one out of another (a hole), and `body` makes a body of it.
    """

    mass: float
    centre: Array
    second_moment: Array

    @classmethod
    def box(cls, x: float, y: float, z: float, *, density: float | None = None, mass: float | None = None) -> Solid:
        """Edges along the axes [m]."""
        x, y, z = _lengths("box", x=x, y=y, z=z)
        return cls._even("box", x * y * z, np.array([x * x, y * y, z * z]) / 12.0, density, mass)

    @classmethod
    def ball(cls, radius: float, *, density: float | None = None, mass: float | None = None) -> Solid:
        """Filled."""
        (r,) = _lengths("ball", radius=radius)
        return cls._even("ball", 4.0 / 3.0 * pi * r**3, np.full(3, r * r / 5.0), density, mass)

    @classmethod
    def cylinder(
        cls, radius: float, length: float, *, density: float | None = None, mass: float | None = None
    ) -> Solid:
        """Filled, along the z axis."""
        r, h = _lengths("cylinder", radius=radius, length=length)
        moments = np.array([r * r / 4.0, r * r / 4.0, h * h / 12.0])
        return cls._even("cylinder", pi * r * r * h, moments, density, mass)

    @classmethod
    def capsule(cls, radius: float, length: float, *, density: float | None = None, mass: float | None = None) -> Solid:
        """A filled cylinder along the z axis, `length` long, with half a ball on each end."""
        r, h = _lengths("capsule", radius=radius, length=length)
        middle, ends = pi * r * r * h, 4.0 / 3.0 * pi * r**3  # volumes
        # of half a ball about its flat side: V r^2 / 5 along each axis, its centre stands 3 r / 8 off it
        across = (middle * r * r / 4.0 + ends * r * r / 5.0) / (middle + ends)
        along = (middle * h * h / 12.0 + ends * (r * r / 5.0 + 3.0 * r * h / 8.0 + h * h / 4.0)) / (middle + ends)
        return cls._even("capsule", middle + ends, np.array([across, across, along]), density, mass)

    @classmethod
    def mesh(
        cls, points: Sequence[Sequence[float]], faces: Sequence[Sequence[int]], *, density: float | None = None,
        mass: float | None = None,
    ) -> Solid:  # fmt: skip
        """What flat faces close in: places [m], and for each face the numbers of its places, all the same way round."""
        volume, centre, second = moments_of(points, faces)
        even = cls._even("mesh", volume, np.zeros(3), density, mass)
        return cls(even.mass, centre, even.mass * second)

    @classmethod
    def point(cls, mass: float, at: Sequence[float] = (0.0, 0.0, 0.0)) -> Solid:
        """All of it in one place."""
        return cls(_positive("point", "mass", mass, "kg"), _vector("point", "at", at), np.zeros((3, 3)))

    @classmethod
    def given(cls, mass: float, inertia: Any, centre: Sequence[float] = (0.0, 0.0, 0.0)) -> Solid:
        """By its mass and its inertia about the centre: a 3 x 3 tensor or three principal values [kg m^2]."""
        tensor = np.asarray(inertia, float)
        tensor = np.diag(tensor) if tensor.shape == (3,) else tensor
        if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
            raise ModelError(
                f"Solid.given: inertia = {inertia!r}; give a 3 x 3 tensor or three finite numbers [kg m^2]."
            )
        second = 0.5 * np.trace(tensor) * np.eye(3) - tensor
        return cls(_positive("given", "mass", mass, "kg"), _vector("given", "centre", centre), second)

    @classmethod
    def sum(cls, *solids: Solid) -> Solid:
        """All of them as one."""
        if not solids:
            raise ModelError("Solid.sum: there is nothing to add; give one solid or more.")
        return reduce(Solid.__add__, solids)

    @classmethod
    def _even(cls, what: str, volume: float, per_mass: Array, density: float | None, mass: float | None) -> Solid:
        """Of one density."""
        if (density is None) == (mass is None):
            raise ModelError(f"Solid.{what}: density = {density}, mass = {mass}; give one of both.")
        if density is not None:
            mass = volume * _positive(what, "density", density, "kg/m^3")
        total = _positive(what, "mass", mass, "kg")
        return cls(total, np.zeros(3), np.diag(total * per_mass))

    @property
    def inertia(self) -> Array:
        """About its centre [kg m^2], (3, 3)."""
        return np.asarray(np.trace(self.second_moment) * np.eye(3) - self.second_moment)

    def moved(self, by: Sequence[float]) -> Solid:
        """The same elsewhere [m]."""
        return Solid(self.mass, self.centre + _vector("moved", "by", by), self.second_moment)

    def turned(self, rotation: Sequence[Sequence[float]] | Array) -> Solid:
        """The same turned about the origin by a rotation matrix R: x becomes R x."""
        R = np.asarray(rotation, float)
        if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0.0:
            raise ModelError(
                f"Solid.turned: rotation = {rotation!r}; give a 3 x 3 rotation matrix, such as "
                "scipy.spatial.transform.Rotation.from_euler(…).as_matrix()."
            )
        return Solid(self.mass, R @ self.centre, R @ self.second_moment @ R.T)

    def __add__(self, other: Solid) -> Solid:
        """Both as one; Steiner's theorem."""
        mass = self.mass + other.mass
        apart = other.centre - self.centre
        second = self.second_moment + other.second_moment + self.mass * other.mass / mass * np.outer(apart, apart)
        return Solid(mass, self.centre + other.mass / mass * apart, second)

    def __sub__(self, hole: Solid) -> Solid:
        """This without that, which must lie inside it."""
        mass = self.mass - hole.mass
        if not mass > VANISHING * self.mass:
            raise ModelError(f"Solid: {hole.mass:.6g} kg cannot be taken out of {self.mass:.6g} kg; take out less.")
        apart = hole.centre - self.centre
        second = self.second_moment - hole.second_moment - self.mass * hole.mass / mass * np.outer(apart, apart)
        least = np.linalg.eigvalsh(second)[0]
        if least < -VANISHING * np.trace(self.second_moment):
            raise ModelError(
                f"Solid: what is taken out at {hole.centre.tolist()} does not lie inside; a second moment of "
                f"{least:.3g} kg m^2 would be left. Move it, or take out less."
            )
        return Solid(mass, self.centre - hole.mass / mass * apart, second)

    def body(self, ports: Mapping[str, Any] | None = None, *, plane: bool = False, **more: Any) -> RigidBody:
        """A `RigidBody` of it; with `plane` one in the plane of x and y. `more` goes to the body (`velocity=…`)."""
        inertia: Any = float(self.inertia[2, 2]) if plane else tuple(map(tuple, self.inertia.tolist()))
        centre = tuple(self.centre.tolist()[: 2 if plane else 3])
        return RigidBody(mass=self.mass, inertia=inertia, centre=centre, ports=dict(ports or {}), **more)


def _positive(what: str, label: str, value: Any, unit: str) -> float:
    found = number(value, f"Solid.{what}: {label}", unit)
    if not found > 0.0:
        raise ModelError(f"Solid.{what}: {label} = {value} {unit}; give a number above 0.")
    return found


def _lengths(what: str, **given: Any) -> tuple[float, ...]:
    return tuple(_positive(what, label, value, "m") for label, value in given.items())


def _vector(what: str, label: str, given: Any) -> Array:
    try:
        found = np.array(given, float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ModelError(f"Solid.{what}: {label} = {given!r}; give three finite numbers [m].")
    return found
