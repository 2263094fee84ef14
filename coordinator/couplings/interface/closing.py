"""Reactions with which the drift of all bodies closes all joints: Newton's iteration, as far as rounding lets it."""

from __future__ import annotations

import numpy as np

from coordinator.couplings.interface.face import ERROR, OPEN, SIZE, WORK, numbers_at
from coordinator.couplings.interface.playing import largest_of_all, play
from coordinator.couplings.interface.reactions import reach_of_rounding, take_errors
from coordinator.couplings.interface.verbs import ANSWER, ANSWER_AHEAD, DRIFT, START_OVER, WEIGH_AHEAD
from modular.elements import STEP
from modular.kernel import kernel
from modular.loop import FINE, loop
from modular.views import View

STUCK = 0.3  # of the one before: an error that has not fallen below this share falls no more
SLOW = 0.9  # the same where a share was added to the pivots, so that joints with little grip take many steps
CLOSE = 1e3  # times what may stay open: what is accepted where rounding lets no more be had
ROUNDED = 30.0  # times what rounding of the reactions makes of them: the same
FAR = 1e-6  # of the extent: what is not accepted as rounding, however large the reactions are


@loop
def close_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Reactions with which the drift of all bodies closes all joints; who stays open, or -1.

    Where the expected ones lead nowhere, those under which the step before has ended are tried.
    """
    for attempt in range(2):
        if attempt > 0:
            play(face, START_OVER)
        if closes(face, elements):
            return FINE
        if face.lost > 0.0:
            break
    face.trouble = OPEN
    return worst(face)


@kernel
def closes(face: View, elements: View) -> bool:
    """Whether Newton's iteration from the reactions that there are closes all joints, as far as rounding lets it."""
    h = elements.clock[STEP]
    face.matrix, face.factor = WORK, 2.0 / (h * h)
    length, turn = elements.tolerance[0], elements.tolerance[1]
    before, ahead = 0.0, False
    local = face.local_rounds > 0
    face.budget = face.local_rounds
    for turns in range(face.most_turns):
        open_ = play(face, DRIFT)
        error, rounding = take_errors(face, length, turn), 0.0
        if local:
            rounding = reach_of_rounding(face, h, length, turn)
        if face.in_parts == 1:
            error, rounding = largest_of_all(face, error, rounding)
        if not error < np.inf:
            return False
        if turns > 0 and error <= 1.0 and open_ < 0:
            return True
        if (ahead or (local and turns > 0)) and open_ < 0 and STUCK * before < error:  # it falls no more
            if not local:
                rounding = reach_of_rounding(face, h, length, turn)
            near = max(0.0 if local else CLOSE, min(ROUNDED * rounding, FAR / turn))
            if error <= near:
                return True
        stays = turns == face.most_turns - 1 and error <= CLOSE  # as it is, however many iterations there were
        if local and open_ < 0 and (face.budget == 0 or stays):
            face.left_open = max(face.left_open, error * turn)
            return True  # with what there is
        if not local and turns > 0 and not error * error * error <= before * before:
            elements.ahead[0] = 1.0
            play(face, WEIGH_AHEAD)  # two more turns like this would not be enough
            elements.ahead[0] = 0.0
            ahead = True
        before = error
        face.turns += 1
        play(face, ANSWER_AHEAD if ahead else ANSWER)
    return False


@kernel
def worst(face: View) -> int:
    """The joint that is open by most."""
    found, largest = 0, -1.0
    for k in range(face.joint_count):
        error = numbers_at(face.joints[k, ERROR])
        for i in range(face.joints[k, SIZE]):
            if not abs(error[i]) <= largest and largest == largest:  # the first that is no number, if there is one
                found, largest = k, abs(error[i])
    face.gap = largest
    return found


LOOPS = {"close": close_loop}
