"""The stages of a step over a block of bodies, and many steps of many blocks, for the chain written by hand (chain.py)."""

from __future__ import annotations

from modular.elements import Array
from modular.kernel import kernel
from scenarios.bench.by_hand.rows import (
    BOOK,
    EFFORT,
    EFFORT_BEFORE,
    END,
    END_V,
    END_V_BEFORE,
    END_WEIGHTS,
    FALL,
    GRAM,
    INVERSE_S,
    POWER,
    POWER_BEFORE,
    PRELOAD,
    ROUND,
    START,
    START_V,
    START_V_BEFORE,
    START_WEIGHTS,
    WIDE,
    A,
    C,
    Elements,
    K,
    Q,
    V,
    Vector,
    accelerations,
    combined,
    dot,
    further,
    further12,
    get,
    get3,
    get4,
    get12,
    minus,
    plus,
    put,
    put3,
    put12,
    turned,
)

Three = tuple[Vector, Vector, Vector]
Six = tuple[float, float, float, float, float, float]


# --- the internal constraints of a rod: w_a . w_b of w = (B - A, u, v), for the pairs 00, 01, 02, 11, 12, 22 --------------


@kernel
def differences(x: Elements) -> Three:
    """B - A, u, v."""
    return minus(x[1], x[0]), x[2], x[3]


@kernel
def rates(w: Three, d: Three) -> Six:
    """H times velocities or accelerations."""
    return (
        dot(w[0], d[0]),
        dot(w[0], d[1]) + dot(w[1], d[0]),
        dot(w[0], d[2]) + dot(w[2], d[0]),
        dot(w[1], d[1]),
        dot(w[1], d[2]) + dot(w[2], d[1]),
        dot(w[2], d[2]),
    )


@kernel
def row_of_s(block: Array, n: int, at: tuple[int, int, int, int, int, int], x: Six) -> float:
    """One row of S^-1, kept in these places, times x."""
    s, a, b, c, d, e, f = INVERSE_S, at[0], at[1], at[2], at[3], at[4], at[5]
    total = get(block, s + a, n) * x[0] + get(block, s + b, n) * x[1] + get(block, s + c, n) * x[2]
    return total + get(block, s + d, n) * x[3] + get(block, s + e, n) * x[4] + get(block, s + f, n) * x[5]


@kernel
def bayo(block: Array, n: int, w: Three, f: Six, a: Elements) -> Elements:
    """a' = a - M^-1 H^T S^-1 (H a + f): one iteration of (IV.8)."""
    h = rates(w, differences(a))
    x = (h[0] + f[0], h[1] + f[1], h[2] + f[2], h[3] + f[3], h[4] + f[4], h[5] + f[5])
    m00 = row_of_s(block, n, (0, 1, 2, 3, 4, 5), x)
    m01 = row_of_s(block, n, (1, 6, 7, 8, 9, 10), x)
    m02 = row_of_s(block, n, (2, 7, 11, 12, 13, 14), x)
    m11 = row_of_s(block, n, (3, 8, 12, 15, 16, 17), x)
    m12 = row_of_s(block, n, (4, 9, 13, 16, 18, 19), x)
    m22 = row_of_s(block, n, (5, 10, 14, 17, 19, 20), x)
    nothing = (0.0, 0.0, 0.0)
    on_b = further(further(further(nothing, m00, w[0]), m01, w[1]), m02, w[2])
    on_u = further(further(further(nothing, m01, w[0]), m11, w[1]), m12, w[2])
    on_v = further(further(further(nothing, m02, w[0]), m12, w[1]), m22, w[2])
    return further12(a, -1.0, accelerations(block, n, (minus(nothing, on_b), on_b, on_u, on_v)))


# --- the stages of a step, over a block ----------------------------------------------------------------------------------


@kernel
def predict(block: Array, count: int, dt: float, gains: Six) -> None:
    """Predict, and show the predicted ends."""
    for n in range(count):
        q, v, a = get12(block, Q, n), get12(block, V, n), get12(block, A, n)
        q = further12(further12(q, dt, v), (0.5 - gains[0]) * dt * dt, a)
        v = further12(v, (1.0 - gains[1]) * dt, a)
        put12(block, Q, n, q)
        put12(block, V, n, v)
        start, end = get4(block, START_WEIGHTS, n), get4(block, END_WEIGHTS, n)
        put3(block, START, n, combined(start, q))
        put3(block, START_V, n, combined(start, v))
        put3(block, END, n + 1, combined(end, q))
        put3(block, END_V, n + 1, combined(end, v))


@kernel
def exert(block: Array, count: int) -> None:
    """Effort K phi + C phi' + preload of every joint, what its spring holds and its damper takes."""
    for n in range(count):
        error = minus(get3(block, START, n), get3(block, END, n))
        spring = turned(block, K, n, error)
        rate = minus(get3(block, START_V, n), get3(block, END_V, n))
        damper = turned(block, C, n, rate)
        preload = get3(block, PRELOAD, n)
        put3(block, EFFORT, n, plus(plus(spring, damper), preload))
        put(block, BOOK + 2, n, dot(further(preload, 0.5, spring), error))
        put(block, POWER, n, dot(damper, rate))


