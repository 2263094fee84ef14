"""Rolling: where an ellipsoid touches a plane, it does not slide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from components.joints.ellipsoid import frame_marks, half_axes, height_of, lean_on, touch
from components.joints.marks import line_mark, line_of
from modular.blocks import shaped
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.lanes import lanes
from modular.side import Side

three = shaped(lanes, lambda joints: [(3,), (3,)])


@joint_loop
def rolling_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """t . (v_b - v_a) = 0 along two directions t of the plane, at the point where the body touches it: rows that lock velocities.

    Of the body that point moves with C' + sum arms_i e_i', of the plane with P' + sum ((x - P) . g) g' over its directions g.
    """
    arms, reach = three(error)
    touch(a, b, marker, arms)
    for g in range(3):
        reach[g] = 0.0
        for c in range(3):
            arm = b[0, c] - a[0, c]
            for i in range(3):
                arm += arms[i] * b[1 + i, c]
            reach[g] += arm * a[1 + g, c]
    for row in range(2):
        for c in range(3):
            t = a[2 + row, c]
            on_first[row, 0, c] = -t
            on_second[row, 0, c] = t
            for i in range(3):
                on_first[row, 1 + i, c] = -reach[i] * t
                on_second[row, 1 + i, c] = arms[i] * t


ROLLING = JointForm(
    "rolling",
    rolling_rows,
    first=4,
    second=4,
    rows=2,
    translations=2,
    locks=2,
    rotations=0,
    marker=3,
    holonomic=False,
)


@dataclass(frozen=True)
class Rolling(Joint):
    """A ball (r, r, r), a disc (r, r, 0) or any ellipsoid around the second port does not slide on the plane that it touches.

    It locks velocities alone, along both directions of the plane across `normal`, at the point of the body that touches; that
    the body touches is the business of `EllipsoidOnPlane` beside it, with the same `half_axes`, `normal` and `axes`.
    Non-holonomic: under the penalty coupling it is a damper (Séguy 2003, IV.2.b and IV.27) and first order in the step. In
    space only.
    """

    half_axes: Sequence[float]
    normal: Sequence[float] | None = None
    axes: Sequence[Sequence[float]] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Rack(…), a wheel on a bar"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points, the directions of the plane and the axes of the ellipsoid."""
        half, normal = half_axes(name, self.half_axes), line_of(name, self.normal, first)
        mark_a, mark_b = point_marks(name, first, second, a, b)
        frame = frame_marks(name, second, self.axes)
        lean_on(name, height_of(frame, half, normal), half, normal)
        along = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        along /= np.linalg.norm(along)
        plane = [line_mark(name, first, axis) for axis in (normal, along, np.cross(normal, along))]
        return Attachment(ROLLING, [mark_a, *plane], [mark_b, *frame], tuple(half**2))

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """It locks no place."""
        return 0.0

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls((0.5, 0.3, 0.2), normal=(0.3, -0.5, 0.8), axes=((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0)))
