"""A body that bends a little about a floating frame: what it shows, and its step by Newmark's rule.

At q = (r, theta, eta) or (r, p, eta), r its mass centre, points are linear in the amplitudes eta: with e = s + eta_i phi_i in its
own axes, an element stands at w0 r + R e. Modes move neither the mass centre nor the whole, so with

    J = eta_a eta_b I_ab,   I_ab = tr(W_ab) 1 - sym W_ab,   N_j = eta_i C_ij,   C_ij: axis of W_ij = -C_ji

and W_ab = sum m e_a e_b, eta_0 = 1, there is T = m v^2 / 2 + Omega (J Omega / 2 + N eta') + eta'^2 / 2, and the equations of
Lagrange are (A. A. Shabana, "Dynamics of multibody systems", Cambridge University Press 2013, 5.4)

    J A + N eta'' = torque - Omega x (J Omega + N eta') - J' Omega
    N^T A + eta'' = Q - omega^2 eta - 2 zeta omega eta' + Omega dJ/deta Omega / 2 + 2 (C_kj Omega) eta_j'.

Springs and dampers of modes are linear and taken where the step ends (II.44, solved for the body alone, as beams do): no frequency
limits the step, and a mode costs one division. Terms with velocities read v + dt a, as those of posed bodies (posed/kernels.py).
"""

from __future__ import annotations

from components.bodies.loops.newmark_loops import in_columns, newmark_loops, newmark_step
from components.bodies.modal.showing import (
    MODES,
    SHOWING,
    first_of,
    follow,
    grow,
    gyroscopic_of,
    integrate_inertia,
    place_in_body,
    points,
)
from components.bodies.posed.kernels import SPACE, bend_along, by_spin, rotation, spin_at, square_of, turns, unsound
from components.bodies.scheme import BETA, GAMMA
from modular.blocks import shaped
from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import types
from modular.views import View

PUSHED, KEPT, PACE, FOUND = range(4)  # columns of `amounts`, a row for each mode

spins = shaped(types.float64, lambda gravity: [(2 * gravity[0] - 3,)] * 4)
wheels = shaped(types.float64, lambda gravity: [(2 * gravity[0] - 3,) * 2] * 2)


# --- forces ------------------------------------------------------------------------------------------------------------


@kernel(apart=True)
def collect(bodies: View, elements: View, n: int, q: Array, push: Array, torque: Array) -> None:
    """Forces on the elements become one at the mass centre, a torque in the axes of the body, and one on each mode."""
    turn, _, _ = turns(bodies.gravity)
    e, own, way = points(bodies.gravity)
    make, d, modes, amounts = bodies.make[n], push.shape[0], int(bodies.sizes[MODES]), bodies.amounts[n]
    rotation(q, turn)
    for c in range(d):
        push[c] = 0.0
    for c in range(torque.shape[0]):
        torque[c] = 0.0
    for i in range(modes):
        amounts[i, PUSHED] = 0.0
    for k in range(bodies.numbers[n]):
        weights, force = bodies.weights[n, k], elements.force[bodies.attached[n, k]]
        for j in range(d):
            push[j] += weights[0] * force[j]
            own[j] = 0.0
            for c in range(d):
                own[j] += turn[c, j] * force[c]
        place_in_body(bodies, make, weights, q, e)
        cross(e, own, torque)
        for i in range(modes):
            follow(bodies, make, weights, i, way)
            for c in range(d):
                amounts[i, PUSHED] += way[c] * own[c]


@kernel
def cross(arm: Array, force: Array, torque: Array) -> None:
    """torque += arm x force."""
    if arm.shape[0] == 3:
        for j in range(3):
            s, t = (j + 1) % 3, (j + 2) % 3
            torque[j] += arm[s] * force[t] - arm[t] * force[s]
    else:
        torque[0] += arm[0] * force[1] - arm[1] * force[0]


@kernel
def solve(matrix: Array, side: Array) -> None:
    """The right-hand side becomes the solution; matrices of inertia, which need no pivots."""
    t = side.shape[0]
    for p in range(t):
        for i in range(p + 1, t):
            factor = matrix[i, p] / matrix[p, p]
            for j in range(p, t):
                matrix[i, j] -= factor * matrix[p, j]
            side[i] -= factor * side[p]
    for back in range(t):
        i = t - 1 - back
        value = side[i]
        for j in range(i + 1, t):
            value -= matrix[i, j] * side[j]
        side[i] = value / matrix[i, i]