@kernel
def correct(block: Array, count: int, dt: float, gains: Six, gravity: Vector) -> int:
    """Local solve and correction; the number of bodies that have lost their shape or are no numbers any more."""
    wrong = 0
    for n in range(count):
        q, v = get12(block, Q, n), get12(block, V, n)
        start, end = get4(block, START_WEIGHTS, n), get4(block, END_WEIGHTS, n)
        pull, push = get3(block, EFFORT, n + 1), get3(block, EFFORT, n)
        nothing = (0.0, 0.0, 0.0)
        force = (
            further(further(nothing, end[0], pull), -start[0], push),
            further(further(nothing, end[1], pull), -start[1], push),
            further(further(nothing, end[2], pull), -start[2], push),
            further(further(nothing, end[3], pull), -start[3], push),
        )
        fall = get4(block, FALL, n)
        a = accelerations(block, n, force)
        a = (
            further(a[0], fall[0], gravity),
            further(a[1], fall[1], gravity),
            further(a[2], fall[2], gravity),
            further(a[3], fall[3], gravity),
        )
        w, d = differences(q), differences(v)
        newer = differences(further12(v, gains[5] * gains[1] * dt, get12(block, A, n)))
        g00, g01, g02 = get3(block, GRAM, n)
        g11, g12, g22 = get3(block, GRAM + 3, n)
        h = rates(w, d)
        stiffness, damping = gains[2], gains[3]
        left = 1.0 - gains[5] * (
            gains[1] * dt * damping + gains[0] * dt * dt * stiffness
        )  # components/bodies/scheme.py
        f = (
            left * dot(newer[0], newer[0]) + damping * h[0] + stiffness * 0.5 * (dot(w[0], w[0]) - g00),
            left * (2.0 * dot(newer[0], newer[1])) + damping * h[1] + stiffness * (dot(w[0], w[1]) - g01),
            left * (2.0 * dot(newer[0], newer[2])) + damping * h[2] + stiffness * (dot(w[0], w[2]) - g02),
            left * dot(newer[1], newer[1]) + damping * h[3] + stiffness * 0.5 * (dot(w[1], w[1]) - g11),
            left * (2.0 * dot(newer[1], newer[2])) + damping * h[4] + stiffness * (dot(w[1], w[2]) - g12),
            left * dot(newer[2], newer[2]) + damping * h[5] + stiffness * 0.5 * (dot(w[2], w[2]) - g22),
        )
        a = bayo(block, n, w, f, bayo(block, n, w, f, a))
        q, v = further12(q, gains[0] * dt * dt, a), further12(v, gains[1] * dt, a)
        put12(block, Q, n, q)
        put12(block, V, n, v)
        put12(block, A, n, a)
        put3(block, START_V, n, combined(start, v))
        put3(block, END_V, n + 1, combined(end, v))
        w = differences(q)
        sums = plus(plus(plus(q[0], q[1]), plus(q[2], q[3])), plus(plus(v[0], v[1]), plus(v[2], v[3])))
        length = abs(dot(w[0], w[0]) - g00) + 0.0 * (sums[0] + sums[1] + sums[2])
        across, aside = abs(dot(w[1], w[1]) - g11), abs(dot(w[2], w[2]) - g22)
        sound = (length <= 0.5 * g00) & (across <= 0.5 * g11) & (aside <= 0.5 * g22)
        wrong += 0 if sound else 1
    return wrong


@kernel
def account(block: Array, count: int, dt: float) -> None:
    """Books of all joints: work on both sides, stored, dissipated, and what is left without a name."""
    for n in range(count):
        effort, end, start = get3(block, EFFORT, n), get3(block, END_V, n), get3(block, START_V, n)
        twice = plus(effort, get3(block, EFFORT_BEFORE, n))
        power = get(block, POWER, n)
        first = get(block, BOOK, n) + 0.25 * dt * dot(twice, plus(end, get3(block, END_V_BEFORE, n)))
        second = get(block, BOOK + 1, n) - 0.25 * dt * dot(twice, plus(start, get3(block, START_V_BEFORE, n)))
        taken = get(block, BOOK + 3, n) + 0.5 * dt * (power + get(block, POWER_BEFORE, n))
        rest = get(block, BOOK + 4, n) + get(block, BOOK + 5, n) + get(block, BOOK + 6, n)
        put3(block, EFFORT_BEFORE, n, effort)
        put3(block, END_V_BEFORE, n, end)
        put3(block, START_V_BEFORE, n, start)
        put(block, POWER_BEFORE, n, power)
        put(block, BOOK, n, first)
        put(block, BOOK + 1, n, second)
        put(block, BOOK + 3, n, taken)
        put(block, BOOK + 7, n, -(first + second + get(block, BOOK + 2, n) + taken + rest))


@kernel
def steps(blocks: Array, bodies: int, ticks: int, dt: float, gains: Six, gravity: Vector) -> int:
    """So many steps; the first in which a body went wrong, or -1."""
    number = blocks.shape[0]
    for tick in range(ticks):
        wrong = 0
        for c in range(number + 1):  # a block is corrected once the joint behind its last body is known
            if c < number:
                block = blocks[c]
                count = min(WIDE, (bodies - c * WIDE + ROUND - 1) // ROUND * ROUND)
                predict(block, count, dt, gains)
                if c > 0:
                    put3(block, END, 0, get3(blocks[c - 1], END, WIDE))
                    put3(block, END_V, 0, get3(blocks[c - 1], END_V, WIDE))
                exert(block, count)
            if c > 0:
                block = blocks[c - 1]
                count = min(WIDE, (bodies - (c - 1) * WIDE + ROUND - 1) // ROUND * ROUND)
                if c < number:
                    put3(block, EFFORT, WIDE, get3(blocks[c], EFFORT, 0))
                wrong += correct(block, count, dt, gains, gravity)
                if c < number:
                    put3(blocks[c], END_V, 0, get3(block, END_V, WIDE))
                account(block, count, dt)
        if wrong > 0:
            return tick
    return -1
