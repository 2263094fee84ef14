"""Line on plane: an edge of one body glides on a face of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import edge_mark, line_mark, line_of
from components.joints.rows import keep_cosine, stay_on_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def line_on_plane_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a plane, and a line through it across the normal."""
    stay_on_plane(a, b, 0, 1, error, on_first, on_second)
    keep_cosine(a, b, 1, 1, 1, 0.0, error, on_first, on_second)


LINE_ON_PLANE = JointForm(
    "line-on-plane", line_on_plane_rows, first=2, second=2, rows=2, translations=1, locks=2, rotations=1
)


@dataclass(frozen=True)
class LineOnPlane(Joint):
    """Cylinder on plane: locks the translation along `normal` and the rotation that would lift one end of `line`.

    `normal` stands across the plane, which the first side carries, and `line` lies in it and moves with the second side; both in
    the world, as the bodies stand when the joint is made. Left out, they are the z axis of the first port, and the x axis of the
    second or the rod itself where that is slender. It holds from both sides, like all joints. In space only.
    """

    normal: Sequence[float] | None = None
    line: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Prismatic()"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points, the normal and the line."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        normal = line_of(name, self.normal, first)
        edge = edge_mark(name, self.line, second, normal, "line")
        return Attachment(
            LINE_ON_PLANE,
            [mark_a, line_mark(name, first, normal)],
            [mark_b, edge],
        )

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the plane."""
        return abs(float((b - a) @ line_of("", self.normal, first)))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(normal=(0.3, -0.5, 0.8), line=(0.5, 0.3, 0.0))
