"""Point on plane: a point of one body glides on a plane of the other; everything turns freely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import line_mark, line_of
from components.joints.rows import stay_on_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def point_on_plane_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """One row per joint."""
    stay_on_plane(a, b, 0, 1, error, on_first, on_second)


POINT_ON_PLANE = JointForm(
    "point-on-plane", point_on_plane_rows, first=2, second=1, rows=1, translations=1, locks=1, rotations=0
)


@dataclass(frozen=True)
class PointOnPlane(Joint):
    """Sphere on plane: locks the translation along `normal`.

    `normal` is given in the world, as the bodies stand when the joint is made, and moves with the first side; left out,
    it is the z axis of the first port. It holds from both sides, like all joints. In space only; in the plane use
    PointOnLine.
    """

    normal: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "PointOnLine()"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the normal on the first side."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        normal = line_of(name, self.normal, first)
        return Attachment(POINT_ON_PLANE, [mark_a, line_mark(name, first, normal)], [mark_b])

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the plane."""
        return abs(float((b - a) @ line_of("", self.normal, first)))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(normal=(0.3, -0.5, 0.8))
