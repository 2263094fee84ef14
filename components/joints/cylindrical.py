"""Cylindrical joint: one body slides along an axis and turns about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import line_mark, line_of, off_line, share_axis
from components.joints.rows import align, keep_cosine, stay_on_line
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def line_and_axis_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a line (III.10.b) and a common axis (III.10.a)."""
    stay_on_line(a, b, 0, 1, error, on_first, on_second)
    align(a, b, 3, 1, 1, error, on_first, on_second)


@joint_loop
def line_and_rod_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a line and a rod at a constant angle to it."""
    stay_on_line(a, b, 0, 1, error, on_first, on_second)
    keep_cosine(a, b, 3, 1, 1, marker[0], error, on_first, on_second)


LINE_AND_AXIS = JointForm(
    "line-and-axis", line_and_axis_rows, first=2, second=2, rows=6, translations=3, locks=4, rotations=2
)
LINE_AND_ROD = JointForm(
    "line-and-rod", line_and_rod_rows, first=2, second=2, rows=4, translations=3, locks=3, rotations=1, marker=1
)


@dataclass(frozen=True)
class Cylindrical(Joint):
    """Sliding hinge: locks two translations and two rotations across `axis`; Séguy 2003, III.3.2 and A2.3.

    `axis` is given in the world, as the bodies stand when the joint is made, and moves with the first side; left out,
    it is the z axis of the first port. In space only; in the plane use Prismatic or PointOnLine.
    """

    axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coordinates: ClassVar[tuple[str, ...]] = ("way", "angle")
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Prismatic(), or PointOnLine() where it may turn"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the axis on both sides."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        line = line_of(name, self.axis, first)
        line_mark(name, first, line)
        axis = share_axis(name, first, second, line)
        form, marker = (LINE_AND_AXIS, ()) if axis.cosine is None else (LINE_AND_ROD, (axis.cosine,))
        return Attachment(form, [mark_a, axis.first], [mark_b, axis.second], marker)

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the axis."""
        return off_line(b - a, line_of("", self.axis, first))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(axis=(0.3, -0.5, 0.8))
