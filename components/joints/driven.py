"""Driven joints: an angle, a way along a line, a distance or a place that follows a course over time.

Rheonomic rows phi(q) - f(t) = 0 with the rate J v - f'(t), beside the joint that guides the motion: a `DrivenRotation` beside a
`Revolute`, a `DrivenTranslation` beside a `Prismatic`. What is followed is the way of the course since the joint was made, so it
always begins where its bodies stand; a course that begins with a speed sets them going by an impact, as any joint made between
moving points does. What a drive brings is the line `supplied` of its ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from components.courses import Course, Smooth, followed
from components.joints.marks import across, angle_between, line_mark, line_of, must, oriented
from components.joints.rows import go_along, go_along_in_plane
from components.joints.turns import turn, turn_in_plane, wrapped
from modular.blocks import like
from modular.courses import follow
from modular.elements import TIME, Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import desk_of, keep, look
from modular.kernel import kernel
from modular.lanes import LANES
from modular.loop import FINE, Loop, inside, made
from modular.side import Side
from modular.views import View, fetch

# what every driven row fixes first: how many pieces its course has, and where that began; then its own numbers
AT_REST = Smooth(
    (5.0, 6.0), (0.0, 0.3)
)  # of the examples: they drive late, so that laws of joints at rest hold for them


@kernel
def take_courses(joints: View, elements: View, n: int, stop: int, course: Array) -> None:
    """Ways and rates of the courses of four joints, as the clock stands."""
    for m in range(n, min(n + LANES, stop)):
        follow(joints.marker[m], joints.pieces[m], elements.clock[TIME], elements.beyond[0], joints.course[m])
    fetch(joints.course, n, stop, course)


def led_joint_loop(rows: Callable[..., None]) -> Loop:
    """The loop that linearises driven joints, around what fills in the rows of four of them; `course`: ways and rates."""
    fill_in = inside(rows)

    def linearise(start: int, stop: int, joints: View, elements: View) -> int:
        desk, course = desk_of(joints), like(joints.course)
        for n in range(start, stop, LANES):
            a, b, marker, error, on_first, on_second = look(joints, elements, n, stop, desk)
            take_courses(joints, elements, n, stop, course)
            fill_in(a, b, marker, error, on_first, on_second, course)
            keep(joints, n, stop, error, on_first, on_second)
        return FINE

    return made(linearise, rows)


# --- rotation --------------------------------------------------------------------------------------------------------


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


def _form(name: str, linearise: Any, first: int, second: int, rows: int, own: int, *, turns: bool = False) -> JointForm:
    return JointForm(
        name,
        linearise,
        first=first,
        second=second,
        rows=rows,
        translations=0 if turns else rows,
        rotations=rows if turns else 0,
        locks=rows,
        marker=1 + rows + own,
        drives=rows,
    )


ROTATION = _form("driven-rotation", rotation_rows, 3, 2, 1, 1, turns=True)
ROTATION_IN_PLANE = _form("driven-rotation-2d", rotation_in_plane_rows, 2, 2, 1, 1, turns=True)


@dataclass(frozen=True)
class Driven:
    """What driven joints share."""

    course: Course

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    drive: ClassVar[bool] = True

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """It begins where its bodies stand."""
        return 0.0


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
                    f"joint '{name}': axis = {self.axis}; in the plane everything turns about z, leave axis out."
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


# --- translation -----------------------------------------------------------------------------------------------------


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


TRANSLATION = _form("driven-translation", translation_rows, 2, 1, 1, 1)
TRANSLATION_IN_PLANE = _form("driven-translation-2d", translation_in_plane_rows, 2, 1, 1, 3)


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


# --- distance --------------------------------------------------------------------------------------------------------


@led_joint_loop
def driven_distance_rows(
    a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array, course: Array
) -> None:
    """|P_b - P_a|, less what it was and by how much it is to have grown since."""
    square = 0.0
    for c in range(a.shape[1]):
        arm = b[0, c] - a[0, c]
        square += arm * arm
    length = np.sqrt(square)
    for c in range(a.shape[1]):
        arm = b[0, c] - a[0, c]
        on_first[0, 0, c] = -arm / length
        on_second[0, 0, c] = arm / length
    error[0] = length - marker[2] - course[0, 0]


DISTANCE = _form("driven-distance", driven_distance_rows, 1, 1, 1, 1)


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
                f"joint '{name}': its points are {length:.3g} m apart; a jack needs a length. Place the ground's end with at=…, or "
                "join other ports."
            )
        return Attachment(DISTANCE, [mark_a], [mark_b], followed(name, self.course, 1, [length]))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(AT_REST)


# --- place -----------------------------------------------------------------------------------------------------------


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


PLACE = _form("driven-place", place_rows, 4, 1, 3, 3)
PLACE_IN_PLANE = _form("driven-place-2d", place_in_plane_rows, 2, 1, 2, 4)


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
