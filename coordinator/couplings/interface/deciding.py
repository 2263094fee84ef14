"""Which dry friction sticks and which slides where it neither moves nor is held for certain, of all joints together.

    |f| <= static  where s'' = 0,    f = d kinetic  where d s'' >= 0

That is a linear complementarity problem with bounds; its matrix is never written down, for every guess of who sticks is solved
by the elimination of all joints. Principal pivoting as in components/forces/contact_pivoting.py, and where that brings no fewer
that are wrong for some rounds, only the last one changes sides. Where static friction is larger than that of what slides there
may be several answers; then the way counts: that lets go first whose load is the largest share of what it holds.
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.fields import EFFORT, ERROR, FRICTION, GAP_RATE, numbers_at
from coordinator.couplings.interface.reactions import clear_reactions
from coordinator.couplings.interface.switches import scale_of
from coordinator.couplings.interface.velocity_stage import factorise_both
from coordinator.couplings.interface.verbs import (
    COMPUTE_REACTIONS,
    HOLD_REACTIONS,
    MEASURE,
    RENEW_FRICTION,
    TELL,
    play,
)
from modular.elements import GAIN_STEP, Array
from modular.friction_rows import (
    ACCELERATION,
    ANCHOR,
    ANSWER,
    KINETIC,
    KNOWN,
    LOAD,
    LOCATED,
    MODE,
    PRIOR,
    RATE,
    RESTS,
    STATIC,
    SURE,
)
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

REST = 1e-7  # of what friction makes of a rate in a step: what is slower is at rest
STUCK = 1e-4  # the same of what has been at rest, unless something has struck it
NEVER = 2.0  # as what a row was before of which nothing is known
TIED = 1e-9  # of the largest: loads that are as large let go together
AGREES, BREAKS = (
    1e-7,
    1e-8,
)  # of what friction holds, and of what it makes of an acceleration: how far a guess may be off
MAX_ROUNDS = 40
PATIENT_ROUNDS = 3  # in which all change sides though that brings no fewer
OPEN_FACTOR = 1e3  # times what joints may leave open: what has been moved


@kernel
def is_at_rest(friction: Array, rate: float, step: float, length: float) -> bool:
    """Whether it does not move; what has been at rest may move by what joints leave open."""
    slow = REST * scale_of(friction, step)
    if friction[KNOWN] == 1.0 and friction[MODE] == 0.0:
        slow = max(STUCK * scale_of(friction, step), OPEN_FACTOR * length / step)
    return bool(abs(rate) <= slow)


@kernel
def begin_decision(interface: View, step: float, length: float, tried: bool) -> None:
    """Who is to be decided: what rests, and what has been marked; the rest slides as it moves.

    `tried`: at the end of a step that is only tried; there the rest goes on as it did.
    """
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction, rate = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, GAP_RATE])[0]
            friction[PRIOR] = friction[MODE] if friction[KNOWN] == 1.0 else NEVER
            if friction[RESTS] == LOCATED:
                continue
            if is_at_rest(friction, rate, step, length):
                friction[RESTS] = 1.0
            elif not tried:
                friction[MODE] = 1.0 if rate > 0.0 else -1.0


@kernel
def is_wrong(interface: View, k: int) -> bool:
    """Whether it holds more than it can, or slides against the way in which it would."""
    friction, effort = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, EFFORT])
    if friction[RESTS] == 0.0:
        return False
    if friction[MODE] == 0.0:
        breaks = friction[RESTS] == LOCATED and friction[PRIOR] == 0.0  # it has come to what it holds
        return bool(abs(effort[0]) > (1.0 - BREAKS if breaks else 1.0 + AGREES) * friction[STATIC])
    return bool(friction[MODE] * friction[ACCELERATION] < -AGREES * friction[KINETIC] * friction[ANSWER])


@kernel
def change_side(interface: View, k: int) -> None:
    """What cannot hold slides along, what would turn round sticks."""
    friction, effort = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, EFFORT])
    if friction[MODE] == 0.0:
        friction[MODE] = 1.0 if effort[0] > 0.0 else -1.0
    else:
        friction[MODE] = 0.0


@kernel
def excess(interface: View, k: int) -> Any:
    """How many times what it can hold something that sticks holds; of what slides, nothing."""
    friction, effort = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, EFFORT])
    return abs(effort[0]) / friction[STATIC] if friction[MODE] == 0.0 else 0.0


@kernel
def change_first(interface: View) -> None:
    """All that would turn round stick. Of what cannot hold, that slides which would let go first if all loads grew alike."""
    most = 0.0
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0 and is_wrong(interface, k):
            most = max(most, excess(interface, k))
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0 and is_wrong(interface, k):
            share = excess(interface, k)
            if share == 0.0 or share >= (1.0 - TIED) * most:
                change_side(interface, k)


@kernel
def count_wrong(interface: View) -> tuple[int, int]:
    """How many are wrong, and the last one."""
    wrong, last = 0, -1
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0 and is_wrong(interface, k):
            wrong, last = wrong + 1, k
    return wrong, last


@kernel
def end_decision(interface: View, step: float, length: float) -> None:
    """What sticks from now on does so where it is; how anything changes is not known."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction, effort = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, EFFORT])
            gap, rate = numbers_at(interface.joints[k, ERROR])[0], numbers_at(interface.joints[k, GAP_RATE])[0]
            moved = abs(gap - friction[ANCHOR]) > STUCK * scale_of(friction, step) * step + OPEN_FACTOR * length
            if friction[MODE] == 0.0 and (friction[PRIOR] != 0.0 or moved):
                friction[ANCHOR] = gap
            friction[KNOWN], friction[RESTS], friction[SURE] = 1.0, 0.0, 0.0
            friction[LOAD], friction[RATE] = effort[0], rate


@kernel(written_out=False)
def find_modes(interface: View, elements: View, tried: bool) -> None:
    """Who sticks, and with which reactions."""
    play(interface, MEASURE)
    begin_decision(interface, elements.clock[GAIN_STEP], elements.tolerance[0], tried)
    fewest, patience = interface.joint_count + 1, PATIENT_ROUNDS
    for _ in range(MAX_ROUNDS + 2 * interface.rubbing):
        play(interface, RENEW_FRICTION)
        factorise_both(interface)
        play(interface, COMPUTE_REACTIONS)
        wrong, last = count_wrong(interface)
        if wrong == 0:
            break
        if wrong < fewest:
            fewest, patience = wrong, PATIENT_ROUNDS
        else:
            patience -= 1
        if patience < 0:
            change_side(interface, last)
        else:
            change_first(interface)


@loop
def decide_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Who sticks from now on, and reactions with which steps go on."""
    find_modes(interface, elements, False)
    end_decision(interface, elements.clock[GAIN_STEP], elements.tolerance[0])
    if interface.damped == 1:
        clear_reactions(interface)
    play(interface, HOLD_REACTIONS)
    play(interface, TELL)
    return NO_FAILED_ROW


LOOPS = {"decide": decide_loop}
