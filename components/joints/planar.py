"""Planar joint: one body glides on a plane of the other and turns about its normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import line_mark, line_of, share_axis
from components.joints.rows import align, keep_cosine, stay_on_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def plane_and_axis_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a plane and a common normal (III.10.a)."""
    stay_on_plane(a, b, 0, 1, error, on_first, on_second)
    align(a, b, 1, 1, 1, error, on_first, on_second)


@joint_loop
def plane_and_rod_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a plane and a rod at a constant angle to its normal."""
    stay_on_plane(a, b, 0, 1, error, on_first, on_second)
    keep_cosine(a, b, 1, 1, 1, marker[0], error, on_first, on_second)


PLANE_AND_AXIS = JointForm(
    "plane-and-axis", plane_and_axis_rows, first=2, second=2, rows=4, translations=1, locks=3, rotations=2
)
PLANE_AND_ROD = JointForm(
    "plane-and-rod", plane_and_rod_rows, first=2, second=2, rows=2, translations=1, locks=2, rotations=1, marker=1
)


@dataclass(frozen=True)
class Planar(Joint):
    """Plane on plane: locks the translation along `normal` and the two rotations across it.

    `normal` is given in the world, as the bodies stand when the joint is made, and moves with the first side; left out,
    it is the z axis of the first port. In space only.
    """

    normal: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "none: in the plane all bodies move this way"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the normal on both sides."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        normal = line_of(name, self.normal, first)
        line_mark(name, first, normal)
        axis = share_axis(name, first, second, normal)
        form, marker = (PLANE_AND_AXIS, ()) if axis.cosine is None else (PLANE_AND_ROD, (axis.cosine,))
        return Attachment(form, [mark_a, axis.first], [mark_b, axis.second], marker)

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the plane."""
        return abs(float((b - a) @ line_of("", self.normal, first)))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(normal=(0.3, -0.5, 0.8))