@kernel
def answer(
    bodies: View, n: int, inertia: Array, mix: Array, place: float, pace: float, torque: Array, column: int
) -> None:
    """(A, eta'') of J A + N eta'' = torque, N^T A + E eta'' = amounts[:, column], in place; E = 1 + place omega^2 + pace losses."""
    make, t, amounts = bodies.make[n], torque.shape[0], bodies.amounts[n]
    matrix, _m = wheels(bodies.gravity)
    for i in range(t):
        for j in range(t):
            matrix[i, j] = inertia[i, j]
    for k in range(int(bodies.sizes[MODES])):
        heavy = 1.0 + place * bodies.squares[make, k] + pace * bodies.losses[make, k]
        for i in range(t):
            torque[i] -= mix[k, i] * amounts[k, column] / heavy
            for j in range(t):
                matrix[i, j] -= mix[k, i] * mix[k, j] / heavy
    solve(matrix, torque)
    for k in range(int(bodies.sizes[MODES])):
        value = amounts[k, column]
        for i in range(t):
            value -= mix[k, i] * torque[i]
        amounts[k, column] = value / (1.0 + place * bodies.squares[make, k] + pace * bodies.losses[make, k])


# --- predict and correct -----------------------------------------------------------------------------------------------


@kernel
def accelerate(bodies: View, elements: View, n: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """Accelerations at q under the forces on the elements; v: the predicted velocity, `now` the newer one.

    `dt`: of an implicit step, or 0.
    """
    push, _, _ = points(bodies.gravity)
    torque, spin, momentum, growth = spins(bodies.gravity)
    inertia, _i = wheels(bodies.gravity)
    make, t, modes, first = bodies.make[n], torque.shape[0], int(bodies.sizes[MODES]), first_of(bodies)
    amounts, mix, gains = bodies.amounts[n], bodies.mix[n], bodies.gains
    collect(bodies, elements, n, q, push, torque)
    integrate_inertia(bodies, n, q, inertia, mix)
    spin_at(q, now, spin)
    for i in range(t):
        momentum[i] = 0.0
        growth[i] = 0.0
        for j in range(t):
            momentum[i] += inertia[i, j] * spin[j]
    for k in range(modes):
        for i in range(t):
            momentum[i] += mix[k, i] * now[first + k]
        for b in range(1 + modes):  # J' Omega
            share = 2.0 * now[first + k] * (1.0 if b == 0 else q[first + b - 1])
            for i in range(t):
                for j in range(t):
                    growth[i] += share * bodies.inertia[make, (1 + k) * (1 + modes) + b, i * t + j] * spin[j]
        value = amounts[k, PUSHED] + grow(bodies, n, q, spin, k)
        for j in range(modes):
            value += 2.0 * gyroscopic_of(bodies, n, spin, k, j) * now[first + j]
        amounts[k, FOUND] = value - bodies.squares[make, k] * q[first + k] - bodies.losses[make, k] * v[first + k]
    size, along, rate, square_rate = 1.0, 0.0, 0.0, 0.0
    if t == 3:
        size = square_of(q)
        for c in range(3, SPACE):
            along += q[c] * now[c]
            rate += q[c] * v[c]
            square_rate += now[c] * now[c]
        for j in range(3):
            s, u = (j + 1) % 3, (j + 2) % 3
            torque[j] -= spin[s] * momentum[u] - spin[u] * momentum[s] + 2.0 * along * momentum[j]
    for j in range(t):
        torque[j] -= growth[j]
    answer(bodies, n, inertia, mix, gains[BETA] * dt * dt, gains[GAMMA] * dt, torque, FOUND)
    for c in range(push.shape[0]):
        a[c] = push[c] / bodies.kilograms[make] + bodies.gravity[c]
    if t == 3:
        for j in range(3):
            torque[j] /= size
        by_spin(q, bend_along(gains, dt, size, rate, square_rate), torque, a)
    else:
        a[2] = torque[0]
    for k in range(modes):
        a[first + k] = amounts[k, FOUND]


predict_loop, show_end_velocity_loop, correct_loop, correct_and_predict_loop, show_loop, reevaluate_loop = (
    newmark_loops(__name__, SHOWING, *newmark_step(SHOWING, accelerate, unsound, in_columns))
)
