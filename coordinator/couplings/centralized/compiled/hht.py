"""A step of H.H.T. in one compiled call: Newton's iteration with factors that are kept for as long as it converges.

The same equations as `hht.py` of solvers has, the same first guess and the same tolerance, so the same motion to rounding. Factors
are those of a place that is remembered (`factored`): wherever a run goes on from, they are made there again, to the bit.
"""

from __future__ import annotations

from typing import Any

from coordinator.couplings.centralized.compiled.evaluating import (
    evaluate,
    fill_right_side,
    gathered,
    go,
    largest_gap,
)
from coordinator.couplings.centralized.compiled.fields import BORDER, PULL, REFERENCE, Q, V
from coordinator.couplings.centralized.compiled.linearising import linearise
from coordinator.couplings.centralized.compiled.settling import settle, show_and_book, take_smallest
from coordinator.couplings.centralized.newton import (
    GAP_TOLERANCE,
    INITIAL_GAP_TOLERANCE,
    MAX_ITERATIONS,
    RELATIVE_TOLERANCE,
)
from coordinator.couplings.centralized.saddle import MIN_REGULARISATION, REGULARISATION
from coordinator.couplings.interface.fields import numbers_at
from modular.elements import STEP, TIME, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, call, loop
from modular.views import View

REFRESH_RATIO = 0.35  # a change that shrinks less than this calls for fresh factors
ENOUGH = 0.1  # of the tolerance: what the next change would be, foretold from the last two
DOUBT = 0.01  # how much less a next change is taken to be at best
FAILED = 0
UNKNOWN = 1e300  # larger than what a number may be


@kernel(written_out=False)
def move(step: View, h: float) -> None:
    """v and a of the scheme at q, (II.45)."""
    beta, gamma = 0.25 * (1.0 + step.alpha) ** 2, 0.5 + step.alpha
    weight, share = beta * h * h, 0.5 / beta - 1.0
    for i in range(step.size):
        a0 = step.a0[i]
        step.a[i] = (step.q[i] - step.q0[i] - h * step.v0[i]) / weight - share * a0
        step.v[i] = step.v0[i] + h * ((1.0 - gamma) * a0 + gamma * step.a[i])


@kernel(written_out=False, apart=True)
def factorise_here(step: View, elements: View, h: float, time: float, multipliers: Array, count: int) -> bool:
    """Factors of the place where the system stands, which is remembered; whether there are any."""
    beta, gamma = 0.25 * (1.0 + step.alpha) ** 2, 0.5 + step.alpha
    weight, size = beta * h * h, step.size
    step.factored[0], step.factored[1] = h, time
    if step.factored[BORDER] == 0.0:
        step.factored[BORDER] = REGULARISATION
    numbers_at(step.at_epsilon)[0] = step.factored[BORDER]
    for i in range(size):
        step.factored[REFERENCE + i], step.factored[REFERENCE + size + i] = step.q[i], step.v[i]
    for r in range(step.rows):
        step.factored[REFERENCE + 2 * size + r] = multipliers[r]
    for i in range(REFERENCE + 2 * size + step.rows):
        step.at_hand[i] = step.factored[i]
    found = linearise(step, elements, weight, weight / (gamma * h), multipliers, count)
    step.factored_now = 1 if found else 0
    return found


@kernel(written_out=False, apart=True)
def factors_fit(step: View, elements: View, h: float, count: int) -> bool:
    """Whether there are factors for such a step; those that are remembered are made again where they are not at hand."""
    if step.factored[0] != h:
        return False
    numbers, size = REFERENCE + 2 * step.size + step.rows, step.size
    same = step.factored_now == 1
    for i in range(numbers):
        same = same and step.factored[i] == step.at_hand[i]
    if same:
        return True
    time = step.factored[1]
    for i in range(size):
        step.q[i], step.v[i] = step.factored[REFERENCE + i], step.factored[REFERENCE + size + i]
    for r in range(step.rows):
        step.multipliers_found[r] = step.factored[REFERENCE + 2 * size + r]
    elements.clock[TIME] = time
    go(step, step.q, step.v)
    return factorise_here(step, elements, h, time, step.multipliers_found, count)


