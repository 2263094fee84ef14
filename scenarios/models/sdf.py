"""SDFormat (sdformat.org): links with poses relative to whatever has a name, joints in any graph.

A tree is taken through the joints from the world on, whatever they call parent and child; the others close loops. A link stands in
the joint that holds it, with its own axes; its own frame is a port LINK_origin where that is elsewhere.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.names import missing
from scenarios.models.import_report import DROPPED, READ, UNUSED, Report
from scenarios.models.markup import Element, shown
from scenarios.models.robot import LOOPS, TURNING, Frame, Link, LoopJoint, Mimic, Robot, RobotJoint
from scenarios.models.sdf_values import ENDLESS, bound, friction_of, look_of, matter_of, pose_of, version_of
from scenarios.models.touching import of_geometry

WORLD = "world"
MODEL = "__model__"
KINDS = ("revolute", "continuous", "prismatic", "ball", "universal", "fixed")
OTHERS = "words for other programs"
FOR_OTHERS = {
    **dict.fromkeys(
        ("plugin", "self_collide", "enable_wind", "allow_auto_disable", "must_be_base_link", "battery"), OTHERS
    ),
    **dict.fromkeys(("visual", "particle_emitter", "projector", "light"), "a picture"),
    **dict.fromkeys(("sensor", "audio_source", "velocity_decay"), "a sensor, a sound, or how a solver is damped"),
}
SAME = 1e-12  # [m]
OWN_AXES = (1, 5)  # from this version on axes are those of the joint, where nothing else is said
SEPARATOR = "::"
UP = np.array([0.0, 0.0, 1.0])
USUAL_GRAVITY = (0.0, 0.0, -9.8)  # [m/s^2], of a world that says none: so SDFormat has it


@dataclass
class _Named:
    """Something with a frame: what its pose is relative to, if that is said."""

    element: Element
    relative_to: str
    own: Frame


@dataclass
class _Joint:
    """A joint as the file has it, in the world."""

    name: str
    kind: str
    element: Element
    ends: tuple[str, str]
    place: Array
    axes: list[Array] = field(default_factory=list)


def robot_of(root: Element, report: Report) -> Robot:
    """The robot that an SDF file describes; tells what became of each element."""
    return _Reader(root, report).robot


class _Reader:
    def __init__(self, root: Element, report: Report) -> None:
        self.report, self.root = report, root
        self.version = version_of(root)
        models = list(root.all("model"))
        worlds = list(root.all("world"))
        gravity = None
        for world in worlds:
            models += world.all("model")
            gravity = world.one("gravity") or gravity
            for inner in world.inside:
                if inner.tag not in ("model", "gravity"):
                    outcome = DROPPED if inner.tag in ("include", "joint", "frame") else UNUSED
                    report.tell(outcome, inner, "of a world; its models are read")
        if not models:
            raise root.refuse("it has no <model>; it describes one or more.")
        self.robot = Robot(models[0].attributes.get("name", "").strip(), models[0])
        if worlds:
            self.robot.gravity = USUAL_GRAVITY if gravity is None else tuple(gravity.own_numbers(3).tolist())
        self.robot.links[WORLD] = Link(WORLD, root)
        self.named: dict[str, _Named] = {}
        self.found: dict[str, Frame] = {WORLD: Frame.none()}
        self.links: dict[str, Element] = {}
        self.joints: dict[str, _Joint] = {}
        self.static: list[str] = []
        self.attached: dict[str, str] = {}  # frames, to what they are
        self.gearboxes: list[tuple[Element, str]] = []
        raw: list[tuple[Element, str]] = []
        for model in models:
            prefix = f"{model.text('name')}{SEPARATOR}" if len(models) > 1 else ""
            self._model(model, prefix, "", WORLD, raw, static=False)
        for element, prefix in raw:
            self._read_joint(element, prefix)
        self._grow()
        for element, prefix in self.gearboxes:
            self._gear(element, prefix)

    # --- frames --------------------------------------------------------------------------------------------------------

    def _model(
        self, model: Element, prefix: str, outer: str, above: str, raw: list[tuple[Element, str]], *, static: bool
    ) -> None:
        """A model, and those in it, which have their names before theirs."""
        static = static or model.inner("static", "false") in ("true", "1")
        if model.attributes.get("placement_frame", MODEL).strip() != MODEL:
            raise model.refuse(
                "its pose is that of a frame in it (placement_frame), which is not read; write its own pose."
            )
        self._name(f"{prefix}{MODEL}", model, above, outer)
        for element in model.inside:
            if element.tag in ("link", "frame", "joint"):
                name = f"{prefix}{element.text('name')}"
                if element.tag == "link":
                    self._name(name, element, f"{prefix}{MODEL}", prefix)
                    self.links[name] = element
                    self.static += [name] * static
                elif element.tag == "frame":
                    attached = element.attributes.get("attached_to", MODEL)
                    self._name(name, element, f"{prefix}{attached}", prefix)
                    self.attached[name] = f"{prefix}{attached}"
                    self.report.tell(READ, element, "a frame")
                else:
                    child = element.inner("child")
                    self._name(name, element, WORLD if child == WORLD else f"{prefix}{child}", prefix)
                    raw.append((element, prefix))
            elif element.tag == "model":
                inner = f"{prefix}{element.text('name')}{SEPARATOR}"
                self._model(element, inner, prefix, f"{prefix}{MODEL}", raw, static=static)
            elif element.tag == "include":
                raise element.refuse("it includes another file, which is not read; write its content here.")
            elif element.tag in FOR_OTHERS:
                self.report.tell(UNUSED, element, FOR_OTHERS[element.tag])
            elif element.tag not in ("pose", "static"):
                self.report.tell(DROPPED, element, "an element that is not known here")

    def _name(self, name: str, element: Element, usual: str, prefix: str = "") -> None:
        if name in self.named or name == WORLD:
            raise element.refuse("there is something of that name already; give it another.")
        pose = element.one("pose")
        relative = "" if pose is None else pose.attributes.get("relative_to", pose.attributes.get("frame", ""))
        self.named[name] = _Named(element, f"{prefix}{relative}" if relative else usual, pose_of(pose))

    def _frame(self, name: str, asker: Element, asked: tuple[str, ...] = ()) -> Frame:
        """Where something stands in the world."""
        if name in self.found:
            return self.found[name]
        if name not in self.named and f"{name}{SEPARATOR}{MODEL}" in self.named:  # a model stands for its frame
            return self._frame(f"{name}{SEPARATOR}{MODEL}", asker, asked)
        if name not in self.named:
            raise asker.refuse(missing("frame", shown(name), self.named))
        one = self.named[name]
        if name in asked or len(asked) > 200:
            raise one.element.refuse(
                "its pose is relative to itself, by way of others; let one of them be relative to the model."
            )
        self.found[name] = self._frame(one.relative_to, one.element, (*asked, name)) @ one.own
        return self.found[name]

    # --- joints --------------------------------------------------------------------------------------------------------

    def _read_joint(self, element: Element, prefix: str) -> None:
        name, kind = f"{prefix}{element.text('name')}", element.text("type")
        if kind == "gearbox":
            self.gearboxes.append((element, prefix))
            return
        if kind not in KINDS:
            raise element.refuse(f'type="{shown(kind)}"; give one of {", ".join(KINDS)}.')
        ends = []
        for tag in ("parent", "child"):
            end = element.inner(tag)
            ends.append(WORLD if end == WORLD else self._link_of(f"{prefix}{end}", element))
        if ends[0] == ends[1]:
            raise element.refuse(f"it joins link '{shown(ends[0])}' with itself; name two links.")
        here = self._frame(name, element)
        axes = [self._axis(axis, here, prefix) for tag in ("axis", "axis2") if (axis := element.one(tag)) is not None]
        if len(axes) < {"universal": 2, "ball": 0, "fixed": 0}.get(kind, 1):
            raise element.refuse(
                f"a {kind} joint has an <axis>" + (" and an <axis2>." if kind == "universal" else "; give one.")
            )
        self.joints[name] = _Joint(name, kind, element, (ends[0], ends[1]), here.place, axes)

    def _link_of(self, name: str, asker: Element) -> str:
        """A link, or that to which a frame is attached."""
        for _ in range(100):
            if name in self.links:
                return name
            if name not in self.attached:
                break
            name = self.attached[name]
        raise asker.refuse(missing("link", shown(name), self.links))

    def _axis(self, axis: Element, here: Frame, prefix: str) -> Array:
        """In the world."""
        xyz = axis.one("xyz")
        given = UP if xyz is None else xyz.own_numbers(3)
        size = float(np.linalg.norm(given))
        if not 1e-9 < size < 1e9:
            raise axis.refuse("the axis points nowhere; give a direction.")
        turn = here.turn
        if xyz is not None and (expressed := xyz.attributes.get("expressed_in")):
            turn = self._frame(f"{prefix}{expressed}", axis).turn
        elif axis.inner("use_parent_model_frame", "1" if self.version < OWN_AXES else "0") in ("1", "true"):
            turn = self._frame(f"{prefix}{MODEL}", axis).turn
        return np.asarray(turn @ given / size)

    # --- the tree ------------------------------------------------------------------------------------------------------

    def _grow(self) -> None:
        """From the world on; what no joint holds is free, or stands where its model is static."""
        at: dict[str, list[_Joint]] = {}
        for joint in self.joints.values():
            for end in joint.ends:
                at.setdefault(end, []).append(joint)
        places = {WORLD: Frame.none()}
        waiting, loose = [WORLD], iter(self.links)
        for name in self.static:  # whatever joints there are between
            self._stand(name, "fixed", places)
            waiting.append(name)
        used = {name for name, joint in self.joints.items() if {*joint.ends} <= {WORLD, *self.static}}
        for name in used:
            self.report.tell(UNUSED, self.joints[name].element, "a joint between links that stand still (static)")
        while True:
            while waiting:
                above = waiting.pop(0)
                for joint in at.get(above, ()):
                    below = joint.ends[1] if joint.ends[0] == above else joint.ends[0]
                    if below in places or joint.name in used:
                        continue
                    self._hang(joint, above, below, places)
                    used.add(joint.name)
                    waiting.append(below)
            free = next((name for name in loose if name not in places), None)
            if free is None:
                break
            self._stand(free, "floating", places)
            waiting.append(free)
        for joint in self.joints.values():
            if joint.name not in used:
                self._close(joint, places)
        for name in self.attached:
            self._place(name, places)

    def _stand(self, name: str, kind: str, places: dict[str, Frame]) -> None:
        """A link that no joint holds."""
        places[name] = self._frame(name, self.links[name])
        self._add_link(name, places)
        called = f"{name} {kind}"
        self.robot.joints[called] = RobotJoint(called, kind, self.links[name], WORLD, name, places[name], UP)

    def _place(self, name: str, places: dict[str, Frame]) -> None:
        """A frame on a link: a port of it; what is attached to a model or a joint is there for poses."""
        element, link = self.named[name].element, self.attached[name]
        for _ in range(100):
            if link not in self.attached:
                break
            link = self.attached[link]
        if link not in self.links:
            return
        self.robot.links[name] = Link(name, element)
        frame = _seen(places[link], self._frame(name, element))
        self.robot.joints[f"{name} frame"] = RobotJoint(f"{name} frame", "fixed", element, link, name, frame, UP)

    def _hang(self, joint: _Joint, above: str, below: str, places: dict[str, Frame]) -> None:
        """A link, in the joint that holds it."""
        places[below] = Frame(joint.place, self._frame(below, joint.element).turn)
        self._add_link(below, places)
        sign = 1.0 if joint.ends[1] == below else -1.0
        axes = [places[below].turn.T @ axis for axis in joint.axes] or [UP]
        first, cross = (axes[::-1] if sign < 0.0 else axes)[0], None
        if joint.kind == "universal":
            cross = axes[0] if sign < 0.0 else axes[1]
        seen = _seen(places[above], places[below])
        made = RobotJoint(joint.name, joint.kind, joint.element, above, below, seen, sign * first, cross=cross)
        if joint.kind in ("revolute", "continuous", "prismatic"):
            self._one(made, joint.element.one("axis"))
        self.robot.joints[joint.name] = made
        self.report.tell(READ, joint.element, f"a {joint.kind} joint")

    def _one(self, joint: RobotJoint, axis: Element | None) -> None:
        """Stops, friction and a spring of a joint with one coordinate, which does not depend on who is called the child."""
        if axis is None:
            return
        if (limit := axis.one("limit")) is not None:
            low, high = bound(limit, "lower", -ENDLESS), bound(limit, "upper", ENDLESS)
            if low > high:
                raise limit.refuse(f"lower = {low:g} lies above upper = {high:g}; exchange them.")
            if joint.kind != "continuous" and (low > -1e15 or high < 1e15):
                joint.low, joint.high = max(low, -1e6), min(high, 1e6)
            effort = bound(limit, "effort", -1.0)
            joint.effort = effort if 0.0 < effort < 1e15 else None
        if (dynamics := axis.one("dynamics")) is not None:
            joint.damping, joint.friction, joint.stiffness, joint.rest = (
                dynamics.inner_number(tag, 0.0)
                for tag in ("damping", "friction", "spring_stiffness", "spring_reference")
            )
            if min(joint.damping, joint.friction, joint.stiffness) < 0.0:
                raise dynamics.refuse("damping, friction and stiffness are numbers from 0 on.")
            joint.armature = max(dynamics.inner_number("armature", 0.0), 0.0)  # of stages of USD, which come this way
        if (mimic := axis.one("mimic")) is not None:
            leader, rate = mimic.text("joint"), mimic.inner_number("multiplier", 1.0)
            offset = mimic.inner_number("offset", 0.0) - rate * mimic.inner_number("reference", 0.0)
            model, between, _ = joint.name.rpartition(SEPARATOR)
            joint.mimic = Mimic(f"{model}{between}{leader}", rate, offset, mimic)

    def _gear(self, element: Element, prefix: str) -> None:
        """theta_2 = -ratio theta_1: how parent and child have turned about axis and axis2, as the reference body sees them."""
        reference, parent, child = (
            WORLD if (name := element.inner(tag)) == WORLD else self._link_of(f"{prefix}{name}", element)
            for tag in ("gearbox_reference_body", "parent", "child")
        )
        ratio = element.inner_number("gearbox_ratio", 1.0)
        turns = []
        for link, tag in ((parent, "axis"), (child, "axis2")):
            hinge = next(
                (
                    joint
                    for joint in self.robot.joints.values()
                    if {joint.parent, joint.child} == {reference, link} and joint.kind in TURNING
                ),
                None,
            )
            if hinge is None:
                self.report.tell(
                    DROPPED,
                    element,
                    f"a gearbox: no hinge holds '{shown(link)}' on '{shown(reference)}', which carries it",
                )
                return
            told = element.one(tag) or element.one("axis")
            here = self._frame(child, element)  # in which axes are told where nothing else is said
            axis = UP if told is None else self._axis(told, here, prefix)
            line = self._frame(hinge.child, element).turn @ hinge.axis
            turns.append(
                (hinge, float(np.sign(axis @ line)) * (1.0 if hinge.child == link else -1.0), float(axis @ line))
            )
        (leader, first, cosine), (follower, second, other) = turns
        if min(abs(cosine), abs(other)) < 1.0 - 1e-6:
            self.report.tell(DROPPED, element, "a gearbox whose axes are not those of the hinges of its links")
        elif follower.mimic is not None or leader is follower or ratio == 0.0:
            self.report.tell(
                DROPPED, element, "a gearbox of a joint that follows already, follows itself, or has a ratio of 0"
            )
        else:
            follower.mimic = Mimic(leader.name, -ratio * first * second, 0.0, element)

    def _close(self, joint: _Joint, places: dict[str, Frame]) -> None:
        if joint.kind not in LOOPS:
            raise joint.element.refuse(f"a {joint.kind} joint that closes a loop; take one of {', '.join(LOOPS)}.")
        here = Frame(joint.place, np.eye(3))
        frames = (_seen(places[joint.ends[0]], here), _seen(places[joint.ends[1]], here))
        axis = joint.axes[0] if joint.axes else UP
        local = frames[0].turn @ axis
        self.robot.loops[joint.name] = LoopJoint(joint.name, joint.kind, joint.element, joint.ends, frames, local)
        axis_element = joint.element.one("axis")
        for tag in ("limit", "dynamics"):
            if axis_element is not None and (told := axis_element.one(tag)) is not None:
                self.report.tell(DROPPED, told, f"{tag} of a joint that closes a loop")

    def _add_link(self, name: str, places: dict[str, Frame]) -> None:
        element, frame = self.links[name], places[name]
        link = Link(name, element)
        own = self._frame(name, element)
        inside = _seen(frame, own)
        prefix = name.removesuffix(element.text("name"))

        def within(pose: Element | None) -> Frame:
            relative = "" if pose is None else pose.attributes.get("relative_to", "")
            base = self._frame(f"{prefix}{relative}", element) if relative else own
            return _seen(frame, base @ pose_of(pose))

        inertial = element.one("inertial")
        mass, tensor = matter_of(element)
        centre = within(None if inertial is None else inertial.one("pose"))
        if inertial is not None:
            self.report.tell(READ, inertial, "mass, centre and inertia")
        link.mass, link.centre, link.inertia = mass, centre.place, centre.turn @ tensor @ centre.turn.T
        self.robot.links[name] = link
        for inner in element.inside:
            if inner.tag == "collision":
                link.shapes.append(of_geometry(inner, within(inner.one("pose")), friction_of(inner), inner=True))
            elif inner.tag in FOR_OTHERS:
                self.report.tell(UNUSED, inner, FOR_OTHERS[inner.tag])
                if inner.tag == "visual":
                    with suppress(ModelError):  # a picture that is wrong stops no motion
                        link.looks.append(look_of(inner, within(inner.one("pose"))))
            elif inner.tag not in ("pose", "inertial"):
                self.report.tell(DROPPED, inner, "an element that is not known here")
        if np.abs(inside.place).max() > SAME:
            origin = f"{name}_origin"
            self.robot.links[origin] = Link(origin, element)
            self.robot.joints[f"{name} origin"] = RobotJoint(
                f"{name} origin", "fixed", element, name, origin, inside, UP
            )
        self.report.tell(READ, element, "a link")


def _seen(of: Frame, frame: Frame) -> Frame:
    """A frame of the world as another one sees it."""
    return Frame(of.turn.T @ (frame.place - of.place), of.turn.T @ frame.turn)
