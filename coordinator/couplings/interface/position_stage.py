"""Reactions with which the drift of all bodies closes all joints: Newton's iteration, as far as rounding lets it.

What joints and bodies may leave open, by how far a system reaches.
"""

from __future__ import annotations

from math import ceil, log2

import numpy as np

from coordinator.building import UnlikeModels
from coordinator.couplings.interface.fields import (
    EFFORT,
    ERROR,
    GAP_RATE,
    LAW,
    OPEN,
    PLACE_COMPLIANCE,
    SIZE,
    WORK,
    numbers_at,
)
from coordinator.couplings.interface.reactions import reach_of_rounding, read_errors
from coordinator.couplings.interface.verbs import (
    DRIFT,
    SOLVE,
    SOLVE_AHEAD,
    UPDATE_OPERATOR_AHEAD,
    USE_LAST_REACTIONS,
    largest_of_all,
    of_all,
    play,
)
from coordinator.system import System
from modular.elements import STEP
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


def tolerate(system: System, share: float) -> None:
    """What may stay open: a share of the extent of the system, and of a right angle.

    Of the extent rounded up to a power of two: so models that differ a little are closed alike, and may stand side by side.
    """
    extents = extents_of(system)
    alike: dict[float, list[int]] = {}
    for model, extent in extents.items():
        alike.setdefault(2.0 ** ceil(log2(extent)) if extent else 1.0, []).append(model)
    if len(alike) > 1:
        raise UnlikeModels(list(alike.values()))
    system.elements.tolerance[:] = share * next(iter(alike), 1.0), share


def extents_of(system: System) -> dict[int, float]:
    """How far the bodies of each model that stands in the system reach [m]; there is one, but for ensembles."""
    if system.parted is None:
        return {0: max([float(np.abs(bodies.state()["q"]).max(initial=0.0)) for bodies in system.bodies] or [0.0])}
    found: dict[int, float] = {}
    for bodies in system.bodies:
        q = bodies.state()["q"]
        sizes = np.abs(q).reshape(len(q), -1).max(axis=1, initial=0.0).tolist()
        for name, size in zip(bodies.names, sizes, strict=True):
            model = system.parted(name)[1]
            found[model] = max(found.get(model, 0.0), size)
    return found


STALL_RATIO = 0.3  # of the one before: an error that has not fallen below this share falls no more
# the same where a share was added to the pivots, so that joints with little grip take many steps
REGULARISED_STALL_RATIO = 0.9
STALLED_TOLERANCE_FACTOR = 1e3  # times what may stay open: what is accepted where rounding lets no more be had
ROUNDING_FACTOR = 30.0  # times what rounding of the reactions makes of them: the same
KNOWN_SHARE = 1e-2  # of what may stay open: a step that was tried and comes so near is closed
# times the way of a stiff damper in a step, and of the longest one: what it may be off by at first where a guess is followed
FAR, SMALL_WAY = 10.0, 1e-3
MAX_ROUNDING_GAP = 1e-6  # of the extent: what is not accepted as rounding, however large the reactions are

# what a round finds: joints are closed, errors are no numbers, or reactions are to be added, by which of the operators
CLOSED, LOST, PLAIN, AHEAD, AHEAD_ANEW = range(5)


