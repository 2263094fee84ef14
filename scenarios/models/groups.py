"""Links that move as one: merged over fixed joints, and what has no mass onto what it hangs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from components import Solid
from modular.elements import Array
from modular.errors import ModelError
from scenarios.models.import_report import APPROXIMATED, Report
from scenarios.models.inertias import NOTHING, is_possible, nearest_possible
from scenarios.models.robot import Frame, Link, Robot

POINT = 1e-3  # [m], radius of gyration of what is mended and has none
SOME = 1e-10  # of the largest principal inertia, below which one counts as none


@dataclass
class Group:
    """Links that move as one; the first is the topmost. Its mass is in the world."""

    links: list[str]
    grounded: bool = False
    solid: Solid | None = None
    ports: dict[str, Frame] = field(default_factory=dict)

    @property
    def top(self) -> str:
        """The link that it is named after."""
        return self.links[0]


def mended(robot: Robot, report: Report, repair: bool) -> None:
    """Refuse inertias that no body has, all at once, or take the nearest that one has."""
    problems = []
    for link in robot.links.values():
        if is_possible(link.inertia, link.mass):
            continue
        inertial = link.element.one("inertial") or link.element
        nearest = nearest_possible(link.inertia, link.mass * POINT**2)
        values, near = (_listed(tensor) for tensor in (link.inertia, nearest))
        if repair:
            link.inertia = nearest
            report.tell(APPROXIMATED, inertial, f"principal inertias {values} of '{link.name}' mended to {near} kg m^2")
        else:
            problems.append(
                f"{inertial.file}:{inertial.line}: link '{link.name}': principal inertias {values} kg m^2; the largest exceeds the "
                f"sum of the others or one is negative, so no body has them. The nearest possible are {near}; correct the file, or "
                "take these with --repair (repair=True)."
            )
    if problems:
        raise ModelError("\n".join(problems))


def _listed(tensor: Array) -> str:
    return ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(tensor))


def grouped(robot: Robot, frames: Mapping[str, Frame], report: Report, *, fixed: bool) -> dict[str, Group]:
    """The group of each link."""
    root = robot.root()
    of = {root: Group([root], grounded=fixed)}
    for joint in robot.down(root):
        if joint.kind == "fixed":
            of[joint.child] = of[joint.parent]
            of[joint.parent].links.append(joint.child)
        else:
            of[joint.child] = Group([joint.child])
    for group in {id(group): group for group in of.values()}.values():
        masses = [_solid(robot.links[name], frames[name]) for name in group.links if robot.links[name].mass > 0.0]
        group.solid = Solid.sum(*masses) if masses else None
        _add_turning(group, robot, frames)
    _hang_on(robot, of, report)
    for name, frame in frames.items():
        of[name].ports[name] = frame
    return of


def _solid(link: Link, frame: Frame) -> Solid:
    """In the world."""
    return Solid(link.mass, frame.place + frame.turn @ link.centre, _turning(link, frame))


def _turning(link: Link, frame: Frame) -> Array:
    """Its second moment about its centre, in world axes."""
    second = 0.5 * np.trace(link.inertia) * np.eye(3) - link.inertia
    return np.asarray(frame.turn @ second @ frame.turn.T)


def _add_turning(group: Group, robot: Robot, frames: Mapping[str, Frame]) -> None:
    """Inertia that some give to links without mass turns with the body, wherever it is."""
    if (solid := group.solid) is None:
        return
    for name in group.links:
        if robot.links[name].mass == 0.0:
            turning = _turning(robot.links[name], frames[name])
            solid = Solid(solid.mass, solid.centre, solid.second_moment + turning)
    group.solid = solid


def _hang_on(robot: Robot, of: dict[str, Group], report: Report) -> None:
    """What has no mass, and carries none, is held where it hangs: it could not tell how to move."""
    children = robot.children()
    held = {link for loop in robot.loops.values() for link in loop.links}
    for joint in reversed(list(robot.down(robot.root()))):
        below, above = of[joint.child], of[joint.parent]
        if joint.kind == "fixed" or below is above or below.solid is not None or below.top != joint.child:
            continue
        if held.intersection(below.links) or any(
            of[other.child] is not below for link in below.links for other in children[link]
        ):
            raise joint.element.refuse(
                f"link '{joint.child}' has no mass, and moves between this joint and what hangs on it; give it an <inertial>, or "
                "make one of the joints a fixed one."
            )
        report.tell(
            APPROXIMATED, joint.element, f"link '{joint.child}' has no mass and carries nothing: held on its parent"
        )
        for link in below.links:
            of[link] = above
        above.links += below.links


def thickened(group: Group, robot: Robot, report: Report, repair: bool) -> str:
    """What is wrong with a body that lacks inertia about an axis, which a joint that turns it would have to know."""
    assert group.solid is not None
    values = np.linalg.eigvalsh(group.solid.inertia)
    if values[0] > max(SOME * values[2], group.solid.mass * NOTHING**2):
        return ""
    element = robot.links[group.top].element
    if repair:
        inertia = nearest_possible(group.solid.inertia, group.solid.mass * POINT**2)
        group.solid = Solid.given(group.solid.mass, inertia, group.solid.centre.tolist())
        report.tell(
            APPROXIMATED, element, f"its mass lies on a line or in a point; given principal inertias {_listed(inertia)}"
        )
        return ""
    return (
        f"{element.file}:{element.line}: link '{group.top}': {group.solid.mass:.4g} kg with principal inertias "
        f"{', '.join(f'{value:.4g}' for value in values)} kg m^2 lie on a line or in a point, and a joint could not turn it; give "
        f"it an inertia, or take a radius of gyration of {POINT * 1e3:g} mm with --repair (repair=True)."
    )
