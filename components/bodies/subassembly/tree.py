"""Several bodies as one tree of links: read from bodies and inner joints, and where everything is in terms of its coordinates.

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
from dataclasses import dataclass, replace
from math import pi
from typing import Any, NamedTuple

import numpy as np

from components.bodies.natural.description import NaturalBody
from components.bodies.natural.rigid_data import tensor_of
from components.bodies.posed.newton_euler import NewtonEulerBody
from components.bodies.posed.quaternions import mixed
from components.joints.cylindrical import Cylindrical
from components.joints.fixed import Fixed
from components.joints.marks import line_of, shown
from components.joints.prismatic import Prismatic
from components.joints.revolute import Revolute
from components.joints.screw import Screw
from components.joints.spherical import Spherical
from components.joints.universal import Universal
from modular.body import Body
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.joint import Joint, unit
from modular.port import Port
from modular.side import GroundSide

UPRIGHT = (0.0, 0.0, 1.0)
CLOSURE_GAP_TOLERANCE = 1e-8  # of the size of the whole: how far an inner joint may stand open at the start
VELOCITY_TOLERANCE = 1e-9  # of the velocities at the start: how far they may run against inner joints
ZERO_INERTIA_TOLERANCE = 1e-11  # of what it would be: inertia that counts as none


class Freedom(NamedTuple):
    """One link after another: how it turns about and goes along an axis with its coordinate, or whether it has a quaternion."""

    ball: bool
    axis: Any  # in the world at the start, (3,)
    turn: float = 1.0  # [rad] per unit of the coordinate
    way: float = 0.0  # [m] per unit of it


class Piece(NamedTuple):
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
    pieces: Mapping[str, Piece]  # rigid bodies by their names
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
    def key(self) -> tuple[Any, ...]:
        """All that decides how it moves."""
        arrays = (self.parent, self.ball, self.axis, self.base, self.rates, self.masses, self.middle, self.inertia)
        return tuple(array.tobytes() for array in arrays)

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


class Inner(NamedTuple):
    """An inner joint between ports of rigid bodies."""

    name: str
    joint: Joint
    first: str
    first_port: str
    second: str
    second_port: str


class Parts(NamedTuple):
    """Rigid bodies, inner joints and outer ports, whatever was nested."""

    bodies: dict[str, Body]
    joints: list[Inner]
    ports: dict[str, tuple[str, str]]


def is_rigid(body: object) -> bool:
    """Whether it is a rigid body that a link can be made of."""
    return isinstance(body, NaturalBody | NewtonEulerBody)


def ports_of(body: Any) -> Mapping[str, Port]:
    """Ports as the body stands at the start."""
    found: Mapping[str, Port] = body.places if isinstance(body, NaturalBody) else body.ports
    return found


def mass_of(body: Any) -> tuple[float, Array, Array]:
    """Mass, mass centre and inertia about it, in space (in the plane all turns are about z)."""
    if isinstance(body, NaturalBody):
        about = body.mass_properties
        mass, centre = float(about.mass), about.centre
        inertia = np.trace(about.second_moment) * np.eye(len(centre)) - about.second_moment
        if len(centre) == 2:
            inertia = np.trace(about.second_moment)
    else:
        mass, centre, inertia = float(body.mass), np.asarray(body.centre, float), tensor_of(body.inertia)
    if len(centre) == 2:
        return mass, np.array([*centre, 0.0]), np.diag([0.0, 0.0, float(inertia)])
    return mass, np.asarray(centre, float), np.asarray(inertia, float)


def tree_of(parts: Parts, owner: str) -> Tree:
    """The tree of links; refused where it is none."""
    names = list(parts.bodies)
    if not names:
        raise ModelError(f"{owner} has no bodies inside; give at least one.")
    dimensions = {body.dimension for body in parts.bodies.values()}
    if len(dimensions) > 1:
        raise ModelError(f"{owner} mixes planar and spatial bodies; give all of one kind.")
    d = dimensions.pop()
    beside: dict[str, list[tuple[str, Inner]]] = {name: [] for name in names}
    for one in parts.joints:
        beside[one.first].append((one.second, one))
        beside[one.second].append((one.first, one))
    made = _Growing(parts, owner, d)
    made.plant(names[0])
    waiting, used = [names[0]], 0
    while waiting:
        here = waiting.pop(0)
        for there, one in sorted(beside[here], key=lambda pair: names.index(pair[0])):
            if there not in made.link:
                made.hang(here, there, one)
                waiting.append(there)
                used += 1
    loose = [name for name in names if name not in made.link]
    if loose:
        raise ModelError(f"{owner}: no inner joint holds '{loose[0]}' to '{names[0]}'; join all bodies inside.")
    if used < len(parts.joints):
        closing = next(one for one in parts.joints if one not in made.used)
        raise ModelError(
            f"{owner}: the inner joint '{closing.name}' closes a loop; leave it out, and make it outside between two outer ports."
        )
    return made.tree()


class _Growing:
    """A tree in the making."""

    def __init__(self, parts: Parts, owner: str, dimension: int) -> None:
        self.parts, self.owner, self.dimension = parts, owner, dimension
        self.link: dict[str, int] = {}  # of bodies
        self.freedoms: list[Freedom] = []
        self.parents: list[int] = []
        self.origins: list[Array] = []
        self.used: list[Inner] = []
        points = [
            x for body in parts.bodies.values() for x in (mass_of(body)[1], *map(_in_space, ports_of(body).values()))
        ]
        self.size = float(np.ptp(np.array(points), axis=0).max()) or 1.0

    def _add(self, freedom: Freedom, parent: int, origin: Array) -> int:
        self.freedoms.append(freedom)
        self.parents.append(parent)
        self.origins.append(origin)
        return len(self.freedoms) - 1

    def plant(self, name: str) -> None:
        """The first body, which turns freely."""
        freedom = Freedom(self.dimension == 3, UPRIGHT)
        self.link[name] = self._add(freedom, -1, mass_of(self.parts.bodies[name])[1])

    def hang(self, here: str, there: str, one: Inner) -> None:
        """A body on one that is there already."""
        ends = []
        for name, port in ((one.first, one.first_port), (one.second, one.second_port)):
            stands = ports_of(self.parts.bodies[name])[port]
            ends.append(GroundSide(np.asarray(stands.point, float), stands.frame(f"port '{name}.{port}'")))
            ends[-1].owner = name
        a, b = ends[0].position, ends[1].position
        said = f"{self.owner}: inner joint '{one.name}'"
        try:
            gap = one.joint.gap(ends[0], ends[1], a, b)
            freedoms = freedoms_of(one.joint, one.name, ends[0], self.dimension, swapped=there == one.first)
        except ModelError as error:
            raise ModelError(f"{self.owner}: inner {error}") from error
        if freedoms is None:
            raise ModelError(
                f"{said}: {type(one.joint).__name__} cannot be an inner joint; use Revolute, Prismatic, "
                "Cylindrical, Universal, Spherical, Screw and Fixed. Make other joints outside, between two outer "
                "ports."
            )
        if gap > CLOSURE_GAP_TOLERANCE * self.size:
            raise ModelError(
                f"{said} is open by {gap:.3g} m: its ports are at {shown(a)} and {shown(b)}; place the bodies so "
                "that they meet at the start."
            )
        place = a if there == one.first else b
        link = self.link[here]
        for freedom in freedoms:
            link = self._add(freedom, link, np.array([*place, 0.0][:3]))
        self.link[there] = link
        self.used.append(one)

    def tree(self) -> Tree:
        """All of it as arrays."""
        count, d = len(self.freedoms), self.dimension
        origin = np.array(self.origins)
        parent = np.array(self.parents, np.int64)
        base = np.where(parent[:, None] < 0, 0.0, origin - origin[parent])
        mass, first, inertia = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
        held: list[list[str]] = [[] for _ in range(count)]
        for name, link in self.link.items():
            held[link].append(name)
        for link, names in enumerate(held):
            about = [mass_of(self.parts.bodies[name]) for name in names]
            mass[link] = sum(m for m, _, _ in about)
            if mass[link] == 0.0:
                continue
            centre = about[0][1] if len(about) == 1 else np.sum([m * c for m, c, _ in about], axis=0) / mass[link]
            first[link] = centre - origin[link]
            for m, c, own in about:
                arm = c - centre
                inertia[link] += own + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        ball = np.array([one.ball for one in self.freedoms], np.int64)
        widths, paces = np.where(ball == 1, 4, 1), np.where(ball == 1, 3, 1)
        pieces = {}
        for name, link in self.link.items():
            m, c, _ = mass_of(self.parts.bodies[name])
            pieces[name] = Piece(link, m, c[:d], ports_of(self.parts.bodies[name]))
        tree = Tree(
            d, parent, ball, np.array([one.axis for one in self.freedoms], float), base,
            np.array([(one.turn, one.way) for one in self.freedoms], float), mass, first, inertia,
            d + np.cumsum(widths) - widths, np.cumsum(paces) - paces, origin, pieces, np.zeros(0),
        )  # fmt: skip
        return self._moving(tree)

    def _moving(self, tree: Tree) -> Tree:
        """With the rates at the start, as the bodies say; refused where they run against each other, or where nothing has mass."""
        q = tree.start
        matrix = tree.mass_matrix(q)
        scale = np.sqrt(np.diag(matrix))
        least = 0.0 if scale.min() == 0.0 else float(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0])
        if not least > ZERO_INERTIA_TOLERANCE:
            raise ModelError(
                f"{self.owner}: an inner body can move without inertia, such as a slender rod about its line; give "
                "it a radius "
                "(Rod: radius=…), or an inner joint that prevents this motion (Revolute)."
            )
        slopes = tree.slopes(q)
        rows, right = [], []
        for name, body in self.parts.bodies.items():
            mass, centre, inertia = mass_of(body)
            pace, spin = _motion_of(body)
            values, axes = np.linalg.eigh(inertia)
            root = np.sqrt(np.clip(values, 0.0, None))[:, None] * axes.T
            link = self.link[name]
            arm = np.array([1.0, *(centre - tree.origin[link])])
            turning = slopes[:, link, :, 1:]  # at the start: columns of the matrix of w x
            w = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]])
            rows += [np.sqrt(mass) * np.einsum("ica,a->ci", slopes[:, link], arm), root @ w]
            right += [np.sqrt(mass) * pace, root @ spin]
        system, wanted = np.concatenate(rows), np.concatenate(right)
        v = np.linalg.lstsq(system, wanted, rcond=1e-12)[0]
        missing = np.linalg.norm(system @ v - wanted)
        if missing > VELOCITY_TOLERANCE * np.linalg.norm(wanted):
            raise ModelError(
                f"{self.owner}: the velocities of its bodies violate its inner joints (by "
                f"{missing / np.linalg.norm(wanted):.2g} of them, in the norm of energy); give consistent "
                "velocities and spins, or none."
            )
        for place in tree.quaternions:
            v[place.start] = 0.0
        v[np.abs(v) < 1e-15 * np.abs(v).max(initial=0.0)] = 0.0
        return replace(tree, pace=v)


def _in_space(port: Port) -> Array:
    return np.array([*port.point, 0.0][:3], float)


def _motion_of(body: Any) -> tuple[Array, Array]:
    """Velocity of the mass centre and angular velocity at the start, in space."""
    d = body.dimension
    pace, spin = np.zeros(3), np.zeros(3)
    if body.velocity is not None:
        pace[:d] = body.velocity
    if body.angular_velocity is not None:
        spin[0 if d == 3 else 2 :] = body.angular_velocity
    return pace, spin


def freedoms_of(joint: Joint, name: str, first: GroundSide, dimension: int, *, swapped: bool) -> list[Freedom] | None:
    """What a joint leaves free, from its first side to its second, or the other way; None where coordinates cannot say it."""
    kind: Any = type(joint)
    given: Any = joint
    sign = -1.0 if swapped else 1.0
    if kind is Fixed:
        return []
    if kind in (Revolute, Spherical) and dimension == 2:
        if kind is Revolute and given.axis is not None:
            raise ModelError(
                f"joint '{name}': axis = {tuple(given.axis)}; in the plane a hinge turns about z; leave axis out."
            )
        return [Freedom(False, (0.0, 0.0, sign))]
    if kind is Spherical:
        return [Freedom(True, UPRIGHT)]
    if dimension not in joint.dimensions:
        raise ModelError(f"joint '{name}': {kind.__name__} exists in space only.")
    if kind is Universal:
        axis = line_of(name, given.axis, first)
        cross = unit(name, given.cross, 3) if given.cross is not None else first.frame[0]
        if abs(float(axis @ cross)) > 0.99:
            raise ModelError(f"joint '{name}': axis = {shown(axis)} and cross = {shown(cross)} are parallel.")
        arms = [Freedom(False, sign * axis), Freedom(False, sign * cross)]
        return arms[::-1] if swapped else arms
    if kind not in (Revolute, Prismatic, Cylindrical, Screw):
        return None
    axis = sign * np.array([*line_of(name, given.axis, first), 0.0])[:3]
    if kind is Revolute:
        return [Freedom(False, axis)]
    if kind is Prismatic:
        return [Freedom(False, axis, 0.0, 1.0)]
    if kind is Screw:
        return [Freedom(False, axis, 1.0, float(given.pitch) / (2.0 * pi))]
    return [Freedom(False, axis), Freedom(False, axis, 0.0, 1.0)]
