"""Torsors: what a rigid body does, or what is done to it, as a resultant and a moment that belongs to a point.

    twist            angular velocity [rad/s],      velocity of the point [m/s]
    wrench           force [N],                     moment about the point [N m]
    momentum         linear momentum [kg m/s],      angular momentum about the point [kg m^2/s]
    momentum_rate    its rate [N],                  [N m]

At another point the resultant is the same, and M(B) = M(A) + BA x R. Numbers may be anything that is added and multiplied: floats,
samples over time (..., 3), expressions. In the plane x and y are those of the plane, and turns and moments are about z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modular.errors import ModelError

Vector = Any  # (..., 3), of floats or of expressions
TWIST, WRENCH, MOMENTUM, MOMENTUM_RATE = "twist", "wrench", "momentum", "momentum_rate"
FORCES = frozenset({WRENCH, MOMENTUM_RATE})  # what is balanced against each other
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Torsor:
    """Resultant and moment at a point, all along the axes of the world; samples over time in front (..., 3)."""

    kind: str
    resultant: Vector
    moment: Vector
    point: Vector

    # --- made ----------------------------------------------------------------------------------------------------------

    @classmethod
    def twist(cls, angular_velocity: Any, velocity: Any, point: Any = ORIGIN) -> Torsor:
        """How a body moves: its angular velocity, and the velocity of its point that is there."""
        return cls(TWIST, _spin(angular_velocity), _vector(velocity), _vector(point))

    @classmethod
    def wrench(cls, force: Any, moment: Any = 0.0, point: Any = ORIGIN) -> Torsor:
        """What acts on a body: a force through the point and a moment."""
        return cls(WRENCH, _vector(force), _spin(moment), _vector(point))

    @classmethod
    def momentum(cls, linear: Any, angular: Any, point: Any = ORIGIN) -> Torsor:
        """Of a body, with its angular momentum about the point."""
        return cls(MOMENTUM, _vector(linear), _spin(angular), _vector(point))

    @classmethod
    def momentum_rate(cls, linear: Any, angular: Any, point: Any = ORIGIN) -> Torsor:
        """How momentum changes: what all forces on a body come to. About a point that stands still."""
        return cls(MOMENTUM_RATE, _vector(linear), _spin(angular), _vector(point))

    # --- at other points, along other axes -------------------------------------------------------------------------------

    def at(self, point: Any) -> Torsor:
        """The same torsor, told at another point: M(B) = M(A) + BA x R."""
        there = _vector(point)
        return Torsor(self.kind, self.resultant, self.moment + _cross(self.point - there, self.resultant), there)

    def along(self, axes: Any) -> tuple[Vector, Vector]:
        """Components of resultant and moment along axes, the rows of (..., 3, 3), such as `run.axes(port)`; (2, 2) in the plane."""
        frame = _frame(axes)
        return _times(frame, self.resultant), _times(frame, self.moment)

    def carried(self, rotation: Any, offset: Any = ORIGIN) -> Torsor:
        """The torsor of the same thing turned about the origin and then moved as a whole, its point too."""
        turn = _frame(rotation)
        parts = (_times(turn, part) for part in (self.resultant, self.moment, self.point))
        resultant, moment, point = parts
        return Torsor(self.kind, resultant, moment, point + _vector(offset))

    # --- together --------------------------------------------------------------------------------------------------------

    def __add__(self, other: Torsor) -> Torsor:
        """Both, at the point of the first."""
        kind = self._kind_with(other, "sum")
        there = other.at(self.point)
        return Torsor(kind, self.resultant + there.resultant, self.moment + there.moment, self.point)

    def __sub__(self, other: Torsor) -> Torsor:
        return self + (-other)

    def __neg__(self) -> Torsor:
        return Torsor(self.kind, -self.resultant, -self.moment, self.point)

    def __mul__(self, number: Any) -> Torsor:
        return Torsor(self.kind, number * self.resultant, number * self.moment, self.point)

    __rmul__ = __mul__

    def __getitem__(self, sample: Any) -> Torsor:
        """One or several of the samples."""
        parts = [np.broadcast_to(part, np.broadcast_shapes(*self._shapes())) for part in self._parts()]
        return Torsor(self.kind, *(part[sample] for part in parts))

    def comoment(self, other: Torsor) -> Any:
        """R1 . M2 + R2 . M1, at any point: the power of a wrench along a twist [W]; of a momentum, twice the kinetic energy [J]."""
        if (self.kind == TWIST) == (other.kind == TWIST):
            raise ModelError(
                f"the comoment of a {self.kind} and a {other.kind} is not a power; give a twist and a wrench or a "
                "momentum."
            )
        there = other.at(self.point)
        return (self.resultant * there.moment).sum(axis=-1) + (there.resultant * self.moment).sum(axis=-1)

    def momentum_of(self, mass: Any, inertia: Any, centre: Any) -> Torsor:
        """Of a body with this twist: mass [kg], inertia about its centre along the axes of the world [kg m^2], centre [m]."""
        self._must_be(TWIST, "momentum_of")
        here = self.at(centre)
        tensor = np.asarray(inertia)
        turning = inertia * here.resultant if tensor.ndim == 0 else _times(_numbers(tensor), here.resultant)
        return Torsor(MOMENTUM, mass * here.moment, turning, here.point)

    # --- its axis ----------------------------------------------------------------------------------------------------------

    def pitch(self) -> Any:
        """Moment along the resultant for one of it: M . R / R^2; at any point."""
        return (self.resultant * self.moment).sum(axis=-1) / (self.resultant * self.resultant).sum(axis=-1)

    def axis(self) -> tuple[Vector, Vector]:
        """A point of the axis on which the moment is along the resultant, the nearest to this point, and the resultant."""
        squared = (self.resultant * self.resultant).sum(axis=-1)
        return self.point + _cross(self.resultant, self.moment) / np.expand_dims(squared, -1), self.resultant

    # --- parts of it -------------------------------------------------------------------------------------------------------

    def _parts(self) -> tuple[Vector, Vector, Vector]:
        return self.resultant, self.moment, self.point

    def _shapes(self) -> list[tuple[int, ...]]:
        return [part.shape for part in self._parts()]

    def _kind_with(self, other: Torsor, what: str) -> str:
        if not isinstance(other, Torsor):
            raise ModelError(f"{what} of a torsor and {other!r}: give another torsor.")
        if self.kind == other.kind:
            return self.kind
        if {self.kind, other.kind} <= FORCES:
            return WRENCH
        raise ModelError(
            f"the {what} of a {self.kind} and a {other.kind} is not defined; take two torsors of the same kind."
        )

    def _must_be(self, kind: str, who: str) -> None:
        if self.kind != kind:
            raise ModelError(f"{who}: this torsor is a {self.kind}; it takes a {kind}.")


# --- vectors of anything -------------------------------------------------------------------------------------------------------


def _numbers(values: Any) -> Any:
    given = np.asarray(values)
    return given if given.dtype == object else given.astype(float)


def _vector(values: Any) -> Vector:
    """Three components; those of the plane get a third that is nothing."""
    given = _numbers(values)
    if given.ndim == 0 or given.shape[-1] not in (2, 3):
        raise ModelError(f"torsor: {values!r} is not a vector; give two components in the plane, three in space.")
    return given if given.shape[-1] == 3 else np.concatenate([given, 0 * given[..., :1]], axis=-1)


def _spin(values: Any) -> Vector:
    """Of a turn: three components; a number alone, or (..., 1), is about z."""
    given = _numbers(values)
    if given.ndim and given.shape[-1] == 3:
        return given
    if given.ndim and given.shape[-1] != 1:
        raise ModelError(
            f"torsor: an array of shape {given.shape} is not a rotation; give three components, or one: a number about "
            "z, or samples of it as a column (n, 1)."
        )
    about_z = np.asarray(given[..., 0] if given.ndim else given)
    nothing = np.asarray(0 * about_z)
    return np.stack([nothing, nothing, about_z], axis=-1)


def _frame(axes: Any) -> Any:
    given = _numbers(axes)
    if given.shape[-2:] == (3, 3):
        return given
    if given.shape[-2:] != (2, 2):
        raise ModelError(f"torsor: axes of shape {given.shape}; give three rows of three, or two of two in the plane.")
    whole = np.zeros((*given.shape[:-2], 3, 3), given.dtype)
    whole[..., :2, :2] = given
    whole[..., 2, 2] = 1
    return whole


def _cross(a: Vector, b: Vector) -> Vector:
    parts: Sequence[Any] = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def _times(matrix: Any, vector: Vector) -> Vector:
    return (matrix * vector[..., None, :]).sum(axis=-1)
