"""Where dry friction begins to stick or to slide: found within a step, so that the step between is smooth and keeps its order.

Friction that sticks is a joint among others, friction that slides a known force (modular/friction_rows.py). Which of them is which
stays for a step, or for a part of one. It ends where the first rate of what slides goes through zero, or the first load of what
sticks through what it holds: steps are tried and taken back until that place is known, and the one up to there is taken. What
neither moves nor is held for certain is decided together, at that instant:

    |f| <= static  where it does not accelerate,    f = d kinetic  where d s'' >= 0

by principal pivoting as in components/forces/contact_pivoting.py, where every solution goes through the elimination of all joints
(`compute_reactions`). A step is tried only where a switch is near: rates and loads tell from step to step how fast they change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.couplings.interface.fields import (
    CARRIED,
    CLOSED,
    EFFORT,
    FRICTION,
    GAP_RATE,
    KICKED,
    RATES,
    RIGHT,
    SIZE,
    WORK,
    numbers_at,
)  # fmt: skip
from coordinator.couplings.interface.stepping import prepare_step, share_of_stage, trend
from coordinator.couplings.interface.velocity_stage import kick, try_flight
from coordinator.couplings.interface.verbs import (
    COMPUTE_REACTIONS,
    EXERT,
    FACTORISE,
    PREDICT_REACTIONS,
    RESTORE_START,
    SAVE_START,
    UPDATE_OPERATOR,
    play,
)
from modular.elements import GAIN_STEP, TIME
from modular.friction_rows import (
    AHEAD,
    AHEAD_BEFORE,
    AHEAD_BEYOND,
    ANSWER,
    CLOSING,
    KINETIC,
    LOAD,
    LOCATED,
    MODE,
    PACE,
    PENDING,
    RATE,
    RESTS,
    STATIC,
    SURE,
    TREND,
)
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW
from modular.views import View

KEPT_REACTIONS = 4  # numbers of every row of a joint that a trial changes
NEAR = 4.0  # times what a step changes: how near a switch must be for a step to be tried first
ENOUGH, NEARLY = 1e-10, 1e-9  # of what friction holds, or makes of a rate in a step: what a switch may be off by
SHORTEST = 1e-7  # of a step: parts that are shorter are none
SURE_PART = 1e-2  # of a step: parts that are shorter tell nothing of how fast anything changes
MOST_TRIALS = 40
SAFE = 0.02  # of where a switch lies: how near to its ends it is not looked for


@kernel
def scale_of(friction: Any, step: float) -> Any:
    """What friction makes of a rate in a step."""
    return friction[KINETIC] * friction[ANSWER] * step


@kernel
def save_reactions(interface: View, back: bool) -> None:
    """Reactions of joints where a step begins; or `back` to them."""
    kept, count = interface.reactions_before, interface.row_count
    for k in range(interface.joint_count):
        for which in range(KEPT_REACTIONS):
            column = EFFORT if which == 0 else CARRIED if which == 1 else CLOSED if which == 2 else KICKED
            numbers, at = numbers_at(interface.joints[k, column]), which * count + interface.joints[k, RIGHT]
            for i in range(interface.joints[k, SIZE]):
                if back:
                    numbers[i] = kept[at + i]
                else:
                    kept[at + i] = numbers[i]


@kernel
def update_tried(interface: View) -> None:
    """What joints answer where a trial has led."""
    interface.matrix = WORK
    play(interface, UPDATE_OPERATOR)
    if interface.matrix_of_all == RATES:
        interface.matrix = RATES
        play(interface, FACTORISE)


@kernel
def try_stage(interface: View, elements: View, h: float, time: float) -> int:
    """A stage of which nothing is booked; who went wrong, or -1."""
    wrong = prepare_step(interface, elements, h, time)
    if wrong >= 0:
        return wrong
    wrong = try_flight(interface, elements, h, time)
    if wrong >= 0:
        return wrong
    update_tried(interface)
    wrong = kick(interface, elements)
    play(interface, PREDICT_REACTIONS)
    return wrong


@kernel(written_out=False)
def try_stages(interface: View, elements: View, part: float, end: float, even: bool) -> int:
    """A part of a macro step of which nothing is booked; who went wrong, or -1."""
    passed, wrong = 0.0, NO_FAILED_ROW
    for k in range(interface.stage_count):
        share = share_of_stage(interface, k, even)
        passed += share
        interface.trend = 1.0 if even else trend(interface, k)
        wrong = try_stage(interface, elements, share * part, end - (1.0 - passed) * part)
        if wrong >= 0:
            break
    return wrong


@kernel(written_out=False)
def return_to_start(interface: View, elements: View, begin: float) -> None:
    """To where it began."""
    elements.clock[TIME] = begin
    play(interface, RESTORE_START)
    save_reactions(interface, True)
    update_tried(interface)
    play(interface, EXERT)


@kernel
def load_of_end(interface: View, k: int) -> Any:
    """The effort of what sticks where a step ends: what closed it is that of a third of the step, what stopped it that of two."""
    friction, kicked = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, KICKED])
    return 2.0 * kicked[0] - friction[CLOSING]


@kernel
def expects_switch(interface: View, h: float) -> bool:
    """Whether one may be near in a part of this length."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            if friction[SURE] == 0.0:
                return True
            if (
                friction[MODE] == 0.0
                and abs(friction[LOAD]) + NEAR * h * abs(friction[TREND]) >= (1.0 - ENOUGH) * friction[STATIC]
            ):
                return True
            if friction[MODE] != 0.0 and friction[MODE] * friction[RATE] <= NEAR * h * abs(friction[PACE]):
                return True
    return False


