"""Spherical joint: two points stay together, everything turns freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from components.joints.rows import coincide
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def points_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """Coincident points, in the plane or in space."""
    coincide(a, b, 0, error, on_first, on_second)


POINTS = {
    d: JointForm(
        f"points-{d}d",
        points_rows,
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
