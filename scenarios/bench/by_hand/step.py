"""The stages of a step over a block of bodies, and many steps of many blocks, for the chain written by hand (chain.py)."""

from __future__ import annotations

from modular.elements import Array
from modular.kernel import kernel
from scenarios.bench.by_hand import rows as r

Three = tuple[r.Vector, r.Vector, r.Vector]
Six = tuple[float, float, float, float, float, float]


# --- the internal constraints of a rod: w_a . w_b of w = (B - A, u, v), for the pairs 00, 01, 02, 11, 12, 22 --------------


@kernel
def differences(x: r.Elements) -> Three:
    """B - A, u, v."""
    return r.minus(x[1], x[0]), x[2], x[3]


@kernel
def rates(w: Three, d: Three) -> Six:
    """H times velocities or accelerations."""
    return (
        r.times(w[0], d[0]),
        r.times(w[0], d[1]) + r.times(w[1], d[0]),
        r.times(w[0], d[2]) + r.times(w[2], d[0]),
        r.times(w[1], d[1]),
        r.times(w[1], d[2]) + r.times(w[2], d[1]),
        r.times(w[2], d[2]),
    )


@kernel
def row_of_s(block: Array, n: int, at: tuple[int, int, int, int, int, int], x: Six) -> float:
    """One row of S^-1, kept in these places, times x."""
    s, a, b, c, d, e, f = r.INVERSE_S, at[0], at[1], at[2], at[3], at[4], at[5]
    total = r.get(block, s + a, n) * x[0] + r.get(block, s + b, n) * x[1] + r.get(block, s + c, n) * x[2]
    return total + r.get(block, s + d, n) * x[3] + r.get(block, s + e, n) * x[4] + r.get(block, s + f, n) * x[5]


@kernel
def bayo(block: Array, n: int, w: Three, f: Six, a: r.Elements) -> r.Elements:
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
    on_b = r.further(r.further(r.further(nothing, m00, w[0]), m01, w[1]), m02, w[2])
    on_u = r.further(r.further(r.further(nothing, m01, w[0]), m11, w[1]), m12, w[2])
    on_v = r.further(r.further(r.further(nothing, m02, w[0]), m12, w[1]), m22, w[2])
    return r.further12(a, -1.0, r.accelerations(block, n, (r.minus(nothing, on_b), on_b, on_u, on_v)))


# --- the stages of a step, over a block ----------------------------------------------------------------------------------


@kernel
def predict(block: Array, count: int, dt: float, gains: Six) -> None:
    """Predict, and show the predicted ends."""
    for n in range(count):
        q, v, a = r.get12(block, r.Q, n), r.get12(block, r.V, n), r.get12(block, r.A, n)
        q = r.further12(r.further12(q, dt, v), (0.5 - gains[0]) * dt * dt, a)
        v = r.further12(v, (1.0 - gains[1]) * dt, a)
        r.put12(block, r.Q, n, q)
        r.put12(block, r.V, n, v)
        start, end = r.get4(block, r.START_WEIGHTS, n), r.get4(block, r.END_WEIGHTS, n)
        r.put3(block, r.START, n, r.combined(start, q))
        r.put3(block, r.START_V, n, r.combined(start, v))
        r.put3(block, r.END, n + 1, r.combined(end, q))
        r.put3(block, r.END_V, n + 1, r.combined(end, v))


@kernel
def exert(block: Array, count: int) -> None:
    """Effort K phi + C phi' + preload of every joint, what its spring holds and its damper takes."""
    for n in range(count):
        error = r.minus(r.get3(block, r.START, n), r.get3(block, r.END, n))
        spring = r.turned(block, r.K, n, error)
        rate = r.minus(r.get3(block, r.START_V, n), r.get3(block, r.END_V, n))
        damper = r.turned(block, r.C, n, rate)
        preload = r.get3(block, r.PRELOAD, n)
        r.put3(block, r.EFFORT, n, r.plus(r.plus(spring, damper), preload))
        r.put(block, r.BOOK + 2, n, r.times(r.further(preload, 0.5, spring), error))
        r.put(block, r.POWER, n, r.times(damper, rate))


