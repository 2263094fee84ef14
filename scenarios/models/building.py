"""A robot built of our bodies, joints and forces, as it stands at the values of its joints that it begins with."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from components import (
    Coupler,
    DrivenRotation,
    NewtonEulerBody,
    Revolute,
    RigidBody,
    Smooth,
    Solid,
    Surface,
)
from components.bodies.natural.mass_moments import rank
from modular.assembly import Assembly
from modular.errors import ModelError
from modular.names import MAX_NAME_LENGTH, first_few, hidden_in, missing
from modular.numbers import number
from modular.port import GROUND, Port
from scenarios.catalogue import READING
from scenarios.models.following import Idled, Pair, pairs_of
from scenarios.models.groups import Group, grouped, mended, thickened
from scenarios.models.idlers import Wheel, wheel_of
from scenarios.models.import_report import APPROXIMATED, DROPPED, READ, Report
from scenarios.models.looks import pictures_of
from scenarios.models.markup import shown
from scenarios.models.of_joints import forces_of, joint_of
from scenarios.models.robot import LED, TURNING, Frame, JointValue, LoopJoint, Robot, RobotJoint, Touching
from scenarios.models.rotors import Rotor, rotors_of
from scenarios.models.touching import left_out, placed

BASES = ("fixed", "free")
UNSAFE_LETTERS = re.compile(r"[./\\\s]")
AT_REST = Smooth((0.0, 1.0), (0.0, 0.0))
SLIGHT = 1e-6  # [rad], [m]: beyond a stop by less is at it
SAME_ANGLE = 1e-9  # [rad]: values of joints that differ by less are one
LONGEST = MAX_NAME_LENGTH - 20  # letters, so that "-friction" and a number have room


def built(
    robot: Robot,
    report: Report,
    *,
    base: str = "fixed",
    repair: bool = False,
    contacts: bool = False,
    values: Mapping[str, Any] | None = None,
) -> tuple[Assembly, dict[str, JointValue]]:
    """The model, and the joints with one coordinate, by their names in the file."""
    if base not in BASES:
        raise ModelError(f"base = {base!r}; give one of {', '.join(BASES)}.")
    mended(robot, report, repair)
    begins = beginning(robot, values or {}, report)
    frames = {robot.root(): Frame.none()}
    for joint in robot.down(robot.root()):
        frames[joint.child] = frames[joint.parent] @ joint.at(begins.get(joint.name, 0.0))
    groups = grouped(robot, frames, report, fixed=base == "fixed")
    builder = _Builder(robot, report, frames, groups, begins, contacts)
    return builder.model(repair), {name: builder.value_of(robot.joints[name]) for name in begins}


def beginning(robot: Robot, values: Mapping[str, Any], report: Report) -> dict[str, float]:
    """Where joints begin: as given, as what they follow says, else at 0 or the stop that is nearest to it."""
    led = {name: joint for name, joint in robot.joints.items() if joint.kind in LED}
    found: dict[str, float] = {}
    for name, value in values.items():
        if name not in led:
            raise ModelError(missing("joint or setting", str(name), [*led, *READING], report.file))
        unit = "m" if led[name].kind == "prismatic" else "rad"
        found[name] = number(value, f"{report.file}: joint '{name}'", unit) - led[name].ref
    for name, joint in led.items():
        if name not in found and joint.mimic is None:
            found[name] = _inside(joint, 0.0, report)
    for joint in led.values():
        chain, at = [], joint
        while at.name not in found:
            assert at.mimic is not None  # all others have a value
            if at.mimic.joint in robot.loops:
                report.tell(DROPPED, at.mimic.element, "it follows a joint that closes a loop, and is free here")
                at.mimic = None
                found[at.name] = _inside(at, 0.0, report)
                break
            if at.mimic.joint not in led:
                raise at.mimic.element.refuse(missing("joint that has a value", shown(at.mimic.joint), led))
            if at in chain:
                raise joint.element.refuse(
                    f"it follows joint '{at.mimic.joint}', which follows it; let one of them follow none."
                )
            chain.append(at)
            at = led[at.mimic.joint]
        for follower in reversed(chain):
            assert follower.mimic is not None
            found[follower.name] = follower.mimic.multiplier * found[follower.mimic.joint] + follower.mimic.offset
    for name, joint in led.items():
        _between_stops(joint, found[name], name in values, report)
    for joint in robot.joints.values():
        for part in joint.parts:
            _between_stops(part, 0.0, False, report)
    return found


def _between_stops(joint: RobotJoint, value: float, asked: bool, report: Report) -> None:
    """Walls that something begins behind would throw it out: refused where it was asked for, else without them."""
    if joint.low is None or joint.high is None or joint.low - SLIGHT <= value <= joint.high + SLIGHT:
        return
    ends = f"its stops, {joint.low + joint.ref:g} and {joint.high + joint.ref:g}"
    if asked:
        raise joint.element.refuse(
            f"joint '{shown(joint.name)}' is to begin at {value + joint.ref:g}, beyond {ends}; give a value between, or leave "
            "stops out (stops = false)."
        )
    report.tell(APPROXIMATED, joint.element, f"begins at {value + joint.ref:g}, beyond {ends}, which are left out")
    joint.low = joint.high = None


def _inside(joint: RobotJoint, value: float, report: Report) -> float:
    """Not beyond its stops."""
    low = -np.inf if joint.low is None else joint.low
    high = np.inf if joint.high is None else joint.high
    inside = min(max(value, low), high)
    if inside != value:
        report.tell(
            APPROXIMATED,
            joint.element,
            f"begins at {inside + joint.ref:g}, as {value + joint.ref:g} lies beyond its stops",
        )
    return inside


class _Builder:
    """One model on its way."""

    def __init__(
        self,
        robot: Robot,
        report: Report,
        frames: Mapping[str, Frame],
        groups: dict[str, Group],
        begins: Mapping[str, float],
        contacts: bool,
    ) -> None:
        self.contacts = contacts
        self.robot, self.report, self.frames, self.groups, self.begins = robot, report, frames, groups, begins
        self.assembly = Assembly(robot.gravity, title=_plain(robot.name)[:100])
        self.bodies: dict[int, str] = {}  # names by group
        self.names: dict[str, str] = {}  # of joints, by what they are called in the file
        self.port_names: dict[int, dict[str, str]] = {}  # of ports, by group and by what they are called in the file

    def model(self, repair: bool) -> Assembly:
        """All of it."""
        bodies = list({id(group): group for group in self.groups.values()}.values())
        problems = []
        for group in bodies:
            if group.grounded:
                self.report.tell(READ, self.robot.links[group.top].element, "fixed to the ground")
            elif group.solid is None:
                raise self.robot.links[group.top].element.refuse(
                    "it has no mass, and nothing holds it; give it an <inertial>, or fix it (base = fixed)."
                )
            elif wrong := thickened(group, self.robot, self.report, repair):
                problems.append(wrong)
        if problems:
            raise ModelError("\n".join(problems))
        taken: set[str] = set()
        for group in bodies:
            self.bodies[id(group)] = GROUND if group.grounded else self._name(group.top, taken)
            taken.add(self.bodies[id(group)])
        joints = [joint for joint in self.robot.joints.values() if self._moves(joint)]
        rotors = list(rotors_of(self.robot, self.groups, self.frames, self._moves, self.report))
        pairs = list(pairs_of(self.robot, self.groups, self.frames, self._moves, self.report))
        wheels = {id(pair): wheel_of(pair, self.groups, self.frames) for pair in pairs if isinstance(pair, Idled)}
        for pair in pairs:
            if isinstance(pair, Idled):
                self._give_ports(pair, wheels[id(pair)])
        for k, rotor in enumerate(rotors):
            self.groups[rotor.joint.parent].ports[_bearing(rotor, k)] = Frame(rotor.hub, np.eye(3))
            self.groups[rotor.joint.child].ports[_gear(rotor, k)] = Frame(rotor.at, np.eye(3))
        for joint in joints:
            self.groups[joint.parent].ports.setdefault(self._free(joint), self.frames[joint.child])
        for loop in self.robot.loops.values():
            for side in (0, 1):
                self.groups[loop.links[side]].ports[f"{loop.name} {side + 1}"] = self._loop_frame(loop, side)
        for group in bodies:
            if not group.grounded:
                self._add(group)
        for joint in joints:
            self._join(joint)
        for pair in pairs:
            self._couple(pair) if isinstance(pair, Pair) else self._idle(pair, wheels[id(pair)])
        for k, rotor in enumerate(rotors):
            self._run_in(rotor, k)
        for loop in self.robot.loops.values():
            self._close(loop)
        for link in self.robot.links.values():
            for shape in link.shapes:
                self._touch(link.name, shape) if self.contacts else left_out(shape, self.report)
        for name, value in self.begins.items():
            if name in self.names and (counted := value + self.robot.joints[name].ref) != 0.0:
                self.assembly.count(self.names[name], counted)
        if rotors or wheels:  # which are light beside what they drive: springs cannot hold them at every step
            self.assembly.suggested["coupling"] = "glued"
        self._tell_spared()
        self.assembly.pictures = tuple(pictures_of(self.robot, self.frames, self._place, self.report))
        return self.assembly

    def _place(self, link: str) -> tuple[str, str]:
        """The body and the port in which a link stands."""
        group = self.groups[link]
        return (GROUND, "") if group.grounded else (self.bodies[id(group)], self.port_names[id(group)][link])

    def _tell_spared(self) -> None:
        """Who touches the ground elsewhere, and not here."""
        edges = self.assembly.joint_edges.values()
        held = {
            end
            for edge in edges
            for end in (edge.first_body, edge.second_body)
            if GROUND in (edge.first_body, edge.second_body)
        }
        shaped = {self.bodies[id(self.groups[link.name])]: link for link in self.robot.links.values() if link.shapes}
        if self.contacts and GROUND in shaped and (spared := sorted(held.intersection(shaped) - {GROUND})):
            self.report.tell(
                APPROXIMATED, shaped[GROUND].shapes[0].element,
                f"{first_few(spared)}: held on the ground by a joint, and so does not touch its shapes",
            )  # fmt: skip

    def _touch(self, link: str, given: Touching) -> None:
        """A shape that touches, on the port of its link; on the ground in the world."""
        group = self.groups[link]
        frame = self.frames[link] @ given.frame if group.grounded else given.frame
        for shape in placed(given, frame, self.report):
            stem, number = f"{self.bodies[id(group)]}-surface", 1
            while (name := stem if number == 1 else f"{stem}-{number}") in self.assembly.force_edges:
                number += 1
            name = self._force_name(name)
            self.assembly.apply(name, Surface(shape, given.friction), self._end(group, link))

    def value_of(self, joint: RobotJoint) -> JointValue:
        """Where a joint with one coordinate begins, by its name here."""
        kind = "angle" if joint.kind in TURNING else "way"
        low, high = (None if end is None else end + joint.ref for end in (joint.low, joint.high))
        begins = self.begins[joint.name] + joint.ref
        return JointValue(self.names.get(joint.name, joint.name), kind, begins, low, high, joint.effort)

    def _moves(self, joint: RobotJoint) -> bool:
        return joint.kind not in ("fixed", "floating") and self.groups[joint.parent] is not self.groups[joint.child]

    def _free(self, joint: RobotJoint) -> str:
        """What the place of a joint on its parent is called."""
        return joint.name if joint.name not in self.groups[joint.parent].ports else f"{joint.name} joint"

    def _name(self, name: str, *taken: Container[str]) -> str:
        """A name that people and files can use."""
        plain = _usable(name) or "part"
        plain = f"{plain}_" if plain.lower() == GROUND else plain
        found, count = plain, 1
        while any(found in known for known in taken):
            count += 1
            found = f"{plain}_{count}"
        if found != name:
            element = (self.robot.links.get(name) or self.robot.joints.get(name) or self.robot).element
            self.report.tell(APPROXIMATED, element, f"called '{found}' here")
        return found

    def _add(self, group: Group) -> None:
        solid = group.solid
        assert solid is not None
        names: dict[str, str] = {}
        for name in group.ports:
            plain, count = _usable(name) or "port", 1
            while (found := plain if count == 1 else f"{plain}_{count}") in names.values():
                count += 1
            names[name] = found
        self.port_names[id(group)] = names
        ports = {names[name]: Port(_row(frame.place), _rows(frame.turn.T)) for name, frame in group.ports.items()}
        name = self.bodies[id(group)]
        try:
            self.assembly.add(name, _body(solid, ports))
        except ModelError as error:
            raise self.robot.links[group.top].element.refuse(str(error)) from error

    def _end(self, group: Group, port: str) -> str:
        return GROUND if group.grounded else f"{self.bodies[id(group)]}.{self.port_names[id(group)][port]}"

    def _ends(self, joint: RobotJoint) -> tuple[str, str]:
        """Ports of a joint, on its parent and on its child."""
        above, below = self.groups[joint.parent], self.groups[joint.child]
        on_parent = f"{joint.name} joint" if f"{joint.name} joint" in above.ports else joint.name
        return self._end(above, on_parent), self._end(below, joint.child)

    def _couple(self, pair: Pair) -> None:
        """A joint that follows another."""
        hinges, joint = (pair.leader, pair.follower), pair.follower.joint
        self._check_follower(joint)
        ends = [self._ends(hinge.joint)[hinge.child] for hinge in hinges]
        at = next((_row(hinge.place) for hinge, end in zip(hinges, ends, strict=True) if end == GROUND), None)
        name = self._force_name(f"{self.names[joint.name]}-follows")
        coupler = Coupler(pair.ratio, axis=_row(pair.leader.axis), second_axis=_row(pair.follower.axis))
        try:
            self.assembly.join(name, coupler, *ends, at=at)
        except ModelError as error:
            raise joint.element.refuse(str(error)) from error

    def _give_ports(self, idled: Idled, wheel: Wheel) -> None:
        """Where a wheel runs, and where the joints hold on to it."""
        name = idled.follower.name
        idled.carrier.ports[f"{name} wheel"] = Frame(wheel.hub, np.eye(3))
        for outer, at, which in zip(idled.outer(self.groups), wheel.at, ("leads", "follows"), strict=True):
            outer.ports[f"{name} {which}"] = Frame(at, np.eye(3))

    def _idle(self, idled: Idled, wheel: Wheel) -> None:
        """A wheel in its bearing, and both joints on it."""
        joint = idled.follower
        self._check_follower(joint)
        name = self._force_name(f"{self.names[joint.name]}-wheel")
        bearing = self._end(idled.carrier, f"{joint.name} wheel")
        try:
            self.assembly.add(name, wheel.body)
            at = _row(wheel.hub) if bearing == GROUND else None
            self.assembly.join(f"{name}-bearing", Revolute(axis=_row(wheel.axis)), bearing, f"{name}.hub", at=at)
            for outer, geared, place, which in zip(
                idled.outer(self.groups), wheel.geared, wheel.at, ("leads", "follows"), strict=True
            ):
                end = self._end(outer, f"{joint.name} {which}")
                at = _row(place) if end == GROUND else None
                self.assembly.join(f"{name}-{which}", geared, end, f"{name}.hub", at=at)
        except ModelError as error:
            raise joint.element.refuse(str(error)) from error

    def _check_follower(self, joint: RobotJoint) -> None:
        assert joint.mimic is not None
        led = joint.mimic.multiplier * self.begins[joint.mimic.joint] + joint.mimic.offset
        if abs(self.begins[joint.name] - led) > SAME_ANGLE:
            raise joint.element.refuse(
                f"joint '{shown(joint.name)}' is to begin at {self.begins[joint.name] + joint.ref:g}, and follows "
                f"'{shown(joint.mimic.joint)}', which puts it at {led + joint.ref:g}; give a value for that one."
            )

    def _run_in(self, rotor: Rotor, number: int) -> None:
        """A rotor, in its bearing and geared to its joint."""
        name = self._force_name(f"{self.names[rotor.joint.name]}-rotor{1 + number % 2}")
        bearing = self._end(self.groups[rotor.joint.parent], _bearing(rotor, number))
        at = _row(rotor.hub) if bearing == GROUND else None
        child = self._end(self.groups[rotor.joint.child], _gear(rotor, number))
        try:
            self.assembly.add(name, rotor.body)
            self.assembly.join(f"{name}-bearing", Revolute(axis=_row(rotor.axis)), bearing, f"{name}.hub", at=at)
            self.assembly.join(f"{name}-gear", rotor.geared, child, f"{name}.hub")
        except ModelError as error:
            raise rotor.joint.element.refuse(str(error)) from error

    def _join(self, joint: RobotJoint) -> None:
        frame = self.frames[joint.child]
        at_zero = self.frames[joint.parent] @ joint.frame
        axis = at_zero.turn @ joint.axis
        ends = self._ends(joint)
        at = _row(frame.place) if GROUND in ends else None
        name = self._name(joint.name, self.assembly.joint_edges, self.assembly.force_edges)
        self.names[joint.name] = name
        try:
            self.assembly.join(name, joint_of(joint.kind, _row(axis), self._cross(joint)), *ends, at=at)
            for what, force in forces_of(joint, self.begins.get(joint.name, 0.0), _row(axis)).items():
                self.assembly.apply(self._force_name(f"{name}-{what}"), force, *ends, at=at)
            if joint.kind == "sliding":
                straight = self._force_name(f"{name}-straight")
                self.assembly.join(straight, DrivenRotation(AT_REST, axis=_row(axis)), *ends, at=at)
            for part in joint.parts:
                for what, force in forces_of(part, 0.0, _row(at_zero.turn @ part.axis)).items():
                    self.assembly.apply(self._force_name(f"{_usable(part.name)}-{what}"), force, *ends, at=at)
        except ModelError as error:
            raise joint.element.refuse(str(error)) from error

    def _cross(self, joint: RobotJoint) -> tuple[float, ...] | None:
        """The arm that the child carries, of a joint that has one."""
        return None if joint.cross is None else _row(self.frames[joint.child].turn @ joint.cross)

    def _force_name(self, name: str) -> str:
        model = self.assembly
        while any(name in known for known in (model.bodies, model.joint_edges, model.force_edges, self.robot.joints)):
            name += "_"
        return name

    def _loop_frame(self, loop: LoopJoint, side: int) -> Frame:
        return self.frames[loop.links[side]] @ loop.frames[side]

    def _close(self, loop: LoopJoint) -> None:
        first, second = (self.groups[link] for link in loop.links)
        if first is second:
            raise loop.element.refuse("both of its links move as one; name links of different bodies.")
        frames = self._loop_frame(loop, 0), self._loop_frame(loop, 1)
        axis = _row(frames[0].turn @ loop.axis)
        ends = self._end(first, f"{loop.name} 1"), self._end(second, f"{loop.name} 2")
        at = _row(frames[0 if ends[0] == GROUND else 1].place) if GROUND in ends else None
        name = self._name(loop.name, self.assembly.joint_edges, self.assembly.force_edges)
        try:
            self.assembly.join(name, joint_of(loop.kind, axis), *ends, at=at)
        except ModelError as error:
            raise loop.element.refuse(str(error)) from error
        self.report.tell(READ, loop.element, f"joins {ends[0]} and {ends[1]}")


def _bearing(rotor: Rotor, number: int) -> str:
    return f"{rotor.joint.name} bearing {1 + number % 2}"


def _gear(rotor: Rotor, number: int) -> str:
    return f"{rotor.joint.name} gear {1 + number % 2}"


def _plain(name: str) -> str:
    """Letters that can be seen."""
    return "".join(letter if letter.isprintable() and not hidden_in(letter) else "?" for letter in name)


def _usable(name: str) -> str:
    """A name without dots, slashes and spaces, which have a meaning in those of ports and in paths."""
    return UNSAFE_LETTERS.sub("_", _plain(name).strip())[:LONGEST]


def _row(x: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in x)


def _rows(x: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(_row(row) for row in x)


def _body(solid: Solid, ports: Mapping[str, Port]) -> RigidBody | NewtonEulerBody:
    """In natural coordinates; what has no thickness needs the other kind."""
    thick = int(rank(solid.second_moment, 1.0, 0.0)) == 3
    kind = RigidBody if thick else NewtonEulerBody
    inertia = 0.5 * (solid.inertia + solid.inertia.T)
    return kind(mass=solid.mass, inertia=_rows(inertia), centre=_row(solid.centre), ports=dict(ports))
