"""URDF: the format of robots in ROS (wiki.ros.org/urdf/XML), and joints that close loops in it.

Frames of links are those of the joints above them; roll, pitch and yaw turn about fixed axes, x first. `<loop_joint>` is how
Drake's files closed loops: name, type, `<link1 link= xyz= rpy=/>`, `<link2 …/>` and `<axis xyz=/>` in the first frame;
`<constraint>` with the same in it is read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from scenarios.models.import_report import APPROXIMATED, DROPPED, READ, UNUSED, Report
from scenarios.models.looks import colour_of
from scenarios.models.markup import Element, shown
from scenarios.models.mjcf_classes import direction, of_quaternion
from scenarios.models.robot import LED, LOOPS, MOVING, USUAL_FRICTION, Frame, Link, LoopJoint, Mimic, Robot, RobotJoint
from scenarios.models.touching import of_geometry

KINDS = ("fixed", *MOVING)
FOR_OTHERS = {
    "material": "a colour",
    "gazebo": "words for another program",
    "transmission": "the gearbox of a motor, which has no inertia here",
    "sensor": "a sensor",
    "plugin": "words for another program",
    "ros2_control": "words for another program",
    "verbose": "words for another program",
    "version": "words for another program",
}
OF_LINKS = {"visual": "a picture", "self_collision_checking": "words for another program"} | FOR_OTHERS
OF_JOINTS = {
    "safety_controller": "bounds of a controller",
    "calibration": "how a sensor is set",
    "hardwareInterface": "words for another program",
} | FOR_OTHERS
LEAST_MASS = 1e-20  # [kg]
ZERO = (0.0, 0.0, 0.0)

Named = TypeVar("Named", Link, RobotJoint, LoopJoint)


def robot_of(root: Element, report: Report) -> Robot:
    """The robot that a URDF file describes; tells what became of each element."""
    if root.tag != "robot":
        raise root.refuse("a URDF file begins with <robot>, one of MJCF with <mujoco>; no other is read.")
    robot = Robot(root.attributes.get("name", "").strip(), root)
    materials = {one.attributes.get("name", ""): one for one in root.all("material")}
    for element in root.inside:
        if element.tag == "link":
            _take(robot.links, _link(element, report, materials), "link")
        elif element.tag == "joint":
            _take(robot.joints, _joint(element, report), "joint")
        elif element.tag in ("loop_joint", "constraint"):
            _take(robot.loops, _loop(element, report), "joint")
        elif element.tag.startswith("xacro:"):
            report.tell(DROPPED, element, "a macro that was not expanded; run xacro over the file first")
        elif element.tag in FOR_OTHERS:
            report.tell(UNUSED, element, FOR_OTHERS[element.tag])
        else:
            report.tell(DROPPED, element, "an element that URDF does not know")
    _check(robot)
    return robot


def _take(known: dict[str, Named], new: Named, what: str) -> None:
    if new.name in known:
        raise new.element.refuse(
            f"there is a {what} of that name already (line {known[new.name].element.line}); give it another."
        )
    known[new.name] = new


def _check(robot: Robot) -> None:
    if not robot.links:
        raise robot.element.refuse("it has no <link>; a robot has one or more.")
    named = [(joint.element, joint.parent) for joint in robot.joints.values()]
    named += [(joint.element, joint.child) for joint in robot.joints.values()]
    named += [(loop.element, link) for loop in robot.loops.values() for link in loop.links]
    for element, link in named:
        if link not in robot.links:
            raise element.refuse(missing("link", shown(link), robot.links))


def _link(element: Element, report: Report, materials: Mapping[str, Element]) -> Link:
    link = Link(element.text("name"), element)
    inertial = element.one("inertial")
    if inertial is not None:
        mass, inertia = inertial.one("mass"), inertial.one("inertia")
        frame = _origin(inertial)
        if mass is None:
            raise inertial.refuse(f"link '{shown(link.name)}' has no <mass>; give one, or leave <inertial> out.")
        link.mass, link.centre = mass.number("value"), frame.place
        if link.mass < 0.0 or 0.0 < link.mass < LEAST_MASS:
            raise mass.refuse(
                f"link '{shown(link.name)}': {link.mass:g} kg; a mass cannot be negative, and is 0 or at least {LEAST_MASS:g} kg."
            )
        if inertia is not None:
            xx, yy, zz = (inertia.number(name) for name in ("ixx", "iyy", "izz"))
            xy, xz, yz = (inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            link.inertia = frame.turn @ own @ frame.turn.T
        report.tell(
            READ, inertial, "mass, centre and inertia" if link.mass > 0.0 else "inertia without mass: that of its body"
        )
    for inner in element.inside:
        if inner.tag in OF_LINKS:
            report.tell(UNUSED, inner, OF_LINKS[inner.tag])
            if inner.tag == "visual":
                _look(link, inner, materials)
        elif inner.tag == "collision":
            link.shapes.append(of_geometry(inner, _origin(inner), USUAL_FRICTION, inner=False))
        elif inner.tag != "inertial":
            report.tell(DROPPED, inner, "an element that URDF does not know here")
    report.tell(READ, element, "a link")
    return link


def _look(link: Link, visual: Element, materials: Mapping[str, Element]) -> None:
    """What it looks like, where that can be told; a picture that is wrong stops no motion."""
    with suppress(ModelError):
        link.looks.append(of_geometry(visual, _origin(visual), 0.0, inner=False))
        if (material := visual.one("material")) is not None:
            known = materials.get(material.attributes.get("name", ""), material)
            colour = material.one("color") or known.one("color")
            link.looks[-1].colour = None if colour is None else colour_of(colour.attributes.get("rgba", ""))


def _joint(element: Element, report: Report) -> RobotJoint:
    name, kind = element.text("name"), element.text("type")
    if kind not in KINDS:
        raise element.refuse(f'type="{shown(kind)}"; give one of {", ".join(KINDS)}.')
    ends = []
    for tag in ("parent", "child"):
        end = element.one(tag)
        if end is None:
            raise element.refuse(f"it has no <{tag}>; name the link on that side.")
        ends.append(end.text("link"))
    joint = RobotJoint(name, kind, element, ends[0], ends[1], _origin(element), _axis(element, kind))
    if joint.parent == joint.child:
        raise element.refuse(f"it joins link '{shown(joint.parent)}' with itself; name two links.")
    if kind in LED:
        _limits(joint, report)
    elif (mimic := element.one("mimic")) is not None:
        report.tell(READ, mimic, f"a {kind} joint has no value that could follow another")
    for tag in ("limit", "dynamics"):
        if kind not in LED and (given := element.one(tag)) is not None and any(map(_says, given.attributes.values())):
            outcome = UNUSED if kind == "fixed" else DROPPED
            report.tell(outcome, given, f"of a {kind} joint, which has no coordinate that it could be told along")
    for inner in element.inside:
        if inner.tag in OF_JOINTS:
            report.tell(UNUSED, inner, OF_JOINTS[inner.tag])
        elif inner.tag not in ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"):
            report.tell(DROPPED, inner, "an element that URDF does not know here")
    report.tell(READ, element, f"a {kind} joint")
    return joint


def _limits(joint: RobotJoint, report: Report) -> None:
    """Stops, effort, friction, and what it follows."""
    limit, dynamics, mimic = (joint.element.one(tag) for tag in ("limit", "dynamics", "mimic"))
    if limit is not None:
        effort = limit.number("effort", 0.0)
        joint.effort = effort if effort > 0.0 else None
        low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if joint.kind == "continuous":
            report.tell(READ, limit, "effort; a continuous joint has no stops")
        elif low > high:
            raise limit.refuse(
                f"joint '{shown(joint.name)}': lower = {low:g} lies above upper = {high:g}; exchange them."
            )
        elif low == high:
            report.tell(APPROXIMATED, limit, f"lower = upper = {low:g}, which leaves no way to go: no stops")
        else:
            joint.low, joint.high = low, high
            report.tell(READ, limit, "stops and effort")
    elif joint.kind != "continuous":
        report.tell(APPROXIMATED, joint.element, f"a {joint.kind} joint without <limit>: no stops")
    if dynamics is not None:
        joint.damping, joint.friction = dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)
        if joint.damping < 0.0 or joint.friction < 0.0:
            raise dynamics.refuse(f"joint '{shown(joint.name)}': friction that drives; give numbers from 0 on.")
        report.tell(READ, dynamics, "friction and damping")
    if mimic is not None:
        joint.mimic = Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0), mimic)


def _loop(element: Element, report: Report) -> LoopJoint:
    name, kind = element.text("name"), element.text("type")
    if kind not in LOOPS:
        raise element.refuse(f'type="{shown(kind)}"; give one of {", ".join(LOOPS)}.')
    links, frames = [], []
    for tag in ("link1", "link2"):
        end = element.one(tag)
        if end is None:
            raise element.refuse(f'it has no <{tag} link="…" xyz="…" rpy="…"/>; name the link on that side.')
        links.append(end.text("link"))
        frames.append(Frame(end.vector("xyz", ZERO), turned(end.vector("rpy", ZERO))))
    report.tell(READ, element, f"a {kind} joint that closes a loop")
    return LoopJoint(name, kind, element, (links[0], links[1]), (frames[0], frames[1]), _axis(element, kind))


def _axis(element: Element, kind: str) -> Array:
    given = element.one("axis")
    axis = np.array([1.0, 0.0, 0.0]) if given is None or "xyz" not in given.attributes else given.vector("xyz")
    length = float(np.linalg.norm(axis))
    if not 1e-9 < length < 1e9:
        if kind in ("fixed", "floating", "ball", "spherical"):
            return np.array([1.0, 0.0, 0.0])
        assert given is not None
        raise given.refuse("the axis points nowhere; give a direction.")
    return np.asarray(axis / length)


def _origin(element: Element) -> Frame:
    origin = element.one("origin")
    if origin is None:
        return Frame.none()
    if "quat_xyzw" not in origin.attributes:
        return Frame(origin.vector("xyz", ZERO), turned(origin.vector("rpy", ZERO)))
    if "rpy" in origin.attributes:
        raise origin.refuse("rpy and quat_xyzw say its rotation; give one of them.")
    return Frame(origin.vector("xyz", ZERO), of_quaternion(np.roll(direction(origin, "quat_xyzw", 4), 1)))


def _says(value: str) -> bool:
    """Whether it is anything but a zero."""
    return value.strip().strip("+-0.") != ""


def turned(rpy: Array) -> Array:
    """Roll, pitch and yaw about fixed axes: R_z(yaw) R_y(pitch) R_x(roll)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
