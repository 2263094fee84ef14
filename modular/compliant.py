"""Forces that are stiffer than the step, as rows of the interface: joints with compliance.

A spring-damper on a gap g pulls with sigma = F(g) + c g'. Where the step h resolves it, it is exerted as it stands. Where it does
not, its two efforts in a step are unknowns of the interface beside the reactions of joints: sigma_1 of the half kick that leads to
the gap g_1, and sigma_2 of the one that ends with the rate g'_1.

    sigma_1 = F(g_0) + k b (g_1 - g_0) + c (2 (g_1 - g_0) / h - g'_1)
    sigma_2 = F(g_1) + k b h g'_1 + c g'_1          b = z^2 / (z^2 + 4)
    z = h^2 k w / (1 + h c w)                       w: what both sides answer through the row

A soft spring (b = 0) is that of velocity Verlet. A stiff one closes like a joint under RATTLE: b -> 1, and F goes with the gap
where the step leads. Both halves share the work of the damper, (sigma_1 + sigma_2) / 2 has c (g_1 - g_0) / h, and a spring
beside a strong damper counts as soft where the step resolves k / c: so the slow motion that it leaves is of second order
however far it is beyond the step. Along one row no h^2 k w and no h c w from 0 to infinity has a spectral radius above one, and
far out it goes to zero (tests/laws/test_stiff_forces.py; docs/glued.md).

For the interface that is one number per row and half: with sigma = A + K (motion) the error is what K leaves of it, and 1 / K
stands on the diagonal of W. The rate g'_1 in sigma_1 is found by trying the step
(coordinator/couplings/interface/nonholonomic.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from modular import gluing
from modular.elements import GAIN_STEP, RIGID_BODY_MOTIONS, STEP, Array, Indices
from modular.joint import JointForm
from modular.joints import GLUE, Joints
from modular.kernel import kernel
from modular.ledger import LEAKED, LEDGER
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Number
from modular.views import View

STIFFNESS, DAMPING, OFFSET = range(3)  # columns of a law: F(g) = k g + offset
SOFT_LIMIT = 4.0  # z^2 with which half of what a spring gains on the way counts where it leads
LETTING_GO = (
    3.0  # times c: K h of rows in which the damper counts for more than the spring; of a damper alone it is two
)
MOST_HIDDEN = 10.0  # times what a damper resists: what a spring resists in a step beside it and loses for it
LEAST_SHARE = 1e-6  # of what a step would need to close a row: what is less is exerted without being solved for
NUMBERS = (
    "gap",
    "gap_rate",
    "start_gap",
    "start_force",
    "predicted_rate",
    "later",
    "place_compliance",
    "rate_compliance",
    "place_gain",
    "rate_gain",
    "relaxation",
)


class CompliantRows(Joints):
    """Rows of forces of one kind that are stiffer than the step; `booked`: the ledgers of their stack of forces."""

    most_fields = 64
    law: Array  # stiffness, damping and offset of every row, (n, m, 3)
    home: Indices  # row in the stack of forces
    booked: Array  # its ledgers [J]
    gap: Array  # where the bodies stand, (n, m) [m], [rad]
    gap_rate: Array  # its rate
    start_gap: Array  # the gap at the beginning of the step
    start_force: Array  # F there
    predicted_rate: Array  # the rate at the end of the step, as far as it is known at its beginning
    taker: Number  # the line of the ledger of what has a damper
    leak: Array  # what is missing in its ledgers since before the step [J]
    place_compliance: Array  # what the row adds to the diagonal of W where places are closed, 2 / (h^2 K)
    rate_compliance: Array  # and where rates are stopped, 2 / (h K)
    place_gain: Array  # K of the first half
    rate_gain: Array  # K of the other
    later: Array  # by how much more its law pulls at the end of the step than at its beginning
    relaxation: Array  # how much of the difference to the rate found is added to it

    def __init__(self, form: JointForm, dimension: int, motions: int = RIGID_BODY_MOTIONS) -> None:
        super().__init__(form, dimension, motions)
        self.column("law", form.rows, 3)
        self.column("home", dtype=np.int64)
        for name in NUMBERS:
            self.column(name, form.rows)
        self.column("leak")
        self.fixed("booked", 0, len(LEDGER))
        self.fixed("taker", dtype=np.int64)
        self.unfold(*GLUE)
        self.loops |= gluing.LOOPS | LOOPS


@kernel
def answer_through(rows: View, n: int, i: int) -> Any:
    """w: what both bodies answer through a row."""
    value = 0.0
    for mode in range(rows.seen_first.shape[1]):
        value += rows.seen_first[n, i, mode] ** 2 + rows.seen_second[n, i, mode] ** 2
    return max(value, 1e-300)


@kernel
def force_of(rows: View, n: int, i: int) -> Any:
    """F at the gap as it stands."""
    return rows.law[n, i, STIFFNESS] * rows.gap[n, i] + rows.law[n, i, OFFSET]


@kernel
def write_geometry(rows: View, n: int, error: Array, on_first: Array, on_second: Array) -> None:
    """Gaps and derivatives of one of them."""
    for i in range(error.shape[0]):
        rows.error[n, i] = error[i]
        for k in range(on_first.shape[1]):
            for c in range(on_first.shape[2]):
                rows.on_first[n, i, k, c] = on_first[i, k, c]
        for k in range(on_second.shape[1]):
            for c in range(on_second.shape[2]):
                rows.on_second[n, i, k, c] = on_second[i, k, c]


@loop
def compute_gains_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """How stiff rows are in a step, and what that gives to the interface."""
    h = elements.clock[STEP]
    if h <= 0.0:
        h = elements.clock[GAIN_STEP]
    for n in range(start, stop):
        for i in range(rows.gap.shape[0]):
            k, c, w = rows.law[n, i, STIFFNESS], rows.law[n, i, DAMPING], answer_through(rows, n, i)
            z = h * h * k * w
            slow = z / (1.0 + h * c * w)  # a damper lets a spring draw no faster than k / c
            held = k * slow * slow / (slow * slow + SOFT_LIMIT)
            place, rate = held + 2.0 * c / h, held * h + c
            rows.place_gain[n, i], rows.rate_gain[n, i] = place, rate
            rows.place_compliance[n, i] = 2.0 / (h * h * max(place, LEAST_SHARE / (h * h * w)))
            rows.rate_compliance[n, i] = 2.0 / (h * max(rate, LEAST_SHARE / (h * w)))
            # how the end answers what is predicted of it, were the row alone
            leads = 0.5 * h * w * c / (1.0 + 0.5 * h * h * w * place)
            rows.relaxation[n, i] = 1.0 / (1.0 - leads * (1.0 - 0.5 * z) / (1.0 + 0.5 * h * w * rate))
    return NO_FAILED_ROW


@loop
def predict_efforts_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """Before a step is tried first: its end is taken to be as its beginning, and rows to pull as each would alone (`kicked`).

    What dampers exert at the beginning is nearer, of second order, where motion is smooth (`carried`), but may be far from that: a
    light body that a strong damper lets go would be flung about. Then the step begins anew with the other.
    """
    h = elements.clock[STEP]
    for n in range(start, stop):
        rows.leak[n] = rows.booked[rows.home[n], LEAKED]
        for i in range(rows.gap.shape[0]):
            gap_rate, gain = rows.gap_rate[n, i], rows.place_gain[n, i]
            rows.predicted_rate[n, i] = gap_rate
            alone = force_of(rows, n, i) + (gain * h - rows.law[n, i, DAMPING]) * gap_rate
            alone /= 1.0 + 0.5 * h * h * answer_through(rows, n, i) * gain
            rows.carried[n, i] = rows.kicked[n, i] = alone
            if gain * h <= LETTING_GO * rows.law[n, i, DAMPING]:
                rows.carried[n, i] = force_of(rows, n, i) + rows.rate_gain[n, i] * gap_rate
    return NO_FAILED_ROW


@loop
def save_gaps_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """Where the step begins, and what springs pull there."""
    for n in range(start, stop):
        for i in range(rows.gap.shape[0]):
            rows.start_gap[n, i] = rows.gap[n, i]
            rows.start_force[n, i] = force_of(rows, n, i)
    return NO_FAILED_ROW


@loop
def compute_place_residuals_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """What the effort lacks where a drift has led, as a length."""
    h = elements.clock[STEP]
    for n in range(start, stop):
        for i in range(rows.gap.shape[0]):
            rows.gap[n, i] = rows.error[n, i]
            way = rows.gap[n, i] - rows.start_gap[n, i]
            wanted = (
                rows.start_force[n, i]
                + rows.place_gain[n, i] * way
                - rows.law[n, i, DAMPING] * rows.predicted_rate[n, i]
            )
            rows.error[n, i] = 0.5 * h * h * rows.place_compliance[n, i] * (wanted - rows.effort[n, i])
    return NO_FAILED_ROW


@loop
def compute_rate_residuals_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """What the effort lacks at the end of a step, as a rate."""
    h = elements.clock[STEP]
    for n in range(start, stop):
        for i in range(rows.gap.shape[0]):
            gap_rate = rows.rate[n, i]
            wanted = force_of(rows, n, i) + rows.later[n, i] + rows.rate_gain[n, i] * gap_rate
            rows.gap_rate[n, i] = gap_rate
            rows.rate[n, i] = 0.5 * h * rows.rate_compliance[n, i] * (wanted - rows.effort[n, i])
    return NO_FAILED_ROW


@loop
def evaluate_laws_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """At an instant it pulls by its law."""
    for n in range(start, stop):
        for i in range(rows.gap.shape[0]):
            rows.effort[n, i] = force_of(rows, n, i) + rows.law[n, i, DAMPING] * rows.gap_rate[n, i]
    return NO_FAILED_ROW


@kernel
def spare_implicit_rows(start: int, stop: int, forces: View) -> None:
    """Forces that are rows of the interface ask nothing of the step."""
    for n in range(start, stop):
        if forces.implicit[n] == 1:
            for i in range(forces.block.shape[0]):
                for j in range(forces.block.shape[0]):
                    forces.block[n, i, j] = forces.spring[n, i, j] = forces.damper[n, i, j] = 0.0


@loop
def book_losses_loop(start: int, stop: int, rows: View, elements: View) -> int:
    """What a row with a damper loses in half a kick the damper takes: between the ends of a step nobody sees more of it.

    One that is far too weak for that takes its part, and the rest is what the step has destroyed.
    """
    for n in range(start, stop):
        damps, resists = 0.0, 0.0
        for i in range(rows.gap.shape[0]):
            damps += rows.law[n, i, DAMPING]
            resists += max(rows.rate_gain[n, i] - rows.law[n, i, DAMPING], 0.0)
        if damps > 0.0:
            ledger, share = rows.booked[rows.home[n]], min(1.0, MOST_HIDDEN * damps / max(resists, 1e-300))
            taken = share * (ledger[LEAKED] - rows.leak[n])
            ledger[rows.taker] += taken
            ledger[LEAKED] -= taken
            rows.leak[n] = ledger[LEAKED]
    return NO_FAILED_ROW


LOOPS = {
    "compute_gains": compute_gains_loop,
    "predict_efforts": predict_efforts_loop,
    "save_gaps": save_gaps_loop,
    "compute_place_residuals": compute_place_residuals_loop,
    "compute_rate_residuals": compute_rate_residuals_loop,
    "evaluate_laws": evaluate_laws_loop,
    "book_losses": book_losses_loop,
}
