"""SDFormat (sdformat.org): a world with its gravity and one model, whose joints make any graph, so that loops are no special case.

Frames of links stand in the joints that hold them, with the axes of the world; ports are frames attached to links. Joints count
from where the model begins.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from components import Friction, Motor, Stop, TorsionSpring
from modular.elements import Array
from modular.errors import ModelError
from modular.names import first_few
from scenarios.models.coupled import followings
from scenarios.models.mjcf_writing import row_text, text_of
from scenarios.models.rigid import BALL, TURN, Axis, Held, Mechanism, Rigid, in_space
from scenarios.models.spanning import Branch, branches, joint_along
from scenarios.models.urdf_writing import roll_pitch_yaw

Tag = ElementTree.Element
VERSION = "1.10"
TENSOR = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))


def sdf(found: Mechanism) -> str:
    """The mechanism as SDFormat; refuses what leaves two motions free and is no cross."""
    order, closures = branches(found)
    held = [(branch.name, branch.free) for branch in order if branch.joint is not None]
    unknown = [
        f"'{name}'" for name, free in [*held, *((one.name, one.free) for one in closures)] if _kind(free) is None
    ]
    unknown += [f"'{one.name}'" for one in closures if _kind(one.free) == "universal"]
    if unknown:
        raise ModelError(
            f"joint {first_few(unknown)}: SDFormat has hinges, slides, balls, crosses and welds, and loops of all but crosses; "
            "write FILE.xml, which is MJCF."
        )
    root = ElementTree.Element("sdf", version=VERSION)
    world = ElementTree.SubElement(root, "world", name="world")
    ElementTree.SubElement(world, "gravity").text = row_text(in_space(found.model.gravity))
    model = ElementTree.SubElement(world, "model", name=found.model.title or "model")
    origins = {branch.body.name: branch.origin for branch in order}
    for branch in order:
        _link(model, branch.body, branch.origin)
    axes: dict[str, Tag] = {}
    for branch in order:
        if branch.joint is not None:
            joint = _joint(model, _called(branch), branch.parent, branch.body, branch.free, np.zeros(3))
            axes[branch.name] = joint
    for one in closures:
        _close(model, one, origins)
    _forces(order, axes, found)
    if found.plane and (loose := [branch.name for branch in order if branch.joint is None]):
        found.approximated.append(f"{first_few(loose)}: free in space, where nothing takes them out of the plane")
    for each in followings(found, order):
        mimic = ElementTree.SubElement(_axis(axes[each.follower.name]), "mimic", joint=_called(each.leader))
        for tag, value in (("multiplier", each.ratio), ("offset", 0.0), ("reference", 0.0)):
            ElementTree.SubElement(mimic, tag).text = text_of(value)
    if any(np.any(body.velocity) or np.any(body.spin) for body in found.bodies.values()):
        found.dropped.append("velocities at the start, which are no part of SDFormat")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _kind(free: list[Axis]) -> str | None:
    """What a joint with these freedoms is called."""
    kinds = [kind for kind, _ in free]
    if not kinds:
        return "fixed"
    if kinds == [TURN, TURN]:
        return "universal"
    return {TURN: "revolute", BALL: "ball"}.get(kinds[0], "prismatic") if len(kinds) == 1 else None


def _link(model: Tag, body: Rigid, origin: Array) -> None:
    link = ElementTree.SubElement(model, "link", name=body.name)
    _pose(link, origin, np.eye(3))
    inertial = ElementTree.SubElement(link, "inertial")
    _pose(inertial, body.centre - origin, np.eye(3))
    ElementTree.SubElement(inertial, "mass").text = text_of(body.mass)
    inertia = ElementTree.SubElement(inertial, "inertia")
    for tag, i, j in TENSOR:
        ElementTree.SubElement(inertia, tag).text = text_of(body.inertia[i, j])
    for port, (point, axes) in body.ports.items():
        frame = ElementTree.SubElement(model, "frame", name=f"{body.name}_{port}", attached_to=body.name)
        _pose(frame, point - origin, axes.T)


def _pose(tag: Tag, place: Array, turn: Array) -> None:
    ElementTree.SubElement(tag, "pose").text = f"{row_text(place)} {row_text(roll_pitch_yaw(turn))}"


def _joint(model: Tag, name: str, parent: Rigid | None, child: Rigid, free: list[Axis], place: Array) -> Tag:
    """`place`: from the frame of the child [m]."""
    kind = _kind(free)
    assert kind is not None  # or it was refused
    joint = ElementTree.SubElement(model, "joint", name=name, type=kind)
    _pose(joint, place, np.eye(3))
    ElementTree.SubElement(joint, "parent").text = "world" if parent is None else parent.name
    ElementTree.SubElement(joint, "child").text = child.name
    for tag, (one, axis) in zip(("axis", "axis2"), free, strict=False):
        if one != BALL:
            ElementTree.SubElement(ElementTree.SubElement(joint, tag), "xyz").text = row_text(axis)
    return joint


def _close(model: Tag, held: Held, origins: dict[str, Array]) -> None:
    child, parent, sign = (held.second, held.first, 1.0) if held.second is not None else (held.first, None, -1.0)
    assert child is not None  # a joint holds a body
    free = [(kind, sign * axis) for kind, axis in held.free]
    _joint(model, held.name, parent, child, free, held.point - origins[child.name])


def _forces(order: list[Branch], joints: dict[str, Tag], found: Mechanism) -> None:
    """Stops, friction, springs and the most of motors, of joints with one coordinate."""
    for name, edge in found.model.force_edges.items():
        force: Any = edge.force
        along = joint_along(force, edge.ports, order, found)
        if along is None or not isinstance(force, Stop | Friction | Motor | TorsionSpring):
            found.dropped.append(f"force '{name}' ({type(force).__name__})")
            continue
        branch, sign = along
        taken = _along(_axis(joints[branch.name]), force, sign)
        if taken:
            found.dropped.append(f"force '{name}' ({type(force).__name__}): joint '{branch.name}' has {taken} already")
        elif isinstance(force, Motor) and (force.effort != 0.0 or force.target is not None or force.law is not None):
            found.dropped.append(f"force '{name}': what the motor does; its most is written")


def _along(axis: Tag, force: Any, sign: float) -> str:
    """Numbers of the axis of a joint; what of them is there already."""
    if isinstance(force, Friction):
        said = [("dynamics", "damping", force.viscous), ("dynamics", "friction", force.dry)]
    elif isinstance(force, TorsionSpring):
        rest = sign * float(force.rest)
        said = [("dynamics", "spring_stiffness", force.stiffness), ("dynamics", "spring_reference", rest)]
        said += [("dynamics", "damping", force.damping)] if force.damping else []
    elif isinstance(force, Stop):
        low, high = (force.low, force.high) if sign > 0.0 else (force.high, force.low)
        said = [("limit", tag, sign * end) for tag, end in (("lower", low), ("upper", high)) if end is not None]
    else:
        said = [("limit", "effort", force.most)] if force.most is not None else []
    for group, tag, _ in said:
        if axis.find(f"{group}/{tag}") is not None:
            return tag
    for group, tag, value in said:
        told = axis.find(group)
        ElementTree.SubElement(ElementTree.SubElement(axis, group) if told is None else told, tag).text = text_of(value)
    return ""


def _called(branch: Branch) -> str:
    """The name of its joint, which no link has."""
    return f"{branch.name}_joint" if branch.name == branch.body.name else branch.name


def _axis(joint: Tag) -> Tag:
    axis = joint.find("axis")
    assert axis is not None  # joints with one coordinate have one
    return axis
