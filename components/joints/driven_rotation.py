"""Driven rotation: an angle about an axis that follows a course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from components.courses import followed
from components.joints.driven import AT_REST, Driven, form_of, led_joint_loop
from components.joints.marks import across, angle_between, line_mark, line_of, must, oriented
from components.joints.turns import turn, turn_in_plane, wrapped
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, point_marks
from modular.side import Side


@led_joint_loop
def rotation_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """The angle from a_2 to b_1 about a_1, less what it was and what it is to have turned since."""
    found = turn(a, 1, a, 2, b, 1, 0, 1.0, on_first, on_first, on_second)
    error[0] = wrapped(found - marker[2] - course[0, 0], 2.0 * np.pi)


@led_joint_loop
def rotation_in_plane_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """The same in the plane."""
    found = turn_in_plane(a, 1, b, 1, 0, 1.0, on_first, on_second)
    error[0] = wrapped(found - marker[2] - course[0, 0], 2.0 * np.pi)


ROTATION = form_of("driven-rotation", rotation_rows, 3, 2, 1, 1, turns=True)
ROTATION_IN_PLANE = form_of("driven-rotation-2d", rotation_in_plane_rows, 2, 2, 1, 1, turns=True)


@dataclass(frozen=True)
class DrivenRotation(Driven, Joint):
    """The second body turns about `axis` against the first as `course` says [rad], over any number of turns.

    It locks that turn alone, beside a `Revolute` or `Cylindrical` about the same axis. `axis` is given in the world, as the
    bodies stand when it is made, and moves with the first side; left out, it is the z axis of the first port.
    """

    axis: Sequence[float] | None = None

    coordinates: ClassVar[tuple[str, ...]] = ("angle",)

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points, the axis, and a direction across it on either side by which the turn is told."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        oriented(name, first, second)
        if len(a) == 2:
            if self.axis is not None:
                raise ModelError(
                    f"joint '{name}': axis = {self.axis}; in the plane everything turns about z; leave axis out."
                )
            line_a, line_b = must(first.direction(first.directions[0])), must(second.direction(second.directions[0]))
            cosine, sine = angle_between(line_a.value, line_b.value)
            marker = followed(name, self.course, 1, [float(np.arctan2(sine, cosine))])
            return Attachment(ROTATION_IN_PLANE, [mark_a, line_a], [mark_b, line_b], marker)
        axis = line_of(name, self.axis, first)
        arm_a, arm_b = across(name, first, axis), across(name, second, axis)
        x, y = arm_a.value, arm_b.value
        begin = float(np.arctan2(axis @ np.cross(x, y), x @ y - (axis @ x) * (axis @ y)))
        return Attachment(
            ROTATION,
            [mark_a, line_mark(name, first, axis), arm_a],
            [mark_b, arm_b],
            followed(name, self.course, 1, [begin]),
        )

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(AT_REST) if dimension == 2 else cls(AT_REST, axis=(0.3, -0.5, 0.8))