@kernel(written_out=False)
def measure_switches(interface: View, step: float, exact: bool) -> Any:
    """How far away switches are after a trial, as shares of what friction holds or makes of a rate in a step; the least.

    Both halves of the step tell what it holds at its end, the less sharply the shorter they are; `exact`, or near a switch, it is
    found.
    """
    near, least = exact, np.inf
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction, kicked = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, KICKED])
            reach = abs(load_of_end(interface, k)) + NEAR * abs(kicked[0] - friction[CLOSING])
            near = near or (friction[MODE] == 0.0 and reach >= (1.0 - ENOUGH) * friction[STATIC])
    if near:
        play(interface, COMPUTE_REACTIONS)
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction, effort = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, EFFORT])
            if friction[MODE] == 0.0:
                load = effort[0] if near else load_of_end(interface, k)
                friction[AHEAD] = 1.0 - abs(load) / friction[STATIC]
            else:
                friction[AHEAD] = friction[MODE] * rate_of(interface, k) / scale_of(friction, step)
            if friction[PENDING] == 1.0:
                friction[AHEAD] = 1.0
            least = min(least, friction[AHEAD])
    return least


@kernel
def rate_of(interface: View, k: int) -> Any:
    """The rate of a coordinate as it was last looked at."""
    return numbers_at(interface.joints[k, GAP_RATE])[0]


