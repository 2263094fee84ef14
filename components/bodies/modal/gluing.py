"""A step of a body that bends a little, between joints that are glued, and how it answers forces.

A kick lets the forces on the elements and the weight act; between two kicks the body flies by itself, by the variational midpoint
rule: with the turn cay(h xi) of a flight, the amplitudes half-way and their mean rate d, and M = J xi + N d half-way,

    L = M + h/2 xi x M + h^2/4 xi (xi . M)
    p = d + N^T xi + h/2 (omega^2 eta + 2 zeta omega d - xi dJ/deta xi / 2 - dN/deta)

at its beginning follow from the discrete Lagrangian h (T - V) with Cayley's map for the turning (N. Bou-Rabee, J. E. Marsden,
"Hamilton-Pontryagin integrators on Lie groups", Found. Comput. Math. 9 (2009) 197-219); at its end h changes its sign. Without
damping it is symplectic and symmetric, so it can be composed; it keeps momentum and angular momentum to rounding, and no frequency
limits the step. (xi, d) follow by a few rounds, in which all that is stiff is linear and solved for.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from components.bodies.loops.leapfrog_loops import leapfrog_loops
from components.bodies.modal.kernels import FOUND, KEPT, PACE, PUSHED, answer, collect, solve, spins, wheels
from components.bodies.modal.showing import MODES, SHOWING, first_of, grow, gyroscopic_of, integrate_inertia, points
from components.bodies.posed.fixed_point import MOST_ITERATIONS, STALLED_TOLERANCE, still_converges
from components.bodies.posed.kernels import spin_at, times, turn_by, unsound
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View

CONVERGENCE_TOLERANCE = 1e-15  # of a turning, or of a way as long as the body is wide: below, nothing moves any more


@kernel
def kick(bodies: View, elements: View, n: int, share: float, falling: float, v: Array) -> None:
    """v += share M^-1 (forces + falling weight), at q."""
    push, _, _ = points(bodies.gravity)
    torque, spin, _s, _t = spins(bodies.gravity)
    inertia, _i = wheels(bodies.gravity)
    q, amounts, first = bodies.q[n], bodies.amounts[n], first_of(bodies)
    collect(bodies, elements, n, q, push, torque)
    integrate_inertia(bodies, n, q, inertia, bodies.mix[n])
    for i in range(torque.shape[0]):
        torque[i] *= share
    for k in range(int(bodies.sizes[MODES])):
        amounts[k, FOUND] = share * amounts[k, PUSHED]
    answer(bodies, n, inertia, bodies.mix[n], 0.0, 0.0, torque, FOUND)
    spin_at(q, v, spin)
    for i in range(torque.shape[0]):
        spin[i] += torque[i]
    for c in range(push.shape[0]):
        v[c] += share * push[c] / bodies.kilograms[bodies.make[n]] + falling * share * bodies.gravity[c]
    turn_by(q, spin, v)
    for k in range(int(bodies.sizes[MODES])):
        v[first + k] += amounts[k, FOUND]


@kernel
def turn_on(q: Array, h: float, spin: Array, to: Array) -> None:
    """The turning after cay(h spin), of length 1."""
    if spin.shape[0] == 3:
        way = room((4,))
        way[0] = 1.0
        for c in range(3):
            way[1 + c] = 0.5 * h * spin[c]
        times(q, way, to)
    else:
        to[2] = q[2] + h * spin[0]


@kernel
def turned_back(h: float, spin: Array, momentum: Array) -> None:
    """Angular momentum seen from axes after cay(h spin), that stays as it is in the world."""
    if spin.shape[0] == 3:
        first, second = room((3,)), room((3,))
        size = 1.0 + 0.25 * h * h * (spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2])
        for j in range(3):
            s, t = (j + 1) % 3, (j + 2) % 3
            first[j] = 0.5 * h * (momentum[s] * spin[t] - momentum[t] * spin[s])  # v x w
        for j in range(3):
            s, t = (j + 1) % 3, (j + 2) % 3
            second[j] = 0.5 * h * (first[s] * spin[t] - first[t] * spin[s])
        for j in range(3):
            momentum[j] += 2.0 * (first[j] + second[j]) / size


@kernel
def momenta(bodies: View, n: int, q: Array, v: Array, momentum: Array) -> None:
    """L in the axes of the body, and p of each mode as KEPT."""
    spin, _t, _u, _v = spins(bodies.gravity)
    inertia, _i = wheels(bodies.gravity)
    amounts, mix, first, t = bodies.amounts[n], bodies.mix[n], first_of(bodies), momentum.shape[0]
    spin_at(q, v, spin)
    integrate_inertia(bodies, n, q, inertia, mix)
    for i in range(t):
        momentum[i] = 0.0
        for j in range(t):
            momentum[i] += inertia[i, j] * spin[j]
    for k in range(int(bodies.sizes[MODES])):
        amounts[k, KEPT] = v[first + k]
        for i in range(t):
            momentum[i] += mix[k, i] * v[first + k]
            amounts[k, KEPT] += mix[k, i] * spin[i]


@kernel
def half_way(bodies: View, n: int, h: float) -> None:
    """Amplitudes in the middle of a flight, with the rates that are tried."""
    first = first_of(bodies)
    for k in range(int(bodies.sizes[MODES])):
        bodies.next_q[n, first + k] = bodies.q[n, first + k] + 0.5 * h * bodies.amounts[n, k, PACE]


@kernel
def miss(
    bodies: View, n: int, h: float, start: Array, spin: Array, inertia: Array, momentum: Array, left: Array
) -> None:
    """What (xi, d) leave of the equations of a flight: of angular momentum in `left`, of modes as FOUND; and M."""
    amounts, mix, make, first = bodies.amounts[n], bodies.mix[n], bodies.make[n], first_of(bodies)
    t, modes, middle = spin.shape[0], int(bodies.sizes[MODES]), bodies.next_q[n]
    for i in range(t):
        momentum[i] = 0.0
        for j in range(t):
            momentum[i] += inertia[i, j] * spin[j]
        for k in range(modes):
            momentum[i] += mix[k, i] * amounts[k, PACE]
    along = 0.0
    for i in range(t):
        along += spin[i] * momentum[i]
    for i in range(t):
        left[i] = start[i] - momentum[i]
        if t == 3:
            s, u = (i + 1) % 3, (i + 2) % 3
            left[i] -= 0.5 * h * (spin[s] * momentum[u] - spin[u] * momentum[s]) + 0.25 * h * h * spin[i] * along
    for k in range(modes):
        pull = bodies.squares[make, k] * middle[first + k] + bodies.losses[make, k] * amounts[k, PACE]
        pull -= grow(bodies, n, middle, spin, k)
        value = amounts[k, KEPT] - amounts[k, PACE]
        for j in range(modes):
            pull -= gyroscopic_of(bodies, n, spin, k, j) * amounts[j, PACE]
        for i in range(t):
            value -= mix[k, i] * spin[i]
        amounts[k, FOUND] = value - 0.5 * h * pull


@kernel
def heavy(bodies: View, make: int, k: int, h: float) -> float:
    """What a mode weighs in a flight."""
    weight: float = 1.0 + 0.25 * h * h * bodies.squares[make, k] + 0.5 * h * bodies.losses[make, k]
    return weight


@kernel
def improve(bodies: View, n: int, h: float, inertia: Array, momentum: Array, left: Array, spin: Array) -> float:
    """A round of Newton's rule, but for what changes of the shape; how far that moves anything, as a multiple of nothing."""
    amounts, mix, make = bodies.amounts[n], bodies.mix[n], bodies.make[n]
    matrix, turning = wheels(bodies.gravity)
    beside, _t, _u, _v = spins(bodies.gravity)
    t, modes = spin.shape[0], int(bodies.sizes[MODES])
    half = 0.5 * h if t == 3 else 0.0
    width = 0.0
    for i in range(t):
        width += bodies.inertia[make, 0, i * t + i]
        for j in range(t):
            matrix[i, j] = inertia[i, j]
            turning[i, j] = 1.0 if i == j else 0.0
    if t == 3:
        for i in range(3):
            s, u = (i + 1) % 3, (i + 2) % 3
            turning[i, s] = -half * spin[u]
            turning[i, u] = half * spin[s]
            for j in range(3):
                matrix[i, j] += half * (spin[s] * inertia[u, j] - spin[u] * inertia[s, j])
            matrix[i, s] += half * momentum[u]
            matrix[i, u] -= half * momentum[s]
    for k in range(modes):
        weight = heavy(bodies, make, k, h)
        for i in range(t):
            beside[i] = 0.0
            for j in range(t):
                beside[i] += turning[i, j] * mix[k, j]
        for i in range(t):
            left[i] -= beside[i] * amounts[k, FOUND] / weight
            for j in range(t):
                matrix[i, j] -= beside[i] * mix[k, j] / weight
    solve(matrix, left)
    most, sound = 0.0, 0.0
    for i in range(t):
        spin[i] += left[i]
        most = max(most, abs(h * left[i]) / CONVERGENCE_TOLERANCE)
        sound += 0.0 * left[i]
    width = sqrt(width)
    for k in range(modes):
        change = amounts[k, FOUND]
        for i in range(t):
            change -= mix[k, i] * left[i]
        change /= heavy(bodies, make, k, h)
        amounts[k, PACE] += change
        most = max(most, abs(h * change) / (CONVERGENCE_TOLERANCE * width))
        sound += 0.0 * change
    return most + sound


