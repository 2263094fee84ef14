"""Several bodies as one tree of links, read from bodies and inner joints (reading.py): where all is in terms of its coordinates.

Every inner joint is one or several links in a row, each with one coordinate (a turn about an axis, a way along it, or both at a
fixed ratio) or with a quaternion; links without mass stand between those of one joint. At the start all links are aligned with the
world, so that an axis is the same three numbers on both of its sides: joint by joint, not by the tables of J. Denavit, R. S.
Hartenberg, J. Appl. Mech. 22 (1955) 215-221, or W. Khalil, E. Dombre, "Modélisation, identification et commande des robots",
Hermès 1999, which need frames of their own on every body.

The coordinates are the place of the mass centre of the whole, the turning of the first body, and one joint after the other. With
the mass centre in place of a point of the first body, the whole falls as a point does whatever it does inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from components.bodies.posed.quaternions import mixed
from modular.elements import Array, Indices
from modular.port import Port


class Freedom(NamedTuple):
    """One link after another: how it turns about and goes along an axis with its coordinate, or whether it has a quaternion."""

    ball: bool
    axis: Any  # in the world at the start, (3,)
    turn: float = 1.0  # [rad] per unit of the coordinate
    way: float = 0.0  # [m] per unit of it


class InnerBody(NamedTuple):
    """A rigid body inside: its link, its mass, its mass centre and its ports at the start."""

    link: int
    mass: float
    centre: Array
    ports: Mapping[str, Port]


@dataclass(frozen=True)
class Tree:
    """Links in an order in which every one comes after the one that carries it; frames are aligned with the world at the start."""

    dimension: int
    parent: Indices  # the link that carries it; -1 of the first
    ball: Indices  # 1 where its coordinates are a quaternion
    axis: Array  # (links, 3)
    base: Array  # where it begins in the frame of the one that carries it, at the start [m], (links, 3)
    rates: Array  # turn and way per unit of its coordinate, (links, 2)
    masses: Array  # [kg], (links,)
    middle: Array  # its mass centre in its own frame [m], (links, 3)
    inertia: Array  # about it [kg m^2], (links, 3, 3)
    coordinate: Indices  # its first coordinate
    speed: Indices  # its first speed, of those beside the velocity of the mass centre
    origin: Array  # where it begins in the world at the start [m], (links, 3)
    inner_bodies: Mapping[str, InnerBody]  # rigid bodies by their names
    pace: Array  # rates of all coordinates at the start

    @property
    def links(self) -> int:
        """How many."""
        return len(self.parent)

    @property
    def speeds(self) -> int:
        """Independent motions beside those of the mass centre."""
        return int(self.speed[-1] + (3 if self.ball[-1] else 1))

    @property
    def coordinates(self) -> int:
        """Numbers that say where everything is."""
        return int(self.coordinate[-1] + (4 if self.ball[-1] else 1))

    @property
    def kilograms(self) -> float:
        """Of the whole."""
        return float(self.masses.sum())

    @property
    def quaternions(self) -> list[slice]:
        """Where they are among the coordinates."""
        return [slice(k, k + 4) for k in self.coordinate[self.ball == 1].tolist()]

    @property
    def centre(self) -> Array:
        """The mass centre of the whole at the start [m], (d,)."""
        return np.asarray((self.masses @ (self.origin + self.middle) / self.kilograms)[: self.dimension])

    @property
    def start(self) -> Array:
        """Coordinates at the start."""
        q = np.zeros(self.coordinates)
        q[: self.dimension] = self.centre
        for place in self.quaternions:
            q[place.start] = 1.0
        return q

    @property
    def moments(self) -> Array:
        """First and second moments of every link about its own beginning, [m, m c; m c^T, E], (links, 4, 4)."""
        found = np.zeros((self.links, 4, 4))
        found[:, 0, 0] = self.masses
        found[:, 0, 1:] = found[:, 1:, 0] = self.masses[:, None] * self.middle
        trace = np.trace(self.inertia, axis1=1, axis2=2)
        found[:, 1:, 1:] = 0.5 * trace[:, None, None] * np.eye(3) - self.inertia
        found[:, 1:, 1:] += self.masses[:, None, None] * self.middle[:, :, None] * self.middle[:, None, :]
        return found

    @property
    def carried_by(self) -> Array:
        """1 where a speed moves a link, (links, speeds)."""
        found = np.zeros((self.links, self.speeds))
        for k in range(self.links):
            if self.parent[k] >= 0:
                found[k] = found[self.parent[k]]
            found[k, self.speed[k] : self.speed[k] + (3 if self.ball[k] else 1)] = 1.0
        return found

    # --- where everything is ---------------------------------------------------------------------------------------------

    def motion(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """[p, R] of every link and its two derivatives, (..., links, 3, 4): where it begins, and its axes as columns."""
        shape = np.broadcast_shapes(q.shape, v.shape, a.shape)[:-1]
        found = [np.zeros((*shape, self.links, 3, 4)) for _ in range(3)]
        for k in range(self.links):
            own = self._own(k, q, v, a)
            if self.parent[k] < 0:
                for level in range(3):
                    found[level][..., k, :, :] = own[level]
                continue
            carrier = [level[..., self.parent[k], :, :].copy() for level in found]
            for level, terms in enumerate((((0, 0, 1),), ((1, 0, 1), (0, 1, 1)), ((2, 0, 1), (1, 1, 2), (0, 2, 1)))):
                for one, other, factor in terms:
                    found[level][..., k, :, :] += factor * carrier[one][..., 1:] @ own[other]
                found[level][..., k, :, 0] += carrier[level][..., 0]
        weights = (
            self.masses[:, None] * np.concatenate([np.ones((self.links, 1)), self.middle], axis=1) / self.kilograms
        )
        d = self.dimension
        for order, given in enumerate((q, v, a)):
            found[order][..., 0] -= np.einsum("...kci,ki->...c", found[order], weights)[..., None, :]
            found[order][..., :d, 0] += given[..., None, :d]
        return found[0], found[1], found[2]

    def _own(self, k: int, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """[p, R] of a link in the frame of the one that carries it."""
        at, axis = int(self.coordinate[k]), self.axis[k]
        if self.ball[k]:
            p, dp, ddp = _of_unit_length(q[..., at : at + 4], v[..., at : at + 4], a[..., at : at + 4])
            turns = mixed(p, p), 2.0 * mixed(p, dp), 2.0 * (mixed(p, ddp) + mixed(dp, dp))
            places: tuple[Any, Any, Any] = self.base[k], 0.0, 0.0
        else:
            turn, way = self.rates[k]
            x, dx, ddx = (given[..., at, None, None] for given in (q, v, a))
            across, along = _cross(axis), np.outer(axis, axis)
            c, s, aside = np.cos(turn * x), np.sin(turn * x), np.eye(3) - np.outer(axis, axis)
            slope, bend = turn * (c * across - s * aside), -turn * turn * (s * across + c * aside)
            turns = along + c * aside + s * across, dx * slope, ddx * slope + dx * dx * bend
            places = self.base[k] + way * x[..., 0] * axis, way * dx[..., 0] * axis, way * ddx[..., 0] * axis
        made = []
        for place, part in zip(places, turns, strict=True):
            whole = np.zeros((*part.shape[:-1], 4))
            whole[..., 0], whole[..., 1:] = place, part
            made.append(whole)
        return made[0], made[1], made[2]

    def slopes(self, q: Array) -> Array:
        """How [p, R] of every link follows the coordinates, (coordinates, links, 3, 4)."""
        return self.motion(q[None], np.eye(len(q)), np.zeros(len(q)))[1]

    # --- equations of Lagrange ---------------------------------------------------------------------------------------------

    def mass_matrix(self, q: Array) -> Array:
        """Of all coordinates; along quaternions, where nothing can move, an inertia that leaves it regular."""
        d = self.dimension
        matrix, slopes = np.zeros((len(q), len(q))), self.slopes(q)[d:]
        matrix[d:, d:] = np.einsum("ikca,kab,jkcb->ij", slopes, self.moments, slopes, optimize=True)
        matrix[range(d), range(d)] = self.kilograms
        for place in self.quaternions:
            matrix[place, place] += 4.0 * self.typical_inertia * np.outer(q[place], q[place])
        return matrix

    @property
    def typical_inertia(self) -> float:
        """Of the whole about its mass centre at the start, the mean of three axes [kg m^2]."""
        arms = self.origin + self.middle
        arms = arms - self.masses @ arms / self.kilograms
        return float(
            (np.trace(self.inertia, axis1=1, axis2=2).sum() + 2.0 * self.masses @ np.sum(arms**2, axis=1)) / 3.0
        )


def _of_unit_length(p: Array, dp: Array, ddp: Array) -> tuple[Array, Array, Array]:
    """p / |p| and its two derivatives."""
    size = np.linalg.norm(p, axis=-1, keepdims=True)
    p, dp, ddp = p / size, dp / size, ddp / size
    along = np.sum(p * dp, axis=-1, keepdims=True)
    bend = np.sum(dp * dp + p * ddp, axis=-1, keepdims=True)
    rate = dp - p * along
    return p, rate, ddp - 2.0 * along * dp + (3.0 * along * along - bend) * p


def _cross(axis: Array) -> Array:
    """The matrix of the cross product."""
    x, y, z = axis
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


# --- read from bodies and joints ---------------------------------------------------------------------------------------
