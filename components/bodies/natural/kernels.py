"""The local equations of a body in natural coordinates, for one body, and their loops over a stack.

A body is e elements in d dimensions, q of shape (e, d): two points A, B and unit vectors u, v (e = 4 in space, 3 in the plane;
Séguy 2003, III.7), two points for rods that nothing twists (e = 2), one for a point mass; in other bases of the family
(basis.py) points alone, or one point and directions, points always first. Its mass matrix is an e x e matrix
times the unit matrix, so everything below works on rows of d numbers. With w = (B - A, u, v) the internal constraints
(III.8) are the products w_a . w_b = const, one for each pair a <= b; equal pairs carry a factor 1/2, as (VI.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from components.bodies.natural.showing import collect, show_one, show_three, show_two
from components.bodies.scheme import BETA, DAMPING, GAMMA, ITERATIONS, LEAD, MORE, STIFFNESS, inward, step_of
from modular.blocks import like, shaped
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.lane_rows import fetch, gather, indices, store
from modular.lanes import LANES, any_above, given, lanes, larger, share, unfit
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@kernel
def differences(q: Array, points: Array, w: Array) -> None:
    """w = (B - A, u, v) of one body, or the same of its velocities or accelerations: points as seen from A, directions as such.

    How many of its elements are points is the length of `points`, which the compiler knows.
    """
    for c in range(q.shape[1]):
        for k in range(w.shape[0]):
            w[k, c] = q[k + 1, c] - q[0, c] if k + 1 < points.shape[0] else q[k + 1, c]


@kernel
def pair(i: int, j: int, vectors: int) -> int:
    """Place of a pair i <= j where pairs are counted row by row: of w_i . w_j among the constraints.

    Loops over pairs run over all i and j and leave out half: only loops of fixed length are unrolled.
    """
    return i * vectors - (i * (i - 1)) // 2 + j - i


@kernel
def constraint_errors(w: Array, gram: Array, error: Array) -> None:
    """phi of one body: (III.8), each pair against its constant."""
    vectors = w.shape[0]
    for i in range(vectors):
        for j in range(vectors):
            if j >= i:
                product = -gram[i, j]
                for c in range(w.shape[1]):
                    product += w[i, c] * w[j, c]
                error[pair(i, j, vectors)] = 0.5 * product if i == j else product


@kernel
def constraint_rates(w: Array, dw: Array, rate: Array) -> None:
    """H v of one body."""
    vectors = w.shape[0]
    for i in range(vectors):
        for j in range(vectors):
            if j >= i:
                product = 0.0
                for c in range(w.shape[1]):
                    product += w[i, c] * dw[j, c]
                    if i != j:
                        product += w[j, c] * dw[i, c]
                rate[pair(i, j, vectors)] = product


@kernel
def remove_internal(
    w: Array,
    points: Array,
    inverse_mass: Array,
    inverse_s: Array,
    residual: Array,
    multipliers: Array,
    pull: Array,
    a: Array,
) -> None:
    """a -= M^-1 H^T S^-1 residual, for one body; S = H M^-1 H^T is the constant local operator, of S^-1 the upper half."""
    rows = residual.shape[0]
    for r in range(rows):
        value = inverse_s[pair(min(r, 0), max(r, 0), rows)] * residual[0]
        for s in range(1, rows):
            value += inverse_s[pair(min(r, s), max(r, s), rows)] * residual[s]
        multipliers[r] = value
    vectors, dimension = w.shape
    elements = a.shape[0]
    for c in range(dimension):
        for i in range(vectors):  # H^T mu on the vectors, this component; A takes what pulls at points, backwards
            value = multipliers[pair(min(i, 0), max(i, 0), vectors)] * w[0, c]
            for j in range(1, vectors):
                value += multipliers[pair(min(i, j), max(i, j), vectors)] * w[j, c]
            pull[i] = value
        for i in range(elements):
            change = answer_to(i, 0, points, inverse_mass) * pull[0]
            for k in range(1, vectors):
                change += answer_to(i, k, points, inverse_mass) * pull[k]
            a[i, c] -= change


@kernel
def answer_to(i: int, k: int, points: Array, inverse_mass: Array) -> Any:
    """How element i answers a pull at the vector w_k."""
    return inverse_mass[i, k + 1] - inverse_mass[i, 0] if k + 1 < points.shape[0] else inverse_mass[i, k + 1]


@kernel
def accelerate_freely(force: Array, inverse_mass: Array, fall: Array, gravity: Array, a: Array) -> None:
    """q''(0) = M^-1 Q of one body, as if it had no internal constraints             Séguy 2003, (IV.9)."""
    elements, dimension = a.shape
    for c in range(dimension):
        for i in range(elements):
            value = fall[i] * gravity[c]
            for j in range(elements):
                value += inverse_mass[i, j] * force[j, c]
            a[i, c] = value


# squares of what may be left: of what internal constraints ask for, and of what was open
RESIDUAL_SQUARED_TOLERANCE, ROUNDING_SQUARED_TOLERANCE = 1e-6, 1e-24


@kernel
def violation(a: Array, points: Array, w: Array, rate: Array, ddw: Array, residual: Array) -> Any:
    """H a + f of one body; returns its square."""
    differences(a, points, ddw)
    constraint_rates(w, ddw, residual)
    square = 0.0 * residual[0]
    for r in range(residual.shape[0]):
        residual[r] += rate[r]
        square += residual[r] * residual[r]
    return square


@kernel
def solve_locally(
    q: Array,
    v: Array,
    now: Array,
    force: Array,
    inverse_mass: Array,
    inverse_s: Array,
    gram: Array,
    fall: Array,
    points: Array,
    gravity: Array,
    stiffness: float,
    damping: float,
    inwards: float,
    iterations: int,
    more: int,
    scratch: tuple[Array, ...],
    a: Array,
) -> None:
    """Acceleration of one body at (q, v) under the forces on its coordinates: Bayo's iteration (IV.8); `now`: the newer velocity.

    Written with the constraint-space operator: (M + alpha H^T H) a' = M a - alpha H^T f is the same as
    a' = a - M^-1 H^T (S + 1/alpha)^-1 (H a + f), and S is constant as long as the body is rigid.
    """
    elements, dimension = q.shape
    accelerate_freely(force, inverse_mass, fall, gravity, a)
    vectors = elements - 1
    if vectors <= 0:
        return
    w, dw, ddw, error, rate, residual, multipliers, pull = scratch
    differences(q, points, w)
    differences(v, points, dw)
    constraint_errors(w, gram, error)
    constraint_rates(w, dw, rate)
    differences(now, points, dw)
    # f = dH/dt q' + 2 xi omega phi' + omega^2 phi stays as it is through the iterations   Séguy 2003, (IV.6); scheme.py
    for i in range(vectors):
        for j in range(vectors):
            if j >= i:
                row = pair(i, j, vectors)
                centripetal = 0.0
                for c in range(dimension):
                    centripetal += dw[i, c] * dw[j, c]
                if i != j:
                    centripetal *= 2.0
                rate[row] = inwards * centripetal + damping * rate[row] + stiffness * error[row]
    asked = 0.0 * rate[0]
    for r in range(rate.shape[0]):
        asked += rate[r] * rate[r]
    before, now_open = asked, asked
    for _ in range(iterations):
        # a' = a - M^-1 H^T (S + 1/alpha)^-1 (H a + f)                              Séguy 2003, (IV.8)
        before = now_open
        now_open = violation(a, points, w, rate, ddw, residual)
        remove_internal(w, points, inverse_mass, inverse_s, residual, multipliers, pull, a)
    # each pass leaves a share of what was open: that by which the shape is off, times how much lighter it is than what pulls at it
    left = 1.0 + 0.0 * asked  # above zero as long as it has not been enough; others go on without this body
    for _ in range(more):
        left = given(
            left,
            share(now_open * now_open, before)
            - RESIDUAL_SQUARED_TOLERANCE * asked
            - ROUNDING_SQUARED_TOLERANCE * before,
        )
        if not any_above(left):
            break
        before = now_open
        now_open = violation(a, points, w, rate, ddw, residual)
        for r in range(residual.shape[0]):
            residual[r] = given(left, residual[r])
        remove_internal(w, points, inverse_mass, inverse_s, residual, multipliers, pull, a)


def _workspace(shape: tuple[int, ...]) -> Sequence[tuple[int, ...]]:
    elements, dimension = shape
    vectors = max(elements - 1, 0)
    rows = vectors * (vectors + 1) // 2
    return [(vectors, dimension)] * 3 + [(rows,)] * 4 + [(elements,)]


workspace = shaped(lanes, _workspace)  # scratch blocks for four bodies at a time, from a block like q


@kernel
def numbers_workspace(elements: int, dimension: int) -> tuple[Array, ...]:
    """The same for one body, as arrays."""
    vectors = max(elements - 1, 0)
    rows = vectors * (vectors + 1) // 2
    return (
        np.zeros((vectors, dimension)),
        np.zeros((vectors, dimension)),
        np.zeros((vectors, dimension)),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(rows),
        np.zeros(elements),
    )


# --- elements: every attached one is a constant linear map of the coordinates (III.3.5) --------------------------------


# --- the loops ---------------------------------------------------------------------------------------------------------


@kernel
def predict(q: Array, v: Array, a: Array, dt: float, beta: float, gamma: float, q_new: Array, v_new: Array) -> None:
    """Predict (II.44 with the unknown acceleration left out)."""
    for i in range(q.shape[0]):
        for c in range(q.shape[1]):
            q_new[i, c] = q[i, c] + dt * v[i, c] + (0.5 - beta) * dt * dt * a[i, c]
            v_new[i, c] = v[i, c] + (1.0 - gamma) * dt * a[i, c]


@loop
def predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Predict and show the predicted elements."""
    q, v, a, q_new, v_new = like(bodies.q), like(bodies.q), like(bodies.q), like(bodies.q), like(bodies.q)
    dt, gains = step_of(bodies, elements), bodies.gains
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.v, n, stop, v)
        fetch(bodies.a, n, stop, a)
        predict(q, v, a, dt, gains[BETA], gains[GAMMA], q_new, v_new)
        show_two(bodies, n, stop, q_new, v_new, elements.position, elements.velocity)
    return NO_FAILED_ROW


