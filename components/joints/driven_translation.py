"""Driven translation: a way along a line that follows a course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.courses import followed
from components.joints.driven import AT_REST, Driven, form_of, led_joint_loop
from components.joints.marks import angle_between, line_mark, line_of, must, oriented
from components.joints.rows import go_along, go_along_in_plane
from modular.elements import Array
from modular.joint import Attachment, Joint, point_marks
from modular.side import Side


@led_joint_loop
def translation_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """The way of P_b along a_1 from P_a, less what it was and what it is to have gone since."""
    error[0] = -marker[2] - course[0, 0]
    go_along(a, b, 0, 1, error, on_first, on_second)


@led_joint_loop
def translation_in_plane_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """The same in the plane: the line stands at a fixed angle to the direction of the first side."""
    error[0] = -marker[2] - course[0, 0]
    go_along_in_plane(a, b, 0, 1, marker[3], marker[4], error, on_first, on_second)


TRANSLATION = form_of("driven-translation", translation_rows, 2, 1, 1, 1)
TRANSLATION_IN_PLANE = form_of("driven-translation-2d", translation_in_plane_rows, 2, 1, 1, 3)


@dataclass(frozen=True)
class DrivenTranslation(Driven, Joint):
    """The second point moves along `axis` of the first side as `course` says [m].

    It locks that way alone, beside a `Prismatic`, `Cylindrical` or `PointOnLine` along the same axis. `axis` is given in the
    world, as the bodies stand when it is made, and moves with the first side; left out, it is the z axis (in the plane the
    x axis) of the first port.
    """

    axis: Sequence[float] | None = None

    coordinates: ClassVar[tuple[str, ...]] = ("way",)

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and the line on the first side."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        axis = line_of(name, self.axis, first)
        oriented(name, first)
        own = [float((b - a) @ axis)]
        if len(a) == 2:
            direction = must(first.direction(first.directions[0]))
            marker = followed(name, self.course, 1, [*own, *angle_between(direction.value, axis)])
            return Attachment(TRANSLATION_IN_PLANE, [mark_a, direction], [mark_b], marker)
        marker = followed(name, self.course, 1, own)
        return Attachment(TRANSLATION, [mark_a, line_mark(name, first, axis)], [mark_b], marker)

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(AT_REST, axis=(0.8, 0.6)) if dimension == 2 else cls(AT_REST, axis=(0.3, -0.5, 0.8))
