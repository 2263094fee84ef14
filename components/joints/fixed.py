"""Fixed joint: two bodies move as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from components.joints.marks import common_line, must, oriented, plane_directions
from components.joints.revolute import ALIGNED_POINTS
from components.joints.rows import coincide, keep_angle_in_plane, lock
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def locked_points_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """Coincident points and parallel axes."""
    coincide(a, b, 0, error, on_first, on_second)
    lock(a, b, 3, error, on_first, on_second)


@joint_loop
def locked_points_in_plane_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array
) -> None:
    """Coincident points and a constant angle."""
    coincide(a, b, 0, error, on_first, on_second)
    keep_angle_in_plane(a, b, 2, 1, 1, marker[0], marker[1], error, on_first, on_second)


LOCKED_POINTS = JointForm(
    "locked-points", locked_points_rows, first=4, second=4, rows=6, translations=3, locks=6, rotations=3, coincident=3
)
LOCKED_POINTS_IN_PLANE = JointForm(
    "locked-points-2d",
    locked_points_in_plane_rows,
    first=2,
    second=2,
    rows=3,
    translations=2,
    locks=3,
    rotations=1,
    marker=2,
    coincident=2,
)


@dataclass(frozen=True)
class Fixed(Joint):
    """Weld: locks everything, in the pose the bodies have when it is made."""

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the directions on both sides."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        oriented(name, first, second)
        if len(a) == 2:
            line_a, line_b, marker = plane_directions(first, second)
            return Attachment(LOCKED_POINTS_IN_PLANE, [mark_a, line_a], [mark_b, line_b], marker)
        if len(first.directions) == len(second.directions) == 3:
            axes_a = [must(first.direction(u)) for u in np.eye(3)]
            axes_b = [must(second.direction(u)) for u in np.eye(3)]
            return Attachment(LOCKED_POINTS, [mark_a, *axes_a], [mark_b, *axes_b])
        line = common_line(name, first, second)
        return Attachment(ALIGNED_POINTS, [mark_a, must(first.direction(line))], [mark_b, must(second.direction(line))])

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls()
