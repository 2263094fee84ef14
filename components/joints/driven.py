"""Driven joints: an angle, a way along a line, a distance or a place that follows a course over time.

Rheonomic rows phi(q) - f(t) = 0 with the rate J v - f'(t), beside the joint that guides the motion: a `DrivenRotation` beside a
`Revolute`, a `DrivenTranslation` beside a `Prismatic`. What is followed is the way of the course since the joint was made, so it
always begins where its bodies stand; a course that begins with a speed sets them going by an impact, as any joint made between
moving points does. What a drive brings is the line `supplied` of its ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from components.courses import Course, Smooth
from modular.blocks import like
from modular.courses import follow
from modular.elements import TIME, Array
from modular.joint import JointForm
from modular.joints import load_joints, scratch_of, store_joints
from modular.kernel import kernel
from modular.lane_rows import fetch
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, Loop, inside, made
from modular.side import Side
from modular.views import View

# courses of the examples drive late, so that laws of joints at rest hold for them
AT_REST = Smooth((5.0, 6.0), (0.0, 0.3))


def course_of(given: Any) -> Course:
    """A course, or one through values at times: (times, values), or with their rates."""
    if isinstance(given, Course):
        return given
    times, values, *rates = given
    return Smooth(times, values, rates[0] if rates else None, goes_on=True)


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
        scratch, course = scratch_of(joints), like(joints.course)
        for n in range(start, stop, LANES):
            a, b, marker, error, on_first, on_second = load_joints(joints, elements, n, stop, scratch)
            take_courses(joints, elements, n, stop, course)
            fill_in(a, b, marker, error, on_first, on_second, course)
            store_joints(joints, n, stop, error, on_first, on_second)
        return NO_FAILED_ROW

    return made(linearise, rows)


def form_of(
    name: str, linearise: Any, first: int, second: int, rows: int, own: int, *, turns: bool = False
) -> JointForm:
    """A form whose rows are driven: each fixes first how many pieces its course has, and where that began; then `own` numbers."""
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
