"""Dry friction as rows of the interface: what sticks is a joint, what slides pulls with all it has.

Friction along a coordinate s with an effort f that resists it:

    sticks     s = s_0,  |f| <= static          a row among those of joints, closed in place and in rate
    slides     f = d kinetic,  d s' >= 0        a force that is known, and so no row

Between two switches both are smooth, whatever way time goes, so a step keeps its order; where one switches is found within the step
(coordinator/couplings/interface/switches.py). A row that sticks gives by a billionth of what its bodies answer: so what several of
them hold is shared out in one way, none stands against a joint, and 1e-9 of what a load would do in a step is all that it gives
way, and once.
"""

from __future__ import annotations

from typing import Any

from modular.compliant import CompliantRows, answer_through
from modular.elements import RIGID_BODY_MOTIONS, STEP, Array
from modular.joint import JointForm
from modular.kernel import kernel
from modular.ledger import DISSIPATED, LEAKED
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

# what is known of friction from step to step, and while one is tried
(
    KNOWN,  # 1 where it has been decided whether it sticks
    MODE,  # 0: it sticks; 1, -1: it slides so
    ANCHOR,  # where it sticks
    LOAD,  # its effort now
    TREND,  # how fast that changes
    RATE,  # of the coordinate, now
    PACE,  # how fast that changes
    SURE,  # 1 where both changes are known
    CLOSING,  # its effort in the first half of the step
    ANSWER,  # what both bodies answer through it
    STATIC,
    KINETIC,
    RESTS,  # 1 where it is to be decided anew, for it neither moves nor is held for certain; LOCATED where a switch was found
    AHEAD,  # by how much it is away from a switch at the end of a step that is tried; below 0: it should have switched
    AHEAD_BEFORE,  # the same at the last place before which none switches
    AHEAD_BEYOND,  # and at the first one by which one has
    ACCELERATION,
    BIAS,  # dJ/dt v
    PRIOR,  # its mode before a decision
    PENDING,  # 1 where it switches within a step that is taken whole
    LEVEL,  # its mean effort in such a step
    AFTER,  # its mode at the end of it
    CARRIED,  # the efforts with which it is expected to stick in the next step, and
    KICKED,  # with which it stuck at the end of the last
) = range(24)
HOLDS, LOCATED = 24, 2.0
KEPT = {
    "carried": CARRIED,
    "kicked": KICKED,
}  # columns of a joint that are kept with the force, for a row does not outlast a change
STICKING_SHARE = 1e-9  # of what both bodies answer: what a row that sticks gives by itself
UNASKED = 1e200  # on the diagonal: a row that answers nothing


class FrictionRows(CompliantRows):
    """Friction of one kind along coordinates; `held`: what their stack of forces keeps of them."""

    most_fields = 80
    held: Array  # as numbered above, of every force of the stack
    aside: Array  # what each of these exerts beside its dry friction [N], [N m]
    shown: Array  # its dry friction at the end of a step, and whether that is known

    def __init__(self, form: JointForm, dimension: int, motions: int = RIGID_BODY_MOTIONS) -> None:
        super().__init__(form, dimension, motions)
        self.fixed("held", 0, HOLDS)
        self.fixed("aside", 0)
        self.fixed("shown", 0, 2)
        self.loops |= LOOPS

    def address_of_state(self, row: int, column: str | None = None) -> int:
        """Where what is known of one of them lies; or what is kept there of a `column` of joints."""
        slot = 0 if column is None else KEPT[column]
        return int(self.held.ctypes.data + int(self.home[row]) * self.held.strides[0] + slot * self.held.strides[1])


@kernel
def slides(held: Array) -> bool:
    """Whether it does."""
    return bool(held[MODE] != 0.0)


@loop
def compute_gains_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """Next to nothing where they stick; what slides is not asked."""
    for n in range(start, stop):
        held, w = rows.held[rows.home[n]], answer_through(rows, n, 0)
        held[ANSWER] = w
        give = UNASKED if slides(held) else STICKING_SHARE * w
        rows.place_compliance[n, 0] = rows.rate_compliance[n, 0] = give
    return NO_FAILED_ROW


