"""A glued step of many models that stand side by side: what all rows do alike is played for all of them at once.

Every model goes through the rounds of stepping.py as if it stood alone: it decides by its own errors and rates (`judge`, `stopped`)
when its joints are closed and stopped, and rests while others go on. Rows of a model follow those of the one before in every stack,
so what several neighbours play is one call over a range of rows, four of them at a time.
"""

from __future__ import annotations

from coordinator.couplings.interface.position_stage import AHEAD, AHEAD_ANEW, CLOSED, LOST, PLAIN
from coordinator.couplings.interface.velocity_stage import MAX_ROUNDS
from coordinator.couplings.interface.verbs import (
    ACCEPT_STEP,
    ACCOUNT,
    ADDRESS,
    APPLY_MULTIPLIERS,
    BEGIN,
    COMPONENT,
    DRIFT,
    EXERT,
    KICK,
    PREDICT_REACTIONS,
    SEE_THROUGH,
    SOLVE,
    SOLVE_AHEAD,
    UPDATE_OPERATOR,
    UPDATE_OPERATOR_AHEAD,
)
from coordinator.engine.guards import whole_number_at
from modular.elements import STEP, TIME
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, call, loop
from modular.views import View

# operations: of each interface, of rows of all, and drifts that tell of each model whether it is open
OWN, ALIKE, DRIFTS = range(3)
# verbs that interfaces play as a whole, in the order of `addresses`
(
    ADVANCE, REACT, SETTLE, UPDATE, BEGIN_STAGE, BEGIN_ROUNDS, JUDGE, BEGIN_STOP, STOPPED, IMPULSES,
) = range(10)  # fmt: skip
VERBS = (
    "advance", "compute_reactions", "settle", "update_operator", "begin_stage", "begin_rounds", "judge", "begin_stop", "stopped",
    "apply_joint_impulses",
)  # fmt: skip
DONE = 0  # state of a model that rests; others have what `judge` has found, or 1


@kernel
def play_those(table: View, which: int, least: int, most: int) -> int:
    """Play a segment for the models in these states; the first model in which something went wrong, or -1."""
    count, last, wrong = table.model_count, table.last_model, NO_FAILED_ROW
    for op in range(table.segments[which, 0], table.segments[which, 1]):
        k = table.first_model
        while k < last:
            if not least <= table.states[k] <= most:
                k += 1
                continue
            first = k
            if table.kinds[op] == OWN:
                sheet = table.sheets[k]
                k += 1
                call(table.program[op, ADDRESS], 0, 1, sheet, table.elements_sheet)
                continue
            k += 1
            while table.kinds[op] == ALIKE and k < last and least <= table.states[k] <= most:
                k += 1
            begin, end = table.begins[op * count + first], table.ends[op * count + k - 1]
            found = call(table.program[op, ADDRESS], begin, end, table.program[op, COMPONENT], table.elements_sheet)
            if found >= 0 and table.kinds[op] == DRIFTS:
                table.open[first] = 0
            elif found >= 0 and wrong < 0:
                wrong = first
                while table.ends[op * count + wrong] <= found:
                    wrong += 1
    return wrong


@kernel
def tell_all(table: View, verb: int, start: int, least: int, most: int) -> None:
    """Let interfaces in these states play a verb of their own."""
    for k in range(table.first_model, table.last_model):
        if least <= table.states[k] <= most:
            call(table.addresses[verb], start, 1, table.sheets[k], table.elements_sheet)


@kernel
def drift_those(table: View) -> None:
    """Let all that do not rest drift, and note which of them have a body that is open."""
    count = table.model_count
    for k in range(table.first_model, table.last_model):
        table.open[k] = -1
    play_those(table, DRIFT, 1, AHEAD_ANEW)
    for op in range(table.segments[DRIFT, 0], table.segments[DRIFT, 1]):
        if table.flags[op] == 0:
            continue
        for k in range(table.first_model, table.last_model):
            if table.states[k] != DONE:
                for row in range(table.begins[op * count + k], table.ends[op * count + k]):
                    if whole_number_at(table.flags[op] + 8 * row) != 0:
                        table.open[k] = row


