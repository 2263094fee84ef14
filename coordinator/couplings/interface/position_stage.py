"""Reactions with which the drift of all bodies closes all joints: Newton's iteration, as far as rounding lets it."""

from __future__ import annotations

import numpy as np

from coordinator.couplings.interface.fields import ERROR, OPEN, SIZE, WORK, numbers_at
from coordinator.couplings.interface.playing import largest_of_all, play
from coordinator.couplings.interface.reactions import reach_of_rounding, read_errors
from coordinator.couplings.interface.verbs import DRIFT, SOLVE, SOLVE_AHEAD, UPDATE_OPERATOR_AHEAD, USE_LAST_REACTIONS
from modular.elements import STEP
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

STALL_RATIO = 0.3  # of the one before: an error that has not fallen below this share falls no more
# the same where a share was added to the pivots, so that joints with little grip take many steps
REGULARISED_STALL_RATIO = 0.9
STALLED_TOLERANCE_FACTOR = 1e3  # times what may stay open: what is accepted where rounding lets no more be had
ROUNDING_FACTOR = 30.0  # times what rounding of the reactions makes of them: the same
MAX_ROUNDING_GAP = 1e-6  # of the extent: what is not accepted as rounding, however large the reactions are


@loop
def close_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions with which the drift of all bodies closes all joints; who stays open, or -1.

    Where the expected ones lead nowhere, those under which the step before has ended are tried.
    """
    for attempt in range(2):
        if attempt > 0:
            play(interface, USE_LAST_REACTIONS)
        if closes(interface, elements):
            return NO_FAILED_ROW
        if interface.lost > 0.0:
            break
    interface.trouble = OPEN
    return worst(interface)


@kernel
def closes(interface: View, elements: View) -> bool:
    """Whether Newton's iteration from the reactions that there are closes all joints, as far as rounding lets it."""
    h = elements.clock[STEP]
    interface.matrix, interface.factor = WORK, 2.0 / (h * h)
    length, turn = elements.tolerance[0], elements.tolerance[1]
    before, ahead = 0.0, False
    local = interface.local_rounds > 0
    interface.budget = interface.local_rounds
    for turns in range(interface.most_turns):
        open_ = play(interface, DRIFT)
        error, rounding = read_errors(interface, length, turn), 0.0
        if local:
            rounding = reach_of_rounding(interface, h, length, turn)
        if interface.in_parts == 1:
            error, rounding = largest_of_all(interface, error, rounding)
        if not error < np.inf:
            return False
        if turns > 0 and error <= 1.0 and open_ < 0:
            return True
        if (ahead or (local and turns > 0)) and open_ < 0 and STALL_RATIO * before < error:  # it falls no more
            if not local:
                rounding = reach_of_rounding(interface, h, length, turn)
            near = max(
                0.0 if local else STALLED_TOLERANCE_FACTOR, min(ROUNDING_FACTOR * rounding, MAX_ROUNDING_GAP / turn)
            )
            if error <= near:
                return True
        stays = (
            turns == interface.most_turns - 1 and error <= STALLED_TOLERANCE_FACTOR
        )  # as it is, however many iterations there were
        if local and open_ < 0 and (interface.budget == 0 or stays):
            interface.left_open = max(interface.left_open, error * turn)
            return True  # with what there is
        if not local and turns > 0 and not error * error * error <= before * before:
            elements.ahead[0] = 1.0
            play(interface, UPDATE_OPERATOR_AHEAD)  # two more turns like this would not be enough
            elements.ahead[0] = 0.0
            ahead = True
        before = error
        interface.turns += 1
        play(interface, SOLVE_AHEAD if ahead else SOLVE)
    return False


@kernel
def worst(interface: View) -> int:
    """The joint that is open by most."""
    found, largest = 0, -1.0
    for k in range(interface.joint_count):
        error = numbers_at(interface.joints[k, ERROR])
        for i in range(interface.joints[k, SIZE]):
            if not abs(error[i]) <= largest and largest == largest:  # the first that is no number, if there is one
                found, largest = k, abs(error[i])
    interface.gap = largest
    return found


LOOPS = {"close": close_loop}
