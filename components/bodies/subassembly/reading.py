"""A tree of links, read from bodies and joints: who carries whom, with which freedoms, and where loops are closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import pi
from typing import Any, NamedTuple

import numpy as np

from components.bodies.natural.description import NaturalBody
from components.bodies.natural.rigid_data import tensor_of
from components.bodies.posed.newton_euler import NewtonEulerBody
from components.bodies.subassembly.tree import (
    Freedom,
    InnerBody,
    Tree,
)
from components.joints.cylindrical import Cylindrical
from components.joints.fixed import Fixed
from components.joints.marks import line_of, shown
from components.joints.prismatic import Prismatic
from components.joints.revolute import Revolute
from components.joints.screw import Screw
from components.joints.spherical import Spherical
from components.joints.universal import Universal
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Joint, unit
from modular.port import Port
from modular.side import GroundSide

UPRIGHT = (0.0, 0.0, 1.0)
CLOSURE_GAP_TOLERANCE = 1e-8  # of the size of the whole: how far an inner joint may stand open at the start
VELOCITY_TOLERANCE = 1e-9  # of the velocities at the start: how far they may run against inner joints
ZERO_INERTIA_TOLERANCE = 1e-11  # of what it would be: inertia that counts as none


class InnerJoint(NamedTuple):
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
    joints: list[InnerJoint]
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
    beside: dict[str, list[tuple[str, InnerJoint]]] = {name: [] for name in names}
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
        self.used: list[InnerJoint] = []
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

    def hang(self, here: str, there: str, one: InnerJoint) -> None:
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
        inner_bodies = {}
        for name, link in self.link.items():
            m, c, _ = mass_of(self.parts.bodies[name])
            inner_bodies[name] = InnerBody(link, m, c[:d], ports_of(self.parts.bodies[name]))
        tree = Tree(
            d, parent, ball, np.array([one.axis for one in self.freedoms], float), base,
            np.array([(one.turn, one.way) for one in self.freedoms], float), mass, first, inertia,
            d + np.cumsum(widths) - widths, np.cumsum(paces) - paces, origin, inner_bodies, np.zeros(0),
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
