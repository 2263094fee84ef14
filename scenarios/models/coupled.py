"""Couplers as other programs know them: a joint of the tree that follows another one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from components import Rack
from modular.assembly import JointEdge
from modular.elements import Array
from modular.errors import ModelError
from modular.names import first_few
from modular.port import PortName
from scenarios.models.rigid import SLIDE, TURN, Mechanism, Rigid, axis_of, in_space
from scenarios.models.spanning import Branch

SAME = 1e-9  # of places in units of the distance of two hinges, and of cosines


class Following(NamedTuple):
    """A joint whose coordinate is `ratio` times that of another one; both are counted from where the model begins."""

    name: str
    leader: Branch
    follower: Branch
    ratio: float


def followings(found: Mechanism, order: list[Branch]) -> list[Following]:
    """All of them, each joint following one other; refused by name where a coupler has no two hinges of the tree."""
    told: list[Following] = []
    problems = []
    for name, edge in found.couplers:
        one = _following(name, edge, found, order)
        following = {each.follower.name for each in told}
        if one is not None and one.follower.name in following:
            one = Following(name, one.follower, one.leader, 1.0 / one.ratio)
        if one is None or one.follower.name in following:
            problems.append(f"joint '{name}' ({type(edge.joint).__name__})")
        else:
            told.append(one)
    if problems:
        raise ModelError(
            f"{first_few(problems)}: other programs know joints of a tree that follow one other; let it stand "
            "between two hinges, or a slide and a hinge, of one body that close no loop."
        )
    return told


def _following(name: str, edge: JointEdge, found: Mechanism, order: list[Branch]) -> Following | None:
    if isinstance(edge.joint, Rack):
        return _racked(name, edge, found, order)
    coupler: Any = edge.joint
    for one in _hinges(edge, 0, coupler.axis, found, order):
        for other in _hinges(edge, 1, coupler.second_axis, found, order):
            if one[0] is not other[0] and one[2] == other[2]:
                return Following(name, one[0], other[0], float(coupler.ratio) * one[1] / other[1])
    return None


def _racked(name: str, edge: JointEdge, found: Mechanism, order: list[Branch]) -> Following | None:
    """A slide and the hinge of a wheel: the way is r times the turn, with r how far left of the bar the wheel stands."""
    rack: Any = edge.joint
    ports = (edge.first, edge.second)
    line = axis_of(rack.line, ports, found, 0)
    axis, centre = _line(edge, 1, rack.axis, found)
    _, bar = _line(edge, 0, rack.line if not found.plane else None, found)
    radius = float((centre - bar) @ np.cross(axis, line))
    for slide, along, carrier in _slides(found.bodies.get(edge.first.body), line, order):
        for hinge, about, other in _hinges(edge, 1, rack.axis, found, order):
            if carrier == other:
                return Following(name, slide, hinge, along / (radius * about))
    return None


def _slides(outer: Rigid | None, line: Array, order: list[Branch]) -> list[tuple[Branch, float, str | None]]:
    """Slides of an outer body along that line, whether they count as it does, and the body on their other side."""
    return _along(SLIDE, outer, line, order)


def _hinges(
    edge: JointEdge, side: int, axis: Any, found: Mechanism, order: list[Branch]
) -> list[tuple[Branch, float, str | None]]:
    """Hinges of an outer body about that axis, whether they count as it does, and the body on their other side."""
    port = (edge.first, edge.second)[side]
    line, place = _line(edge, side, axis, found)
    near = 1e-6 * (1.0 + float(np.linalg.norm(place)))
    return [
        one
        for one in _along(TURN, found.bodies.get(port.body), line, order)
        if np.linalg.norm(np.cross(one[0].origin - place, line)) <= near
    ]


def _along(
    motion: str, outer: Rigid | None, line: Array, order: list[Branch]
) -> list[tuple[Branch, float, str | None]]:
    """Joints of an outer body that leave it this one motion along a line."""
    joints: list[tuple[Branch, float, str | None]] = []
    for branch in order:
        if len(branch.free) != 1 or branch.free[0][0] != motion or branch.joint is None:
            continue
        cosine = float(branch.free[0][1] @ line)
        if abs(abs(cosine) - 1.0) > SAME:
            continue
        if branch.body is outer:
            joints.append((branch, float(np.sign(cosine)), None if branch.parent is None else branch.parent.name))
        elif branch.parent is outer:
            joints.append((branch, -float(np.sign(cosine)), branch.body.name))
    return joints


def _line(edge: JointEdge, side: int, axis: Any, found: Mechanism) -> tuple[Array, Array]:
    """Direction and place of a hinge of the coupler, where the model begins."""
    ports: tuple[PortName, ...] = (edge.first, edge.second)
    port, other = ports[side], ports[1 - side]
    line = np.eye(3)[2] if found.plane else axis_of(axis, (port, other), found)
    if port.body in found.bodies:
        return line, found.bodies[port.body].ports[port.port][0]
    assert edge.at is not None  # it takes hold of the ground somewhere else than of the other body
    return line, in_space(edge.at)