@loop
def show_end_velocity_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the velocities v + dt a, for forces that depend on velocity."""
    v, a = like(bodies.q), like(bodies.q)
    dt = elements.clock[STEP]
    for n in range(start, stop, LANES):
        fetch(bodies.v, n, stop, v)
        fetch(bodies.a, n, stop, a)
        for i in range(v.shape[0]):
            for c in range(v.shape[1]):
                v[i, c] = v[i, c] + dt * a[i, c]
        show_one(bodies, n, stop, v, elements.current_velocity)
    return NO_FAILED_ROW


@kernel
def solve_rows(
    bodies: View,
    elements: View,
    n: int,
    stop: int,
    dt: float,
    q: Array,
    v: Array,
    now: Array,
    scratch: tuple[Array, ...],
    a: Array,
) -> None:
    """Accelerations of four bodies at (q, v) under the forces on their elements, predicted for dt from now or as they stand (0)."""
    total, fall, gram = like(q), like(bodies.fall), like(bodies.gram)
    inverse_mass, inverse_local = like(bodies.inverse_mass), like(bodies.inverse_local)
    gains = bodies.gains
    collect(bodies, elements, n, stop, total)
    makes = indices(bodies.make, n, stop)
    gather(bodies.fall, makes, fall)
    gather(bodies.gram, makes, gram)
    gather(bodies.inverse_mass, makes, inverse_mass)
    gather(bodies.inverse_local, makes, inverse_local)
    solve_locally(
        q, v, now, total, inverse_mass, inverse_local, gram, fall, bodies.points, bodies.gravity, gains[STIFFNESS],
        gains[DAMPING], inward(gains, dt), int(gains[ITERATIONS]), int(gains[MORE]), scratch, a,
    )  # fmt: skip


states = shaped(lanes, lambda q: [q] * 5)


@kernel
def correct_rows(
    bodies: View, elements: View, n: int, stop: int, room: tuple[Array, ...], scratch: tuple[Array, ...], gram: Array
) -> int:
    """Local solve and correction (II.44) of four bodies; one bit for each that went wrong."""
    q, v, a, q_new, v_new = room
    dt, gains = step_of(bodies, elements), bodies.gains
    beta, gamma = gains[BETA], gains[GAMMA]
    fetch(bodies.q, n, stop, q)
    fetch(bodies.v, n, stop, v)
    fetch(bodies.a, n, stop, a)
    predict(q, v, a, dt, beta, gamma, q_new, v_new)
    lead = gains[LEAD] * gamma * dt
    for i in range(q.shape[0]):
        for c in range(q.shape[1]):
            v[i, c] = v_new[i, c] + lead * a[i, c]
    solve_rows(bodies, elements, n, stop, dt, q_new, v_new, v, scratch, a)
    for i in range(q.shape[0]):
        for c in range(q.shape[1]):
            v[i, c] = v_new[i, c] + gamma * dt * a[i, c]
            q[i, c] = q_new[i, c] + beta * dt * dt * a[i, c]
    store(q, bodies.q, n, stop)
    store(v, bodies.v, n, stop)
    store(a, bodies.a, n, stop)
    gather(bodies.gram, indices(bodies.make, n, stop), gram)
    found: int = unfit(unsoundness(q, v, gram, bodies.points))
    return found


@kernel
def first_bad(wrong: int, bad: int, n: int, stop: int) -> int:
    """The first row that went wrong, so far."""
    if bad != 0 and wrong < 0:
        for k in range(min(LANES, stop - n)):
            if wrong < 0 and (bad >> k) & 1:
                wrong = n + k
    return wrong


@loop
def correct_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Local solve, correction, corrected velocities of the elements; the first row that went wrong, or -1."""
    room, gram = states(bodies.q), like(bodies.gram)
    scratch = workspace(bodies.q)
    wrong = NO_FAILED_ROW
    for n in range(start, stop, LANES):
        bad = correct_rows(bodies, elements, n, stop, room, scratch, gram)
        show_one(bodies, n, stop, room[1], elements.velocity)
        wrong = first_bad(wrong, bad, n, stop)
    return wrong


