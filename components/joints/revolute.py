"""Revolute joint: two points stay together, the bodies turn about one common axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from components.joints.driven import course_of
from components.joints.driven_rotation import DrivenRotation
from components.joints.marks import line_of, share_axis
from components.joints.rows import align, coincide, keep_cosine
from components.joints.spherical import POINTS
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def aligned_points_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """Coincident points and one direction in common: (III.9) and (III.10.a)."""
    coincide(a, b, 0, error, on_first, on_second)
    align(a, b, 3, 1, 1, error, on_first, on_second)


@joint_loop
def hinged_rod_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """Coincident points and a constant angle between the axis and a rod that has no axes of its own."""
    coincide(a, b, 0, error, on_first, on_second)
    keep_cosine(a, b, 3, 1, 1, marker[0], error, on_first, on_second)


ALIGNED_POINTS = JointForm(
    "aligned-points", aligned_points_rows, first=2, second=2, rows=6, translations=3, locks=5, rotations=2, coincident=3
)
HINGED_ROD = JointForm(
    "hinged-rod",
    hinged_rod_rows,
    first=2,
    second=2,
    rows=4,
    translations=3,
    locks=4,
    rotations=1,
    marker=1,
    coincident=3,
)


@dataclass(frozen=True)
class Revolute(Joint):
    """Hinge: locks the three translations and the two rotations across `axis`; Séguy 2003, III.3.3 and A2.2.

    `axis` is given in the world, as the bodies stand when the joint is made; left out, it is the z axis of the first
    port (of the second, where the first is the ground). In the plane every revolute joint turns about z.

    (III.11) of the thesis fixes the distance of the two points; it is singular where that distance is zero, which is
    where every hinge stands. Coincidence of the points says the same without that.
    """

    axis: Sequence[float] | None = None

    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the axis on both sides."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        if len(a) == 2:
            if self.axis is not None:
                raise ModelError(
                    f"joint '{name}': axis = {tuple(self.axis)}; in the plane a hinge turns about z; leave axis out."
                )
            return Attachment(POINTS[2], [mark_a], [mark_b])
        axis = share_axis(name, first, second, line_of(name, self.axis, first))
        form, marker = (ALIGNED_POINTS, ()) if axis.cosine is None else (HINGED_ROD, (axis.cosine,))
        return Attachment(form, [mark_a, axis.first], [mark_b, axis.second], marker)

    def leading(self, course: Any, dimension: int) -> DrivenRotation:
        """Its angle."""
        return DrivenRotation(course_of(course), axis=None if dimension == 2 else self.axis)

    def points(self, dimension: int) -> JointForm | None:
        """In the plane two points and nothing else."""
        return POINTS[2] if dimension == 2 and self.axis is None else None

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls() if dimension == 2 else cls(axis=(0.3, -0.5, 0.8))
