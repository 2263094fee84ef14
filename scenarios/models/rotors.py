"""Rotors of motors, whose inertia files give as seen by the joint (`armature`): I q'^2 / 2 beside the energy of all bodies.

Two equal rotors run in bearings on the body that carries the joint, geared to it to turn k times as fast as it, one this way and
one that way. With w the spin of their carrier about their axis their energy is J (w + k q')^2 / 2 + J (w - k q')^2 / 2, which is
J w^2 + J k^2 q'^2. What turns with the carrier is taken out of it, and 2 J k^2 = I is left, exactly, however the carrier moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from components import Coupler, Rack, RigidBody, Solid
from components.joints.coupler import COAXIAL
from modular.elements import Array
from modular.joint import Joint
from modular.port import Port
from scenarios.models.groups import Group
from scenarios.models.import_report import DROPPED, READ, Report
from scenarios.models.robot import TURNING, Frame, Robot, RobotJoint

LENT = 0.05  # of the least second moment of what carries a rotor: what is taken out of it at most
LENT_MASS = 0.02  # of its mass, for each rotor
ASIDE = 0.2  # of the radius of gyration that goes with that moment: how far from its centre rotors stand
FASTEST = 100  # times as fast as the joint, at most
ON_GROUND = 0.1  # [m], from the joint to a rotor on the ground


@dataclass(frozen=True)
class Rotor:
    """One of the two of a joint."""

    joint: RobotJoint
    body: RigidBody  # with a port "hub"
    hub: Array  # [m]
    axis: Array  # about which it turns
    geared: Joint  # between the child of the joint and the hub
    at: Array  # where that takes hold of the child [m]


def rotors_of(
    robot: Robot,
    groups: Mapping[str, Group],
    frames: Mapping[str, Frame],
    moves: Callable[[RobotJoint], bool],
    report: Report,
) -> Iterator[Rotor]:
    """All of them; what carries them is lighter by them from then on."""
    for joint in robot.joints.values():
        if joint.armature > 0.0 and moves(joint):
            found = _two(joint, groups[joint.parent], frames)
            if found:
                report.tell(
                    READ, joint.element, f"armature = {joint.armature:g}: two rotors that turn against each other"
                )
                yield from found
            else:
                report.tell(
                    DROPPED, joint.element,
                    f"armature = {joint.armature:g}: what carries the joint is too slender, or too light, to carry a rotor of that",
                )  # fmt: skip


def _two(joint: RobotJoint, carrier: Group, frames: Mapping[str, Frame]) -> list[Rotor]:
    axis = (frames[joint.parent] @ joint.frame).turn @ joint.axis
    place = frames[joint.child].place
    turns = joint.kind in TURNING
    if carrier.solid is None:
        most, mass, centre, aside = joint.armature, 1.0, place, ON_GROUND
    else:
        least = float(np.linalg.eigvalsh(carrier.solid.second_moment)[0])
        if not least > 0.0:
            return []
        most, mass, centre = LENT * least, LENT_MASS * carrier.solid.mass, carrier.solid.centre
        aside = ASIDE * sqrt(least / carrier.solid.mass)
    arm = centre - place
    arm = arm - (arm @ axis) * axis
    beside = across(axis, arm)  # and across to the line from the joint to the centre
    hubs = [centre + side * aside * beside for side in (1.0, -1.0)]
    if turns:
        ratio = ceil(sqrt(0.5 * joint.armature / most))
        far = float(np.linalg.norm(hubs[0] - place))
        if ratio > FASTEST or float(np.linalg.norm(np.cross(hubs[0] - place, axis))) < 2.0 * COAXIAL * far:
            return []
        inertia, spin = 0.5 * joint.armature / ratio**2, axis
        gears: list[Joint] = [Coupler(sign * ratio, axis=row(axis), second_axis=row(axis)) for sign in (1.0, -1.0)]
        places = [place, place]
    else:
        radius = sqrt(2.0 * most / joint.armature)
        inertia, spin = 0.5 * joint.armature * radius**2, beside
        up = np.cross(spin, axis)
        gears = [Rack(1, line=row(axis), axis=row(spin)) for _ in hubs]
        places = [hub - side * radius * up for hub, side in zip(hubs, (1.0, -1.0), strict=True)]
    ball = Solid(mass, np.zeros(3), 0.5 * inertia * np.eye(3))
    if carrier.solid is not None:
        for hub in hubs:
            carrier.solid = carrier.solid - ball.moved(hub.tolist())
    tensor = tuple(map(tuple, ball.inertia.tolist()))
    return [
        Rotor(
            joint,
            RigidBody(mass=mass, inertia=tensor, centre=row(hub), ports={"hub": Port(row(hub))}),
            hub, spin, gear, at,
        )
        for hub, gear, at in zip(hubs, gears, places, strict=True)
    ]  # fmt: skip


def across(axis: Array, arm: Array) -> Array:
    """A direction across two."""
    found = np.cross(axis, arm)
    size = float(np.linalg.norm(found))
    if size > 1e-9 * max(1.0, float(np.linalg.norm(arm))):
        return np.asarray(found / size)
    found = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return np.asarray(found / np.linalg.norm(found))


def row(x: Array) -> tuple[float, ...]:
    """As plain numbers."""
    return tuple(float(value) for value in x)
