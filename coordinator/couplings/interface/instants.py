"""Reactions and accelerations at an instant, and impulses: where a step begins, after an event, and where somebody looks."""

from __future__ import annotations

from coordinator.couplings.interface.closing import SLOW, STUCK
from coordinator.couplings.interface.face import AGAIN, SHIFT
from coordinator.couplings.interface.kicking import ROUNDS
from coordinator.couplings.interface.playing import largest_of_all, of_all, play
from coordinator.couplings.interface.reactions import clear_efforts, take_rates
from coordinator.couplings.interface.verbs import (
    ANSWER,
    ARRIVE,
    CARRY,
    CLOSE_PLACES,
    EXERT,
    FORGET,
    LOOK,
    LOOK_ALONG,
    MOVE_ALONG,
    PRESS,
    REACT,
    RECKON,
    SHOW,
    STRIKE,
    WEIGH,
)
from modular.elements import STEP
from modular.loop import FINE, loop
from modular.views import View

HIDDEN = 1e-6  # of what is to be answered: what may be left there by what was added
REACH = 1e-2  # of the extent: how far one looks along the motion


@loop
def look_along_loop(start: int, stop: int, face: View, elements: View) -> int:
    """dJ/dt v of all joints to the bias, from their rates at places before and behind; elements are shown again afterwards."""
    right, bias = face.right_side, face.bias
    for i in range(face.row_count):
        bias[i] = 0.0
    speed = 0.0
    for n in range(face.element_count):
        for c in range(elements.velocity.shape[0]):
            speed = max(speed, abs(elements.velocity[n, c]))
    speed, _ = largest_of_all(face, speed, 0.0)
    h = REACH * elements.tolerance[0] / (elements.tolerance[1] * speed) if speed > 0.0 else 1.0
    step = elements.clock[STEP]
    for place, weight in ((-2.0, 1.0), (-1.0, -8.0), (1.0, 8.0), (2.0, -1.0)):  # a derivative of fourth order
        elements.clock[STEP] = elements.beyond[0] = place * h
        play(face, MOVE_ALONG)
        play(face, LOOK)
        take_rates(face)
        for i in range(face.row_count):
            bias[i] += weight * right[i] / (12.0 * h)
        play(face, SHOW)
    elements.clock[STEP], elements.beyond[0] = step, 0.0
    return FINE


@loop
def react_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Reactions and accelerations as they are at this instant, the smallest where joints are redundant; the state stays.

    M a + J^T sigma = Q,   J a = -dJ/dt v
    """
    step = elements.clock[STEP]
    elements.clock[STEP] = 1.0
    right, bias = face.right_side, face.bias
    face.matrix, face.factor = face.matrix_of_all, 1.0
    play(face, LOOK_ALONG)
    play(face, LOOK)
    dependent = face.dependent
    redundant = dependent > face.repeated
    if redundant:  # which of the rows of one joint answers, where they repeat each other, nobody sees
        face.matrix, face.added = AGAIN, SHIFT
        play(face, WEIGH)
    clear_efforts(face)
    face.budget = face.most_turns * face.local_rounds
    first, before = 0.0, 0.0
    most, slow = (face.most_turns, SLOW) if redundant else (ROUNDS, STUCK)
    for turns in range(most + ROUNDS):
        play(face, PRESS)
        play(face, RECKON)
        rate = of_all(face, take_rates(face))
        play(face, SHOW)
        largest = 0.0
        for i in range(face.row_count):
            right[i] += bias[i]
            largest = max(largest, abs(right[i]))
        largest = of_all(face, largest)
        if turns == 0:
            first = largest
        elif largest <= 1e-14 * rate or turns == most + ROUNDS - 1:
            break
        elif largest > slow * before or turns >= most:
            if not redundant or slow == STUCK or largest <= HIDDEN * first:
                break
            # what is added to pivots hides a heavy body behind a light one: the rest is for those rows that depend on none
            face.matrix, face.added, slow = face.matrix_of_all, 0.0, STUCK
        before = largest
        play(face, ANSWER)
    play(face, PRESS)
    play(face, RECKON)
    play(face, SHOW)
    face.added, face.dependent = 0.0, dependent
    elements.clock[STEP] = step
    return 0 if face.lost > 0.0 else FINE


@loop
def strike_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Impulses of all joints together, which stop what moves against them."""
    clear_efforts(face)
    face.budget = face.most_turns * face.local_rounds
    take_rates(face)
    face.matrix, face.factor = face.matrix_of_all, 1.0
    play(face, ANSWER)
    play(face, STRIKE)
    return FINE


@loop
def mend_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Places where all joints are closed, the nearest by mass: a drift of components that stand, in hardly any time."""
    clear_efforts(face)
    play(face, PRESS)
    open_ = play(face, CLOSE_PLACES)
    play(face, ARRIVE)
    play(face, FORGET)
    return open_


@loop
def settle_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Forces, reactions and accelerations; steps go on from these reactions."""
    play(face, EXERT)
    play(face, REACT)
    play(face, CARRY)
    return FINE


@loop
def take_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Rates of all joints to the right-hand side."""
    take_rates(face)
    return FINE


LOOPS = {
    "look_along": look_along_loop,
    "react": react_loop,
    "strike": strike_loop,
    "mend": mend_loop,
    "settle": settle_loop,
    "take": take_loop,
}
