"""Joints that lock velocities alone: a step is tried, and taken back, until its two halves have the same reactions."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.closing import CLOSE, SLOW, STUCK
from coordinator.couplings.interface.face import CARRIED, EFFORT, GLIDING, INDEX, RIGHT, SIZE, UNEQUAL, numbers_at
from coordinator.couplings.interface.kicking import kick, meet, nobody
from coordinator.couplings.interface.playing import largest_of_all, of_all, play
from coordinator.couplings.interface.reactions import added_up
from coordinator.couplings.interface.verbs import ADD_UP, ARRIVE, BEGIN, CLOSE_PLACES, EXERT, RETREAT, SET_OUT
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import FINE
from modular.views import View

PATIENT = 8  # rounds in which reactions of gliding joints come to agree by means alone
SETTLED = 1e-9  # of the largest reaction: what theirs may differ by where it falls no more


@kernel
def unlike(face: View) -> tuple[Any, Any]:
    """By how much reactions of gliding joints at the end of a step differ from those at its beginning, and the largest of all."""
    change, largest = 0.0, 0.0
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            largest = max(largest, abs(effort[i]))
            if face.joints[k, GLIDING] == 1:
                change = max(change, abs(effort[i] - carried[i]))
    if face.in_parts == 1:
        return largest_of_all(face, change, largest)
    return change, largest


@kernel
def moves_by(face: View, h: float) -> Any:
    """How far a joint moves at most, in a step h, by what those reactions differ by."""
    scales, farthest = face.scales, 0.0
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE] if face.joints[k, GLIDING] == 1 else 0):
            change = abs(effort[i] - carried[i])
            farthest = max(farthest, 0.5 * h * h * scales[face.joints[k, RIGHT] + i] * change)
    return of_all(face, farthest)


@kernel
def product_with_change(face: View, with_itself: bool) -> Any:
    """W d' (d - d') of what d those reactions differ by now and what d' before, or W (d - d')^2; W of each row alone."""
    before, scales = face.unlike, face.scales
    summands = face.summands
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        at, product = face.joints[k, RIGHT], 0.0
        for i in range(face.joints[k, SIZE] if face.joints[k, GLIDING] == 1 else 0):
            change = effort[i] - carried[i] - before[at + i]
            product += scales[at + i] * change * (change if with_itself else before[at + i])
        summands[face.joints[k, INDEX]] = product
    if face.in_parts == 1:
        play(face, ADD_UP)
    return added_up(face)


@kernel
def ease(face: View) -> None:
    """How much of the difference is taken next, from this one and the one before: w <- -w d' (d - d') / (d - d')^2."""
    square = product_with_change(face, True)
    if square > 0.0:
        face.easing *= -product_with_change(face, False) / square


@kernel
def keep_unlike(face: View) -> None:
    """What those reactions differ by now."""
    before = face.unlike
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE] if face.joints[k, GLIDING] == 1 else 0):
            before[face.joints[k, RIGHT] + i] = effort[i] - carried[i]


@kernel
def too_slow(change: float, before: float, enough: float, left: int) -> bool:
    """Whether what falls like this is still too much after all rounds that are left to means."""
    share = change / before
    for _ in range(left):
        change *= share
    return change > enough


@kernel
def rehearse(face: View, elements: View, h: float, time: float) -> int:
    """The reactions of joints that lock velocities alone, the same in both halves of a step; who went wrong, or -1.

    Such a joint stops nothing by what it does in the first half: nothing there tells its reaction. With one and the same in
    both halves, that stops it at the end, the step is symmetric. The step is tried, and taken back, until it is.

    The mean of both is tried next: what a rigid body is given in the first half has not to be given in the other. A flexible one
    has lost much of it by then; where means would take too long, the last two differences tell how much of one is to be taken
    (B. M. Irons, R. C. Tuck, Int. J. Numer. Methods Eng. 1 (1969) 275).
    """
    before, hastened, most = 0.0, False, face.most_turns
    face.easing = 0.5
    play(face, SET_OUT)
    for turns in range(2 * most):
        elements.clock[STEP], elements.clock[TIME] = h, time
        play(face, BEGIN)
        wrong = play(face, CLOSE_PLACES)
        if wrong < 0:
            play(face, ARRIVE)
            meet(face)
            wrong = kick(face, elements)
        if wrong >= 0:
            return wrong
        change, largest = unlike(face)
        rests = turns >= PATIENT and change >= SLOW * before and moves_by(face, h) <= CLOSE * elements.tolerance[0]
        if turns >= PATIENT and not rests:
            hastened = hastened or turns >= most or too_slow(change, before, SETTLED * largest, most - 1 - turns)
            if hastened:
                ease(face)
        keep_unlike(face)
        elements.clock[TIME] = time - h
        play(face, RETREAT)
        meet(face)
        play(face, EXERT)
        if (
            change <= 1e-14 * largest
            or (change <= SETTLED * largest and change > STUCK * before and turns > 0)
            or rests
        ):
            return FINE
        before = change
    return nobody(face, UNEQUAL)
