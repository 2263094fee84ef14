"""Reactions of glued joints: what they have to answer, what is added to them, and what is expected of them in the next step."""

from __future__ import annotations

from math import sqrt
from typing import Any

from coordinator.couplings.interface.face import (
    CARRIED,
    CLOSED,
    EFFORT,
    EPSILON,
    ERROR,
    GLIDING,
    KICKED,
    LENGTHS,
    RATE,
    RIGHT,
    SIZE,
    numbers_at,
)
from modular.kernel import kernel
from modular.loop import FINE, loop
from modular.views import View


@kernel
def take_errors(face: View, length: float, turn: float) -> Any:
    """Errors of all joints to the right-hand side; the largest, as a multiple of what may stay open."""
    right = face.right_side
    largest, sound = 0.0, 0.0
    for k in range(face.joint_count):
        at, error, lengths = face.joints[k, RIGHT], numbers_at(face.joints[k, ERROR]), face.joints[k, LENGTHS]
        for i in range(face.joints[k, SIZE]):
            right[at + i] = error[i]
            sound += 0.0 * error[i]
            largest = max(largest, abs(error[i]) / (length if i < lengths else turn))
    return largest + sound


@kernel
def reach_of_rounding(face: View, h: float, length: float, turn: float) -> Any:
    """How far rounding of the reactions moves the joints in a drift, as a multiple of what may stay open.

    A reaction is known to a share EPSILON of itself, and what that does to a light body no other reaction takes back: errors
    are h^2 / 2 W of it, and |W_ij| is at most the root of W_ii W_jj.
    """
    scales = face.scales
    largest = 0.0
    for k in range(face.joint_count):
        at, effort, lengths = face.joints[k, RIGHT], numbers_at(face.joints[k, EFFORT]), face.joints[k, LENGTHS]
        push = 0.0
        for i in range(face.joints[k, SIZE]):
            push += EPSILON * abs(effort[i]) * sqrt(scales[at + i])
        for i in range(face.joints[k, SIZE]):
            largest = max(largest, 0.5 * h * h * sqrt(scales[at + i]) * push / (length if i < lengths else turn))
    return largest


@kernel
def added_up(face: View) -> Any:
    """What all joints add to a sum, always in the same order."""
    summands, total = face.summands, 0.0
    for k in range(face.joint_count_of_all):
        total += summands[k]
    return total


@kernel
def take_rates(face: View) -> Any:
    """Rates of all joints to the right-hand side; the largest."""
    right = face.right_side
    largest, sound = 0.0, 0.0
    for k in range(face.joint_count):
        at, rate = face.joints[k, RIGHT], numbers_at(face.joints[k, RATE])
        for i in range(face.joints[k, SIZE]):
            right[at + i] = rate[i]
            sound += 0.0 * rate[i]
            largest = max(largest, abs(rate[i]))
    return largest + sound


@kernel
def give_efforts(face: View, factor: float) -> None:
    """Add what was found to the reactions of the joints."""
    right = face.right_side
    for k in range(face.joint_count):
        at, effort = face.joints[k, RIGHT], numbers_at(face.joints[k, EFFORT])
        for i in range(face.joints[k, SIZE]):
            effort[i] += factor * right[at + i]


@loop
def recall_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Begin with the reactions that are expected to close the joints."""
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            effort[i] = carried[i]
    return FINE


@loop
def start_over_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Begin with the reactions under which the step before has ended.

    They are further from those that close the joints, but lie along what they pull at, where those that are expected lie along
    where it was: what these do across a light body between heavy ones may fling it far beyond its length.
    """
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        for i in range(face.joints[k, SIZE]):
            effort[i] = kicked[i]
    return FINE


@loop
def keep_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Keep by how much the reactions that closed the joints differ from those with which the step before ended."""
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        closed = numbers_at(face.joints[k, CLOSED])
        for i in range(face.joints[k, SIZE]):
            closed[i] = effort[i] - kicked[i]
    return FINE


@loop
def expect_loop(start: int, stop: int, face: View, elements: View) -> int:
    """What closes the joints next, but for terms of second order.

    The reaction that closes a joint in a step h from t is lambda(t) + h/3 c, that which stops it at the end of a step h' to t
    is lambda(t) - h'/3 c, with one and the same c: so the difference of both tells c, and the next one follows.
    """
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        closed, carried = numbers_at(face.joints[k, CLOSED]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            kicked[i] = effort[i]
            carried[i] = effort[i] + face.trend * closed[i]
    return FINE


@loop
def average_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Before a step is tried again: the reactions that closed joints, or ones nearer to those that stopped them at the end."""
    taken = face.easing
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        closed, carried = numbers_at(face.joints[k, CLOSED]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            if face.joints[k, GLIDING] == 1:
                carried[i] = taken * effort[i] + (1.0 - taken) * carried[i]
            else:
                carried[i] = closed[i] + kicked[i]
    return FINE


@loop
def carry_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Expect the reactions of now."""
    for k in range(face.joint_count):
        effort, kicked = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, KICKED])
        carried = numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            kicked[i] = effort[i]
            carried[i] = effort[i]
    return FINE


@kernel
def clear_efforts(face: View) -> None:
    """Joints exert nothing."""
    for k in range(face.joint_count):
        effort = numbers_at(face.joints[k, EFFORT])
        for i in range(face.joints[k, SIZE]):
            effort[i] = 0.0


LOOPS = {
    "recall": recall_loop,
    "start_over": start_over_loop,
    "keep": keep_loop,
    "expect": expect_loop,
    "average": average_loop,
    "carry": carry_loop,
}
