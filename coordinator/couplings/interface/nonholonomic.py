"""What a step must know of its end: it is tried, and taken back, until its halves agree.

Joints that lock velocities alone have the same reactions in both; dampers that are stiffer than the step share their work between
both (modular/compliant.py).
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.fields import (
    CARRIED,
    EFFORT,
    GAP_RATE,
    GLIDING,
    INDEX,
    PREDICTED_RATE,
    RATES,
    RELAXATION,
    RIGHT,
    SIZE,
    UNEQUAL,
    WORK,
    numbers_at,
)
from coordinator.couplings.interface.position_stage import (
    REGULARISED_STALL_RATIO,
    STALL_RATIO,
    STALLED_TOLERANCE_FACTOR,
)
from coordinator.couplings.interface.reactions import added_up
from coordinator.couplings.interface.velocity_stage import kick, try_flight, update_operator
from coordinator.couplings.interface.verbs import (
    EXERT,
    RESTORE_START,
    SAVE_START,
    SHARE_SUMMANDS,
    UPDATE_OPERATOR,
    largest_of_all,
    of_all,
    play,
)
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

MAX_PLAIN_ROUNDS = 8  # rounds in which reactions of gliding joints come to agree by means alone
END_TOLERANCE = 1e-7  # of the largest rate of stiff dampers: what may lack in what was expected of it
REACTION_TOLERANCE = 1e-9  # of the largest reaction: what theirs may differ by where it falls no more


@kernel
def mismatch(interface: View) -> tuple[Any, Any]:
    """By how much reactions of gliding joints at the end of a step differ from those at its beginning, and the largest of all."""
    change, largest = 0.0, 0.0
    for k in range(interface.joint_count):
        effort, carried = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE]):
            largest = max(largest, abs(effort[i]))
            if interface.joints[k, GLIDING] == 1:
                change = max(change, abs(effort[i] - carried[i]))
    if interface.in_parts == 1:
        return largest_of_all(interface, change, largest)
    return change, largest


@kernel
def moves_by(interface: View, h: float) -> Any:
    """How far a joint moves at most, in a step h, by what those reactions differ by."""
    scales, farthest = interface.scales, 0.0
    for k in range(interface.joint_count):
        effort, carried = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE] if interface.joints[k, GLIDING] == 1 else 0):
            change = abs(effort[i] - carried[i])
            farthest = max(farthest, 0.5 * h * h * scales[interface.joints[k, RIGHT] + i] * change)
    return of_all(interface, farthest)


@kernel
def product_with_change(interface: View, with_itself: bool) -> Any:
    """W d' (d - d') of what d those reactions differ by now and what d' before, or W (d - d')^2; W of each row alone."""
    before, scales = interface.mismatch, interface.scales
    summands = interface.summands
    for k in range(interface.joint_count):
        effort, carried = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, CARRIED])
        at, product = interface.joints[k, RIGHT], 0.0
        for i in range(interface.joints[k, SIZE] if interface.joints[k, GLIDING] == 1 else 0):
            change = effort[i] - carried[i] - before[at + i]
            product += scales[at + i] * change * (change if with_itself else before[at + i])
        summands[interface.joints[k, INDEX]] = product
    if interface.in_parts == 1:
        play(interface, SHARE_SUMMANDS)
    return added_up(interface)


@kernel
def aitken(interface: View) -> None:
    """How much of the difference is taken next, from this one and the one before: w <- -w d' (d - d') / (d - d')^2."""
    square = product_with_change(interface, True)
    if square > 0.0:
        interface.relaxation *= -product_with_change(interface, False) / square


@kernel
def keep_mismatch(interface: View) -> None:
    """What those reactions differ by now."""
    before = interface.mismatch
    for k in range(interface.joint_count):
        effort, carried = numbers_at(interface.joints[k, EFFORT]), numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE] if interface.joints[k, GLIDING] == 1 else 0):
            before[interface.joints[k, RIGHT] + i] = effort[i] - carried[i]


