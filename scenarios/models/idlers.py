"""Wheels between joints that follow each other where no two hinges tell it: slides, hinges on one line, a slide and a hinge.

The wheel runs in a bearing on the body that carries both. A slide is a rack on it, a hinge is geared to it (Coupler); so each is a
row between two bodies. Wheels with no inertia are none of ours: it has a thousandth of that of the two, and the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from components import Coupler, Rack, RigidBody, Solid
from modular.elements import Array
from modular.joint import Joint
from modular.port import Port
from scenarios.models.following import IDLE, Idled
from scenarios.models.groups import Group
from scenarios.models.robot import TURNING, Frame, RobotJoint
from scenarios.models.rotors import ASIDE, LENT, LENT_MASS, ON_GROUND, across, row


@dataclass(frozen=True)
class Wheel:
    """The wheel, and how the two joints hold on to it."""

    body: RigidBody  # with a port "hub"
    hub: Array  # [m]
    axis: Array
    geared: tuple[Joint, Joint]  # between what is outside of leader and follower, and the hub
    at: tuple[Array, Array]  # where they take hold there [m]


def wheel_of(idled: Idled, groups: Mapping[str, Group], frames: Mapping[str, Frame]) -> Wheel:
    """The wheel of two joints; what carries it is lighter by its mass from then on."""
    joints, carrier = (idled.leader, idled.follower), idled.carrier
    lines = [_line(joint, child, frames) for joint, child in zip(joints, idled.children, strict=True)]
    places = [frames[joint.child].place for joint in joints]
    slides = [joint.kind not in TURNING for joint in joints]
    size = ON_GROUND
    if carrier.solid is not None:
        least = float(np.linalg.eigvalsh(carrier.solid.second_moment)[0])
        size = ASIDE * sqrt(max(least, 0.0) / carrier.solid.mass) or ON_GROUND
    if any(slides):  # the wheel stands across the slides
        axis = across(lines[0], lines[1]) if all(slides) else across(lines[slides.index(True)], np.zeros(3))
    else:
        axis = lines[0]
    hub = places[0] + size * across(lines[0], places[1] - places[0])
    if not any(slides):
        hub = hub + 2.0 * size * across(lines[0], hub - places[0])
    radius = size if slides[0] else 1.0  # of the leader, by which it is counted: the wheel turns by q / radius
    each = (radius, idled.ratio * radius)
    whole = sum(
        scale**2 * _inertia(outer, joint, line, place)
        for outer, joint, line, place, scale in zip(
            idled.outer(groups), joints, lines, places, (1.0, idled.ratio), strict=True
        )
    )
    inertia = IDLE * whole * radius**2
    gears: list[Joint] = []
    at = []
    for line, place, slide, r in zip(lines, places, slides, each, strict=True):
        if slide:
            gears.append(Rack(1, line=row(line), axis=row(axis)))
            at.append(hub - r * np.cross(axis, line))
        else:
            gears.append(Coupler(1.0 / r, axis=row(line), second_axis=row(axis)))
            at.append(place)
    mass = 1.0
    if carrier.solid is not None:
        mass = _lend(carrier, hub, inertia)
    tensor = tuple(map(tuple, (inertia * np.eye(3)).tolist()))
    body = RigidBody(mass=mass, inertia=tensor, centre=row(hub), ports={"hub": Port(row(hub))})
    return Wheel(body, hub, axis, (gears[0], gears[1]), (at[0], at[1]))


def _lend(carrier: Group, hub: Array, inertia: float) -> float:
    """The mass of the wheel, which is taken out of what carries it, and its own inertia where that has it to give."""
    solid = carrier.solid
    assert solid is not None
    least = float(np.linalg.eigvalsh(solid.second_moment)[0])
    arm = hub - solid.centre
    mass = min(LENT_MASS * solid.mass, LENT * least / max(float(arm @ arm), 1e-12))
    own = 0.5 * inertia if inertia < LENT * least else 0.0
    carrier.solid = solid - Solid(mass, hub, own * np.eye(3))
    return mass


def _line(joint: RobotJoint, child: bool, frames: Mapping[str, Frame]) -> Array:
    """Along which, or about which, what is outside goes as the joint is counted."""
    axis = (frames[joint.parent] @ joint.frame).turn @ joint.axis
    return axis if child else -axis


def _inertia(outer: Group, joint: RobotJoint, line: Array, place: Array) -> float:
    """Of what is outside, along the coordinate; 1 of the ground, which does not move by it."""
    if outer.solid is None:
        return 1.0
    if joint.kind not in TURNING:
        return outer.solid.mass
    arm = np.cross(line, outer.solid.centre - place)
    return float(line @ outer.solid.inertia @ line + outer.solid.mass * arm @ arm)
