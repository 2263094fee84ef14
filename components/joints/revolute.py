"""Revolute joint: two points stay together, the bodies turn about one common axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from components.joints.marks import line_of, share_axis
from components.joints.rows import align, coincide, keep_cosine
from components.joints.spherical import POINTS
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.kernel import kernel
from modular.side import Side


@kernel
def aligned_points_loop(
    count: int,
    first: Indices,
    second: Indices,
    marker: Array,
    x: Array,
    error: Array,
    on_first: Array,
    on_second: Array,
) -> None:
    """Coincident points and one direction in common: (III.9) and (III.10.a)."""
    for n in range(count):
        a = x[first[n] : first[n] + 2]
        b = x[second[n] : second[n] + 2]
        coincide(a, b, 0, error[n], on_first[n], on_second[n])
        align(a, b, 3, 1, 1, error[n], on_first[n], on_second[n])


@kernel
def hinged_rod_loop(
    count: int,
    first: Indices,
    second: Indices,
    marker: Array,
    x: Array,
    error: Array,
    on_first: Array,
    on_second: Array,
) -> None:
    """Coincident points and a constant angle between the axis and a rod that has no axes of its own."""
    for n in range(count):
        a = x[first[n] : first[n] + 2]
        b = x[second[n] : second[n] + 2]
        coincide(a, b, 0, error[n], on_first[n], on_second[n])
        keep_cosine(a, b, 3, 1, 1, marker[n, 0], error[n], on_first[n], on_second[n])


ALIGNED_POINTS = JointForm(
    "aligned-points", aligned_points_loop, first=2, second=2, rows=6, translations=3, locks=5, rotations=2
)
HINGED_ROD = JointForm(
    "hinged-rod", hinged_rod_loop, first=2, second=2, rows=4, translations=3, locks=4, rotations=1, marker=1
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

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the axis on both sides."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        if len(a) == 2:
            if self.axis is not None:
                raise ModelError(
                    f"joint '{name}': axis = {tuple(self.axis)}; in the plane a hinge turns about z, leave axis out."
                )
            return Attachment(POINTS[2], [mark_a], [mark_b])
        axis = share_axis(name, first, second, line_of(name, self.axis, first))
        form, marker = (ALIGNED_POINTS, ()) if axis.cosine is None else (HINGED_ROD, (axis.cosine,))
        return Attachment(form, [mark_a, axis.first], [mark_b, axis.second], marker)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls() if dimension == 2 else cls(axis=(0.3, -0.5, 0.8))