@loop
def begin_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """Where the step begins; what slides pulls with all it has."""
    for n in range(start, stop):
        held = rows.held[rows.home[n]]
        rows.start_gap[n, 0], rows.leak[n] = rows.gap[n, 0], rows.booked[rows.home[n], LEAKED]
        if slides(held):
            pulled = held[LEVEL] if held[PENDING] == 1.0 else held[MODE] * held[KINETIC]
            held[CARRIED] = held[KICKED] = rows.effort[n, 0] = pulled
    return NO_FAILED_ROW


@loop
def look_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """How the coordinate stands and changes."""
    for n in range(start, stop):
        rows.gap[n, 0], rows.gap_rate[n, 0] = rows.error[n, 0], rows.rate[n, 0]
    return NO_FAILED_ROW


@loop
def compute_place_residuals_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """By how much it is off where it sticks, less what it may give."""
    h = elements.clock[STEP]
    for n in range(start, stop):
        held = rows.held[rows.home[n]]
        gap, rows.gap[n, 0] = rows.error[n, 0], rows.error[n, 0]
        given = 0.5 * h * h * rows.place_compliance[n, 0]
        rows.error[n, 0] = 0.0 if slides(held) else gap - held[ANCHOR] - given * rows.effort[n, 0]
    return NO_FAILED_ROW


@loop
def note_closing_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """The effort that has closed it."""
    for n in range(start, stop):
        rows.held[rows.home[n]][CLOSING] = rows.effort[n, 0]
    return NO_FAILED_ROW


@loop
def compute_rate_residuals_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """How fast it moves where it should stick, less what it may give."""
    h = elements.clock[STEP]
    for n in range(start, stop):
        rate, rows.gap_rate[n, 0] = rows.rate[n, 0], rows.rate[n, 0]
        given = 0.5 * h * rows.rate_compliance[n, 0]
        rows.rate[n, 0] = 0.0 if slides(rows.held[rows.home[n]]) else rate - given * rows.effort[n, 0]
    return NO_FAILED_ROW


@loop
def evaluate_laws_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """At an instant: what slides pulls with all it has, what sticks is found."""
    for n in range(start, stop):
        held = rows.held[rows.home[n]]
        rows.effort[n, 0] = held[MODE] * held[KINETIC]
    return NO_FAILED_ROW


@loop
def apply_multipliers_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """-J^T of dry friction and of what goes with it, J where the step began."""
    for n in range(start, stop):
        effort = rows.effort[n, 0] + rows.aside[rows.home[n]]
        rows.power[n] = 0.0
        for k in range(rows.base_first.shape[1]):
            for c in range(rows.base_first.shape[2]):
                elements.force[rows.first[n] + k, c] = -effort * rows.base_first[n, 0, k, c]
        for k in range(rows.base_second.shape[1]):
            for c in range(rows.base_second.shape[2]):
                elements.force[rows.second[n] + k, c] = -effort * rows.base_second[n, 0, k, c]
    return NO_FAILED_ROW


@loop
def book_losses_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """What it takes is lost."""
    for n in range(start, stop):
        ledger = rows.booked[rows.home[n]]
        ledger[DISSIPATED] += ledger[LEAKED] - rows.leak[n]
        ledger[LEAKED] = rows.leak[n]
    return NO_FAILED_ROW


@loop
def tell_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """What each does now, for those who look."""
    for n in range(start, stop):
        rows.shown[rows.home[n], 0], rows.shown[rows.home[n], 1] = rows.held[rows.home[n]][LOAD], 1.0
    return NO_FAILED_ROW


LOOPS: dict[str, Any] = {
    "tell": tell_loop,
    "compute_gains": compute_gains_loop,
    "save_gaps": begin_loop,
    "look": look_loop,
    "compute_place_residuals": compute_place_residuals_loop,
    "note_closing": note_closing_loop,
    "compute_rate_residuals": compute_rate_residuals_loop,
    "evaluate_laws": evaluate_laws_loop,
    "apply_multipliers": apply_multipliers_loop,
    "book_losses": book_losses_loop,
}
