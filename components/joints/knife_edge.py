"""Knife edge: a point of a body glides along the ground, or along a neighbour, but never sideways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import angle_between, line_mark, line_of, must, oriented
from modular.elements import Array
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def no_sideways_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """n . (v_b - v_a) = 0 with n carried by the first side: a row that locks a velocity, and no error of position."""
    error[0] = 0.0
    for c in range(a.shape[1]):
        on_first[0, 0, c] = -a[1, c]
        on_second[0, 0, c] = a[1, c]


@joint_loop
def no_sideways_in_plane_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array
) -> None:
    """The same in the plane: n stands at a fixed angle to the direction of the first side."""
    u = a[1]
    cosine, sine = marker[0], marker[1]
    error[0] = 0.0
    on_first[0, 0, 0] = -(cosine * u[0] - sine * u[1])
    on_first[0, 0, 1] = -(sine * u[0] + cosine * u[1])
    on_second[0, 0, 0] = -on_first[0, 0, 0]
    on_second[0, 0, 1] = -on_first[0, 0, 1]


NO_SIDEWAYS = JointForm(
    "no-sideways", no_sideways_rows, first=2, second=1, rows=1, translations=1, locks=1, rotations=0, holonomic=False
)
NO_SIDEWAYS_IN_PLANE = JointForm(
    "no-sideways-2d",
    no_sideways_in_plane_rows,
    first=2,
    second=1,
    rows=1,
    translations=1,
    locks=1,
    rotations=0,
    marker=2,
    holonomic=False,
)


@dataclass(frozen=True)
class KnifeEdge(Joint):
    """Skate or blade: locks the velocity of its point along `normal`, which the first side carries.

    The contact point is the first port, wherever it goes; the second side is what it glides on, mostly the ground.
    `normal` is given in the world, as the bodies stand when the joint is made; left out, it is the z axis (in the plane
    the x axis) of the first port. Non-holonomic: under the penalty coupling it is a damper (Séguy 2003, IV.2.b and
    IV.27) and first order in the step.
    """

    normal: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    together: ClassVar[bool] = False

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the normal on the first side."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        normal = line_of(name, self.normal, first)
        oriented(name, first)
        if len(a) == 2:
            direction = must(first.direction(first.directions[0]))
            marker = angle_between(direction.value, normal)
            return Attachment(NO_SIDEWAYS_IN_PLANE, [mark_a, direction], [mark_b], marker)
        return Attachment(NO_SIDEWAYS, [mark_a, line_mark(name, first, normal)], [mark_b])

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(normal=(0.8, 0.6)) if dimension == 2 else cls(normal=(0.3, -0.5, 0.8))
