"""Spherical joint: two points stay together, everything turns freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from components.joints.rows import coincide
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import desk_of, keep, look
from modular.lanes import LANES
from modular.loop import FINE, loop
from modular.side import Side
from modular.views import View


@loop
def points_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """Coincident points, in the plane or in space."""
    desk = desk_of(joints)
    for n in range(start, stop, LANES):
        a, b, _marker, error, on_first, on_second = look(joints, elements, n, stop, desk)
        coincide(a, b, 0, error, on_first, on_second)
        keep(joints, n, stop, error, on_first, on_second)
    return FINE


POINTS = {
    d: JointForm(
        f"points-{d}d",
        points_loop,
        first=1,
        second=1,
        rows=d,
        translations=d,
        locks=d,
        rotations=0,
        coincident=d,
        turns=False,
    )
    for d in (2, 3)
}


@dataclass(frozen=True)
class Spherical(Joint):
    """Ball joint: locks the three translations (two in the plane); Séguy 2003, III.3.1 and A2.1."""

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the two points."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        return Attachment(POINTS[len(a)], [mark_a], [mark_b])

    def points(self, dimension: int) -> JointForm:
        """Two points and nothing else."""
        return POINTS[dimension]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls()
