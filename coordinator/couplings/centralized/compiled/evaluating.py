"""Where a whole system stands, and what is left of its equations there, by the loops of all that takes part."""

from __future__ import annotations

from typing import Any

from coordinator.couplings.centralized.compiled.fields import (
    ACCELERATION,
    ADDRESS,
    COORDINATE,
    COORDINATES,
    EFFORT,
    ERROR,
    EVALUATE,
    HOLONOMIC,
    INERTIA,
    LINE,
    LINES,
    OPENNESS,
    PRELOAD,
    PULL,
    RATE,
    ROW,
    ROWS,
    SHEET,
    SHOW,
    STOP,
    Q,
    V,
)
from coordinator.couplings.interface.fields import numbers_at
from modular.elements import TIME, Array
from modular.kernel import kernel
from modular.loop import call
from modular.views import View


@kernel(written_out=False)
def play(step: View, which: int) -> None:
    """Play what belongs together."""
    for k in range(step.segments[which, 0], step.segments[which, 1]):
        call(step.program[k, ADDRESS], 0, step.program[k, STOP], step.program[k, SHEET], step.elements_sheet)


@kernel(written_out=False)
def spread(step: View, vector: Array, column: int) -> None:
    """Numbers of all coordinates into a column of the bodies."""
    for s in range(step.stack_count):
        target, first = numbers_at(step.bodies[s, column]), step.bodies[s, COORDINATE]
        for i in range(step.bodies[s, COORDINATES]):
            target[i] = vector[first + i]


@kernel(written_out=False)
def gathered(step: View, column: int, vector: Array) -> None:
    """The way back."""
    for s in range(step.stack_count):
        source, first = numbers_at(step.bodies[s, column]), step.bodies[s, COORDINATE]
        for i in range(step.bodies[s, COORDINATES]):
            vector[first + i] = source[i]


@kernel(written_out=False)
def hand_out(step: View, multipliers: Array, scale: float) -> None:
    """Multipliers to bodies and joints."""
    for s in range(step.stack_count):
        effort, first = numbers_at(step.bodies[s, EFFORT]), step.bodies[s, ROW]
        for r in range(step.bodies[s, ROWS]):
            effort[r] = scale * multipliers[first + r]
    for s in range(step.joint_stacks):
        preload, first = numbers_at(step.joints[s, PRELOAD]), step.joints[s, LINE]
        for r in range(step.joints[s, LINES]):
            preload[r] = scale * multipliers[first + r]


@kernel(written_out=False, apart=True)
def go(step: View, q: Array, v: Array) -> None:
    """Stand there, and show it."""
    spread(step, q, Q)
    spread(step, v, V)
    play(step, SHOW)


@kernel(written_out=False, apart=True)
def evaluate(step: View, elements: View, time: float, a: Array, multipliers: Array) -> None:
    """Q - G^T lambda, M a and phi where the system stands."""
    elements.clock[TIME] = time
    spread(step, a, ACCELERATION)
    hand_out(step, multipliers, 1.0)
    play(step, EVALUATE)
    step.evaluations += 1


@kernel(written_out=False)
def violation(step: View, s: int, r: int, pace: float) -> Any:
    """phi of a row of a stack of joints; where they lock velocities alone their rates times `pace`."""
    if step.joints[s, HOLONOMIC] == 1:
        return numbers_at(step.joints[s, ERROR])[r]
    return pace * numbers_at(step.joints[s, RATE])[r]


@kernel(written_out=False)
def largest_gap(step: View) -> Any:
    """max |phi|."""
    most = 0.0
    for s in range(step.stack_count):
        for r in range(step.bodies[s, ROWS]):
            most = max(most, abs(numbers_at(step.bodies[s, OPENNESS])[r]))
    for s in range(step.joint_stacks):
        for r in range(step.joints[s, LINES]):
            most = max(most, abs(violation(step, s, r, 0.0)))
    return most


@kernel(written_out=False)
def fill_right_side(step: View, weight: float, pace: float, scale: Array, x: Array) -> None:
    """-[beta h^2 (M a - alpha (Q - G^T lambda)_n - (1 - alpha) (Q - G^T lambda)); s phi], (II.51)."""
    alpha = step.alpha
    for s in range(step.stack_count):
        pull, inertia = numbers_at(step.bodies[s, PULL]), numbers_at(step.bodies[s, INERTIA])
        first = step.bodies[s, COORDINATE]
        for i in range(step.bodies[s, COORDINATES]):
            rest = inertia[i] - alpha * step.last_pull[first + i] - (1.0 - alpha) * pull[i]
            x[step.places[first + i]] = -weight * rest
        openness, line = numbers_at(step.bodies[s, OPENNESS]), step.bodies[s, ROW]
        for r in range(step.bodies[s, ROWS]):
            x[step.row_places[line + r]] = -scale[line + r] * openness[r]
    for s in range(step.joint_stacks):
        line = step.joints[s, LINE]
        for r in range(step.joints[s, LINES]):
            x[step.row_places[line + r]] = -scale[line + r] * violation(step, s, r, pace)
