"""Reactions and accelerations at an instant, and impulses: where a step begins, after an event, and where somebody looks."""

from __future__ import annotations

from coordinator.couplings.interface.fields import AGAIN, FRICTION, GAP_RATE, PIVOT_SHIFT, RATE, numbers_at
from coordinator.couplings.interface.position_stage import REGULARISED_STALL_RATIO, STALL_RATIO
from coordinator.couplings.interface.reactions import clear_reactions, read_rates
from coordinator.couplings.interface.velocity_stage import MAX_ROUNDS, enter_instant, leave_instant
from coordinator.couplings.interface.verbs import (
    ACCEPT_STEP,
    APPLY_IMPULSE,
    APPLY_MULTIPLIERS,
    CLOSE_PLACES,
    COMPUTE_BIAS,
    COMPUTE_REACTIONS,
    DECIDE,
    EVALUATE_LAWS,
    EXERT,
    FACTORISE,
    HOLD_REACTIONS,
    INVALIDATE,
    MEASURE,
    MOVE_ALONG,
    REEVALUATE,
    SHOW,
    SOLVE,
    largest_of_all,
    of_all,
    play,
)
from modular.elements import STEP
from modular.friction_rows import ACCELERATION, BIAS
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

REDUNDANT_TOLERANCE = 1e-6  # of what is to be answered: what may be left there by what was added
REST = 1e-100  # [m/s]: what is slower stands; the time in which it goes anywhere would be no number
DIFFERENCE_LENGTH = 1e-2  # of the extent: how far one looks along the motion


@kernel
def clear_friction_bias(interface: View) -> None:
    """Of nothing yet."""
    for k in range(interface.joint_count if interface.rubbing > 0 else 0):
        if interface.joints[k, FRICTION] != 0:
            numbers_at(interface.joints[k, FRICTION])[BIAS] = 0.0


@kernel
def add_friction_bias(interface: View, weight: float) -> None:
    """Of dry friction too, whether it is asked or not."""
    for k in range(interface.joint_count if interface.rubbing > 0 else 0):
        if interface.joints[k, FRICTION] != 0:
            numbers_at(interface.joints[k, FRICTION])[BIAS] += weight * numbers_at(interface.joints[k, RATE])[0]


@kernel
def note_accelerations(interface: View) -> None:
    """s'' of dry friction, by the rates to which a step of one second leads."""
    for k in range(interface.joint_count if interface.rubbing > 0 else 0):
        if interface.joints[k, FRICTION] != 0:
            friction, now = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, GAP_RATE])
            friction[ACCELERATION] = numbers_at(interface.joints[k, RATE])[0] + friction[BIAS] - now[0]


@loop
def compute_bias_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """dJ/dt v of all joints to the bias, from their rates at places before and behind; elements are shown again afterwards."""
    right, bias = interface.right_side, interface.bias
    for i in range(interface.row_count):
        bias[i] = 0.0
    clear_friction_bias(interface)
    speed = 0.0
    for k in range(interface.span_count):
        for n in range(interface.spans[k, 0], interface.spans[k, 1]):
            for c in range(elements.velocity.shape[0]):
                speed = max(speed, abs(elements.velocity[n, c]))
    speed, _ = largest_of_all(interface, speed, 0.0)
    h = DIFFERENCE_LENGTH * elements.tolerance[0] / (elements.tolerance[1] * speed) if speed > REST else 1.0
    step = elements.clock[STEP]
    for place, weight in ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)):  # a derivative of fourth order
        elements.clock[STEP] = elements.beyond[0] = place * h
        play(interface, MOVE_ALONG)
        play(interface, MEASURE)
        read_rates(interface)
        for i in range(interface.row_count):
            bias[i] += weight * right[i] / (12.0 * h)
        add_friction_bias(interface, weight / (12.0 * h))
        play(interface, SHOW)
    elements.clock[STEP], elements.beyond[0] = step, 0.0
    return NO_FAILED_ROW


@kernel
def accelerate_unjoined(interface: View) -> None:
    """Where there is nothing to solve for, neither here nor elsewhere: accelerations under the forces that there are."""
    play(interface, REEVALUATE)
    play(interface, SHOW)


