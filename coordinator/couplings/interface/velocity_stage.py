"""The other half of the kick, and reactions under which no joint moves against itself at its end."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.fields import RATES, UNSETTLED, WORK
from coordinator.couplings.interface.position_stage import STALL_RATIO
from coordinator.couplings.interface.reactions import read_rates
from coordinator.couplings.interface.verbs import (
    ACCEPT_STEP,
    APPLY_MULTIPLIERS,
    BEGIN,
    CLOSE_PLACES,
    EXERT,
    FACTORISE,
    KICK,
    MEASURE,
    SEE_THROUGH,
    SHOW,
    SOLVE,
    STOP_RATES,
    UPDATE_OPERATOR,
    largest_of_all,
    of_all,
    play,
)
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

RATE_TOLERANCE = 1e-11  # of the first rates of joints: what may be left of them
MAX_ROUNDS = 6


@loop
def stop_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions under which no joint moves against itself at the end of the step; who went wrong, or -1."""
    begin_stop(interface, elements)
    wrong = NO_FAILED_ROW
    for turns in range(MAX_ROUNDS):
        wrong = play(interface, KICK)
        if stopped(interface, elements, turns):
            break
        play(interface, SOLVE)
    return wrong


@kernel
def begin_stop(interface: View, elements: View) -> None:
    """Nothing is known yet of how rates fall."""
    interface.matrix, interface.factor = interface.matrix_of_all, 2.0 / elements.clock[STEP]
    interface.first, interface.before = -1.0, 0.0
    interface.budget = interface.local_rounds


@kernel
def stopped(interface: View, elements: View, turns: int) -> bool:
    """Whether joints move no more against themselves after a kick, or no less than in the round before."""
    rate = of_all(interface, read_rates(interface))
    if interface.first < 0.0:
        interface.first = rate
    if rate <= RATE_TOLERANCE * interface.first or (turns > 0 and rate > STALL_RATIO * interface.before):
        return True
    if interface.local_rounds > 0 and rate * abs(elements.clock[STEP]) <= elements.tolerance[0]:
        return True  # it opens no more in a step than joints may be open
    interface.before = rate
    return False


@loop
def begin_stop_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Nothing is known yet of how rates fall."""
    begin_stop(interface, elements)
    return NO_FAILED_ROW


@loop
def stopped_loop(turns: int, stop: int, interface: View, elements: View) -> int:
    """1 where a kick has stopped all joints (advance_together.py); in place of a row the round."""
    return 1 if stopped(interface, elements, turns) else 0


@kernel
def nobody(interface: View, why: int) -> int:
    """Nobody alone has gone wrong: the first body is named, and why."""
    interface.trouble = why
    first: int = interface.joint_count
    return first


@kernel
def settled(interface: View, elements: View) -> tuple[Any, Any]:
    """By how much velocities differ from those that forces have read, and the largest of them."""
    change, largest = 0.0, 0.0
    for k in range(interface.watched_count):
        element = interface.watched[k]
        for c in range(elements.velocity.shape[0]):
            change = max(change, abs(elements.velocity[element, c] - elements.current_velocity[element, c]))
            largest = max(largest, abs(elements.velocity[element, c]))
    return largest_of_all(interface, change, largest)


@kernel
def agreed(elements: View, change: float, largest: float) -> bool:
    """Whether a change that falls no more is rounding: a small share of the velocities, or, where all comes to rest and they are
    rounding themselves, less in a step than joints may be open."""
    return change <= 1e-10 * largest or change * abs(elements.clock[STEP]) <= elements.tolerance[0]


@kernel
def kick(interface: View, elements: View) -> int:
    """Forces where the step has led, and the other half of the kick; who went wrong, or -1.

    Forces that read velocities read those at the end of the step: half a kick that is implicit at the end of a step, as it is
    explicit at the beginning of the next, is what keeps the step symmetric, and its order even.
    """
    before = 0.0
    for turns in range(interface.most_turns):
        play(interface, EXERT)
        play(interface, APPLY_MULTIPLIERS)
        wrong = play(interface, STOP_RATES)
        if wrong >= 0 or interface.anything_watched == 0:
            return wrong
        change, largest = settled(interface, elements)
        if change <= 1e-15 * largest or (
            turns > 0 and change > STALL_RATIO * before and agreed(elements, change, largest)
        ):
            return NO_FAILED_ROW
        before = change
    return nobody(interface, UNSETTLED)


@kernel
def weigh(interface: View, elements: View, weight: float) -> None:
    """Of a tick in parts: what others exert on these components, as often as it counts in half of one (`force_before`: once)."""
    if interface.parted == 1:
        for k in range(interface.loaded_count):
            for c in range(elements.force.shape[0]):
                elements.force[interface.loaded_elements[k], c] = (
                    weight * elements.force_before[interface.loaded_elements[k], c]
                )


@kernel
def try_flight(interface: View, elements: View, h: float, time: float) -> int:
    """Half a kick and the way of a step that is tried, of which nothing is booked, all joints closed; who stays open, or -1."""
    elements.clock[STEP], elements.clock[TIME] = h, time
    weigh(interface, elements, interface.start_weight)
    play(interface, BEGIN)
    open_ = play(interface, CLOSE_PLACES)
    if open_ < 0:
        weigh(interface, elements, interface.end_weight)
        play(interface, ACCEPT_STEP)
    return open_


@kernel
def update_operator(interface: View) -> None:
    """What joints answer to each other through the bodies, where these stand and joints are linearised."""
    interface.matrix = WORK
    play(interface, UPDATE_OPERATOR)
    if interface.matrix_of_all == RATES and interface.tried == 0:
        interface.matrix = RATES
        play(interface, FACTORISE)
    play(interface, SEE_THROUGH)


@kernel
def factorise_both(interface: View) -> None:
    """The same where everything stands as it did, and answers otherwise."""
    for matrix in (WORK, RATES):
        if matrix == WORK or interface.matrix_of_all == RATES:
            interface.matrix = matrix
            play(interface, FACTORISE)


@kernel
def enter_instant(interface: View, struck: bool) -> None:
    """From here on stiff forces exert what they do, and are not solved for; nor does friction hold where something is `struck`."""
    if interface.implicit > 0 or (struck and interface.rubbing > 0):
        interface.instant = 2 if struck else 1
        factorise_both(interface)


@kernel
def leave_instant(interface: View) -> None:
    """They are solved for again."""
    if interface.instant > 0:
        interface.instant = 0
        factorise_both(interface)


@loop
def update_operator_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """After an event: where everything stands, and what moves against joints."""
    play(interface, SHOW)
    play(interface, MEASURE)
    update_operator(interface)
    interface.gains_step = 0.0  # the clock may stand
    return NO_FAILED_ROW


LOOPS = {
    "stop": stop_loop,
    "update_operator": update_operator_loop,
    "begin_stop": begin_stop_loop,
    "stopped": stopped_loop,
}