@kernel(written_out=False)
def change(step: View, elements: View, scaled: float, scale: Array, x: Array) -> Any:
    """Solve with the factors at hand, and go so far; the largest change of a coordinate."""
    call(step.solve, 0, 1, step.factors, step.elements_sheet)
    most = 0.0
    for i in range(step.size):
        by = x[step.places[i]]
        step.q[i] += by
        most = max(most, abs(by)) if abs(by) < UNKNOWN else UNKNOWN
    for r in range(step.rows):
        step.multipliers_found[r] += scale[r] * x[step.row_places[r]] / scaled
    return most


@kernel(written_out=False, apart=True)
def iterate(step: View, elements: View, h: float, end: float, fresh: bool, count: int) -> bool:
    """Newton's iteration from the first guess, which keeps the acceleration; whether it came to its end."""
    beta, gamma = 0.25 * (1.0 + step.alpha) ** 2, 0.5 + step.alpha
    weight = beta * h * h
    pace, scaled = weight / (gamma * h), (1.0 - step.alpha) * weight
    small, before = RELATIVE_TOLERANCE * step.extent, UNKNOWN
    small_gap = GAP_TOLERANCE * step.extent
    scale, x = step.scale, numbers_at(step.at_x)
    for i in range(step.size):
        step.q[i] = step.q0[i] + h * step.v0[i] + 0.5 * h * h * step.a0[i]
    for r in range(step.rows):
        step.multipliers_found[r] = step.multipliers[r]
    for _ in range(MAX_ITERATIONS):
        move(step, h)
        go(step, step.q, step.v)
        evaluate(step, elements, end, step.a, step.multipliers_found)
        fill_right_side(step, weight, pace, scale, x)
        made = not fresh
        if made:
            if not factorise_here(step, elements, h, end, step.multipliers_found, count):
                return False
            fresh = True
        by = change(step, elements, scaled, scale, x)
        step.iterations += 1
        if not by < UNKNOWN:
            return False
        shrinks = by / before if before < UNKNOWN else 1.0
        foretold = by * max(shrinks, DOUBT) if before < UNKNOWN else UNKNOWN
        stalled = by <= 1e3 * small and before < UNKNOWN and shrinks >= 0.5  # as near as rounding lets it
        if by <= small or stalled or (foretold <= ENOUGH * small and shrinks < 0.5):
            move(step, h)
            go(step, step.q, step.v)
            evaluate(step, elements, end, step.a, step.multipliers_found)
            # a gap between rows that repeat others is not seen by factors of another place; and what those of this one leave stays
            doubtful = not made or step.factored[BORDER] > MIN_REGULARISATION
            if largest_gap(step) <= (small_gap if doubtful else INITIAL_GAP_TOLERANCE * step.extent):
                return True
            if made:  # the border is more than what rows show beside stiff springs
                step.factored[BORDER] = MIN_REGULARISATION
            by = UNKNOWN
            shrinks = 1.0
        fresh = shrinks <= REFRESH_RATIO or (before == UNKNOWN and by < UNKNOWN)
        before = by
    return False


@loop
def advance_loop(start: int, stop: int, step: View, elements: View) -> int:
    """One step to the time of the clock; 0 where it found no end, and then all stands where it stood."""
    h, end = elements.clock[STEP], elements.clock[TIME]
    count = step.element_count
    gathered(step, Q, step.q0)
    gathered(step, V, step.v0)
    fits = factors_fit(step, elements, h, count)
    elements.clock[TIME] = end - h
    go(step, step.q0, step.v0)
    evaluate(step, elements, end - h, step.a0, step.multipliers)
    found = largest_gap(step) <= INITIAL_GAP_TOLERANCE * step.extent
    if found:
        gathered(step, PULL, step.last_pull)
        found = iterate(step, elements, h, end, fits, count)
    elements.clock[STEP], elements.clock[TIME] = h, end
    if found:
        for i in range(step.size):
            step.acceleration_found[i] = step.a[i]
        found = settle(step, elements, end, step.scale, count)
    if not found:
        step.factored_now = 0
        step.factored[0] = 0.0
        elements.clock[TIME] = end
        go(step, step.q0, step.v0)
        return FAILED
    take_smallest(step, step.scale)
    for i in range(step.size):
        step.a0[i] = step.acceleration_found[i]
    for r in range(step.rows):
        step.multipliers[r] = step.multipliers_found[r]
    show_and_book(step, elements, h)
    return NO_FAILED_ROW