@loop
def close_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Reactions with which the drift of all bodies closes all joints; who stays open, or -1.

    Where the expected ones lead nowhere, those under which the step before has ended are tried.
    """
    for attempt in range(2):
        if attempt > 0:
            play(interface, USE_LAST_REACTIONS)
        if closes(interface, elements, attempt):
            return NO_FAILED_ROW
        if interface.lost > 0.0:
            break
    interface.trouble = OPEN
    return worst(interface)


@kernel
def begin_rounds(interface: View, elements: View) -> None:
    """Nothing is known yet of how errors fall."""
    h = elements.clock[STEP]
    interface.matrix, interface.factor = WORK, 2.0 / (h * h)
    interface.before, interface.looks_ahead = 0.0, 0
    interface.budget = interface.local_rounds


@kernel
def judge(interface: View, elements: View, turns: int, open_: int) -> int:
    """What the errors where the drift has led ask for; `open_`: a body that is still open, or -1."""
    length, turn = elements.tolerance[0], elements.tolerance[1]
    before, ahead, local = interface.before, interface.looks_ahead == 1, interface.local_rounds > 0
    error, rounding = read_errors(interface, length, turn), 0.0
    if local:
        rounding = reach_of_rounding(interface, elements.clock[STEP], length, turn)
    if interface.in_parts == 1:
        error, rounding = largest_of_all(interface, error, rounding)
    if not error < np.inf:
        return LOST
    known = interface.tried == 1 and interface.trying == 0 and not local and error <= KNOWN_SHARE  # by tries before
    if (turns > 0 or interface.slack > 1.0 or known) and error <= interface.slack and open_ < 0:
        return CLOSED
    if (ahead or (local and turns > 0)) and open_ < 0 and STALL_RATIO * before < error:  # it falls no more
        if not local:
            rounding = reach_of_rounding(interface, elements.clock[STEP], length, turn)
        near = max(0.0 if local else STALLED_TOLERANCE_FACTOR, min(ROUNDING_FACTOR * rounding, MAX_ROUNDING_GAP / turn))
        if error <= near:
            return CLOSED
    # however many iterations there were
    stays = turns == interface.most_turns - 1 and error <= STALLED_TOLERANCE_FACTOR
    if local and open_ < 0 and (interface.budget == 0 or stays):
        interface.left_open = max(interface.left_open, error * turn)
        return CLOSED  # with what there is
    interface.before = error
    interface.turns += 1
    if not local and turns > 0 and not falls_soon_enough(interface, error, before):
        interface.looks_ahead = 1
        return AHEAD_ANEW
    return AHEAD if ahead else PLAIN


@kernel
def falls_soon_enough(interface: View, error: float, before: float) -> bool:
    """Whether two more turns like the last close the joints; beside dampers, where guesses are far, four: V costs as many."""
    share = error / before
    goes_on = error * share * share
    if interface.damped == 1:
        goes_on *= share * share
    return bool(goes_on <= interface.slack)


@kernel
def is_far(interface: View, elements: View) -> bool:
    """Whether a first drift has led stiff dampers far from where they should be: they would not have kept up their efforts."""
    h = elements.clock[STEP]
    longest, far = elements.tolerance[0] / SMALL_WAY, False
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            for i in range(interface.joints[k, SIZE]):
                longest = max(longest, way_of(interface, k, i, h))
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            error = numbers_at(interface.joints[k, ERROR])
            for i in range(interface.joints[k, SIZE]):
                most = FAR * max(way_of(interface, k, i, h), SMALL_WAY * longest)
                far = far or not abs(error[i]) <= most
    return far


@kernel
def way_of(interface: View, k: int, i: int, h: float) -> float:
    """How far a row of a stiff damper goes in a step, by its rate where the step begins or by what it exerts."""
    give, effort = numbers_at(interface.joints[k, PLACE_COMPLIANCE]), numbers_at(interface.joints[k, EFFORT])
    way: float = max(abs(h * numbers_at(interface.joints[k, GAP_RATE])[i]), 0.5 * h * h * give[i] * abs(effort[i]))
    return way


@kernel
def closes(interface: View, elements: View, attempt: int) -> bool:
    """Whether Newton's iteration from the reactions that there are closes all joints, as far as rounding lets it."""
    begin_rounds(interface, elements)
    interface.too_far, open_ = 0, NO_FAILED_ROW
    for turns in range(interface.most_turns):
        open_ = play(interface, DRIFT)
        if attempt + turns == 0 and interface.guessed == 1 and is_far(interface, elements):
            return False
        found = judge(interface, elements, turns, open_)
        if found == CLOSED:
            return True
        if found == LOST:
            interface.too_far = 1
            return False
        if interface.joint_count_of_all == 0:
            continue  # bodies alone close their shapes: there is nothing to solve for
        if found == AHEAD_ANEW:
            elements.ahead[0] = 1.0
            play(interface, UPDATE_OPERATOR_AHEAD)
            elements.ahead[0] = 0.0
        play(interface, SOLVE if found == PLAIN else SOLVE_AHEAD)
    interface.too_far = 1 if of_all(interface, 0.0 if open_ < 0 else 1.0) > 0.0 else 0
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


@loop
def begin_rounds_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Nothing is known yet of how errors fall."""
    begin_rounds(interface, elements)
    return NO_FAILED_ROW


@loop
def judge_loop(turns: int, open_: int, interface: View, elements: View) -> int:
    """What the errors where a drift has led ask for (advance_together.py); in place of rows the round, and a body that is open."""
    return judge(interface, elements, turns, open_)


LOOPS = {"close": close_loop, "begin_rounds": begin_rounds_loop, "judge": judge_loop}
