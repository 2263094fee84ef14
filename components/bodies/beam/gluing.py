"""A step of a beam between joints that are glued, and how it answers forces.

A kick lets the forces on the elements and the weight act on the slices; between two kicks the beam flies by itself, by the midpoint
rule: with x = (v, Omega) in the middle and everything elastic there,

    M (x - x0) = h/2 (-B^T (n + eta dn/dt)),     r' = r + h v,     p' = p (1, h/2 Omega) / |..|,     x' = 2 x - x0,

angular momenta compared in the world. It is symmetric in time, keeps momentum and angular momentum, and no frequency of the
beam limits it; so kick, flight, kick is of order two and can be composed. Without damping, in the plane, it is symplectic (E.
Hairer, C. Lubich, G. Wanner, "Geometric numerical integration", Springer 2006, II.5 and VI.4). With damping only forward steps
are of use, and waves too short for the step, which the midpoint rule lets ring, are to die: what is damped is damped as it moves
a fifth of half a step later, an error of the first order in the damping alone.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from components.bodies.beam.kernels import (
    assemble,
    eliminate,
    give_mass,
    improve,
    nodes,
    pairs,
    points,
    solve,
    spin_at,
    unsound,
)
from components.bodies.beam.showing import SHOWING, collect, node_of
from components.bodies.loops.leapfrog_loops import leapfrog_loops
from components.bodies.loops.newmark_loops import predict
from components.bodies.loops.response_loops import response_loops
from components.bodies.posed.fixed_point import MOST_ITERATIONS, STALLED_TOLERANCE, still_converges
from components.bodies.posed.kernels import SPACE, by_spin, rotation, times, turns
from modular.blocks import room
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

OVERSHOOT = 0.2  # of half a step


@kernel
def to_rates(q: Array, motion: Array, v: Array) -> None:
    """Rates of the coordinates of a node, from its velocity and its spin."""
    for c in range(3):
        v[c] = motion[c]
    if q.shape[0] == SPACE:
        turning = room((3,))
        for c in range(3):
            turning[c] = motion[3 + c]
        by_spin(q, 0.0, turning, v)


@kernel
def kick(bodies: View, elements: View, n: int, share: float, falling: float, v: Array) -> None:
    """v += share M^-1 (forces + falling weight), at q, with p' across p; after an impulse a flight is sought anew."""
    values, motion = pairs(bodies.right)
    collect(bodies, elements, n, bodies.q[n])
    for k in range(bodies.nodes[bodies.make[n]]):
        q = bodies.q[n, k]
        give_mass(bodies, n, k, values)
        spin_at(q, v[k], motion)
        for c in range(motion.shape[0]):
            held = (1.0 - falling) * values[c] * bodies.gravity[c] if c < bodies.gravity.shape[0] else 0.0
            motion[c] += share * (bodies.outer[n, k, c] - held) / values[c]
            if falling == 0.0:
                bodies.flight[n, k, c] = motion[c]
        to_rates(q, motion, v[k])


@kernel
def half_turn(h: float, motion: Array, way: Array, half: Array) -> None:
    """The quaternions that lead to the end of a flight and to its middle."""
    size = 1.0
    for c in range(3):
        way[1 + c] = 0.5 * h * motion[3 + c]
        size += way[1 + c] * way[1 + c]
    size = 1.0 / sqrt(size)
    way[0] = size
    for c in range(3):
        way[1 + c] *= size
    share = 1.0 / sqrt(2.0 + 2.0 * way[0])
    half[0] = (1.0 + way[0]) * share
    for c in range(3):
        half[1 + c] = way[1 + c] * share


@kernel
def seen_from(way: Array, motion: Array) -> None:
    """What a node has beside what is in the world, a spin or its momentum, along axes that were turned by a quaternion."""
    first, second = room((3,)), room((3,))
    for j in range(3):
        s, t = (j + 1) % 3, (j + 2) % 3
        first[j] = motion[3 + s] * way[1 + t] - motion[3 + t] * way[1 + s]  # v x w
    for j in range(3):
        s, t = (j + 1) % 3, (j + 2) % 3
        second[j] = first[s] * way[1 + t] - first[t] * way[1 + s]
    for j in range(3):
        motion[3 + j] += 2.0 * (way[0] * first[j] + second[j])


