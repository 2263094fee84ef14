"""The other half of the kick, and reactions under which no joint moves against itself at its end."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.closing import STUCK
from coordinator.couplings.interface.face import RATES, UNSETTLED, WORK
from coordinator.couplings.interface.playing import largest_of_all, of_all, play
from coordinator.couplings.interface.reactions import take_rates
from coordinator.couplings.interface.verbs import ANSWER, EXERT, KICK, LOOK, MEET, PRESS, SHOW, STOP_RATES, WEIGH
from modular.elements import STEP
from modular.kernel import kernel
from modular.loop import FINE, loop
from modular.views import View

ENOUGH = 1e-11  # of the first rates of joints: what may be left of them
ROUNDS = 6


@loop
def stop_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Reactions under which no joint moves against itself at the end of the step; who went wrong, or -1."""
    face.matrix, face.factor = face.matrix_of_all, 2.0 / elements.clock[STEP]
    first, before = -1.0, 0.0
    wrong = FINE
    face.budget = face.local_rounds
    for turns in range(ROUNDS):
        wrong = play(face, KICK)
        rate = of_all(face, take_rates(face))
        if first < 0.0:
            first = rate
        if rate <= ENOUGH * first or (turns > 0 and rate > STUCK * before):
            break
        if face.local_rounds > 0 and rate * abs(elements.clock[STEP]) <= elements.tolerance[0]:
            break  # it opens no more in a step than joints may be open
        before = rate
        play(face, ANSWER)
    return wrong


@kernel
def nobody(face: View, why: int) -> int:
    """Nobody alone has gone wrong: the first body is named, and why."""
    face.trouble = why
    first: int = face.joint_count
    return first


@kernel
def settled(face: View, elements: View) -> tuple[Any, Any]:
    """By how much velocities differ from those that forces have read, and the largest of them."""
    change, largest = 0.0, 0.0
    for k in range(face.watched_count):
        element = face.watched[k]
        for c in range(elements.velocity.shape[0]):
            change = max(change, abs(elements.velocity[element, c] - elements.current_velocity[element, c]))
            largest = max(largest, abs(elements.velocity[element, c]))
    return largest_of_all(face, change, largest)


@kernel
def agreed(elements: View, change: float, largest: float) -> bool:
    """Whether a change that falls no more is rounding: a small share of the velocities, or, where all comes to rest and they are
    rounding themselves, less in a step than joints may be open."""
    return change <= 1e-10 * largest or change * abs(elements.clock[STEP]) <= elements.tolerance[0]


@kernel
def kick(face: View, elements: View) -> int:
    """Forces where the step has led, and the other half of the kick; who went wrong, or -1.

    Forces that read velocities read those at the end of the step: half a kick that is implicit at the end of a step, as it is
    explicit at the beginning of the next, is what keeps the step symmetric, and its order even.
    """
    before = 0.0
    for turns in range(face.most_turns):
        play(face, EXERT)
        play(face, PRESS)
        wrong = play(face, STOP_RATES)
        if wrong >= 0 or face.anything_watched == 0:
            return wrong
        change, largest = settled(face, elements)
        if change <= 1e-15 * largest or (turns > 0 and change > STUCK * before and agreed(elements, change, largest)):
            return FINE
        before = change
    return nobody(face, UNSETTLED)


@kernel
def meet(face: View) -> None:
    """What joints answer to each other through the bodies, where these stand and joints are linearised."""
    face.matrix = WORK
    play(face, MEET)
    if face.glides == 1:
        face.matrix = RATES
        play(face, WEIGH)


@loop
def meet_loop(start: int, stop: int, face: View, elements: View) -> int:
    """After an event: where everything stands, and what moves against joints."""
    play(face, SHOW)
    play(face, LOOK)
    meet(face)
    return FINE


LOOPS = {"stop": stop_loop, "meet": meet_loop}