@kernel
def correct(block: Array, count: int, dt: float, gains: Six, gravity: r.Vector) -> int:
    """Local solve and correction; the number of bodies that have lost their shape or are no numbers any more."""
    wrong = 0
    for n in range(count):
        q, v = r.get12(block, r.Q, n), r.get12(block, r.V, n)
        start, end = r.get4(block, r.START_WEIGHTS, n), r.get4(block, r.END_WEIGHTS, n)
        pull, push = r.get3(block, r.EFFORT, n + 1), r.get3(block, r.EFFORT, n)
        nothing = (0.0, 0.0, 0.0)
        force = (
            r.further(r.further(nothing, end[0], pull), -start[0], push),
            r.further(r.further(nothing, end[1], pull), -start[1], push),
            r.further(r.further(nothing, end[2], pull), -start[2], push),
            r.further(r.further(nothing, end[3], pull), -start[3], push),
        )
        fall = r.get4(block, r.FALL, n)
        a = r.accelerations(block, n, force)
        a = (
            r.further(a[0], fall[0], gravity),
            r.further(a[1], fall[1], gravity),
            r.further(a[2], fall[2], gravity),
            r.further(a[3], fall[3], gravity),
        )
        w, d = differences(q), differences(v)
        newer = differences(r.further12(v, gains[5] * gains[1] * dt, r.get12(block, r.A, n)))
        g00, g01, g02 = r.get3(block, r.GRAM, n)
        g11, g12, g22 = r.get3(block, r.GRAM + 3, n)
        h = rates(w, d)
        stiffness, damping = gains[2], gains[3]
        # components/bodies/scheme.py
        left = 1.0 - gains[5] * (gains[1] * dt * damping + gains[0] * dt * dt * stiffness)
        f = (
            left * r.times(newer[0], newer[0]) + damping * h[0] + stiffness * 0.5 * (r.times(w[0], w[0]) - g00),
            left * (2.0 * r.times(newer[0], newer[1])) + damping * h[1] + stiffness * (r.times(w[0], w[1]) - g01),
            left * (2.0 * r.times(newer[0], newer[2])) + damping * h[2] + stiffness * (r.times(w[0], w[2]) - g02),
            left * r.times(newer[1], newer[1]) + damping * h[3] + stiffness * 0.5 * (r.times(w[1], w[1]) - g11),
            left * (2.0 * r.times(newer[1], newer[2])) + damping * h[4] + stiffness * (r.times(w[1], w[2]) - g12),
            left * r.times(newer[2], newer[2]) + damping * h[5] + stiffness * 0.5 * (r.times(w[2], w[2]) - g22),
        )
        a = bayo(block, n, w, f, bayo(block, n, w, f, a))
        q, v = r.further12(q, gains[0] * dt * dt, a), r.further12(v, gains[1] * dt, a)
        r.put12(block, r.Q, n, q)
        r.put12(block, r.V, n, v)
        r.put12(block, r.A, n, a)
        r.put3(block, r.START_V, n, r.combined(start, v))
        r.put3(block, r.END_V, n + 1, r.combined(end, v))
        w = differences(q)
        sums = r.plus(r.plus(r.plus(q[0], q[1]), r.plus(q[2], q[3])), r.plus(r.plus(v[0], v[1]), r.plus(v[2], v[3])))
        length = abs(r.times(w[0], w[0]) - g00) + 0.0 * (sums[0] + sums[1] + sums[2])
        across, aside = abs(r.times(w[1], w[1]) - g11), abs(r.times(w[2], w[2]) - g22)
        sound = (length <= 0.5 * g00) & (across <= 0.5 * g11) & (aside <= 0.5 * g22)
        wrong += 0 if sound else 1
    return wrong


@kernel
def account(block: Array, count: int, dt: float) -> None:
    """Ledgers of all joints: work on both sides, stored, dissipated, and what is left without a name."""
    for n in range(count):
        effort, end, start = r.get3(block, r.EFFORT, n), r.get3(block, r.END_V, n), r.get3(block, r.START_V, n)
        twice = r.plus(effort, r.get3(block, r.EFFORT_BEFORE, n))
        power = r.get(block, r.POWER, n)
        first = r.get(block, r.BOOK, n) + 0.25 * dt * r.times(twice, r.plus(end, r.get3(block, r.END_V_BEFORE, n)))
        second = r.get(block, r.BOOK + 1, n) - 0.25 * dt * r.times(
            twice, r.plus(start, r.get3(block, r.START_V_BEFORE, n))
        )
        taken = r.get(block, r.BOOK + 3, n) + 0.5 * dt * (power + r.get(block, r.POWER_BEFORE, n))
        rest = r.get(block, r.BOOK + 4, n) + r.get(block, r.BOOK + 5, n) + r.get(block, r.BOOK + 6, n)
        r.put3(block, r.EFFORT_BEFORE, n, effort)
        r.put3(block, r.END_V_BEFORE, n, end)
        r.put3(block, r.START_V_BEFORE, n, start)
        r.put(block, r.POWER_BEFORE, n, power)
        r.put(block, r.BOOK, n, first)
        r.put(block, r.BOOK + 1, n, second)
        r.put(block, r.BOOK + 3, n, taken)
        r.put(block, r.BOOK + 7, n, -(first + second + r.get(block, r.BOOK + 2, n) + taken + rest))


@kernel
def steps(blocks: Array, bodies: int, ticks: int, dt: float, gains: Six, gravity: r.Vector) -> int:
    """So many steps; the first in which a body went wrong, or -1."""
    number = blocks.shape[0]
    for tick in range(ticks):
        wrong = 0
        for c in range(number + 1):  # a block is corrected once the joint behind its last body is known
            if c < number:
                block = blocks[c]
                count = min(r.WIDE, (bodies - c * r.WIDE + r.ROUND - 1) // r.ROUND * r.ROUND)
                predict(block, count, dt, gains)
                if c > 0:
                    r.put3(block, r.END, 0, r.get3(blocks[c - 1], r.END, r.WIDE))
                    r.put3(block, r.END_V, 0, r.get3(blocks[c - 1], r.END_V, r.WIDE))
                exert(block, count)
            if c > 0:
                block = blocks[c - 1]
                count = min(r.WIDE, (bodies - (c - 1) * r.WIDE + r.ROUND - 1) // r.ROUND * r.ROUND)
                if c < number:
                    r.put3(block, r.EFFORT, r.WIDE, r.get3(blocks[c], r.EFFORT, 0))
                wrong += correct(block, count, dt, gains, gravity)
                if c < number:
                    r.put3(blocks[c], r.END_V, 0, r.get3(block, r.END_V, r.WIDE))
                account(block, count, dt)
        if wrong > 0:
            return tick
    return -1