@kernel
def begin(
    bodies: View, n: int, k: int, h: float, x: Array, values: Array, way: Array, half: Array, momentum: Array
) -> None:
    """M x0 of a node at the beginning of a flight by x, the angular part seen from the axes half-way; its mass, and its turning."""
    motion, _ = pairs(bodies.right)
    give_mass(bodies, n, k, values)
    spin_at(bodies.q[n, k], bodies.half[n, k], motion)
    for c in range(x.shape[0]):
        momentum[c] = values[c] * motion[c]
    if x.shape[0] == 6:
        half_turn(h, x, way, half)
        seen_from(half, momentum)


@kernel
def fly(bodies: View, n: int, h: float) -> bool:
    """From q with the velocity `half`: where that leads, in `ahead`, and the velocity there; whether no end was found."""
    values, motion = pairs(bodies.right)
    momentum, x = pairs(bodies.right)
    way, half = room((4,)), room((4,))
    f, count = x.shape[0], bodies.nodes[bodies.make[n]]
    for k in range(count):
        for c in range(f):
            bodies.found[n, k, c] = bodies.flight[n, k, c]
    moved, before, rounds, tension = np.inf, np.inf, 0, 1.0
    while still_converges(moved, before) and rounds < MOST_ITERATIONS:
        tension = 0.0 if moved > before else tension
        before = moved
        rounds += 1
        for k in range(count):
            q, middle = bodies.q[n, k], bodies.trial[n, k]
            spin_at(q, bodies.v[n, k], motion)
            for c in range(f):
                x[c] = bodies.found[n, k, c]
                bodies.swing[n, k, c] = x[c] + OVERSHOOT * (x[c] - motion[c])
            begin(bodies, n, k, h, x, values, way, half, momentum)
            for c in range(3):
                middle[c] = q[c] + 0.5 * h * x[c]
            if f == 6:
                times(q, half, middle)
            for c in range(f):
                bodies.right[n, k, c] = momentum[c] - values[c] * x[c]
        assemble(bodies, n, 0.5 * h, 0.25 * h * h, 0.5 * (1.0 + OVERSHOOT) * h, tension)
        eliminate(bodies, n)
        solve(bodies, n)
        moved = improve(bodies, n, h, bodies.q)
    for k in range(count):
        q, ahead = bodies.q[n, k], bodies.ahead[n, k]
        for c in range(f):
            x[c] = bodies.found[n, k, c]
            bodies.flight[n, k, c] = x[c]
        begin(bodies, n, k, h, x, values, way, half, momentum)
        for c in range(3):
            ahead[c] = q[c] + h * x[c]
        for c in range(f):
            motion[c] = 2.0 * x[c] - momentum[c] / values[c]
        if f == 6:
            times(q, way, ahead)
            for c in range(3, 6):
                motion[c] *= values[c]
            seen_from(half, motion)
            for c in range(3, 6):
                motion[c] /= values[c]
        to_rates(ahead, motion, bodies.half[n, k])
    return not moved <= STALLED_TOLERANCE


drift_loop, kick_loop, apply_impulse_loop = leapfrog_loops(__name__, SHOWING, kick, fly, unsound)


@loop
def invalidate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """A flight is sought from the motion of now."""
    for n in range(start, stop):
        for k in range(bodies.nodes[bodies.make[n]]):
            spin_at(bodies.q[n, k], bodies.v[n, k], bodies.flight[n, k])
    return NO_FAILED_ROW


# --- how it answers forces ---------------------------------------------------------------------------------------------


@kernel
def column_of(bodies: View, n: int, k: int) -> int:
    """The first column that belongs to the node of the k-th element: nodes have theirs in the order of attaching."""
    node, before = node_of(bodies.weights[n, k]), 0
    for other in range(k):
        theirs = node_of(bodies.weights[n, other])
        if theirs == node:
            break
        seen = False
        for earlier in range(other):
            seen = seen or node_of(bodies.weights[n, earlier]) == theirs
        before += 0 if seen else 1
    return before * int(bodies.right.shape[1])