@kernel
def fly(bodies: View, n: int, h: float) -> bool:
    """From q with the velocity `half`: where that leads, in `ahead`, and the velocity there; whether no end was found."""
    start, spin, momentum, left = spins(bodies.gravity)
    inertia, _i = wheels(bodies.gravity)
    q, half, ahead, amounts, mix = bodies.q[n], bodies.half[n], bodies.ahead[n], bodies.amounts[n], bodies.mix[n]
    t, modes, first = spin.shape[0], int(bodies.sizes[MODES]), first_of(bodies)
    momenta(bodies, n, q, half, start)
    spin_at(q, half, spin)
    for k in range(modes):
        amounts[k, PACE] = half[first + k]
    moved, before, rounds = np.inf, np.inf, 0
    while still_converges(moved, before) and rounds < MOST_ITERATIONS:
        before = moved
        rounds += 1
        half_way(bodies, n, h)
        integrate_inertia(bodies, n, bodies.next_q[n], inertia, mix)
        miss(bodies, n, h, start, spin, inertia, momentum, left)
        moved = improve(bodies, n, h, inertia, momentum, left, spin)
    for k in range(modes):  # what p is at the end: 2 (d + N^T xi) less what it was
        value = amounts[k, PACE]
        for i in range(t):
            value += mix[k, i] * spin[i]
        amounts[k, FOUND] = 2.0 * value - amounts[k, KEPT]
        ahead[first + k] = q[first + k] + h * amounts[k, PACE]
    for c in range(bodies.gravity.shape[0]):
        ahead[c] = q[c] + h * half[c]
    turn_on(q, h, spin, ahead)
    turned_back(h, spin, start)
    integrate_inertia(bodies, n, ahead, inertia, mix)
    answer(bodies, n, inertia, mix, 0.0, 0.0, start, FOUND)
    turn_by(ahead, start, half)
    for k in range(modes):
        half[first + k] = amounts[k, FOUND]
    return not moved <= STALLED_TOLERANCE


drift_loop, kick_loop, apply_impulse_loop = leapfrog_loops(__name__, SHOWING, kick, fly, unsound)
