"""Prismatic joint: one body slides along a line of the other and turns with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from components.joints.driven import course_of
from components.joints.driven_translation import DrivenTranslation
from components.joints.marks import (
    angle_between,
    common_line,
    line_mark,
    line_of,
    must,
    off_line,
    oriented,
    plane_directions,
)
from components.joints.rows import align, keep_angle_in_plane, lock, stay_on_line, stay_on_line_in_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def slider_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a line (III.10.b) and parallel axes; the line is the z axis, element 3, of the first side."""
    stay_on_line(a, b, 0, 3, error, on_first, on_second)
    lock(a, b, 3, error, on_first, on_second)


@joint_loop
def sliding_rod_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a line and one direction in common: a slider of which one side is a slender rod."""
    stay_on_line(a, b, 0, 2, error, on_first, on_second)
    align(a, b, 3, 1, 1, error, on_first, on_second)


@joint_loop
def slider_in_plane_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a line and a constant angle; the line stands at a fixed angle to the direction of the first side."""
    stay_on_line_in_plane(a, b, 0, 1, marker[2], marker[3], error, on_first, on_second)
    keep_angle_in_plane(a, b, 1, 1, 1, marker[0], marker[1], error, on_first, on_second)


SLIDER = JointForm("slider", slider_rows, first=4, second=4, rows=6, translations=3, locks=5, rotations=3)
SLIDING_ROD = JointForm(
    "sliding-rod", sliding_rod_rows, first=3, second=2, rows=6, translations=3, locks=4, rotations=2
)
SLIDER_IN_PLANE = JointForm(
    "slider-2d",
    slider_in_plane_rows,
    first=2,
    second=2,
    rows=2,
    translations=1,
    locks=2,
    rotations=1,
    marker=4,
)


@dataclass(frozen=True)
class Prismatic(Joint):
    """Slider along `axis`: locks two translations and three rotations (in the plane one and one); Séguy 2003, III.3.4.

    `axis` is given in the world, as the bodies stand when the joint is made, and moves with the first side; left out,
    it is the z axis (in the plane the x axis) of the first port. The two ports need not coincide, only lie on one line
    along the axis.

    (III.12) of the thesis keeps A_j B_j . A_k B_k constant; its Jacobian vanishes where the two are parallel. The sum of
    the cross products of the axes has no such place within a half turn.
    """

    axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coordinates: ClassVar[tuple[str, ...]] = ("way",)
    coincident: ClassVar[bool] = False

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the directions on both sides."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        axis = line_of(name, self.axis, first)
        oriented(name, first, second)
        if len(a) == 2:
            line_a, line_b, angle = plane_directions(first, second)
            return Attachment(
                SLIDER_IN_PLANE, [mark_a, line_a], [mark_b, line_b], (*angle, *angle_between(line_a.value, axis))
            )
        along = line_mark(name, first, axis)
        if len(first.directions) == len(second.directions) == 3:
            frame = _frame_about(axis)
            axes_a = [must(first.direction(u)) for u in frame]
            axes_b = [must(second.direction(u)) for u in frame]
            return Attachment(SLIDER, [mark_a, *axes_a], [mark_b, *axes_b])
        line = common_line(name, first, second)
        return Attachment(
            SLIDING_ROD, [mark_a, must(first.direction(line)), along], [mark_b, must(second.direction(line))]
        )

    def leading(self, course: Any, dimension: int) -> DrivenTranslation:
        """Its way."""
        return DrivenTranslation(course_of(course), axis=self.axis)

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the line."""
        axis = line_of("", self.axis, first)
        return off_line(b - a, axis)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(axis=(0.8, 0.6)) if dimension == 2 else cls(axis=(0.3, -0.5, 0.8))


def _frame_about(axis: Array) -> Array:
    """Three orthonormal directions (rows), the last along `axis`."""
    u = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    u /= np.linalg.norm(u)
    return np.array([u, np.cross(axis, u), axis])