@kernel
def follow(weights: Array, motion: Array, axes: Array, turn: Array, shown: Array) -> None:
    """How an element follows a motion of its node, spins along `axes`, the node standing as `turn` says."""
    d = turn.shape[0]
    arm, spin = room((3,)), room((3,))
    for c in range(d):
        arm[c] = 0.0
        for j in range(d):
            arm[c] += turn[c, j] * weights[1 + j]
    if d == 3:
        for c in range(3):
            spin[c] = axes[c, 0] * motion[3] + axes[c, 1] * motion[4] + axes[c, 2] * motion[5]
        for c in range(3):
            s, t = (c + 1) % 3, (c + 2) % 3
            shown[c] = weights[0] * motion[c] + spin[s] * arm[t] - spin[t] * arm[s]
    else:
        shown[0] = weights[0] * motion[0] - motion[2] * arm[1]
        shown[1] = weights[0] * motion[1] + motion[2] * arm[0]


@kernel
def respond_rows(start: int, stop: int, bodies: View, elements: View, ahead: bool) -> None:
    """B of every attached element where it stands or is predicted to be: forces move the slice that they act on at once, and no
    other."""
    dt = elements.clock[STEP] if ahead else 0.0
    turn, _, _ = turns(bodies.gravity)
    place, rate, now = nodes(bodies.q)
    values, motion = pairs(bodies.right)
    (shown,) = points(bodies.gravity)
    for n in range(start, stop):
        for k in range(bodies.numbers[n]):
            weights, response = bodies.weights[n, k], elements.response[bodies.attached[n, k]]
            node, first = node_of(weights), column_of(bodies, n, k)
            response[:, :] = 0.0
            predict(
                place.shape[0],
                bodies.q[n, node],
                bodies.v[n, node],
                bodies.a[n, node],
                dt,
                bodies.gains,
                place,
                rate,
                now,
            )
            rotation(place, turn)
            give_mass(bodies, n, node, values)
            for m in range(values.shape[0]):
                motion[:] = 0.0
                motion[m] = 1.0 / sqrt(values[m])
                follow(weights, motion, turn, turn, shown)
                for c in range(shown.shape[0]):
                    response[c, first + m] = shown[c]


respond_loop, respond_predicted_loop = response_loops(__name__, respond_rows)


@kernel
def show_column(
    bodies: View, elements: View, n: int, k: int, node: int, motion: Array, shown: Array, column: int
) -> None:
    """A column of the response of the k-th element, at the end of a flight with its axes half-way."""
    turn, axes, _ = turns(bodies.gravity)
    rotation(bodies.ahead[n, node], turn)
    rotation(bodies.trial[n, node], axes)
    follow(bodies.weights[n, k], motion, axes, turn, shown)
    response = elements.response[bodies.attached[n, k]]
    for c in range(shown.shape[0]):
        response[c, column] = shown[c]


@loop
def respond_ahead_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """How elements at the end of a drift answer forces at its beginning: (M + h^2/4 K)^-1, K in the middle of the flight."""
    turn, axes, _ = turns(bodies.gravity)
    values, motion = pairs(bodies.right)
    (shown,) = points(bodies.gravity)
    f, d = values.shape[0], turn.shape[0]
    for n in range(start, stop):
        count = bodies.nodes[bodies.make[n]]
        for k in range(bodies.numbers[n]):
            response = elements.response[bodies.attached[n, k]]
            response[:, :] = 0.0
        for k in range(bodies.numbers[n]):
            node, first = node_of(bodies.weights[n, k]), column_of(bodies, n, k)
            again = False
            for earlier in range(k):
                again = again or node_of(bodies.weights[n, earlier]) == node
            if again:
                continue
            give_mass(bodies, n, node, values)
            rotation(bodies.q[n, node], turn)
            rotation(bodies.trial[n, node], axes)
            for m in range(f):
                for other in range(count):
                    for c in range(f):
                        bodies.right[n, other, c] = 0.0
                if m < d or d == 2:
                    bodies.right[n, node, m] = sqrt(values[m])
                else:
                    for j in range(3):
                        value = 0.0
                        for c in range(3):
                            value += axes[c, j] * turn[c, m - d]
                        bodies.right[n, node, d + j] = value * sqrt(values[m])
                solve(bodies, n)
                for other in range(bodies.numbers[n]):
                    theirs = node_of(bodies.weights[n, other])
                    for c in range(f):
                        motion[c] = bodies.right[n, theirs, c]
                    show_column(bodies, elements, n, other, theirs, motion, shown, first + m)
    return NO_FAILED_ROW
