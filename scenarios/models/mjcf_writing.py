"""MJCF, the format of MuJoCo (mujoco.readthedocs.io, XML Reference): the tree of joints, and equalities that close loops.

Frames of bodies stand in the joints that hold them, with the axes of the world; joints count from where the model begins. A
keyframe holds velocities and constant efforts. Shapes are drawn and touch nothing.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from components import Fixed, Friction, Motor, Revolute, Spherical, SpringDamper, Stop, TorsionSpring
from modular.elements import Array
from modular.errors import ModelError
from modular.port import PortName
from scenarios.models.coupled import followings
from scenarios.models.rigid import BALL, TURN, Held, Mechanism, Rigid, in_space
from scenarios.models.spanning import Branch, branches, joint_along

TYPES = {TURN: "hinge", BALL: "ball"}
SHOWN_RADIUS = 0.01  # of the extent: of the capsules that are drawn
STEPS = 2.0  # steps in which a loop that is open closes: as stiff as the step bears
ARM = 0.1  # of the extent: how far apart the two points of an axis are tied
DEFAULT_STEP = 1e-3  # [s]

Tag = ElementTree.Element


def mjcf(found: Mechanism) -> str:
    """The mechanism as MJCF."""
    return _Writer(found).text()


class _Writer:
    def __init__(self, found: Mechanism) -> None:
        self.found = found
        self.order, self.closures = branches(found)
        self.by_body = {branch.body.name: branch for branch in self.order}
        places = [x for body in found.bodies.values() for x in (body.centre, *(x for x, _ in body.ports.values()))]
        self.extent = max(float(np.ptp(np.array([*places, np.zeros(3)]), axis=0).max()), 1e-3)
        self.root = ElementTree.Element("mujoco", model=found.model.title or "model")
        self.elements: dict[str | None, Tag] = {}
        self.velocities: list[float] = []
        self.controls: list[float] = []

    def text(self) -> str:
        """All of it."""
        root, suggested = self.root, self.found.model.suggested
        self.step = float(suggested.get("dt", DEFAULT_STEP))
        ElementTree.SubElement(root, "compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        gravity = in_space(self.found.model.gravity)
        ElementTree.SubElement(root, "option", timestep=text_of(self.step), integrator="RK4", gravity=row_text(gravity))
        world = ElementTree.SubElement(root, "worldbody")
        ElementTree.SubElement(world, "light", pos="0 0 10", dir="0 0 -1", directional="true")
        self.elements[None] = world
        for branch in self.order:
            self._body(branch)
        self._velocities()
        equality = ElementTree.SubElement(root, "equality")
        self._loops(equality)
        for one in followings(self.found, self.order):
            line = row_text([0.0, one.ratio, 0.0, 0.0, 0.0])
            tie = ElementTree.SubElement(
                equality, "joint", name=one.name, joint1=one.follower.name, joint2=one.leader.name
            )
            tie.attrib |= {"polycoef": line} | self._solver()
        self._forces()
        if any(self.velocities) or any(self.controls):
            frame = ElementTree.SubElement(root, "keyframe")
            key = ElementTree.SubElement(frame, "key", name="start", qvel=row_text(self.velocities))
            if self.controls:
                key.set("ctrl", row_text(self.controls))
        for tag in list(root):
            if tag.tag == "equality" and not len(tag):
                root.remove(tag)
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def _body(self, branch: Branch) -> None:
        body = branch.body
        parent = None if branch.parent is None else branch.parent.name
        before = np.zeros(3) if parent is None else self.by_body[parent].origin
        tag = ElementTree.SubElement(
            self.elements[parent], "body", name=body.name, pos=row_text(branch.origin - before)
        )
        self.elements[body.name] = tag
        if branch.joint is None and not self.found.plane:
            ElementTree.SubElement(tag, "freejoint", name=body.name)
        for k, (kind, axis) in enumerate(branch.free):
            name = branch.name if len(branch.free) == 1 else f"{branch.name}-{k + 1}"
            joint = ElementTree.SubElement(tag, "joint", name=name, type=TYPES.get(kind, "slide"))
            if kind != BALL:
                joint.set("axis", row_text(axis))
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        inertial = ElementTree.SubElement(tag, "inertial", pos=row_text(body.centre - branch.origin))
        inertial.set("mass", text_of(body.mass))
        inertial.set("fullinertia", row_text([xx, yy, zz, xy, xz, yz]))
        self._shown(tag, branch)
        for name, (point, axes) in body.ports.items():
            site = ElementTree.SubElement(tag, "site", name=f"{body.name}.{name}", pos=row_text(point - branch.origin))
            site.set("xyaxes", row_text([*axes[0], *axes[1]]))

    def _shown(self, tag: Tag, branch: Branch) -> None:
        """Lines from the mass centre to the ports, which touch nothing."""
        for point, _ in branch.body.ports.values():
            if np.linalg.norm(point - branch.body.centre) > 1e-6 * self.extent:
                ends = [*(branch.body.centre - branch.origin), *(point - branch.origin)]
                shape = ElementTree.SubElement(tag, "geom", type="capsule", fromto=row_text(ends), mass="0")
                shape.attrib |= {"size": text_of(SHOWN_RADIUS * self.extent), "contype": "0", "conaffinity": "0"}

    def _velocities(self) -> None:
        """In the order in which MuJoCo counts: down the tree."""
        below: dict[str | None, list[Branch]] = {}
        for branch in self.order:
            below.setdefault(None if branch.parent is None else branch.parent.name, []).append(branch)
        waiting = below.get(None, [])[::-1]
        while waiting:
            branch = waiting.pop()
            self.velocities += self._rates(branch)
            waiting += below.get(branch.body.name, [])[::-1]

    def _rates(self, branch: Branch) -> list[float]:
        body, parent = branch.body, branch.parent
        if branch.joint is None and not self.found.plane:
            return [*body.velocity_at(branch.origin).tolist(), *body.spin.tolist()]
        if any(kind == BALL for kind, _ in branch.free):
            return (body.spin - (0.0 if parent is None else parent.spin)).tolist()  # type: ignore[no-any-return]
        return branch.rates().tolist()  # type: ignore[no-any-return]

    # --- loops ---------------------------------------------------------------------------------------------------------

    def _loops(self, equality: Tag) -> None:
        problems = []
        for held in self.closures:
            points = self._ties(held)
            if points is None:
                problems.append(f"joint '{held.name}' ({held.kind.__name__})")
            elif held.kind is Fixed:
                self._tie(equality, "weld", held, held.name, {})
            else:
                for k, point in enumerate(points):
                    first = held.first if held.first is not None else held.second
                    assert first is not None
                    anchor = {"anchor": row_text(point - self.by_body[first.name].origin)}
                    self._tie(
                        equality, "connect", held, held.name if len(points) == 1 else f"{held.name}-{k + 1}", anchor
                    )
        if problems:
            raise ModelError(
                f"{', '.join(problems)}: closes a loop, for which MJCF has connect and weld alone; take Revolute, Spherical or "
                "Fixed."
            )

    def _ties(self, held: Held) -> list[Array] | None:
        """Points that stay together: one of a ball, two of a hinge; one in the plane."""
        if held.kind is Fixed:
            return []
        if held.kind is Spherical or (held.kind is Revolute and self.found.plane):
            return [held.point]
        if held.kind is Revolute:
            arm = ARM * self.extent * held.free[0][1]
            return [held.point - arm, held.point + arm]
        return None

    def _tie(self, equality: Tag, kind: str, held: Held, name: str, attributes: dict[str, str]) -> None:
        first, second = held.first, held.second
        if first is None:
            first, second = second, first
        assert first is not None
        names = {"body1": first.name, **({} if second is None else {"body2": second.name})}
        tie = ElementTree.SubElement(equality, kind, name=name)
        tie.attrib |= names | attributes | self._solver()

    def _solver(self) -> dict[str, str]:
        """How stiff ties are."""
        return {"solref": f"{text_of(STEPS * self.step)} 1", "solimp": "0.9999 0.9999 0.001 0.5 1"}

    # --- forces --------------------------------------------------------------------------------------------------------

    def _forces(self) -> None:
        tendons, actuators = ElementTree.Element("tendon"), ElementTree.Element("actuator")
        for name, edge in self.found.model.force_edges.items():
            force: Any = edge.force
            along = joint_along(force, edge.ports, self.order, self.found)
            if isinstance(force, SpringDamper):
                self._spring(tendons, name, force, edge.ports, edge.at)
            elif along is not None and isinstance(force, TorsionSpring | Friction | Stop | Motor):
                self._along(actuators, name, force, *along)
            else:
                self.found.dropped.append(f"force '{name}' ({type(force).__name__})")
        self.root.extend(tag for tag in (tendons, actuators) if len(tag))

    def _spring(self, tendons: Tag, name: str, force: SpringDamper, ports: tuple[PortName, ...], at: Any) -> None:
        sites, points = [], []
        for port in ports:
            if port.body in self.found.bodies:
                sites.append(str(port))
                points.append(self.found.bodies[port.body].ports[port.port][0])
            else:
                other = next(one for one in ports if one.body in self.found.bodies)
                mate: Rigid = self.found.bodies[other.body]
                place = in_space(at) if at is not None else mate.described_ports[other.port]
                sites.append(f"{name}-ground")
                points.append(place)
                ElementTree.SubElement(self.elements[None], "site", name=sites[-1], pos=row_text(place))
        length = float(np.linalg.norm(points[1] - points[0])) if force.length is None else float(force.length)
        if length == 0.0:
            self.found.dropped.append(f"force '{name}' (a SpringDamper without length)")
            return
        tendon = ElementTree.SubElement(
            tendons, "spatial", name=name, stiffness=text_of(force.stiffness), damping=text_of(force.damping),
            springlength=text_of(length), width=text_of(0.2 * SHOWN_RADIUS * self.extent),
        )  # fmt: skip
        for site in sites:
            ElementTree.SubElement(tendon, "site", site=site)

    def _along(self, actuators: Tag, name: str, force: Any, branch: Branch, sign: float) -> None:
        """A force along the one coordinate of a joint, which MuJoCo knows as a number of that joint."""
        tag = next(
            one for one in self.elements[branch.body.name] if one.get("name") == branch.name and one.tag == "joint"
        )
        taken = _taken(tag, force)
        if taken:
            self.found.dropped.append(
                f"force '{name}' ({type(force).__name__}): joint '{branch.name}' has {taken} already"
            )
        elif isinstance(force, TorsionSpring):
            tag.set("stiffness", text_of(force.stiffness))
            tag.set("damping", text_of(force.damping))
            tag.set("springref", text_of(sign * float(force.rest)))
        elif isinstance(force, Friction):
            tag.set("damping", text_of(force.viscous))
            if force.dry:
                tag.set("frictionloss", text_of(force.dry))
                self.found.approximated.append(f"force '{name}': dry friction as MuJoCo softens it")
        elif isinstance(force, Stop):
            low, high = (sign * end if end is not None else None for end in (force.low, force.high))
            low, high = (high, low) if sign < 0.0 else (low, high)
            far = 1e6
            tag.set("range", row_text([-far if low is None else low, far if high is None else high]))
            self.found.approximated.append(f"force '{name}': a wall as soft as MuJoCo's")
        else:
            self._motor(actuators, name, force, branch, sign)

    def _motor(self, actuators: Tag, name: str, force: Motor, branch: Branch, sign: float) -> None:
        """A constant effort, or one that is told from outside, up to the most."""
        if (
            not isinstance(force.effort, int | float)
            or force.no_load
            or force.target is not None
            or force.law is not None
        ):
            self.found.dropped.append(f"force '{name}' (a Motor with a law)")
            return
        motor = ElementTree.SubElement(actuators, "motor", name=name, joint=branch.name)
        motor.set("gear", text_of(sign))
        if force.most is not None:
            motor.set("ctrlrange", row_text([-force.most, force.most]))
        most = np.inf if force.most is None else force.most
        self.controls.append(float(np.clip(force.effort, -most, most)))


def _taken(tag: Tag, force: Any) -> str:
    """What of a joint a force would say a second time."""
    own = {TorsionSpring: ("stiffness", "damping"), Friction: ("damping", "frictionloss"), Stop: ("range",)}.get(
        type(force), ()
    )
    return next((name for name in own if tag.get(name) is not None), "")


def row_text(x: Any) -> str:
    """Numbers as both formats write vectors: with all digits."""
    return " ".join(repr(float(value)) for value in x)


def text_of(x: Any) -> str:
    """A number with all its digits."""
    return repr(float(x))
