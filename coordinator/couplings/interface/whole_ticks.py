"""Dry friction that switches within steps that must not be divided, for something counts by them: contacts, walls.

Where a step that is tried leads beyond a switch, a share of it went before; by the straight line between both ends. What sticks and
what slides after it is decided where the trial has led, and friction that switches pulls in the mean of the step

    f = share f_before + (1 - share) f_after,

with which the step is tried again, for others may switch then. Rates and places at its end are off by dt^2, so that order two
is kept.
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.interface.deciding import find_modes
from coordinator.couplings.interface.fields import EFFORT, FRICTION, numbers_at
from coordinator.couplings.interface.switches import (
    ENOUGH,
    begin_search,
    measure_switches,
    return_to_start,
    save_reactions,
    try_stages,
)
from coordinator.couplings.interface.verbs import SAVE_START, play
from modular.elements import GAIN_STEP, Array
from modular.friction_rows import (
    AFTER,
    AHEAD,
    AHEAD_BEFORE,
    KINETIC,
    LEVEL,
    LOAD,
    LOCATED,
    MODE,
    PENDING,
    PRIOR,
    RESTS,
    STATIC,
)
from modular.kernel import kernel
from modular.views import View

TIED = 1e-6  # of a step: what switches as early as that does so with the first


@kernel
def share_before(friction: Array) -> Any:
    """The share of a step that goes before it switches; more than 1 where it does not."""
    if friction[AHEAD] >= 0.0:
        return 2.0
    return max(friction[AHEAD_BEFORE], 0.0) / (max(friction[AHEAD_BEFORE], 0.0) - friction[AHEAD])


@kernel
def mark_first(interface: View) -> Any:
    """Mark what switches first; the share of the step that goes before."""
    share = 1.0
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            share = min(share, share_before(numbers_at(interface.joints[k, FRICTION])))
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            if share_before(friction) <= share + TIED:
                friction[RESTS] = LOCATED
    return share


@kernel
def take_mean(interface: View, share: float) -> None:
    """Friction whose mode has changed by the decision pulls in the mean of before and after; all others go on as they did."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction, effort = numbers_at(interface.joints[k, FRICTION]), numbers_at(interface.joints[k, EFFORT])
            before, after = friction[PRIOR], friction[MODE]
            if friction[PENDING] == 0.0 and (before != after or friction[RESTS] == LOCATED):
                held = max(-friction[STATIC], min(friction[LOAD] + effort[0], friction[STATIC]))
                first = before * friction[KINETIC] if before != 0.0 else 0.5 * (friction[LOAD] + held)
                friction[LEVEL] = share * first + (1.0 - share) * effort[0]
                friction[PENDING], friction[AFTER] = 1.0, after
                friction[MODE] = before if before != 0.0 else after if after != 0.0 else 1.0
            else:
                friction[MODE] = before
            friction[RESTS] = 0.0


@kernel(written_out=False)
def weigh_switches(interface: View, elements: View, left: float, end: float, even: bool) -> None:
    """What friction that switches in this step does in the mean of it."""
    begin = end - left
    save_reactions(interface, False)
    play(interface, SAVE_START)
    begin_search(interface, elements.clock[GAIN_STEP])
    for _ in range(2 + 2 * interface.rubbing):
        wrong = try_stages(interface, elements, left, end, even)
        least = measure_switches(interface, elements.clock[GAIN_STEP], False) if wrong < 0 else 0.0
        if least < -ENOUGH:
            share = mark_first(interface)
            find_modes(interface, elements, True)
            take_mean(interface, share)
        return_to_start(interface, elements, begin)
        if least >= -ENOUGH:
            break


@kernel
def end_pending(interface: View) -> None:
    """At the end of the step: what has come to stick there is decided anew, what slides goes on as it was found."""
    for k in range(interface.joint_count):
        if interface.joints[k, FRICTION] != 0:
            friction = numbers_at(interface.joints[k, FRICTION])
            if friction[PENDING] == 1.0:
                if friction[AFTER] == 0.0:
                    friction[RESTS] = LOCATED
                else:
                    friction[MODE] = friction[AFTER]
                friction[PENDING] = 0.0
