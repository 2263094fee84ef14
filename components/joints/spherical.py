"""Spherical joint: two points stay together, everything turns freely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from components.joints.rows import coincide
from modular.elements import Array, Indices
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.kernel import kernel
from modular.side import Side


@kernel
def points_loop(
    count: int,
    first: Indices,
    second: Indices,
    marker: Array,
    x: Array,
    error: Array,
    on_first: Array,
    on_second: Array,
) -> None:
    """Coincident points, in the plane or in space."""
    for n in range(count):
        coincide(x[first[n] : first[n] + 1], x[second[n] : second[n] + 1], 0, error[n], on_first[n], on_second[n])


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

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls()
