"""Driven distance: the distance of two points follows a course."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from components.courses import followed
from components.joints.driven import AT_REST, Driven, form_of, led_joint_loop
from components.joints.rows import measure_apart
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, point_marks
from modular.side import Side


@led_joint_loop
def driven_distance_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """|P_b - P_a|, less what it was and by how much it is to have grown since."""
    length = measure_apart(a, b, 0, on_first, on_second)
    error[0] = length - marker[2] - course[0, 0]


DISTANCE = form_of("driven-distance", driven_distance_rows, 1, 1, 1, 1)


@dataclass(frozen=True)
class DrivenDistance(Driven, Joint):
    """The distance of two points grows as `course` says [m]: a jack, or a hydraulic cylinder between two balls.

    It must not come to nothing. To the ground it needs a place: `at=(x, y, z)`.
    """

    apart: ClassVar[bool] = True
    coordinates: ClassVar[tuple[str, ...]] = ("distance",)

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the two points and their distance."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        length = float(np.linalg.norm(b - a))
        if length <= 1e-6 * max(1.0, float(np.abs(a).max())):
            raise ModelError(
                f"joint '{name}': its points are {length:.3g} m apart; a driven distance cannot be zero. Place the "
                "ground's end with at=…, or "
                "join other ports."
            )
        return Attachment(DISTANCE, [mark_a], [mark_b], followed(name, self.course, 1, [length]))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(AT_REST)
