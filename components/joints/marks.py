"""Marks that joints take on their sides: common axes, lines and angles, refused by name where a body lacks them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.joint import unit
from modular.side import Mark, Side


@dataclass(frozen=True)
class SharedAxis:
    """A direction on each side that are to keep their angle: parallel, or at a constant cosine."""

    first: Mark
    second: Mark
    cosine: float | None = None  # None: parallel


def share_axis(name: str, first: Side, second: Side, axis: Array) -> SharedAxis:
    """The axis on both sides; where one side is a slender rod across it, the rod itself at its angle to the axis.

    Thesis, Remark 2 of III.4.1: a joint is expressed on the elements that a body has.
    """
    along_a, along_b = first.direction(axis), second.direction(axis)
    if along_a is not None and along_b is not None:
        return SharedAxis(along_a, along_b)
    lacking = [side for side, along in ((first, along_a), (second, along_b)) if along is None]
    if len(lacking) == 2 or len(lacking[0].directions) != 1:
        who = " and ".join(f"'{side.owner}'" for side in lacking)
        raise ModelError(
            f"joint '{name}': {who} cannot carry the axis {shown(axis)}: a slender rod has no orientation about "
            "its line, and a point mass has none. Give the body inertia (Rod: radius=…) or use Spherical()."
        )
    line = lacking[0].directions[0]
    along = must(lacking[0].direction(line))
    cosine = float(line @ axis)
    if along_b is None:
        return SharedAxis(must(along_a), along, cosine)
    return SharedAxis(along, along_b, cosine)


def line_of(name: str, axis: Sequence[float] | None, first: Side) -> Array:
    """The axis of a joint in the world: as given, or the z axis (in the plane the x axis) of its first port."""
    dimension = len(first.position)
    if axis is not None:
        return unit(name, axis, dimension)
    return np.asarray(first.frame[2] if dimension == 3 else first.frame[0])


def line_mark(name: str, first: Side, axis: Array) -> Mark:
    """The axis on the first side, which guides the other."""
    mark = first.direction(axis)
    if mark is None:
        raise ModelError(
            f"joint '{name}': '{first.owner}' does not carry the axis {shown(axis)}; take the rod itself as the axis, swap the "
            "two sides, or give it a radius (Rod: radius=…)."
        )
    return mark


def edge_mark(name: str, given: Sequence[float] | None, second: Side, normal: Array, what: str) -> Mark:
    """A line of the second side across a normal of the first: as given, or its x axis, or the rod itself where it is slender."""
    usual = second.directions[0] if len(second.directions) == 1 else second.frame[0]
    line = usual if given is None else unit(name, given, 3)
    if abs(float(normal @ line)) > 1e-9:
        raise ModelError(
            f"joint '{name}': {what} = {shown(line)} is not perpendicular to the normal {shown(normal)}; give two "
            "perpendicular directions."
        )
    mark = second.direction(line)
    if mark is None:
        raise ModelError(
            f"joint '{name}': '{second.owner}' does not carry {what} = {shown(line)}; take the rod itself, swap the two sides, "
            "or give it a radius (Rod: radius=…)."
        )
    return mark


def turning_marks(name: str, side: Side, axis: Array, across: Array) -> tuple[Mark, Mark]:
    """An axis and a direction across it, by which the turn of the body about the axis is told."""
    along, arm = side.direction(axis), side.direction(across)
    if along is None or arm is None:
        raise ModelError(
            f"joint '{name}' needs the rotation of '{side.owner}' about {shown(axis)}: a slender rod has no "
            "orientation about its line, and a point mass has none. Give the body inertia (Rod: radius=…, "
            "RigidBody)."
        )
    return along, arm


def across(name: str, side: Side, axis: Array) -> Mark:
    """A direction by which the turn of a body about an axis is told: across it, or a slender rod itself."""
    rod = side.directions[0] if len(side.directions) == 1 else None
    line = np.linalg.svd(axis[None])[2][1] if rod is None else rod
    if rod is not None and abs(float(rod @ axis)) > 1e-6:
        raise ModelError(
            f"joint '{name}' needs the rotation of '{side.owner}' about {shown(axis)}: a slender rod that is not "
            "perpendicular to it has no orientation about its line. Give the body inertia (Rod: radius=…, "
            "RigidBody)."
        )
    return must(side.direction(line))


def oriented(name: str, *sides: Side) -> None:
    """Refuse point masses where rotations are to be locked."""
    for side in sides:
        if len(side.directions) == 0:
            raise ModelError(
                f"joint '{name}' needs an orientation of '{side.owner}', a point mass without one; use Spherical(), or give the "
                "body inertia (RigidBody: inertia=…, Rod: radius=…)."
            )


def plane_directions(first: Side, second: Side) -> tuple[Mark, Mark, tuple[float, float]]:
    """One direction of each side in the plane, with cosine and sine of the angle between them."""
    a, b = first.directions[0], second.directions[0]
    return must(first.direction(a)), must(second.direction(b)), angle_between(a, b)


def angle_between(a: Array, b: Array) -> tuple[float, float]:
    """Cosine and sine of the angle from `a` to `b` in the plane."""
    return float(a @ b), float(a[0] * b[1] - a[1] * b[0])


def common_line(name: str, first: Side, second: Side) -> Array:
    """The direction that a slender rod and its neighbour both carry; holding it holds the rod."""
    rod, other = (second, first) if len(second.directions) == 1 else (first, second)
    line: Array = rod.directions[0]
    if other.direction(line) is None:
        raise ModelError(
            f"joint '{name}' would lock two slender rods, '{first.owner}' and '{second.owner}', that do not lie on one "
            "line: with no orientation about their axes they cannot be held so. Give one a radius (Rod: radius=…)."
        )
    return line


def off_line(offset: Array, axis: Array) -> float:
    """Distance of a point from a line through the origin."""
    return float(np.linalg.norm(offset - (offset @ axis) * axis))


def must(mark: Mark | None) -> Mark:
    """A mark that the caller knows to exist."""
    assert mark is not None
    return mark


def shown(axis: Array) -> str:
    """A direction in a message."""
    return str(tuple(np.round(axis, 6).tolist()))