@kernel
def close_those(table: View, elements: View) -> int:
    """Close the joints of every model where its drift leads; a model that finds no end at once, or -1."""
    for k in range(table.first_model, table.last_model):
        table.states[k] = PLAIN
    tell_all(table, BEGIN_ROUNDS, 0, PLAIN, PLAIN)
    for turns in range(table.most_turns):
        drift_those(table)
        left, anew, ahead, plain = 0, 0, 0, 0
        for k in range(table.first_model, table.last_model):
            if table.states[k] == DONE:
                continue
            found = call(table.addresses[JUDGE], turns, table.open[k], table.sheets[k], table.elements_sheet)
            if found == LOST:
                return k
            table.states[k] = DONE if found == CLOSED else found
            left += table.states[k] != DONE
            anew, ahead, plain = anew + (found == AHEAD_ANEW), ahead + (found >= AHEAD), plain + (found == PLAIN)
        if left == 0:
            return NO_FAILED_ROW
        if anew > 0:
            elements.ahead[0] = 1.0
            play_those(table, UPDATE_OPERATOR_AHEAD, AHEAD_ANEW, AHEAD_ANEW)
            elements.ahead[0] = 0.0
        if plain > 0:
            play_those(table, SOLVE, PLAIN, PLAIN)
        if ahead > 0:
            play_those(table, SOLVE_AHEAD, AHEAD, AHEAD_ANEW)
    return first_of(table)


@kernel
def first_of(table: View) -> int:
    """The first model that does not rest."""
    for k in range(table.first_model, table.last_model):
        if table.states[k] != DONE:
            return k
    return NO_FAILED_ROW


@kernel
def stop_those(table: View) -> int:
    """Stop the joints of every model at the end of its step; a model in which a body went wrong on the way, or -1."""
    for k in range(table.first_model, table.last_model):
        table.states[k] = PLAIN
    tell_all(table, BEGIN_STOP, 0, PLAIN, PLAIN)
    for turns in range(MAX_ROUNDS):
        wrong = play_those(table, KICK, PLAIN, PLAIN)
        if wrong >= 0:
            return wrong
        left = 0
        for k in range(table.first_model, table.last_model):
            if table.states[k] != DONE:
                if call(table.addresses[STOPPED], turns, 1, table.sheets[k], table.elements_sheet) == 1:
                    table.states[k] = DONE
                else:
                    left += 1
        if left == 0:
            break
        play_those(table, SOLVE, PLAIN, PLAIN)
    return NO_FAILED_ROW


@kernel
def play_all(table: View, which: int) -> None:
    """Play a segment for all of these."""
    for k in range(table.first_model, table.last_model):
        table.states[k] = PLAIN
    play_those(table, which, PLAIN, PLAIN)


@kernel
def stage_of_these(table: View, elements: View, h: float, time: float) -> int:
    """One RATTLE step of these models (stepping.py, `lead` and `follow`); a model that needs another way through it, or -1."""
    elements.clock[STEP], elements.clock[TIME] = h, time
    play_all(table, BEGIN)
    wrong = close_those(table, elements)
    if wrong >= 0:
        return wrong
    elements.clock[STEP] = 0.5 * h
    play_all(table, ACCOUNT)
    elements.clock[STEP] = h
    play_all(table, ACCEPT_STEP)
    play_all(table, UPDATE_OPERATOR)
    play_all(table, SEE_THROUGH)
    play_all(table, EXERT)
    play_all(table, APPLY_MULTIPLIERS)
    wrong = stop_those(table)
    if wrong >= 0:
        return wrong
    play_all(table, PREDICT_REACTIONS)
    elements.clock[STEP] = 0.5 * h
    play_all(table, ACCOUNT)
    return NO_FAILED_ROW


@loop
def advance_together_loop(start: int, stop: int, table: View, elements: View) -> int:
    """One macro step of all models; the first that would have to be tried in another way, or in which something went wrong.

    Some neighbours go through all stages before the next begin: what every stage comes back to of them stays near the processor.
    """
    step, end = elements.clock[STEP], elements.clock[TIME]
    wrong = NO_FAILED_ROW
    for first in range(0, table.model_count, table.neighbours):
        table.first_model, table.last_model = first, min(first + table.neighbours, table.model_count)
        passed = 0.0
        for s in range(table.stage_count):
            passed += table.shares[s]
            for k in range(table.first_model, table.last_model):
                table.states[k] = PLAIN
            tell_all(table, BEGIN_STAGE, s, PLAIN, PLAIN)
            wrong = stage_of_these(table, elements, table.shares[s] * step, end - (1.0 - passed) * step)
            if wrong >= 0:
                break
        elements.clock[STEP], elements.clock[TIME] = step, end
        if wrong >= 0:
            break
    return wrong
