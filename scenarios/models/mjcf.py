"""MJCF, the format of MuJoCo (mujoco.readthedocs.io, XML Reference): nested bodies, their joints and shapes, ties that close loops.

A link stands in the joint that holds it, with the axes of its body; the world is the topmost link. Sites are links without mass.
Where a body has several joints, they are one of ours: two slides and a hinge across them `Planar`, three hinges a ball, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from components import Solid
from modular.elements import Array
from modular.errors import ModelError
from modular.names import first_few, missing
from scenarios.models.import_report import APPROXIMATED, DROPPED, READ, UNUSED, Report
from scenarios.models.markup import Element, shown
from scenarios.models.mjcf_classes import Classes, direction, some_numbers
from scenarios.models.mjcf_shapes import solid_of, touching_of
from scenarios.models.robot import LED, Frame, Link, LoopJoint, Mimic, Robot, RobotJoint

WORLD = "world"
TYPES = ("hinge", "slide", "ball", "free")
FOR_OTHERS = {
    "asset": "pictures and meshes",
    "visual": "how it is drawn",
    "statistic": "how it is drawn",
    "size": "how much memory it takes",
    "sensor": "sensors",
    "keyframe": "states to go to",
    "custom": "words for other programs",
    "extension": "words for other programs",
    "light": "a light",
    "camera": "a camera",
}
SPAWNING = ("frame", "replicate", "composite", "flexcomp", "attach")  # what makes bodies of its own
SAME = 1e-9  # directions and places that differ by less are one
ALTERING = (
    "boundmass",
    "boundinertia",
    "balanceinertia",
    "inertiagrouprange",
    "fitaabb",
    "alignfree",
)  # of the compiler
ONE = ("range", "damping", "frictionloss", "stiffness")  # of a joint with one coordinate


@dataclass
class _Joint:
    """A joint of a body, as its class completes it."""

    element: Element
    kind: str
    axis: Array
    place: Array


def robot_of(root: Element, report: Report) -> Robot:
    """The robot that a MJCF file describes; tells what became of each element."""
    if root.tag != "mujoco":
        raise root.refuse("a file of MJCF begins with <mujoco>; give one.")
    return _Reader(root, report).robot


class _Reader:
    def __init__(self, root: Element, report: Report) -> None:
        self.report, self.classes = report, Classes(folder=report.folder)
        self.robot = Robot(root.attributes.get("model", "").strip(), root)
        self.frames: dict[str, Frame] = {}  # of bodies, in the world
        self.links: dict[str, Frame] = {}  # of links, in the world
        self.worlds = list(root.all("worldbody"))
        for element in root.inside:
            self._prepare(element)
        for element in root.all("asset"):
            self.classes.read_meshes(element)
        if any(flag.attributes.get("gravity") == "disable" for one in root.all("option") for flag in one.all("flag")):
            self.robot.gravity = (0.0, 0.0, 0.0)
        if not self.worlds:
            raise root.refuse("it has no <worldbody>; a model has one.")
        world = Link(WORLD, self.worlds[0])
        self.robot.links[WORLD] = world
        self.frames[WORLD] = self.links[WORLD] = Frame.none()
        for element in self.worlds:
            self._contents(element, WORLD, Frame.none(), "main")
        self._scale()
        for element in root.inside:
            self._finish(element)

    def _prepare(self, element: Element) -> None:
        if element.tag == "compiler":
            self.classes.read_compiler(element)
            self.report.tell(READ, element, "units of angles, and where inertias come from")
            if told := [key for key in ALTERING if key in element.attributes]:
                self.report.tell(DROPPED, element, f"{', '.join(told)}: masses other than bodies and shapes say")
        elif element.tag == "default":
            self.classes.read_defaults(element, self.classes.by_name["main"], top=True)
            self.report.tell(READ, element, "defaults")
        elif element.tag == "option":
            if "gravity" in element.attributes:
                self.robot.gravity = tuple(element.vector("gravity").tolist())
            self.report.tell(READ, element, "gravity")
            for key in ("wind", "density", "viscosity"):
                if key in element.attributes and np.any(some_numbers(element, key)):
                    self.report.tell(DROPPED, element, f"{key}: a medium that bodies move in")
        elif element.tag in FOR_OTHERS:
            self.report.tell(UNUSED, element, FOR_OTHERS[element.tag])
        elif element.tag == "include":
            self.report.tell(DROPPED, element, "another file, which is not read; write its content here")

    def _finish(self, element: Element) -> None:
        if element.tag == "equality":
            for inner in element.inside:
                self._tie(self.classes.completed(inner, "main", "equality"))
        elif element.tag == "actuator":
            for inner in element.inside:
                self._actuator(self.classes.completed(inner, "main"))
        elif element.tag == "contact":
            self.report.tell(
                DROPPED, element, "pairs for contact: all shapes meet all, but those of bodies that a joint connects"
            )
        elif element.tag in ("tendon", "deformable"):
            for inner in element.inside:
                self.report.tell(DROPPED, inner, "a tendon, or what bends")
        elif element.tag not in ("worldbody", "compiler", "default", "option", "include", *FOR_OTHERS):
            self.report.tell(DROPPED, element, "an element that is not known here")

    def _scale(self) -> None:
        """All masses by one factor, where their sum is given."""
        total = sum(link.mass for link in self.robot.links.values())
        if self.classes.total_mass is None or not total > 0.0:
            return
        factor = self.classes.total_mass / total
        for link in self.robot.links.values():
            link.mass, link.inertia = factor * link.mass, factor * link.inertia

    # --- bodies --------------------------------------------------------------------------------------------------------

    def _body(self, element: Element, parent: str, above: Frame, child_class: str) -> None:
        child_class = element.attributes.get("childclass", child_class)
        name = self._free(element.attributes.get("name", f"body_{element.line}").strip(), element)
        if "mocap" in element.attributes and element.attributes["mocap"] == "true":
            raise element.refuse("a body that is moved from outside; remove mocap.")
        own = above @ self.classes.frame(element)
        joints = [
            self._read_joint(self.classes.completed(one, child_class))
            for one in element.inside
            if one.tag in ("joint", "freejoint")
        ]
        anchor = joints[0].place if joints else np.zeros(3)
        link = Link(name, element)
        self.robot.links[name] = link
        self.frames[name] = own
        self.links[name] = Frame(own.place + own.turn @ anchor, own.turn)
        self._matter(link, element, child_class, anchor)
        self._join(element, name, parent, joints)
        self.report.tell(READ, element, "a body")
        self._contents(element, name, own, child_class)

    def _contents(self, element: Element, name: str, own: Frame, child_class: str) -> None:
        for inner in element.inside:
            if inner.tag == "body":
                self._body(inner, name, own, child_class)
            elif inner.tag == "site":
                self._site(self.classes.completed(inner, child_class), name, own)
            elif inner.tag == "geom":
                self._shape(self.classes.completed(inner, child_class), name, own)
            elif inner.tag in SPAWNING:
                raise inner.refuse(
                    "it makes bodies of its own, which is not read; save the model as MuJoCo compiles it."
                )
            elif inner.tag in FOR_OTHERS or inner.tag == "plugin":
                self.report.tell(UNUSED, inner, FOR_OTHERS.get(inner.tag, "words for other programs"))
            elif inner.tag not in ("joint", "freejoint", "inertial"):
                self.report.tell(DROPPED, inner, "an element that is not known here")

    def _free(self, name: str, element: Element) -> str:
        if name in self.robot.links:
            raise element.refuse(
                f"there is a body of that name already (line {self.robot.links[name].element.line}); give it another."
            )
        return name

    def _matter(self, link: Link, element: Element, child_class: str, anchor: Array) -> None:
        inertial = element.one("inertial")
        from_shapes = self.classes.from_shapes == "true" or (self.classes.from_shapes == "auto" and inertial is None)
        if from_shapes:
            geoms = [self.classes.completed(geom, child_class) for geom in element.all("geom")]
            solids = [solid for geom in geoms if (solid := solid_of(geom, self.classes)) is not None]
            if solids:
                solid = Solid.sum(*solids)
                link.mass, link.centre, link.inertia = solid.mass, solid.centre - anchor, solid.inertia
            return
        if inertial is None:
            return
        frame = self.classes.frame(inertial)
        link.mass, link.centre = inertial.number("mass"), frame.place - anchor
        if link.mass < 0.0:
            raise inertial.refuse(f"{link.mass:g} kg; a mass cannot be negative.")
        if "fullinertia" in inertial.attributes:
            xx, yy, zz, xy, xz, yz = self._six(inertial)
            own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            own = np.diag(inertial.vector("diaginertia", (0.0, 0.0, 0.0)))
        link.inertia = frame.turn @ own @ frame.turn.T
        self.report.tell(READ, inertial, "mass, centre and inertia")

    def _six(self, inertial: Element) -> Array:
        found = some_numbers(inertial, "fullinertia")
        if len(found) != 6:
            raise inertial.refuse("fullinertia: give six numbers: xx, yy, zz, xy, xz, yz.")
        return found

    def _shape(self, geom: Element, name: str, own: Frame) -> None:
        silent = geom.attributes.get("contype") == "0" and geom.attributes.get("conaffinity") == "0"
        if silent:
            self.report.tell(UNUSED, geom, "a picture")
        try:
            found = touching_of(geom, self.classes)
        except ModelError:
            if silent:
                return
            raise
        found.frame = self._seen(name, own @ found.frame)
        if {geom.attributes.get(key, "1").strip() for key in ("contype", "conaffinity")} not in ({"0"}, {"1"}):
            self.report.tell(APPROXIMATED, geom, "contype and conaffinity: a shape that touches meets all others here")
        link = self.robot.links[name]
        link.looks.append(found)
        if not silent:
            link.shapes.append(found)

    def _site(self, site: Element, name: str, own: Frame) -> None:
        """A place on a body."""
        if "name" not in site.attributes or "fromto" in site.attributes:
            self.report.tell(UNUSED, site, "a mark")
            return
        called = site.attributes["name"].strip()
        while called in self.robot.links:  # a body may have the same name
            called += "_site"
        here = own @ self.classes.frame(site)
        self.robot.links[called] = Link(called, site)
        self.links[called] = here
        self._add(
            RobotJoint(f"{called} site", "fixed", site, name, called, self._seen(name, here), np.array([0.0, 0.0, 1.0]))
        )
        self.report.tell(READ, site, "a place")

    def _seen(self, link: str, frame: Frame) -> Frame:
        """A frame of the world as a link sees it."""
        of = self.links[link]
        return Frame(of.turn.T @ (frame.place - of.place), of.turn.T @ frame.turn)

    # --- joints --------------------------------------------------------------------------------------------------------

    def _read_joint(self, element: Element) -> _Joint:
        kind = "free" if element.tag == "freejoint" else element.attributes.get("type", "hinge")
        if kind not in TYPES:
            raise element.refuse(f'type="{shown(kind)}"; give one of {", ".join(TYPES)}.')
        turning = kind in ("hinge", "slide") and "axis" in element.attributes
        axis = direction(element, "axis", 3) if turning else np.array([0.0, 0.0, 1.0])
        place = np.zeros(3) if kind == "free" else element.vector("pos", (0.0, 0.0, 0.0))
        return _Joint(element, kind, axis, place)

    def _join(self, element: Element, name: str, parent: str, joints: Sequence[_Joint]) -> None:
        frame = self._seen(parent, self.links[name])
        if not joints:
            self._add(RobotJoint(f"{name} fixed", "fixed", element, parent, name, frame, np.array([0.0, 0.0, 1.0])))
            return
        kind, axis, cross = together(element, joints)
        called = joints[0].element.attributes.get("name", f"{name}-joint").strip()
        joint = RobotJoint(called, kind, joints[0].element, parent, name, frame, axis, cross=cross)
        if kind in ("revolute", "prismatic"):
            self._one(joint, joints[0].element)
        else:
            for one in joints:
                self._several(one, joint, joints)
        self._add(joint)
        self.report.tell(
            READ, joints[0].element, f"a {kind} joint" + (f", of {len(joints)}" if len(joints) > 1 else "")
        )

    def _add(self, joint: RobotJoint) -> None:
        if joint.name in self.robot.joints:
            known = self.robot.joints[joint.name].element.line
            raise joint.element.refuse(f"there is a joint of that name already (line {known}); give it another.")
        self.robot.joints[joint.name] = joint

    def _one(self, joint: RobotJoint, element: Element) -> None:
        """What a joint with one coordinate says of it; MuJoCo counts it from `ref`."""
        turns = joint.kind == "revolute"

        def measured(value: float) -> float:
            return self.classes.angle(value) if turns else value

        ref = joint.ref = measured(element.number("ref", 0.0))
        limited = element.attributes.get("limited", "auto")
        if "range" in element.attributes and (limited == "true" or (limited == "auto" and self.classes.auto_limits)):
            ends = some_numbers(element, "range")
            if len(ends) != 2 or not ends[0] < ends[1]:
                raise element.refuse(f'range="{shown(element.attributes["range"])}"; give two numbers that rise.')
            joint.low, joint.high = (measured(float(end)) - ref for end in ends)
        joint.damping, joint.friction = (
            float(some_numbers(element, key, (0.0,))[0]) for key in ("damping", "frictionloss")
        )
        joint.stiffness = float(some_numbers(element, "stiffness", (0.0,))[0])
        joint.rest = measured(element.number("springref", 0.0)) - ref
        if min(joint.damping, joint.friction, joint.stiffness) < 0.0:
            raise element.refuse("damping, frictionloss and stiffness are numbers from 0 on.")
        joint.armature = element.number("armature", 0.0)
        if joint.armature < 0.0:
            raise element.refuse(f"armature = {joint.armature:g}; give a number from 0 on.")

    def _several(self, one: _Joint, whole: RobotJoint, joints: Sequence[_Joint]) -> None:
        """One of several joints of a body, where its axis does not turn with the others."""
        straight = joints[-1].kind == "hinge" or whole.kind != "planar"
        told = [key for key in (*ONE, "armature") if np.any(some_numbers(one.element, key))]
        if whole.kind in ("planar", "sliding", "cylindrical") and straight:
            kind = "revolute" if one.kind == "hinge" else "prismatic"
            name = one.element.attributes.get("name", whole.name).strip()
            part = RobotJoint(name, kind, one.element, whole.parent, whole.child, whole.frame, one.axis)
            self._one(part, one.element)
            whole.parts.append(beside(part, [each.axis for each in joints if each.kind == "slide"]))
            told = [key for key in told if key == "armature"]
        if told and one.element.tag != "freejoint":  # which knows none of these, whatever its class says
            self.report.tell(DROPPED, one.element, f"{', '.join(told)} of a joint that is part of a {whole.kind} one")

    # --- what is beside the tree -----------------------------------------------------------------------------------------

    def _tie(self, element: Element) -> None:
        if element.attributes.get("active") == "false":
            self.report.tell(UNUSED, element, "switched off")
            return
        if element.tag == "joint":
            self._follow(element)
            return
        kind = {"connect": "ball", "weld": "fixed"}.get(element.tag)
        if kind is None or "body1" not in element.attributes:
            self.report.tell(DROPPED, element, "a tie that is not read; connect and weld of bodies, and joint, are")
            return
        if kind == "fixed" and np.any(some_numbers(element, "relpose")):
            self.report.tell(APPROXIMATED, element, "welded as the bodies stand, whatever its relpose says")
        ends = [element.attributes["body1"], element.attributes.get("body2", WORLD)]
        for end in ends:
            if end not in self.frames:
                raise element.refuse(missing("body", shown(end), self.frames))
        at = self.frames[ends[0]] @ Frame(element.vector("anchor", (0.0, 0.0, 0.0)), np.eye(3))
        name = element.attributes.get("name", f"tie_{element.line}").strip()
        if name in self.robot.loops:
            raise element.refuse("there is a tie of that name already; give it another.")
        frames = (self._seen(ends[0], at), self._seen(ends[1], at))
        self.robot.loops[name] = LoopJoint(name, kind, element, (ends[0], ends[1]), frames, np.array([0.0, 0.0, 1.0]))

    def _follow(self, element: Element) -> None:
        """A joint that follows another along a straight line; both are counted from their `ref`."""
        ends = [element.attributes.get(key, "").strip() for key in ("joint1", "joint2")]
        for k, end in enumerate(ends):
            if end not in self.robot.joints and (end or k == 0):
                raise element.refuse(missing("joint", shown(end), self.robot.joints))
        line = np.zeros(5)
        given = some_numbers(element, "polycoef", (0.0, 1.0, 0.0, 0.0, 0.0))[:5]
        line[: len(given)] = given
        joint = self.robot.joints[ends[0]]
        if not ends[1] or any(self.robot.joints[end].kind not in LED for end in ends):
            self.report.tell(DROPPED, element, "a tie of joints that is not read; one between two hinges or slides is")
        elif np.any(line[2:]):
            self.report.tell(DROPPED, element, "a joint that follows another along a curve; along a line it is read")
        elif joint.mimic is not None:
            self.report.tell(DROPPED, element, f"joint '{shown(joint.name)}' follows another already")
        else:
            joint.mimic = Mimic(ends[1], float(line[1]), float(line[0]), element)

    def _actuator(self, element: Element) -> None:
        joint = self.robot.joints.get(element.attributes.get("joint", ""))
        if element.tag != "motor" or joint is None or joint.kind not in ("revolute", "prismatic"):
            self.report.tell(DROPPED, element, "an actuator; motors of hinges and slides are read")
            return
        gear = float(some_numbers(element, "gear", (1.0,))[0])
        ranges = (("ctrlrange", abs(gear)), ("forcerange", 1.0))
        most = [share * np.abs(some_numbers(element, key)).max() for key, share in ranges if key in element.attributes]
        if joint.effort is not None or not most:
            self.report.tell(DROPPED, element, "a motor that is the second there, or has no end of its strength")
            return
        joint.effort = float(min(most)) or None
        self.report.tell(READ, element, "the most that a motor gives")


def beside(part: RobotJoint, axes: Sequence[Array]) -> RobotJoint:
    """One of two slides, told along the direction d across the other: q = d . p, which is longer than 1 where they lean."""
    if part.kind != "prismatic" or len(axes) != 2:
        return part
    dual = np.linalg.pinv(np.array(axes)).T[0 if axes[0] is part.axis else 1]
    size = float(np.linalg.norm(dual))
    part.axis = dual / size
    part.rest /= size
    if part.low is not None and part.high is not None:
        part.low, part.high = part.low / size, part.high / size
    part.friction, part.damping, part.stiffness = size * part.friction, size**2 * part.damping, size**2 * part.stiffness
    return part


def together(element: Element, joints: Sequence[_Joint]) -> tuple[str, Array, Array | None]:
    """What joints of one body leave free together: kind, axis and second axis."""
    kinds = [joint.kind for joint in joints]
    hinges = [joint for joint in joints if joint.kind == "hinge"]
    slides = [joint for joint in joints if joint.kind == "slide"]
    if len(joints) == 1:
        return (
            {"hinge": "revolute", "slide": "prismatic", "ball": "ball", "free": "floating"}[kinds[0]],
            joints[0].axis,
            None,
        )
    at_one = all(np.abs(joint.place - joints[0].place).max() < SAME for joint in joints)
    if (
        at_one
        and len(slides) == 3
        and _rank(slides) == 3
        and (kinds.count("ball") == 1 or (len(hinges) == 3 == _rank(hinges)))
    ):
        return "floating", joints[0].axis, None
    if at_one and len(joints) == 3 and len(hinges) == 3 == _rank(hinges):
        return "ball", joints[0].axis, None
    if at_one and len(joints) == 2 and len(hinges) == 2 == _rank(hinges):
        return "universal", hinges[0].axis, hinges[1].axis
    if len(joints) == 3 and len(slides) == 2 == _rank(slides) and len(hinges) == 1:
        normal = hinges[0].axis
        if all(abs(slide.axis @ normal) < SAME for slide in slides) and at_one:
            return "planar", normal, None
    if len(joints) == 2 == len(slides) == _rank(slides):
        normal = np.cross(slides[0].axis, slides[1].axis)
        return "sliding", normal / np.linalg.norm(normal), None
    if (
        at_one
        and len(joints) == 2
        and len(slides) == 1 == len(hinges)
        and abs(abs(slides[0].axis @ hinges[0].axis) - 1.0) < SAME
    ):
        return "cylindrical", hinges[0].axis, None
    raise element.refuse(
        f"its joints ({first_few(kinds)}) are together none that is known: two slides, two or three hinges, a slide along a "
        "hinge, two slides and a hinge across them, in one place; put bodies with mass between."
    )


def _rank(joints: Sequence[_Joint]) -> int:
    return int(np.linalg.matrix_rank(np.array([joint.axis for joint in joints]), tol=1e-6)) if joints else 0