@loop
def compute_reactions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions and accelerations as they are at this instant, the smallest where joints are redundant; the state stays.

    M a + J^T sigma = Q,   J a = -dJ/dt v
    """
    step = elements.clock[STEP]
    elements.clock[STEP] = 1.0
    if interface.joint_count_of_all == 0:
        accelerate_unjoined(interface)
        elements.clock[STEP] = step
        return 0 if interface.lost > 0.0 else NO_FAILED_ROW
    right, bias = interface.right_side, interface.bias
    enter_instant(interface, False)
    interface.matrix, interface.factor = interface.matrix_of_all, 1.0
    play(interface, COMPUTE_BIAS)
    play(interface, MEASURE)
    dependent = interface.dependent
    redundant = dependent > interface.repeated
    if redundant:  # which of the rows of one joint answers, where they repeat each other, nobody sees
        interface.matrix, interface.added = AGAIN, PIVOT_SHIFT
        play(interface, FACTORISE)
    clear_reactions(interface)
    play(interface, EVALUATE_LAWS)
    interface.budget = interface.most_turns * interface.local_rounds
    first, before = 0.0, 0.0
    most, slow = (interface.most_turns, REGULARISED_STALL_RATIO) if redundant else (MAX_ROUNDS, STALL_RATIO)
    for turns in range(most + MAX_ROUNDS):
        play(interface, APPLY_MULTIPLIERS)
        play(interface, REEVALUATE)
        rate = of_all(interface, read_rates(interface))
        play(interface, SHOW)
        largest = 0.0
        for i in range(interface.row_count):
            right[i] += bias[i]
            largest = max(largest, abs(right[i]))
        largest = of_all(interface, largest)
        if turns == 0:
            first = largest
        elif largest <= 1e-14 * rate or turns == most + MAX_ROUNDS - 1:
            break
        elif largest > slow * before or turns >= most:
            if not redundant or slow == STALL_RATIO or largest <= REDUNDANT_TOLERANCE * first:
                break
            # what is added to pivots hides a heavy body behind a light one: the rest is for those rows that depend on none
            interface.matrix, interface.added, slow = interface.matrix_of_all, 0.0, STALL_RATIO
        before = largest
        play(interface, SOLVE)
    play(interface, APPLY_MULTIPLIERS)
    play(interface, REEVALUATE)
    play(interface, SHOW)
    interface.added, interface.dependent = 0.0, dependent
    note_accelerations(interface)
    elements.clock[STEP] = step
    if interface.implicit > 0:
        play(interface, MEASURE)  # stiff forces go on from how they stand and move now
    leave_instant(interface)
    return 0 if interface.lost > 0.0 else NO_FAILED_ROW


@loop
def apply_joint_impulses_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Impulses of all joints together, which stop what moves against them."""
    enter_instant(interface, True)
    clear_reactions(interface)
    interface.budget = interface.most_turns * interface.local_rounds
    read_rates(interface)
    interface.matrix, interface.factor = interface.matrix_of_all, 1.0
    play(interface, SOLVE)
    play(interface, APPLY_IMPULSE)
    leave_instant(interface)
    return NO_FAILED_ROW


@loop
def project_positions_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Places where all joints are closed, the nearest by mass: a drift of components that stand, in hardly any time."""
    enter_instant(interface, True)
    clear_reactions(interface)
    play(interface, APPLY_MULTIPLIERS)
    open_ = play(interface, CLOSE_PLACES)
    play(interface, ACCEPT_STEP)
    play(interface, INVALIDATE)
    leave_instant(interface)
    return open_


@loop
def settle_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Forces, reactions and accelerations; steps go on from these reactions.

    Not from what stiff dampers ask for at an instant: that is over long before a step is. What is shown are those of the instant.
    """
    play(interface, EXERT)
    play(interface, COMPUTE_REACTIONS)
    if interface.rubbing > 0:
        play(interface, DECIDE)
    if interface.damped == 1:
        clear_reactions(interface)
    play(interface, HOLD_REACTIONS)
    if interface.damped == 1:
        play(interface, COMPUTE_REACTIONS)
    return NO_FAILED_ROW


@loop
def read_rates_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Rates of all joints to the right-hand side."""
    read_rates(interface)
    return NO_FAILED_ROW


LOOPS = {
    "compute_bias": compute_bias_loop,
    "compute_reactions": compute_reactions_loop,
    "apply_joint_impulses": apply_joint_impulses_loop,
    "project_positions": project_positions_loop,
    "settle": settle_loop,
    "read_rates": read_rates_loop,
}