@kernel
def begin_search(interface: View, step: float) -> None:
    """How far away they are where the part begins."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            away = friction[MODE] * friction[RATE] / scale_of(friction, step)
            friction[AHEAD_BEFORE] = max(
                0.0, away if friction[MODE] != 0.0 else 1.0 - abs(friction[LOAD]) / friction[STATIC]
            )
            friction[AHEAD_BEYOND] = 1.0


@kernel
def keep_found(interface: View, beyond: bool, halve: bool) -> None:
    """What a trial has found, at one end of where the first switch lies; what is known of the other counts half where it stays."""
    kept, other = (AHEAD_BEYOND, AHEAD_BEFORE) if beyond else (AHEAD_BEFORE, AHEAD_BEYOND)
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            friction[kept] = friction[AHEAD]
            if halve:
                friction[other] *= 0.5


@kernel
def nearest(interface: View) -> Any:
    """Where between both ends the first switch lies if rates and loads go straight, as a share."""
    share = 1.0
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            before, beyond = max(friction[AHEAD_BEFORE], 0.0), friction[AHEAD_BEYOND]
            if beyond < 0.0:
                share = min(share, before / (before - beyond))
    return min(max(share, SAFE), 1.0 - SAFE)


@kernel
def closest(interface: View) -> Any:
    """Of those that switch somewhere before the far end: how far away the nearest is."""
    least = 1.0
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            if friction[AHEAD_BEYOND] < 0.0:
                least = min(least, friction[AHEAD])
    return least


@kernel
def mark(interface: View, within: float) -> None:
    """Those are to be decided anew that are as near, and switch before the far end."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            if friction[AHEAD_BEYOND] < 0.0 and friction[AHEAD] <= within:
                friction[RESTS] = LOCATED


@kernel(written_out=False)
def locate(interface: View, elements: View, left: float, end: float, even: bool) -> Any:
    """The part of what is left of a step up to the first switch, whose friction is marked; all that is left where there is none.

    By the secant between the last place before which nothing switches and the first beyond; the value at an end that stays counts
    half (the Illinois variant: M. Dowell, P. Jarratt, BIT 11 (1971) 168-174).
    """
    step, begin = elements.clock[GAIN_STEP], end - left
    save_reactions(interface, False)
    play(interface, SAVE_START)
    begin_search(interface, step)
    before, beyond, part, side, known = 0.0, left, left, 0, False
    for _ in range(MOST_TRIALS):
        wrong = try_stages(interface, elements, part, end if part == left else begin + part, even)
        least = measure_switches(interface, step, part < left) if wrong < 0 else 0.0
        return_to_start(interface, elements, begin)
        if wrong >= 0:  # too far for joints to be closed: nothing is known of switches there
            if part - before <= SHORTEST * step:
                break
            beyond, known = part, False
            part = 0.5 * (before + beyond)
            continue
        if least < -ENOUGH:
            keep_found(interface, True, side == 1)
            beyond, side, known = part, 1, True
        elif not known:
            return part
        else:
            keep_found(interface, False, side == -1)
            before, side = part, -1
        if beyond - before <= SHORTEST * step:
            mark(interface, np.inf)
            return whole_part(beyond, left, SHORTEST * step)
        if abs(closest(interface)) <= NEARLY:
            mark(interface, NEARLY)
            return whole_part(part, left, SHORTEST * step)
        part = before + nearest(interface) * (beyond - before)
    return left


@kernel
def whole_part(part: float, left: float, shortest: float) -> Any:
    """None, or all that is left, where it is as good as that."""
    if part <= shortest:
        return 0.0
    return left if part >= left - shortest else part


@kernel
def note_part(interface: View, part: float, step: float) -> None:
    """How rates and loads have changed in a part that was taken."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            rate = rate_of(interface, k)
            load = load_of_end(interface, k) if friction[MODE] == 0.0 else friction[MODE] * friction[KINETIC]
            friction[TREND], friction[PACE] = (load - friction[LOAD]) / part, (rate - friction[RATE]) / part
            friction[LOAD], friction[RATE], friction[SURE] = load, rate, 1.0 if part >= SURE_PART * step else 0.0


@kernel
def has_switched(interface: View, step: float) -> bool:
    """Whether any is marked, or has switched where none was expected to."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            if friction[RESTS] == LOCATED:
                return True
            if friction[PENDING] == 1.0:
                return True
            if friction[MODE] != 0.0 and friction[MODE] * friction[RATE] < -NEARLY * scale_of(friction, step):
                return True
            if friction[MODE] == 0.0 and abs(friction[LOAD]) > (1.0 + NEARLY) * friction[STATIC]:
                return True
    return False
