"""URDF (wiki.ros.org/urdf/XML): trees of links, each in the frame of the joint that it hangs on, with the axes of the world.

The ground is the link `ground`. Ports become links without mass, named body_port, on fixed joints. Where a joint has more
coordinates than one, links without mass stand between them.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from components import Friction, Motor, Stop
from modular.elements import Array
from modular.errors import ModelError
from modular.names import first_few
from modular.port import GROUND
from scenarios.models.coupled import followings
from scenarios.models.mjcf_writing import row_text, text_of
from scenarios.models.rigid import BALL, TURN, Mechanism
from scenarios.models.spanning import Branch, branches, joint_along

Tag = ElementTree.Element
EARTH = (0.0, 0.0, -9.81)
FAR = 1e6  # [rad], [m]: of a stop that is open on one side


def urdf(found: Mechanism) -> str:
    """The mechanism as URDF; refuses loops and balls, which it has no word for."""
    order, closures = branches(found)
    balls = [f"'{branch.name}'" for branch in order if any(kind == BALL for kind, _ in branch.free)]
    if closures or balls:
        names = [f"joint '{held.name}' closes a loop" for held in closures] + [
            f"joint {name} is a ball" for name in balls
        ]
        raise ModelError(
            f"{first_few(names)}: URDF has trees of hinges and slides alone; write FILE.xml, which is MJCF."
        )
    root = ElementTree.Element("robot", name=found.model.title or "model")
    ElementTree.SubElement(root, "link", name=GROUND)
    by_body = {branch.body.name: branch for branch in order}
    joints = {branch.body.name: _branch(root, branch, by_body, found) for branch in order}
    _forces(order, joints, found)
    for one in followings(found, order):
        mimic = ElementTree.SubElement(joints[one.follower.body.name], "mimic", joint=one.leader.name)
        mimic.set("multiplier", text_of(one.ratio))
    for joint in joints.values():
        _finish(joint)
    gravity = np.array([*found.model.gravity, 0.0][:3])
    if tuple(gravity.tolist()) != EARTH:
        found.dropped.append(f"gravity = {gravity.tolist()}, which is no part of URDF")
    if any(np.any(body.velocity) or np.any(body.spin) for body in found.bodies.values()):
        found.dropped.append("velocities at the start, which are no part of URDF")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _branch(root: Tag, branch: Branch, by_body: dict[str, Branch], found: Mechanism) -> Tag:
    """A body and the joint above it; that with the coordinate, where it has one."""
    body = branch.body
    link = ElementTree.SubElement(root, "link", name=body.name)
    inertial = ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=row_text(body.centre - branch.origin))
    ElementTree.SubElement(inertial, "mass", value=text_of(body.mass))
    names = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))
    ElementTree.SubElement(inertial, "inertia", {name: repr(float(body.inertia[i, j])) for name, i, j in names})
    before = np.zeros(3) if branch.parent is None else by_body[branch.parent.name].origin
    above = GROUND if branch.parent is None else branch.parent.name
    free = branch.free if branch.free or branch.joint is not None or found.plane else None
    joint = _joint(root, branch.name, above, body.name, branch.origin - before, free)
    for port, (point, axes) in body.ports.items():
        name = f"{body.name}_{port}"
        ElementTree.SubElement(root, "link", name=name)
        fixed = _joint(root, f"{name}_frame", body.name, name, point - branch.origin, [])
        fixed[0].set("rpy", row_text(roll_pitch_yaw(axes.T)))
    return joint


def _joint(root: Tag, name: str, above: str, below: str, place: Array, free: Any) -> Tag:
    """One joint, or several with links without mass between them; the last one is returned."""
    if free is None or len(free) < 2:
        kind = (
            "floating" if free is None else "fixed" if not free else "continuous" if free[0][0] == TURN else "prismatic"
        )
        joint = ElementTree.SubElement(root, "joint", name=name, type=kind)
        ElementTree.SubElement(joint, "origin", xyz=row_text(place))
        ElementTree.SubElement(joint, "parent", link=above)
        ElementTree.SubElement(joint, "child", link=below)
        if free:
            ElementTree.SubElement(joint, "axis", xyz=row_text(free[0][1]))
        return joint
    if len(free) == 3 and [kind for kind, _ in free].count(TURN) == 1:
        joint = _joint(root, name, above, below, place, [(TURN, next(axis for kind, axis in free if kind == TURN))])
        joint.set("type", "planar")
        return joint
    for k, one in enumerate(free[:-1]):
        link = f"{name}_{k + 1}"
        ElementTree.SubElement(root, "link", name=link)
        _joint(root, f"{name}-{k + 1}", above, link, place, [one])
        above, place = link, np.zeros(3)
    return _joint(root, f"{name}-{len(free)}", above, below, place, free[-1:])


def _forces(order: list[Branch], joints: dict[str, Tag], found: Mechanism) -> None:
    """Stops, friction and the most of motors, of joints with one coordinate."""
    for name, edge in found.model.force_edges.items():
        force: Any = edge.force
        along = joint_along(force, edge.ports, order, found)
        if along is None or not isinstance(force, Stop | Friction | Motor):
            found.dropped.append(f"force '{name}' ({type(force).__name__})")
            continue
        branch, sign = along
        joint = joints[branch.body.name]
        tag = "dynamics" if isinstance(force, Friction) else "limit"
        told = joint.find(tag)
        told = ElementTree.SubElement(joint, tag) if told is None else told
        word = "damping" if isinstance(force, Friction) else "lower" if isinstance(force, Stop) else "effort"
        if told.get(word) is not None:
            found.dropped.append(f"force '{name}' ({type(force).__name__}): joint '{branch.name}' has {word} already")
        elif isinstance(force, Friction):
            told.set("damping", text_of(force.viscous))
            told.set("friction", text_of(force.dry))
        elif isinstance(force, Stop):
            _stop(joint, told, force, sign)
        else:
            if force.most is not None:
                told.set("effort", text_of(force.most))
            if force.effort != 0.0 or force.target is not None or force.law is not None:
                found.dropped.append(f"force '{name}': what the motor does; its most is written")


def _stop(joint: Tag, told: Tag, force: Stop, sign: float) -> None:
    ends = [sign * end for end in (force.low, force.high) if end is not None]
    low = -FAR if (force.low if sign > 0.0 else force.high) is None else min(ends)
    high = FAR if (force.high if sign > 0.0 else force.low) is None else max(ends)
    told.set("lower", text_of(low))
    told.set("upper", text_of(high))
    if joint.get("type") == "continuous":
        joint.set("type", "revolute")


def _finish(joint: Tag) -> None:
    """What the format asks of every limit, and of every slide; an effort of 0 where no motor says what is the most."""
    limit = joint.find("limit")
    if limit is None and joint.get("type") == "prismatic":
        limit = ElementTree.SubElement(joint, "limit", lower=text_of(-FAR), upper=text_of(FAR))
    if limit is not None:
        limit.set("effort", limit.get("effort", "0"))
        limit.set("velocity", limit.get("velocity", text_of(FAR)))


def roll_pitch_yaw(turn: Array) -> Array:
    """Of R = R_z(yaw) R_y(pitch) R_x(roll); where pitch is a right angle, without roll."""
    pitch = np.arctan2(-turn[2, 0], np.hypot(turn[0, 0], turn[1, 0]))
    if np.hypot(turn[0, 0], turn[1, 0]) > 1e-9:
        return np.array([np.arctan2(turn[2, 1], turn[2, 2]), pitch, np.arctan2(turn[1, 0], turn[0, 0])])
    return np.array([0.0, pitch, np.arctan2(-turn[0, 1], turn[1, 1])])
