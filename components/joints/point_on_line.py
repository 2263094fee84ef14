"""Point on line: a point of one body slides along a line of the other; everything turns freely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from components.joints.driven import course_of
from components.joints.driven_translation import DrivenTranslation
from components.joints.marks import angle_between, line_mark, line_of, must, off_line, oriented
from components.joints.rows import stay_on_line, stay_on_line_in_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def point_on_line_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """(III.10.b) in space."""
    stay_on_line(a, b, 0, 1, error, on_first, on_second)


@joint_loop
def point_on_line_in_plane_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array
) -> None:
    """The same in the plane, (VI.8): the line stands at a fixed angle to the direction of the first side."""
    stay_on_line_in_plane(a, b, 0, 1, marker[0], marker[1], error, on_first, on_second)


POINT_ON_LINE = JointForm(
    "point-on-line", point_on_line_rows, first=2, second=1, rows=3, translations=3, locks=2, rotations=0
)
POINT_ON_LINE_IN_PLANE = JointForm(
    "point-on-line-2d",
    point_on_line_in_plane_rows,
    first=2,
    second=1,
    rows=1,
    translations=1,
    locks=1,
    rotations=0,
    marker=2,
)


@dataclass(frozen=True)
class PointOnLine(Joint):
    """Sphere in a cylinder: locks the two translations across `axis` (in the plane one).

    `axis` is given in the world, as the bodies stand when the joint is made, and moves with the first side; left out,
    it is the z axis (in the plane the x axis) of the first port.
    """

    axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coordinates: ClassVar[tuple[str, ...]] = ("way",)
    coincident: ClassVar[bool] = False

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the line on the first side."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        axis = line_of(name, self.axis, first)
        oriented(name, first)
        if len(a) == 2:
            direction = must(first.direction(first.directions[0]))
            marker = angle_between(direction.value, axis)
            return Attachment(POINT_ON_LINE_IN_PLANE, [mark_a, direction], [mark_b], marker)
        return Attachment(POINT_ON_LINE, [mark_a, line_mark(name, first, axis)], [mark_b])

    def leading(self, course: Any, dimension: int) -> DrivenTranslation:
        """Its way."""
        return DrivenTranslation(course_of(course), axis=self.axis)

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the line."""
        return off_line(b - a, line_of("", self.axis, first))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(axis=(0.8, 0.6)) if dimension == 2 else cls(axis=(0.3, -0.5, 0.8))