@kernel
def most_unequal(interface: View) -> int:
    """The joint that locks velocities alone whose reactions differ by most."""
    before, found, largest = interface.mismatch, 0, -1.0
    for k in range(interface.joint_count):
        for i in range(interface.joints[k, SIZE] if interface.joints[k, GLIDING] == 1 else 0):
            change = abs(before[interface.joints[k, RIGHT] + i])
            if not change <= largest and largest == largest:
                found, largest = k, change
    return found


@kernel
def too_slow(change: float, before: float, enough: float, left: int) -> bool:
    """Whether what falls like this is still too much after all rounds that are left to means."""
    share = change / before
    for _ in range(left):
        change *= share
    return change > enough


@kernel
def ends_agree(interface: View, elements: View) -> bool:
    """Whether rates of stiff dampers at the end of a step are those that were expected; better ones are, from here on.

    A row alone knows how its end answers, and is right at once.
    """
    change, largest = 0.0, 0.0
    for k in range(interface.joint_count):
        if interface.joints[k, PREDICTED_RATE] != 0:
            speed, expected = numbers_at(interface.joints[k, GAP_RATE]), numbers_at(interface.joints[k, PREDICTED_RATE])
            share = numbers_at(interface.joints[k, RELAXATION])
            for i in range(interface.joints[k, SIZE]):
                differs = speed[i] - expected[i]
                largest = max(largest, abs(speed[i]), abs(expected[i]))
                if share[i] != 1.0:
                    change = max(change, abs(differs))
                expected[i] += share[i] * differs
    return bool(change <= END_TOLERANCE * largest or change * abs(elements.clock[STEP]) <= elements.tolerance[0])


@kernel
def update_one(interface: View, matrix: int) -> None:
    """What joints answer where bodies stand, by the one matrix that is asked for while a step is only tried."""
    if interface.glides == 1:
        update_operator(interface)
        return
    interface.matrix = matrix
    play(interface, UPDATE_OPERATOR)


@kernel
def go_back(interface: View, elements: View, h: float, time: float) -> None:
    """To where the step began."""
    elements.clock[TIME] = time - h
    play(interface, RESTORE_START)
    update_one(interface, WORK)
    play(interface, EXERT)


@loop
def iterate_step_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """The reactions of joints that lock velocities alone, the same in both halves of a step; who went wrong, or -1.

    Such a joint stops nothing by what it does in the first half: nothing there tells its reaction. With one and the same in
    both halves, that stops it at the end, the step is symmetric. The step is tried, and taken back, until it is.

    The mean of both is tried next: what a rigid body is given in the first half has not to be given in the other. A flexible one
    has lost much of it by then; where means would take too long, the last two differences tell how much of one is to be taken
    (B. M. Irons, R. C. Tuck, Int. J. Numer. Methods Eng. 1 (1969) 275).
    """
    h, time = elements.clock[STEP], elements.clock[TIME]
    before, hastened, most = 0.0, False, interface.most_turns
    interface.relaxation = 0.5
    play(interface, SAVE_START)
    for turns in range(2 * most):
        wrong = try_flight(interface, elements, h, time)
        if wrong < 0:
            update_one(interface, RATES)
            wrong = kick(interface, elements)
        if wrong >= 0:
            return wrong
        agree = interface.damped == 0 or ends_agree(interface, elements) or turns >= most
        change, largest = mismatch(interface)
        rests = (
            turns >= MAX_PLAIN_ROUNDS
            and change >= REGULARISED_STALL_RATIO * before
            and moves_by(interface, h) <= STALLED_TOLERANCE_FACTOR * elements.tolerance[0]
        )
        if turns >= MAX_PLAIN_ROUNDS and not rests:
            hastened = (
                hastened or turns >= most or too_slow(change, before, REACTION_TOLERANCE * largest, most - 1 - turns)
            )
            if hastened:
                aitken(interface)
        keep_mismatch(interface)
        go_back(interface, elements, h, time)
        if agree and (
            change <= 1e-14 * largest
            or (change <= REACTION_TOLERANCE * largest and change > STALL_RATIO * before and turns > 0)
            or rests
        ):
            return NO_FAILED_ROW
        before = change
    interface.trouble = UNEQUAL
    return most_unequal(interface)


LOOPS = {"iterate_step": iterate_step_loop}
