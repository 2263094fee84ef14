"""Accelerations and reactions that places and velocities ask for, and the ledgers of a step: what is shown of it.

[M  G^T] [a     ]   [Q         ]
[G   0 ] [lambda] = [-dG/dt v  ]                                             Séguy 2003, (II.29)
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from coordinator.couplings.centralized.compiled.evaluating import evaluate, hand_out, play, spread
from coordinator.couplings.centralized.compiled.fields import (
    ACCOUNT,
    BEND,
    BENT,
    COORDINATE,
    COORDINATES,
    COUNT,
    DISTANCE,
    EXACT,
    FIRST_SIDE,
    LEDGER,
    LINE,
    LINEARISE,
    LINES,
    PITCH,
    PULL,
    RATE,
    RATES,
    RECORD,
    ROW,
    ROWS,
    SECOND_SIDE,
    SHAPES,
    A,
)
from coordinator.couplings.centralized.equations import CURVED_STENCIL, PART, REST, UNIT
from coordinator.couplings.centralized.saddle import (
    MAX_REFINEMENTS,
    REFINEMENT_FAILURE_TOLERANCE,
    REFINEMENT_TOLERANCE,
)
from coordinator.couplings.interface.fields import numbers_at, whole_numbers_at
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.ledger import STORED
from modular.loop import call
from modular.views import View

PLACES, SHARES = tuple(place for place, _ in CURVED_STENCIL), tuple(share for _, share in CURVED_STENCIL)


@kernel(written_out=False)
def pace_of(step: View, elements: View, count: int) -> Any:
    """As `Equations.pace`: how fast things turn, or go through the extent [1/s]."""
    fastest = 0.0
    for i in range(step.size):
        fastest = max(fastest, abs(step.v[i]) / step.extent)
    axes = elements.force.shape[0]
    for n in range(count):
        length = speed = 0.0
        for c in range(axes):
            length += elements.position[n, c] * elements.position[n, c]
            speed += elements.velocity[n, c] * elements.velocity[n, c]
        if abs(length - 1.0) <= UNIT:
            fastest = max(fastest, sqrt(speed))
    for s in range(step.joint_stacks):
        if step.joints[s, DISTANCE] == 1:
            first, second = whole_numbers_at(step.joints[s, FIRST_SIDE]), whole_numbers_at(step.joints[s, SECOND_SIDE])
            for k in range(step.joints[s, COUNT]):
                far = fast = 0.0
                for c in range(axes):
                    far += (elements.position[second[k], c] - elements.position[first[k], c]) ** 2
                    fast += (elements.velocity[second[k], c] - elements.velocity[first[k], c]) ** 2
                fastest = max(fastest, sqrt(fast) / max(sqrt(far), 1e-6 * step.extent))
    return fastest


@kernel(written_out=False)
def look_beyond(step: View, elements: View, by: float, share: float, count: int) -> None:
    """Add to dG/dt v of joints what their rates say somewhere further along the motion."""
    elements.beyond[0] = by
    axes = elements.force.shape[0]
    for n in range(count):
        for c in range(axes):
            elements.position[n, c] = step.stood[n * axes + c] + by * elements.velocity[n, c]
    play(step, RATES)
    for s in range(step.joint_stacks):
        if step.joints[s, BENT] == 1:
            rate, line = numbers_at(step.joints[s, RATE]), step.joints[s, LINE]
            for r in range(step.joints[s, LINES]):
                step.bias[line + r] += share * rate[r]


@kernel(written_out=False)
def find_bias(step: View, elements: View, count: int) -> None:
    """dG/dt v of joints, from their rates at neighbouring places; two are enough where all rows are quadratic."""
    axes = elements.force.shape[0]
    for r in range(step.rows):
        step.bias[r] = 0.0
    pace = pace_of(step, elements, count)
    h = PART / pace if pace > REST else 1.0
    for n in range(count):
        for c in range(axes):
            step.stood[n * axes + c] = elements.position[n, c]
    if step.stencil == EXACT:
        look_beyond(step, elements, -h, -0.5 / h, count)
        look_beyond(step, elements, h, 0.5 / h, count)
    else:
        for k in range(8):
            look_beyond(step, elements, PLACES[k] * h, SHARES[k] / h, count)
    elements.beyond[0] = 0.0
    for n in range(count):
        for c in range(axes):
            elements.position[n, c] = step.stood[n * axes + c]


@kernel(written_out=False)
def refine(step: View, x: Array, y: Array, rest: Array, right: Array) -> Any:
    """Solve for y against the matrix without its border; the last correction of the coordinates as a share of them."""
    for i in range(step.unknowns):
        y[i] = 0.0
        rest[i] = right[i]
    last = size = 0.0
    for _ in range(MAX_REFINEMENTS + 1):
        for i in range(step.unknowns):
            x[i] = rest[i]
        call(step.solve, 0, 1, step.at_rest_factors, step.elements_sheet)
        for i in range(step.unknowns):
            y[i] += x[i]
            rest[i] = right[i]
        last = size = 0.0
        for i in range(step.size):
            last = max(last, abs(x[step.rest_places[i]]))
            size = max(size, abs(y[step.rest_places[i]]))
        if not last > REFINEMENT_TOLERANCE * size:
            break
        call(step.residual, 0, 1, step.at_rest_factors, step.elements_sheet)
    return last / size if size > 0.0 else 0.0 * last


@kernel(written_out=False)
def fit(step: View, x: Array, y: Array, rest: Array, right: Array) -> None:
    """The smallest multipliers that do what those in y do, in their place (saddle.py)."""
    for i in range(step.unknowns):
        rest[i] = 0.0
    for i in range(step.size):
        y[step.rest_places[i]] = 0.0
    call(step.residual, 0, 1, step.at_rest_factors, step.elements_sheet)
    for i in range(step.unknowns):
        right[i] = 0.0
    for i in range(step.size):
        right[step.rest_places[i]] = -rest[step.rest_places[i]]
    for i in range(step.unknowns):
        y[i] = 0.0
        rest[i] = right[i]
    for _ in range(MAX_REFINEMENTS):
        for i in range(step.unknowns):
            x[i] = 0.0
        for i in range(step.size):
            x[step.rest_places[i]] = rest[step.rest_places[i]]
        call(step.solve, 0, 1, step.at_rest_factors, step.elements_sheet)
        last = size = 0.0
        for r in range(step.rows):
            at = step.rest_row_places[r]
            y[at] += x[at]
            last, size = max(last, abs(x[at])), max(size, abs(y[at]))
        if last <= REFINEMENT_TOLERANCE * size:
            break
        for i in range(step.unknowns):
            rest[i] = right[i]
        call(step.residual, 0, 1, step.at_rest_factors, step.elements_sheet)


@kernel(written_out=False, apart=True)
def settle(step: View, elements: View, time: float, scale: Array, count: int) -> bool:
    """Accelerations into `a` and multipliers into `shown`, where the system stands; whether they were found."""
    x, y, rest = numbers_at(step.at_rest_x), numbers_at(step.at_rest_y), numbers_at(step.at_rest_rest)
    find_bias(step, elements, count)
    for i in range(step.size):
        step.a[i] = 0.0
    for r in range(step.rows):
        step.shown[r] = 0.0
    evaluate(step, elements, time, step.a, step.shown)
    step.evaluations -= 1  # of what is shown, and not of the method
    play(step, SHAPES)
    call(step.assemble, 0, 1, step.at_rest_factors, step.elements_sheet)
    if call(step.factorise, 0, 1, step.at_rest_factors, step.elements_sheet) >= 0:
        return False
    right = step.right
    for s in range(step.stack_count):
        pull, bend = numbers_at(step.bodies[s, PULL]), numbers_at(step.bodies[s, BEND])
        for i in range(step.bodies[s, COORDINATES]):
            right[step.rest_places[step.bodies[s, COORDINATE] + i]] = pull[i]
        for r in range(step.bodies[s, ROWS]):
            line = step.bodies[s, ROW] + r
            right[step.rest_row_places[line]] = -scale[line] * bend[r]
    for s in range(step.joint_stacks):
        for r in range(step.joints[s, LINES]):
            line = step.joints[s, LINE] + r
            right[step.rest_row_places[line]] = -scale[line] * step.bias[line]
    off = refine(step, x, y, rest, right)
    if not off <= REFINEMENT_FAILURE_TOLERANCE:
        return False
    for i in range(step.size):
        step.a[i] = y[step.rest_places[i]]
    if whole_numbers_at(step.at_redundant)[0] == 1:
        fit(step, x, y, rest, right)
    finite = True
    for r in range(step.rows):
        step.shown[r] = scale[r] * y[step.rest_row_places[r]]
        finite = finite and abs(step.shown[r]) < 1e300
    for i in range(step.size):
        finite = finite and abs(step.a[i]) < 1e300
    return finite


@kernel(written_out=False, apart=True)
def take_smallest(step: View, scale: Array) -> None:
    """Of all multipliers of the scheme that do the same the smallest: what adds up to nothing would grow from step to step."""
    x, y, rest = numbers_at(step.at_rest_x), numbers_at(step.at_rest_y), numbers_at(step.at_rest_rest)
    if whole_numbers_at(step.at_redundant)[0] == 1:
        for r in range(step.rows):
            y[step.rest_row_places[r]] = step.multipliers_found[r] / scale[r]
        fit(step, x, y, rest, step.right)
        for r in range(step.rows):
            step.multipliers_found[r] = scale[r] * y[step.rest_row_places[r]]


@kernel(written_out=False, apart=True)
def show_and_book(step: View, elements: View, h: float) -> None:
    """Let joints and forces act as they do in what was found, and book the step."""
    spread(step, step.a, A)
    hand_out(step, step.shown, 1.0)
    elements.clock[STEP] = h
    play(step, LINEARISE)
    play(step, RECORD)
    for s in range(step.joint_stacks):
        ledger, pitch = numbers_at(step.joints[s, LEDGER]), step.joints[s, PITCH]
        for k in range(step.joints[s, COUNT]):
            ledger[k * pitch + STORED] = 0.0  # a rigid joint stores nothing
    play(step, ACCOUNT)
