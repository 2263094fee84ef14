"""Reactions of glued joints: what they have to answer, what is added to them, and what is expected of them in the next step."""

from __future__ import annotations

from math import sqrt
from typing import Any

from coordinator.couplings.interface.fields import (
    CARRIED,
    CLOSED,
    EFFORT,
    ERROR,
    FRICTION,
    GLIDING,
    KICKED,
    LENGTHS,
    MACHINE_EPSILON,
    PLACE_COMPLIANCE,
    RATE,
    RIGHT,
    SIZE,
    numbers_at,
)
from modular.friction_rows import slides
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@kernel
def is_unasked(interface: View, k: int) -> bool:
    """Whether a joint is a stiff force, at an instant; or friction that slides, or that a blow does not see."""
    if interface.joints[k, FRICTION] != 0:
        return bool(interface.instant == 2 or slides(numbers_at(interface.joints[k, FRICTION])))
    return bool(interface.instant > 0 and interface.joints[k, PLACE_COMPLIANCE] != 0)


@kernel
def read_errors(interface: View, length: float, turn: float) -> Any:
    """Errors of all joints to the right-hand side; the largest, as a multiple of what may stay open."""
    right = interface.right_side
    largest, sound = 0.0, 0.0
    for k in range(interface.joint_count):
        at, error, lengths = (
            interface.joints[k, RIGHT],
            numbers_at(interface.joints[k, ERROR]),
            interface.joints[k, LENGTHS],
        )
        if is_unasked(interface, k):
            for i in range(interface.joints[k, SIZE]):
                right[at + i] = 0.0
            continue
        for i in range(interface.joints[k, SIZE]):
            right[at + i] = error[i]
            sound += 0.0 * error[i]
            largest = max(largest, abs(error[i]) / (length if i < lengths else turn))
    return largest + sound


@kernel
def reach_of_rounding(interface: View, h: float, length: float, turn: float) -> Any:
    """How far rounding of the reactions moves the joints in a drift, as a multiple of what may stay open.

    A reaction is known to a share EPSILON of itself, and what that does to a light body no other reaction takes back: errors
    are h^2 / 2 W of it, and |W_ij| is at most the root of W_ii W_jj.
    """
    scales = interface.scales
    largest = 0.0
    for k in range(interface.joint_count):
        at, effort, lengths = (
            interface.joints[k, RIGHT],
            numbers_at(interface.joints[k, EFFORT]),
            interface.joints[k, LENGTHS],
        )
        push = 0.0
        for i in range(interface.joints[k, SIZE]):
            push += MACHINE_EPSILON * abs(effort[i]) * sqrt(scales[at + i])
        for i in range(interface.joints[k, SIZE]):
            largest = max(largest, 0.5 * h * h * sqrt(scales[at + i]) * push / (length if i < lengths else turn))
    return largest


@kernel
def added_up(interface: View) -> Any:
    """What all joints add to a sum, always in the same order."""
    summands, total = interface.summands, 0.0
    for k in range(interface.joint_count_of_all):
        total += summands[k]
    return total


@kernel
def read_rates(interface: View) -> Any:
    """Rates of all joints to the right-hand side; the largest."""
    right = interface.right_side
    largest, sound = 0.0, 0.0
    for k in range(interface.joint_count):
        at, rate = interface.joints[k, RIGHT], numbers_at(interface.joints[k, RATE])
        if is_unasked(interface, k):
            for i in range(interface.joints[k, SIZE]):
                right[at + i] = 0.0
            continue
        for i in range(interface.joints[k, SIZE]):
            right[at + i] = rate[i]
            sound += 0.0 * rate[i]
            largest = max(largest, abs(rate[i]))
    return largest + sound


@kernel
def add_reactions(interface: View, factor: float) -> None:
    """Add what was found to the reactions of the joints."""
    right = interface.right_side
    for k in range(interface.joint_count):
        at, effort = interface.joints[k, RIGHT], numbers_at(interface.joints[k, EFFORT])
        for i in range(interface.joints[k, SIZE]):
            effort[i] += factor * right[at + i]


@loop
def use_predicted_reactions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Begin with the reactions that are expected to close the joints."""
    for k in range(interface.joint_count):
        effort, carried = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE]):
            effort[i] = carried[i]
    return NO_FAILED_ROW


@loop
def use_last_reactions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Begin with the reactions under which the step before has ended.

    They are further from those that close the joints, but lie along what they pull at, where those that are expected lie along
    where it was: what these do across a light body between heavy ones may fling it far beyond its length.
    """
    for k in range(interface.joint_count):
        effort, kicked = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, KICKED])
        for i in range(interface.joints[k, SIZE]):
            effort[i] = kicked[i]
    return NO_FAILED_ROW


@loop
def save_reaction_change_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Keep by how much the reactions that closed the joints differ from those with which the step before ended."""
    for k in range(interface.joint_count):
        effort, kicked = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, KICKED])
        closed = numbers_at(interface.joints[k, CLOSED])
        for i in range(interface.joints[k, SIZE]):
            closed[i] = effort[i] - kicked[i]
    return NO_FAILED_ROW


@loop
def predict_reactions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """What closes the joints next, but for terms of second order.

    The reaction that closes a joint in a step h from t is lambda(t) + h/3 c, that which stops it at the end of a step h' to t
    is lambda(t) - h'/3 c, with one and the same c: so the difference of both tells c, and the next one follows. Not where reactions
    come to agree by means, or neighbour by neighbour, beside stiff dampers.
    """
    alone = interface.damped == 1 and (interface.glides == 1 or interface.local_rounds > 0)
    trend = 0.0 if alone else interface.trend
    for k in range(interface.joint_count):
        effort, kicked = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, KICKED])
        closed, carried = numbers_at(interface.joints[k, CLOSED]), numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE]):
            kicked[i] = effort[i]
            carried[i] = effort[i] + trend * closed[i]
    return NO_FAILED_ROW


@loop
def average_reactions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Before a step is tried again: the reactions that closed joints, or ones nearer to those that stopped them at the end."""
    taken = interface.relaxation
    for k in range(interface.joint_count):
        effort, kicked = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, KICKED])
        closed, carried = numbers_at(interface.joints[k, CLOSED]), numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE]):
            if interface.joints[k, GLIDING] == 1:
                carried[i] = taken * effort[i] + (1.0 - taken) * carried[i]
            else:
                carried[i] = closed[i] + kicked[i]
    return NO_FAILED_ROW


@loop
def hold_reactions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Expect the reactions of now."""
    for k in range(interface.joint_count):
        effort, kicked = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, KICKED])
        carried = numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE]):
            kicked[i] = effort[i]
            carried[i] = effort[i]
    return NO_FAILED_ROW


@kernel
def clear_reactions(interface: View) -> None:
    """Joints exert nothing."""
    for k in range(interface.joint_count):
        effort = numbers_at(interface.joints[k, EFFORT])
        for i in range(interface.joints[k, SIZE]):
            effort[i] = 0.0


LOOPS = {
    "use_predicted_reactions": use_predicted_reactions_loop,
    "use_last_reactions": use_last_reactions_loop,
    "save_reaction_change": save_reaction_change_loop,
    "predict_reactions": predict_reactions_loop,
    "average_reactions": average_reactions_loop,
    "hold_reactions": hold_reactions_loop,
}
