"""Driven place: a point follows courses along the axes of another body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from components.courses import Smooth, followed
from components.joints.driven import Driven, form_of, led_joint_loop
from components.joints.marks import angle_between, line_mark, must, oriented
from components.joints.rows import go_along, go_along_in_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, point_marks
from modular.side import Side


@led_joint_loop
def place_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """The place of P_b from P_a along a_1, a_2, a_3, less what it was and the way it is to have gone since."""
    for i in range(3):
        error[i] = -marker[4 + i] - course[i, 0]
        go_along(a, b, i, 1 + i, error, on_first, on_second)


@led_joint_loop
def place_in_plane_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """The same in the plane, along a line at a fixed angle to the direction of the first side, and across it."""
    for i in range(2):
        error[i] = -marker[3 + i] - course[i, 0]
    go_along_in_plane(a, b, 0, 1, marker[5], marker[6], error, on_first, on_second)
    go_along_in_plane(a, b, 1, 1, -marker[6], marker[5], error, on_first, on_second)


PLACE = form_of("driven-place", place_rows, 4, 1, 3, 3)
PLACE_IN_PLANE = form_of("driven-place-2d", place_in_plane_rows, 2, 1, 2, 4)


@dataclass(frozen=True)
class DrivenPlace(Driven, Joint):
    """The second point moves against the first side as `course` says [m], in the axes of the world as it stands when it is made.

    It locks all translations: a shaken bearing, or a hand that leads a port along a path.
    """

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the axes of the world on the first side."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        oriented(name, first)
        own = (b - a).tolist()
        if len(a) == 2:
            direction = must(first.direction(first.directions[0]))
            marker = followed(name, self.course, 2, [*own, *angle_between(direction.value, np.array([1.0, 0.0]))])
            return Attachment(PLACE_IN_PLANE, [mark_a, direction], [mark_b], marker)
        axes = [line_mark(name, first, axis) for axis in np.eye(3)]
        return Attachment(PLACE, [mark_a, *axes], [mark_b], followed(name, self.course, 3, own))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(Smooth((5.0, 6.0), ((0.0,) * dimension, (0.3, -0.1, 0.2)[:dimension])))


def leading(times: Array, ways: Array, rates: Array) -> DrivenPlace:
    """What leads a point along ways from where it stands, with their rates, and on as it went."""
    values, speeds = (tuple(map(tuple, table.tolist())) for table in (ways, rates))
    return DrivenPlace(Smooth(tuple(times.tolist()), values, speeds, goes_on=True))
