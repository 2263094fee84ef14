"""Ellipsoid on plane: a ball, a disc or a rattleback stands on a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.ellipsoid import frame_marks, half_axes, height_of, lean_on, touch
from components.joints.marks import line_mark, line_of
from modular.blocks import shaped
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.lanes import lanes
from modular.side import Side

three = shaped(lanes, lambda joints: [(3,)])


@joint_loop
def ellipsoid_on_plane_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """(C - P) . k - h = const, with h the height at which the centre of an ellipsoid stands."""
    (arms,) = three(error)
    gap = -touch(a, b, marker, arms) - marker[3]
    for c in range(3):
        arm = b[0, c] - a[0, c]
        gap += arm * a[1, c]
        for i in range(3):
            arm += arms[i] * b[1 + i, c]
            on_second[0, 1 + i, c] = arms[i] * a[1, c]
        on_first[0, 0, c] = -a[1, c]
        on_first[0, 1, c] = arm
        on_second[0, 0, c] = a[1, c]
    error[0] = gap


ELLIPSOID_ON_PLANE = JointForm(
    "ellipsoid-on-plane",
    ellipsoid_on_plane_rows,
    first=2,
    second=4,
    rows=1,
    translations=1,
    locks=1,
    rotations=0,
    marker=4,
)


@dataclass(frozen=True)
class EllipsoidOnPlane(Joint):
    """A ball (r, r, r), a disc (r, r, 0) or any ellipsoid around the second port stands on a plane, which the first side carries.

    The plane is the one that it touches as the bodies stand when the joint is made, across `normal`: left out, the z axis of
    the first port. `half_axes` lie along the axes of the second port, or along two directions `axes`, both in the world at that
    time, and the third across them. It slides freely; beside it `Rolling` lets it roll. It holds from both sides, like all
    joints; `Contact` lets go. In space only; in the plane a wheel on a bar is a `Rack`.
    """

    half_axes: Sequence[float]
    normal: Sequence[float] | None = None
    axes: Sequence[Sequence[float]] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Rack(…), a wheel on a bar"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points, the normal and the axes of the ellipsoid."""
        half, normal = half_axes(name, self.half_axes), line_of(name, self.normal, first)
        mark_a, mark_b = point_marks(name, first, second, a, b)
        frame = frame_marks(name, second, self.axes)
        height = height_of(frame, half, normal)
        lean_on(name, height, half, normal)
        offset = float((b - a) @ normal) - height
        return Attachment(
            ELLIPSOID_ON_PLANE, [mark_a, line_mark(name, first, normal)], [mark_b, *frame], (*(half**2), offset)
        )

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """The plane is where the body touches it."""
        return 0.0

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls((0.5, 0.3, 0.2), normal=(0.3, -0.5, 0.8), axes=((0.6, 0.8, 0.0), (-0.8, 0.6, 0.0)))
