"""Steps of glued components: drift, close the joints, kick, stop them (`stage`), segment by segment (segments.py).

One part of a score, (interface, "advance"), is a whole macro step, so the engine samples, watches and stops around it as it does
around any other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.interface.kernels import (
    AGAIN,
    CARRIED,
    EFFORT,
    ERROR,
    GLIDING,
    INDEX,
    OPEN,
    RATES,
    RIGHT,
    SHAPE,
    SHIFT,
    SIZE,
    UNEQUAL,
    UNSETTLED,
    WORK,
    added_up,
    numbers_at,
    reach_of_rounding,
    take_errors,
    take_rates,
)
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import FINE, call, loop
from modular.views import View

# what is played together
BEGIN, PRESS, DRIFT, BOOK, ARRIVE, EXERT, KICK, LOOK, RECKON, SHOW, STRIKE, CARRY = range(12)
(
    MEET,
    ANSWER,
    ANSWER_AHEAD,
    WEIGH,
    CLOSE_PLACES,
    STOP_RATES,
    LOOK_ALONG,
    REACT,
    EXPECT,
    WEIGH_AHEAD,
    SET_OUT,
    RETREAT,
    MOVE,
    FORGET,
    FORETELL,
    AGREE,
    ADD_UP,
    PASS_ON,
    START_OVER,
) = range(12, 31)
COLUMNS = 5  # of the program
ADDRESS, WHOSE, FROM, TO, WHO = range(COLUMNS)
ENOUGH = 1e-11  # of the first rates of joints: what may be left of them
STUCK = 0.3  # of the one before: an error that has not fallen below this share falls no more
CLOSE = 1e3  # times what may stay open: what is accepted where rounding lets no more be had
ROUNDED = 30.0  # times what rounding of the reactions makes of them: the same
FAR = 1e-6  # of the extent: what is not accepted as rounding, however large the reactions are
ROUNDS = 6
SLOW = 0.9  # the same where a share was added to the pivots, so that joints with little grip take many steps
HIDDEN = 1e-6  # of what is to be answered: what may be left there by what was added
PATIENT = 8  # rounds in which reactions of gliding joints come to agree by means alone
SETTLED = 1e-9  # of the largest reaction: what theirs may differ by where it falls no more
REACH = 1e-2  # of the extent: how far one looks along the motion


@kernel(written_out=False)
def play(face: View, which: int) -> int:
    """Play one segment; where the names of what went wrong last begin, or -1."""
    wrong = -1
    face.wrong = -1.0
    for k in range(face.segments[which, 0], face.segments[which, 1]):
        found = call(
            face.program[k, ADDRESS],
            face.program[k, FROM],
            face.program[k, TO],
            face.program[k, WHOSE],
            face.elements_sheet,
        )
        if found >= 0:
            wrong = face.program[k, WHO] + found
            face.wrong = wrong
    return wrong


@kernel
def largest_of_all(face: View, one: float, other: float) -> tuple[Any, Any]:
    """The largest of two numbers that every worker has, and of the spread beside; in one process, these."""
    face.most[0], face.most[1], face.most[2] = one, other, face.spread
    play(face, AGREE)
    return face.most[0], face.most[1]


@kernel
def of_all(face: View, one: float) -> Any:
    """The largest of a number, where joints of all others are not at hand."""
    if face.in_parts == 1:
        one, _ = largest_of_all(face, one, 0.0)
    return one


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


@kernel
def unlike(face: View) -> tuple[Any, Any]:
    """By how much reactions of gliding joints at the end of a step differ from those at its beginning, and the largest of all."""
    change, largest = 0.0, 0.0
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE]):
            largest = max(largest, abs(effort[i]))
            if face.joints[k, GLIDING] == 1:
                change = max(change, abs(effort[i] - carried[i]))
    if face.in_parts == 1:
        return largest_of_all(face, change, largest)
    return change, largest


@kernel
def moves_by(face: View, h: float) -> Any:
    """How far a joint moves at most, in a step h, by what those reactions differ by."""
    scales, farthest = face.scales, 0.0
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE] if face.joints[k, GLIDING] == 1 else 0):
            change = abs(effort[i] - carried[i])
            farthest = max(farthest, 0.5 * h * h * scales[face.joints[k, RIGHT] + i] * change)
    return of_all(face, farthest)


@kernel
def product_with_change(face: View, with_itself: bool) -> Any:
    """W d' (d - d') of what d those reactions differ by now and what d' before, or W (d - d')^2; W of each row alone."""
    before, scales = face.unlike, face.scales
    summands = face.summands
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        at, product = face.joints[k, RIGHT], 0.0
        for i in range(face.joints[k, SIZE] if face.joints[k, GLIDING] == 1 else 0):
            change = effort[i] - carried[i] - before[at + i]
            product += scales[at + i] * change * (change if with_itself else before[at + i])
        summands[face.joints[k, INDEX]] = product
    if face.in_parts == 1:
        play(face, ADD_UP)
    return added_up(face)


@kernel
def ease(face: View) -> None:
    """How much of the difference is taken next, from this one and the one before: w <- -w d' (d - d') / (d - d')^2."""
    square = product_with_change(face, True)
    if square > 0.0:
        face.easing *= -product_with_change(face, False) / square


@kernel
def keep_unlike(face: View) -> None:
    """What those reactions differ by now."""
    before = face.unlike
    for k in range(face.joint_count):
        effort, carried = numbers_at(face.joints[k, EFFORT]), numbers_at(face.joints[k, CARRIED])
        for i in range(face.joints[k, SIZE] if face.joints[k, GLIDING] == 1 else 0):
            before[face.joints[k, RIGHT] + i] = effort[i] - carried[i]


@kernel
def too_slow(change: float, before: float, enough: float, left: int) -> bool:
    """Whether what falls like this is still too much after all rounds that are left to means."""
    share = change / before
    for _ in range(left):
        change *= share
    return change > enough


@kernel
def rehearse(face: View, elements: View, h: float, time: float) -> int:
    """The reactions of joints that lock velocities alone, the same in both halves of a step; who went wrong, or -1.

    Such a joint stops nothing by what it does in the first half: nothing there tells its reaction. With one and the same in
    both halves, that stops it at the end, the step is symmetric. The step is tried, and taken back, until it is.

    The mean of both is tried next: what a rigid body is given in the first half has not to be given in the other. A flexible one
    has lost much of it by then; where means would take too long, the last two differences tell how much of one is to be taken
    (B. M. Irons, R. C. Tuck, Int. J. Numer. Methods Eng. 1 (1969) 275).
    """
    before, hastened, most = 0.0, False, face.most_turns
    face.easing = 0.5
    play(face, SET_OUT)
    for turns in range(2 * most):
        elements.clock[STEP], elements.clock[TIME] = h, time
        play(face, BEGIN)
        wrong = play(face, CLOSE_PLACES)
        if wrong < 0:
            play(face, ARRIVE)
            meet(face)
            wrong = kick(face, elements)
        if wrong >= 0:
            return wrong
        change, largest = unlike(face)
        rests = turns >= PATIENT and change >= SLOW * before and moves_by(face, h) <= CLOSE * elements.tolerance[0]
        if turns >= PATIENT and not rests:
            hastened = hastened or turns >= most or too_slow(change, before, SETTLED * largest, most - 1 - turns)
            if hastened:
                ease(face)
        keep_unlike(face)
        elements.clock[TIME] = time - h
        play(face, RETREAT)
        meet(face)
        play(face, EXERT)
        if (
            change <= 1e-14 * largest
            or (change <= SETTLED * largest and change > STUCK * before and turns > 0)
            or rests
        ):
            return FINE
        before = change
    return nobody(face, UNEQUAL)


@kernel
def stage(face: View, elements: View, h: float, time: float) -> int:
    """One RATTLE step of all components together; who went wrong, or -1."""
    if face.glides == 1:
        open_ = rehearse(face, elements, h, time)
        if open_ >= 0:
            return open_
    open_ = lead(face, elements, h, time)
    return open_ if open_ >= 0 else follow(face, elements, h)


@kernel
def lead(face: View, elements: View, h: float, time: float) -> int:
    """Half a kick and the way that it leads, all joints closed there; who stays open, or -1."""
    elements.clock[STEP], elements.clock[TIME] = h, time
    play(face, BEGIN)
    open_ = play(face, CLOSE_PLACES)
    if open_ >= 0:
        return open_
    elements.clock[STEP] = 0.5 * h
    play(face, BOOK)
    elements.clock[STEP] = h
    play(face, ARRIVE)
    meet(face)
    return FINE


@kernel
def follow(face: View, elements: View, h: float) -> int:
    """The other half of the kick, all joints stopped; who went wrong, or -1."""
    elements.clock[STEP] = h
    wrong = kick(face, elements)
    play(face, EXPECT)
    elements.clock[STEP] = 0.5 * h
    play(face, BOOK)
    return wrong


@kernel
def trend(face: View, k: int) -> Any:
    """(h' + h'') / (h + h') of a stage h', the one before and the one after; none where that would be far."""
    count = face.stage_count
    h, before, after = face.stages[k], face.stages[(k + count - 1) % count], face.stages[(k + 1) % count]
    return (h + after) / (before + h) if abs(h + after) < 4.0 * abs(before + h) else 0.0


@loop
def advance_loop(start: int, stop: int, face: View, elements: View) -> int:
    """One macro step: stage after stage of the composition; who went wrong, or -1."""
    step, end = elements.clock[STEP], elements.clock[TIME]
    face.trouble = SHAPE
    wrong = FINE
    passed = 0.0
    for k in range(face.stage_count):
        passed += face.stages[k]
        face.trend = trend(face, k)
        wrong = stage(face, elements, face.stages[k] * step, end - (1.0 - passed) * step)
        if wrong >= 0:
            break
    elements.clock[STEP], elements.clock[TIME] = step, end
    return wrong


@kernel
def strengthen(face: View, elements: View, factor: float) -> None:
    """Multiply what others exert on these components."""
    for k in range(face.toll_count):
        for c in range(elements.force.shape[0]):
            elements.force[face.tolls[k], c] *= factor


@loop
def approach_loop(start: int, stop: int, face: View, elements: View) -> int:
    """The way of components that step on their own through a tick, up to its last kick; who went wrong, or -1.

    Where they take several steps, what others exert acts as two impulses, at the first kick and at the last; or, as an
    experiment, at every step from where the others would be if they went on as they did.
    """
    step, end = elements.clock[STEP], elements.clock[TIME]
    count = face.steps
    h = step / count
    face.trouble, face.trend = SHAPE, 1.0
    wrong = FINE
    if face.glides == 1:
        wrong = rehearse(face, elements, h, end - (count - 1) * h)
    foretold = face.other_count > 0
    if count > 1 and not foretold:
        strengthen(face, elements, float(count))
    for k in range(count):
        if wrong < 0:
            wrong = lead(face, elements, h, end - (count - 1 - k) * h)
        if k < count - 1 and wrong < 0:
            if foretold:
                elements.clock[STEP] = (k + 1) * h
                play(face, FORETELL)
            elif k == 0:
                strengthen(face, elements, 0.0)
            wrong = follow(face, elements, h)
            if face.glides == 1 and wrong < 0:
                wrong = rehearse(face, elements, h, end - (count - 2 - k) * h)
    elements.clock[STEP], elements.clock[TIME] = step, end
    if foretold:
        for k in range(face.other_count):
            n = face.others[k]
            for c in range(elements.force.shape[0]):
                elements.position[n, c], elements.velocity[n, c] = face.noted[k, 0, c], face.noted[k, 1, c]
                elements.force[n, c] = face.noted[k, 2, c]
    return wrong


@loop
def note_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Where the other sides of springs stand, how they move, and what is exerted on them."""
    for k in range(face.other_count):
        n = face.others[k]
        for c in range(elements.force.shape[0]):
            face.noted[k, 0, c], face.noted[k, 1, c] = elements.position[n, c], elements.velocity[n, c]
            face.noted[k, 2, c] = elements.force[n, c]
    return FINE


@loop
def foretell_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Show the other sides where they would be if they went on as they did."""
    for k in range(face.other_count):
        for c in range(elements.force.shape[0]):
            velocity = face.noted[k, 1, c]
            elements.position[face.others[k], c] = face.noted[k, 0, c] + elements.clock[STEP] * velocity
            elements.velocity[face.others[k], c] = velocity
    return FINE


@loop
def conclude_loop(start: int, stop: int, face: View, elements: View) -> int:
    """The last kick of the tick; who went wrong, or -1."""
    step, count = elements.clock[STEP], face.steps
    impulses = count > 1 and face.other_count == 0
    if impulses:
        strengthen(face, elements, float(count))
    wrong = follow(face, elements, step / count)
    if impulses:
        strengthen(face, elements, 1.0 / count)
    elements.clock[STEP] = step
    return wrong


@loop
def toll_loop(start: int, stop: int, face: View, elements: View) -> int:
    """Work of others on these components in half a kick, from what was to what is; and the velocity to which a whole one leads."""
    for k in range(face.toll_count):
        n = face.tolls[k]
        for c in range(elements.force.shape[0]):
            before, now = elements.velocity_before[n, c], elements.velocity[n, c]
            elements.work[n] += 0.5 * elements.clock[STEP] * elements.force[n, c] * (before + now)
            elements.current_velocity[n, c] = 2.0 * now - before
            elements.velocity_before[n, c] = now
    return FINE


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
        play(face, MOVE)
        play(face, LOOK)
        take_rates(face)
        for i in range(face.row_count):
            bias[i] += weight * right[i] / (12.0 * h)
        play(face, SHOW)
    elements.clock[STEP], elements.beyond[0] = step, 0.0
    return FINE


@kernel
def clear_efforts(face: View) -> None:
    """Joints exert nothing."""
    for k in range(face.joint_count):
        effort = numbers_at(face.joints[k, EFFORT])
        for i in range(face.joints[k, SIZE]):
            effort[i] = 0.0


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
def meet_loop(start: int, stop: int, face: View, elements: View) -> int:
    """After an event: where everything stands, and what moves against joints."""
    play(face, SHOW)
    play(face, LOOK)
    meet(face)
    return FINE


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
    "take": take_loop,
    "advance": advance_loop, "react": react_loop, "meet": meet_loop, "strike": strike_loop, "settle": settle_loop,
    "close": close_loop, "stop": stop_loop, "look_along": look_along_loop, "approach": approach_loop,
    "conclude": conclude_loop, "toll": toll_loop, "mend": mend_loop,
    "note": note_loop, "foretell": foretell_loop,
}  # fmt: skip
