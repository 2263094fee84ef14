"""Steps with dampers that are stiffer than the step: the rates at their end are found before the step is taken.

The first effort of such a damper depends on the rate that the step leads to (modular/compliant.py). With an expected rate p
the step is tried, and ends with a rate that is another one. How the end answers p is known where W is factorised twice, for
places and for rates: a change dp of what is expected changes the first efforts by d1, and the second ones by d2,

    (W + P) d1 = -c dp,       g_1 changes by  dg = (P d1 + c dp) h^2 / 2,   and the rates before the second kick by dg / h
    (W + R) d2 = k dg + K dg / h,   and those at the end by  M dp = dg / h - (k dg + K dg / h - R d2) h / 2

with P = 1 / K and R = 1 / K of both halves on the diagonal. So dp is found from (I - M) dp = what p lacked, by iteration: M is a
contraction, with an eigenvalue of at most 0.17. One or two tries are enough, where trying itself as an iteration took five.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.couplings.interface.fields import (
    CARRIED,
    EFFORT,
    GAP_RATE,
    LAW,
    PLACE_COMPLIANCE,
    PREDICTED_RATE,
    RATE_COMPLIANCE,
    RATES,
    RELAXATION,
    RIGHT,
    SIZE,
    UNEQUAL,
    WORK,
    matrix_of,
    numbers_at,
)
from coordinator.couplings.interface.matrices import solve
from coordinator.couplings.interface.velocity_stage import kick, try_flight
from coordinator.couplings.interface.verbs import (
    EXERT,
    RESPOND,
    RESTORE_START,
    SAVE_START,
    UPDATE_OPERATOR,
    play,
)
from modular.compliant import DAMPING, STIFFNESS
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

END_TOLERANCE = 1e-9  # of the largest effort of a stiff damper: what is left of them by what was not expected of rates
NEAR = 1e-2  # of that effort: what a try may have lacked so that the next one ends next to it
CORRECTED = 1e-2  # of what a try lacked: more is surely not left once it is corrected, but where geometry turns far
# of the gap that makes all of an effort: what joints may leave open in tries, at first and later
FIRST_SLACK, SLACK = 1e-3, 1e-8
MOST_CORRECTIONS = 12  # of dp, by M
ENOUGH = 1e-3  # of dp: where its corrections end


@kernel
def lack(interface: View) -> tuple[Any, Any, Any]:
    """What was expected of rates at the end lacked, kept in `lacked`; the most of it, the most that it makes of an effort,
    and the largest effort."""
    lacked, most, change, largest = interface.lacked, 0.0, 0.0, 0.0
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            speed, expected = numbers_at(interface.joints[k, GAP_RATE]), numbers_at(interface.joints[k, PREDICTED_RATE])
            law, at = numbers_at(interface.joints[k, LAW]), interface.joints[k, RIGHT]
            effort = numbers_at(interface.joints[k, EFFORT])
            for i in range(interface.joints[k, SIZE]):
                differs = speed[i] - expected[i]
                if law[3 * i + DAMPING] > 0.0:
                    most = max(most, abs(differs))
                    change = max(change, law[3 * i + DAMPING] * abs(differs))
                    largest = max(largest, law[3 * i + DAMPING] * abs(speed[i]), abs(effort[i]))
                lacked[at + i] = differs
    return most, change, largest


@kernel
def most_lacking(interface: View) -> int:
    """The stiff force whose effort is furthest from what was expected."""
    found, largest = 0, -1.0
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            law, at = numbers_at(interface.joints[k, LAW]), interface.joints[k, RIGHT]
            for i in range(interface.joints[k, SIZE]):
                change = law[3 * i + DAMPING] * abs(interface.lacked[at + i])
                if not change <= largest and largest == largest:
                    found, largest = k, change
    return found


@kernel
def expect(interface: View) -> None:
    """A row alone knows how its end answers: what it expects next, from what it lacked."""
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            expected, share = (
                numbers_at(interface.joints[k, PREDICTED_RATE]),
                numbers_at(interface.joints[k, RELAXATION]),
            )
            for i in range(interface.joints[k, SIZE]):
                expected[i] += share[i] * interface.lacked[interface.joints[k, RIGHT] + i]


@kernel
def answer_places(interface: View, h: float) -> None:
    """d1 to `moved`, and how gaps change to `opened`, of a change of what is expected, `awaited`."""
    right, moved, opened, awaited = interface.right_side, interface.moved, interface.opened, interface.awaited
    for row in range(interface.row_count):
        right[row] = 0.0
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            law, at = numbers_at(interface.joints[k, LAW]), interface.joints[k, RIGHT]
            give = numbers_at(interface.joints[k, PLACE_COMPLIANCE])
            for i in range(interface.joints[k, SIZE]):
                right[at + i] = -give[i] * law[3 * i + DAMPING] * awaited[at + i]
    solve(interface, matrix_of(interface, WORK))
    for row in range(interface.row_count):
        moved[row] = right[row]
        opened[row] = 0.0
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            law, at = numbers_at(interface.joints[k, LAW]), interface.joints[k, RIGHT]
            give = numbers_at(interface.joints[k, PLACE_COMPLIANCE])
            for i in range(interface.joints[k, SIZE]):
                opened[at + i] = 0.5 * h * h * give[i] * (right[at + i] + law[3 * i + DAMPING] * awaited[at + i])


@kernel
def answer_rates(interface: View, h: float) -> None:
    """How rates at the end change with the gaps in `opened`, M dp, to the right-hand side."""
    right, opened, asked = interface.right_side, interface.opened, interface.asked
    for row in range(interface.row_count):
        right[row] = asked[row] = 0.0
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            law, at = numbers_at(interface.joints[k, LAW]), interface.joints[k, RIGHT]
            give = numbers_at(interface.joints[k, RATE_COMPLIANCE])
            for i in range(interface.joints[k, SIZE]):
                gain = 2.0 / (h * give[i]) / h  # K of the second half, over h
                asked[at + i] = 0.5 * h * give[i] * (law[3 * i + STIFFNESS] + gain) * opened[at + i]
                right[at + i] = asked[at + i] * 2.0 / h
    solve(interface, matrix_of(interface, RATES))
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            at, give = interface.joints[k, RIGHT], numbers_at(interface.joints[k, RATE_COMPLIANCE])
            for i in range(interface.joints[k, SIZE]):
                right[at + i] = opened[at + i] / h - asked[at + i] + 0.5 * h * give[i] * right[at + i]


@kernel
def correct(interface: View, h: float, least: float) -> None:
    """(I - M) dp = what was lacked: p + dp is expected next, and the first efforts that go with it.

    `least`: an effort that makes no difference; what a correction leaves is less than the correction.
    """
    awaited, lacked, right = interface.awaited, interface.lacked, interface.right_side
    for row in range(interface.row_count):
        awaited[row] = lacked[row]
    for _ in range(MOST_CORRECTIONS):
        answer_places(interface, h)
        answer_rates(interface, h)
        change, largest, makes = 0.0, 0.0, 0.0
        for k in range(interface.joint_count):
            if interface.joints[k, LAW] != 0:
                law, at = numbers_at(interface.joints[k, LAW]), interface.joints[k, RIGHT]
                for i in range(interface.joints[k, SIZE]):
                    better = lacked[at + i] + right[at + i]
                    differs = abs(better - awaited[at + i])
                    change, largest = max(change, differs), max(largest, abs(better))
                    makes = max(makes, law[3 * i + DAMPING] * differs)
                    awaited[at + i] = better
        if change <= ENOUGH * largest or makes <= least:
            break
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            expected = numbers_at(interface.joints[k, PREDICTED_RATE])
            for i in range(interface.joints[k, SIZE]):
                expected[i] += awaited[interface.joints[k, RIGHT] + i]


@kernel
def return_to_start(interface: View, elements: View, h: float, time: float) -> None:
    """Where the step began; W of places still stands as it was factorised there."""
    elements.clock[STEP], elements.clock[TIME] = h, time - h
    play(interface, RESTORE_START)
    interface.matrix = WORK
    play(interface, RESPOND)
    play(interface, EXERT)


@kernel
def slack_of(interface: View, share: float, h: float, tolerance: float) -> Any:
    """Times what joints may leave open: what they may in a try, a share of the least gap that makes all of the effort of a row."""
    way = np.inf
    for k in range(interface.joint_count):
        if interface.joints[k, LAW] != 0:
            law, speed = numbers_at(interface.joints[k, LAW]), numbers_at(interface.joints[k, GAP_RATE])
            carried, give = numbers_at(interface.joints[k, CARRIED]), numbers_at(interface.joints[k, PLACE_COMPLIANCE])
            for i in range(interface.joints[k, SIZE]):
                effort = max(abs(carried[i]), law[3 * i + DAMPING] * abs(speed[i]))
                way = min(way, 0.5 * h * h * give[i] * effort)
    return max(1.0, share * way / tolerance)


@kernel
def try_step(interface: View, elements: View, h: float, time: float, turns: int) -> int:
    """The step, with rates as they are expected; who went wrong, or -1."""
    interface.trying, interface.guessed = 1, 1 if turns == 0 and interface.local_rounds == 0 else 0
    interface.slack = slack_of(interface, FIRST_SLACK if turns == 0 else SLACK, h, elements.tolerance[0])
    wrong = try_flight(interface, elements, h, time)
    interface.slack, interface.trying, interface.guessed = 1.0, 0, 0
    if wrong >= 0:
        return wrong
    interface.matrix = RATES
    play(interface, RESPOND if interface.tried == 1 else UPDATE_OPERATOR)
    return kick(interface, elements)


@loop
def find_end_rates_loop(start: int, stop: int, interface: View, elements: View) -> int:
    """Rates at the end of the step to which the clock leads, as stiff dampers must know them; who went wrong, or -1."""
    h, time, alone = elements.clock[STEP], elements.clock[TIME], interface.local_rounds > 0
    before, interface.tried = 0.0, 0
    play(interface, SAVE_START)
    for turns in range(interface.most_turns):
        wrong = try_step(interface, elements, h, time, turns)
        if wrong >= 0:
            interface.tried = 0
            return wrong
        most, change, largest = lack(interface)
        left = change  # of it once it is corrected
        if not alone:
            left *= CORRECTED if turns == 0 else min(1.0, change / before)
        before = change
        interface.tried = 1 if change <= NEAR * largest else 0
        if alone:
            expect(interface)
        else:
            correct(interface, h, END_TOLERANCE * largest)
        return_to_start(interface, elements, h, time)
        if not alone:
            carry(interface)
        if left <= END_TOLERANCE * largest or most * abs(h) <= elements.tolerance[0]:
            return NO_FAILED_ROW
    interface.tried, interface.trouble = 0, UNEQUAL
    return most_lacking(interface)


@kernel
def carry(interface: View) -> None:
    """The first efforts that go with what is expected now."""
    for k in range(interface.joint_count):
        carried = numbers_at(interface.joints[k, CARRIED])
        for i in range(interface.joints[k, SIZE]):
            carried[i] += interface.moved[interface.joints[k, RIGHT] + i]


LOOPS = {"find_end_rates": find_end_rates_loop}
