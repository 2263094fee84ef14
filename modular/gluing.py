"""The joint's part in gluing: its response for the interface, and the multipliers that the interface found for it.

Gluing (Séguy 2003, I.3.5 and the third perspective of his conclusion) joins components by multipliers instead of springs. A joint
shows the interface what its two sides answer through it, G = J B on each side (modular/seen_mass.py), and hangs its reaction on
the Jacobian of the place where the step begins, as RATTLE does, while its error is looked at where the step leads to.
"""

from __future__ import annotations

from typing import Any

from modular.blocks import like, shaped
from modular.elements import STEP
from modular.joint_loops import drawn_by, pull
from modular.joints import Joints
from modular.kernel import kernel
from modular.lane_rows import fetch, indices, store, store_one
from modular.lanes import LANES, lanes
from modular.loop import NO_FAILED_ROW, loop
from modular.seen_mass import joint_responses, response_scratch
from modular.views import View


@loop
def compute_joint_response_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """G of both sides where the bodies stand, and the Jacobians of this place, on which reactions hang from here on.

    While elements are shown ahead (`Elements.ahead`), G where a drift has led, for forces where it began.
    """
    room = response_scratch(joints, elements.response)
    for n in range(start, stop, LANES):
        seen_first, seen_second = joint_responses(joints, elements, n, stop, joints.seen_first.shape[1], room)
        if elements.ahead[0] > 0.0:
            store_seen(seen_first, joints.ahead_first, n, stop)
            store_seen(seen_second, joints.ahead_second, n, stop)
            continue
        store_seen(seen_first, joints.seen_first, n, stop)
        store_seen(seen_second, joints.seen_second, n, stop)
        if joints.coincident.shape[0] < joints.effort.shape[0]:
            store(room[0], joints.base_first, n, stop)
            store(room[1], joints.base_second, n, stop)
        for m in range(n, min(n + LANES, stop) if joints.course.shape[0] > 0 else n):
            for i in range(joints.course.shape[0]):
                joints.course[m, i, 3] = joints.course[m, i, 1]
    return NO_FAILED_ROW


@kernel
def store_seen(seen: Any, column: Any, n: int, stop: int) -> None:
    """The motions among the columns of G of bodies whose internal constraints hold."""
    part = like(column)
    for i in range(seen.shape[0]):
        for mode in range(part.shape[1]):
            part[i, mode] = seen[i, mode]
    store(part, column, n, stop)


def _reaction_scratch(joints: Any) -> list[tuple[int, ...]]:
    return [
        joints.shape_of(name)
        for name in ("on_first", "on_second", "error", "first_side", "second_side", "course", "drawn")
    ]


reaction_scratch = shaped(lanes, _reaction_scratch)


@loop
def apply_multipliers_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """-J^T sigma on the elements of both sides, J where the step began."""
    leading = joints.coincident.shape[0]
    base_first, base_second, effort, a, b, course, drawn = reaction_scratch(joints)
    for n in range(start, stop, LANES):
        first, second = indices(joints.first, n, stop), indices(joints.second, n, stop)
        if leading < effort.shape[0]:
            fetch(joints.base_first, n, stop, base_first)
            fetch(joints.base_second, n, stop, base_second)
        fetch(joints.effort, n, stop, effort)
        pull(elements, first, second, leading, base_first, base_second, effort, a, b)
        store_one(0.0 * effort[0], joints.power, n, stop)
        if course.shape[0] > 0:
            fetch(joints.course, n, stop, course)
            drawn[0] = drawn_by(course, effort, 3)
            drawn[1] = drawn[0]
            store(drawn, joints.drawn, n, stop)
    return NO_FAILED_ROW


LOOPS = {"compute_joint_response": compute_joint_response_loop, "apply_multipliers": apply_multipliers_loop}


def equip(joints: Joints) -> None:
    """Let the joints of a stack be glued."""
    joints.loops |= LOOPS
    joints.prepare("apply_multipliers")


@loop
def steady_loop(start: int, stop: int, table: View, elements: View) -> int:
    """Forces that stay as they are while a part of a step is booked."""
    for n in range(start, stop):
        for c in range(table.force.shape[0]):
            table.force_before[n, c] = table.force[n, c]
    return NO_FAILED_ROW


@loop
def move_along_loop(start: int, stop: int, table: View, elements: View) -> int:
    """Elements where their motion leads in the time of the clock."""
    h = elements.clock[STEP]
    for n in range(start, stop):
        for c in range(table.velocity.shape[0]):
            table.position[n, c] += h * table.velocity[n, c]
    return NO_FAILED_ROW


ELEMENT_LOOPS = {"steady": steady_loop, "move_along": move_along_loop}