@loop
def correct_and_predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Correct, then predict for the next tick: the same as both, with the rows at hand once."""
    room, gram = states(bodies.q), like(bodies.gram)
    scratch = workspace(bodies.q)
    dt, gains = step_of(bodies, elements), bodies.gains
    wrong = NO_FAILED_ROW
    for n in range(start, stop, LANES):
        bad = correct_rows(bodies, elements, n, stop, room, scratch, gram)
        q, v, a, q_new, v_new = room
        predict(q, v, a, dt, gains[BETA], gains[GAMMA], q_new, v_new)
        show_three(bodies, elements, n, stop, v, q_new, v_new)
        wrong = first_bad(wrong, bad, n, stop)
    return wrong


@kernel
def unsoundness(q: Array, v: Array, gram: Array, points: Array) -> Any:
    """Above zero where a vector is off by half of its squared length, which is no shape any more; no number beside infinities."""
    sound = 0.0 * q[0, 0]
    for i in range(q.shape[0]):
        for c in range(q.shape[1]):
            sound += 0.0 * q[i, c] + 0.0 * v[i, c]
    for k in range(gram.shape[0]):
        square = 0.0
        for c in range(q.shape[1]):
            component = q[k + 1, c] - q[0, c] if k + 1 < points.shape[0] else q[k + 1, c]
            square += component * component
        sound += larger(abs(square - gram[k, k]) - 0.5 * gram[k, k], 0.0 * square)
    return sound


@loop
def show_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the present elements."""
    q, v = like(bodies.q), like(bodies.q)
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.v, n, stop, v)
        show_two(bodies, n, stop, q, v, elements.position, elements.velocity)
    return NO_FAILED_ROW


@loop
def reevaluate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Accelerations at the unchanged state."""
    q, v, a = like(bodies.q), like(bodies.q), like(bodies.q)
    scratch = workspace(q)
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.v, n, stop, v)
        solve_rows(bodies, elements, n, stop, 0.0, q, v, v, scratch, a)
        store(a, bodies.a, n, stop)
    return NO_FAILED_ROW


@kernel
def violations_loop(q: Array, v: Array, points: Array, gram: Array, error: Array, rate: Array) -> None:
    """Internal constraints in position and velocity along a series of states of one body."""
    scratch = numbers_workspace(q.shape[1], q.shape[2])
    w, dw = scratch[0], scratch[1]
    for n in range(q.shape[0]):
        differences(q[n], points, w)
        differences(v[n], points, dw)
        constraint_errors(w, gram, error[n])
        constraint_rates(w, dw, rate[n])
