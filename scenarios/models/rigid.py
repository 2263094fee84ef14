"""A model as other programs see one: rigid bodies in space where they begin, joints with a point and an axis, what they leave free.

Models in the plane lie in the plane of x and y. All vectors are in the axes of the world as bodies stand when they begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from components import (
    Coupler,
    Cylindrical,
    Fixed,
    NewtonEulerBody,
    Planar,
    Prismatic,
    Rack,
    Revolute,
    Spherical,
    Universal,
)
from components.bodies.natural.description import NaturalBody
from components.bodies.natural.rigid_data import tensor_of
from modular.assembly import Assembly, JointEdge
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Joint
from modular.names import first_few
from modular.port import PortName

TURN, SLIDE, BALL = "turn", "slide", "ball"
SLENDER = 1e-6  # of the largest principal inertia: what one about a line gets where a body has none
LEAST_INERTIA = 1e-12  # [kg m^2], below which others take a body for one without
Axis = tuple[str, Array]  # what a joint leaves free, and about or along what


@dataclass
class Rigid:
    """A body where it begins."""

    name: str
    mass: float
    centre: Array  # [m]
    inertia: Array  # about its centre [kg m^2]
    turn: Array  # by which it stands otherwise than it is described
    described: Array  # its centre as it is described
    velocity: Array  # of its centre [m/s]
    spin: Array  # [rad/s]
    ports: dict[str, tuple[Array, Array]]  # points, and axes as rows
    described_axes: dict[str, Array]
    described_ports: dict[str, Array]
    slender: bool = False  # whether an inertia was given to it about its line

    def at(self, point: Array) -> Array:
        """Where a point of it stands that was described there."""
        return np.asarray(self.centre + self.turn @ (point - self.described))

    def velocity_at(self, point: Array) -> Array:
        """How fast a point of it goes."""
        return np.asarray(self.velocity + np.cross(self.spin, point - self.centre))


@dataclass
class Held:
    """A joint between two bodies, None the ground."""

    name: str
    kind: type[Joint]
    first: Rigid | None
    second: Rigid | None
    point: Array
    free: list[Axis]
    edge: JointEdge


@dataclass
class Mechanism:
    """All of a model that has a form elsewhere."""

    model: Assembly
    bodies: dict[str, Rigid]
    joints: list[Held]
    couplers: list[tuple[str, JointEdge]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)  # a sentence each
    approximated: list[str] = field(default_factory=list)

    @property
    def plane(self) -> bool:
        """Whether it lies in one."""
        return self.model.dimension == 2

    def motion_free(self) -> list[Axis]:
        """What a body may do that nothing holds, where it is in the plane; in space it is free."""
        x, y, z = np.eye(3)
        return [(SLIDE, x), (SLIDE, y), (TURN, z)]


def mechanism(model: Assembly) -> Mechanism:
    """The model so; bodies and joints that have no form elsewhere are refused by name, all at once."""
    model = model.given()
    problems: list[str] = []
    found = Mechanism(model, {}, [])
    for name, body in model.bodies.items():
        if isinstance(body, NaturalBody | NewtonEulerBody):
            found.bodies[name] = _rigid(name, body, model)
        else:
            problems.append(f"body '{name}': a {type(body).__name__} is not a rigid body that moves under forces")
    for name, edge in model.joint_edges.items():
        if isinstance(edge.joint, Coupler | Rack):
            found.couplers.append((name, edge))
        elif type(edge.joint) in FREE:
            found.joints += [_held(name, edge, found)] if not problems else []
        else:
            problems.append(f"joint '{name}': a {type(edge.joint).__name__} has no form in files of other programs")
    if problems:
        raise ModelError(
            f"{model.title or 'the model'} cannot be written for other programs: {first_few(problems)}; they know rigid bodies and "
            f"{', '.join(kind.__name__ for kind in FREE)}."
        )
    thin = [body.name for body in found.bodies.values() if body.slender]
    if thin:
        found.approximated.append(
            f"{first_few(thin)}: given {SLENDER:g} of their largest inertia about their lines, where they have none"
        )
    if model.schedule:
        found.dropped.append(f"{len(model.schedule)} events")
    return found


def _rigid(name: str, body: Body, model: Assembly) -> Rigid:
    stack: Any = body.new_stack()
    stack.add(name, body)
    q0, v = (np.array(stack.state()[key][0], float) for key in ("q", "v"))
    q = q0
    if name in model.begin:
        q, v = model.begin[name]
    mass, centre, inertia = _matter(body)
    d = body.dimension
    still = 0.0 * q
    port = body.port_names[0] if body.port_names else None
    turn = np.eye(d)
    spin = np.zeros(3)
    if port is not None:
        turn = body.port_axes(port, q).T @ body.port_axes(port, q0)
        spin = in_space(body.angular_velocity_of(port, q, v))
    elif name in model.begin or np.any(v):
        raise ModelError(f"body '{name}' has no port by which its orientation could be described; give it one.")
    velocity = np.asarray(body.momentum(q, v)) / mass
    whole = np.eye(3)
    whole[:d, :d] = turn
    ports, axes, points = {}, {}, {}
    for one in body.port_names:
        ports[one] = (in_space(body.port_motion(one, q, v, still)[0]), whole_axes(body.port_axes(one, q)))
        points[one] = in_space(body.port_motion(one, q0, v, still)[0])
        axes[one] = whole_axes(body.port_axes(one, q0))
    tensor, slender = _solid(whole @ inertia @ whole.T)
    return Rigid(
        name, mass, in_space(body.mass_centre(q)), tensor, whole, in_space(centre), in_space(velocity), spin, ports, axes, points,
        slender and d == 3,
    )  # fmt: skip


def _matter(body: Body) -> tuple[float, Array, Array]:
    """Mass, centre and inertia about it, as it is described."""
    if isinstance(body, NaturalBody):
        rows = body.derived
        second = np.zeros((3, 3))
        d = body.dimension
        second[:d, :d] = rows.second_moment[0]
        return float(rows.mass[0]), rows.centre[0], np.trace(second) * np.eye(3) - second
    rigid = cast(Any, body)
    inertia = tensor_of(rigid.inertia)
    whole = np.diag([0.5, 0.5, 1.0]) * float(inertia) if inertia.shape == () else inertia
    return float(rigid.mass), np.asarray(rigid.centre, float), whole


def _solid(inertia: Array) -> tuple[Array, bool]:
    """An inertia that other programs take: none of its principal values is nothing."""
    values, axes = np.linalg.eigh(0.5 * (inertia + inertia.T))
    least = max(SLENDER * values[2], LEAST_INERTIA)
    if values[0] >= least:
        return inertia, False
    lifted = np.maximum(values, least)
    lifted[0] = max(lifted[0], (lifted[2] - lifted[1]) * (1.0 + 1e-9))
    return axes @ np.diag(lifted) @ axes.T, True


def in_space(x: Any) -> Array:
    """Two coordinates, or a turn in the plane, as three."""
    given = np.atleast_1d(np.asarray(x, float))
    if len(given) == 3:
        return given
    return np.array([0.0, 0.0, given[0]]) if len(given) == 1 else np.array([*given, 0.0])


def whole_axes(axes: Array) -> Array:
    """Axes of a port as rows, in space."""
    found = np.eye(3)
    found[: len(axes), : len(axes)] = axes
    return found


# --- joints --------------------------------------------------------------------------------------------------------------


def axis_of(given: Any, ports: Sequence[PortName], found: Mechanism, row: int = 2) -> Array:
    """A direction where the bodies begin, as it was given or the axis of the first port, whose body carries it.

    The ground has the axes of the port on the other side.
    """
    body = found.bodies.get(ports[0].body)
    if given is not None:
        axis = in_space(given)
    else:
        port = ports[0] if body is not None else ports[1]
        axis = found.bodies[port.body].described_axes[port.port][row]
    axis = axis / np.linalg.norm(axis)
    return axis if body is None else np.asarray(body.turn @ axis)


def _free(name: str, edge: JointEdge, found: Mechanism) -> list[Axis]:
    joint: Any = edge.joint
    line, ends = 0 if found.plane else 2, (edge.first, edge.second)
    if isinstance(joint, Revolute):
        return [(TURN, np.eye(3)[2] if found.plane else axis_of(joint.axis, ends, found))]
    if isinstance(joint, Prismatic):
        return [(SLIDE, axis_of(joint.axis, ends, found, line))]
    if isinstance(joint, Cylindrical):
        axis = axis_of(joint.axis, ends, found)
        return [(SLIDE, axis), (TURN, axis)]
    if isinstance(joint, Spherical):
        return [(TURN, np.eye(3)[2])] if found.plane else [(BALL, np.eye(3)[2])]
    if isinstance(joint, Planar):
        normal = axis_of(joint.normal, ends, found)
        across = np.linalg.svd(normal[None])[2][1:]
        return [(SLIDE, across[0]), (SLIDE, across[1]), (TURN, normal)]
    if isinstance(joint, Universal):
        return [
            (TURN, axis_of(joint.axis, ends, found)),
            (TURN, _cross(joint, ends, found)),
        ]
    return []


def _cross(joint: Any, ends: tuple[PortName, PortName], found: Mechanism) -> Array:
    """The arm of a cross that the second side carries; left out, it is an axis of the first port as both are described."""
    if joint.cross is not None:
        return axis_of(joint.cross, ends[::-1], found)
    port = ends[0] if ends[0].body in found.bodies else ends[1]
    return axis_of(found.bodies[port.body].described_axes[port.port][0], ends[::-1], found)


FREE: tuple[type[Joint], ...] = (Fixed, Revolute, Prismatic, Spherical, Cylindrical, Planar, Universal)


def _held(name: str, edge: JointEdge, found: Mechanism) -> Held:
    first, second = (found.bodies.get(body) for body in (edge.first_body, edge.second_body))
    side, port = (second, edge.second) if second is not None else (first, edge.first)
    assert side is not None  # a joint holds a body
    where = in_space(edge.at) if edge.at is not None else side.described_ports[port.port]
    return Held(name, type(edge.joint), first, second, side.at(where), _free(name, edge, found), edge)
