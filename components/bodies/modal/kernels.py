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

from components.bodies.modal.showing import (
    MODES,
    first_of,
    follow,
    grow,
    gyroscopic_of,
    integrate_inertia,
    lift,
    place_in_body,
    points,
    poses,
    show_places,
    show_rates,
    show_rates_ahead,
    turns,
)
from components.bodies.posed.kernels import (
    SPACE,
    by_spin,
    rotation,
    spin_of,
    square_of,
    unsound,
)
from components.bodies.scheme import BETA, DAMPING, GAMMA, STIFFNESS, inward
from modular.blocks import shaped
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.lanes import types
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

PUSHED, KEPT, PACE, FOUND = range(4)  # columns of `amounts`, a row for each mode

spins = shaped(types.float64, lambda gravity: [(2 * gravity[0] - 3,)] * 4)
wheels = shaped(types.float64, lambda gravity: [(2 * gravity[0] - 3,) * 2] * 2)


# --- the shape ---------------------------------------------------------------------------------------------------------


# --- what it shows -----------------------------------------------------------------------------------------------------


# --- forces ------------------------------------------------------------------------------------------------------------


@kernel
def collect(bodies: View, elements: View, n: int, q: Array, push: Array, torque: Array) -> None:
    """Forces on the elements become one at the mass centre, a torque in the axes of the body, and one on each mode."""
    pose, _p, _r, _s = poses(bodies.gravity)
    turn, _t, _u = turns(bodies.gravity)
    e, own, way, _g = points(bodies.gravity)
    make, d, modes, amounts = bodies.make[n], push.shape[0], int(bodies.sizes[MODES]), bodies.amounts[n]
    lift(q, pose)
    rotation(pose, turn)
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


@kernel
def spin_at(pose: Array, pace: Array, spin: Array) -> None:
    """Omega, in the axes of the body."""
    if pose.shape[0] == SPACE:
        spin_of(pose, pace, spin)
    else:
        spin[0] = pace[2]


# --- predict and correct -----------------------------------------------------------------------------------------------


@kernel
def accelerate(bodies: View, elements: View, n: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """Accelerations at q under the forces on the elements; v: the predicted velocity, `now` the newer one.

    `dt`: of an implicit step, or 0.
    """
    push, _p, _q, _r = points(bodies.gravity)
    torque, spin, momentum, growth = spins(bodies.gravity)
    pose, pace, newer, found = poses(bodies.gravity)
    inertia, _i = wheels(bodies.gravity)
    make, t, modes, first = bodies.make[n], torque.shape[0], int(bodies.sizes[MODES]), first_of(bodies)
    amounts, mix, gains = bodies.amounts[n], bodies.mix[n], bodies.gains
    collect(bodies, elements, n, q, push, torque)
    integrate_inertia(bodies, n, q, inertia, mix)
    lift(q, pose)
    lift(v, pace)
    lift(now, newer)
    spin_at(pose, newer, spin)
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
        size = square_of(pose)
        for c in range(3, SPACE):
            along += pose[c] * newer[c]
            rate += pose[c] * pace[c]
            square_rate += newer[c] * newer[c]
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
        along = -(inward(gains, dt) * square_rate + gains[DAMPING] * rate + gains[STIFFNESS] * 0.5 * (size - 1.0))
        by_spin(pose, along, torque, found)
        for c in range(3, SPACE):
            a[c] = found[c]
    else:
        a[2] = torque[0]
    for k in range(modes):
        a[first + k] = amounts[k, FOUND]


@kernel
def predict(bodies: View, n: int, dt: float) -> None:
    """Predict (II.44 with the unknown acceleration left out), and v + dt a."""
    q, v, a, gains = bodies.q[n], bodies.v[n], bodies.a[n], bodies.gains
    for i in range(first_of(bodies) + int(bodies.sizes[MODES])):
        bodies.next_q[n, i] = q[i] + dt * v[i] + (0.5 - gains[BETA]) * dt * dt * a[i]
        bodies.next_v[n, i] = v[i] + (1.0 - gains[GAMMA]) * dt * a[i]
        bodies.now[n, i] = v[i] + dt * a[i]


@kernel
def correct(bodies: View, elements: View, n: int) -> bool:
    """Local solve and correction (II.44) of one body; whether it went wrong."""
    q, v, a = bodies.q[n], bodies.v[n], bodies.a[n]
    dt, gains = elements.clock[STEP], bodies.gains
    predict(bodies, n, dt)
    accelerate(bodies, elements, n, dt, bodies.next_q[n], bodies.next_v[n], bodies.now[n], a)
    for i in range(first_of(bodies) + int(bodies.sizes[MODES])):
        v[i] = bodies.next_v[n, i] + gains[GAMMA] * dt * a[i]
        q[i] = bodies.next_q[n, i] + gains[BETA] * dt * dt * a[i]
    return ill(bodies, q, v)


@kernel
def ill(bodies: View, q: Array, v: Array) -> bool:
    """Whether a number is none any more, or a quaternion far from 1."""
    pose, pace, _r, _s = poses(bodies.gravity)
    lift(q, pose)
    lift(v, pace)
    total, first = 0.0, first_of(bodies)
    for i in range(first, first + int(bodies.sizes[MODES])):
        total += 0.0 * q[i] + 0.0 * v[i]
    pace[0] += total
    return unsound(pose, pace)


@kernel
def step_back_half(bodies: View, n: int, dt: float) -> None:
    """Half a step before the predicted place, where its velocity was reached (posed/kernels.py), for a while into `now`."""
    for i in range(first_of(bodies) + int(bodies.sizes[MODES])):
        bodies.now[n, i] = bodies.next_q[n, i] - bodies.gains[GAMMA] * dt * bodies.next_v[n, i]


@kernel
def show_predicted(bodies: View, elements: View, n: int) -> None:
    """Predict, and show predicted places and rates."""
    predict(bodies, n, elements.clock[STEP])
    show_places(bodies, elements, n, bodies.next_q[n])
    step_back_half(bodies, n, elements.clock[STEP])
    show_rates(bodies, n, bodies.now[n], bodies.next_v[n], elements.velocity)


@loop
def predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Predict and show the predicted elements."""
    for n in range(start, stop):
        show_predicted(bodies, elements, n)
    return NO_FAILED_ROW


@loop
def show_end_velocity_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the velocities x' + dt x'' of the elements: for forces that depend on velocity, and for reactions of glued joints."""
    for n in range(start, stop):
        show_rates_ahead(bodies, n, elements.clock[STEP], elements.current_velocity)
    return NO_FAILED_ROW


@loop
def correct_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Local solve, correction, corrected velocities of the elements; the first row that went wrong, or -1."""
    wrong = NO_FAILED_ROW
    for n in range(start, stop):
        if correct(bodies, elements, n) and wrong < 0:
            wrong = n
        show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
    return wrong


@loop
def correct_and_predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Correct, then predict for the next tick."""
    wrong = NO_FAILED_ROW
    for n in range(start, stop):
        if correct(bodies, elements, n) and wrong < 0:
            wrong = n
        show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.current_velocity)
        show_predicted(bodies, elements, n)
    return wrong


@loop
def show_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the present elements."""
    for n in range(start, stop):
        show_places(bodies, elements, n, bodies.q[n])
        show_rates(bodies, n, bodies.q[n], bodies.v[n], elements.velocity)
    return NO_FAILED_ROW


@loop
def reevaluate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Accelerations at the unchanged state."""
    for n in range(start, stop):
        accelerate(bodies, elements, n, 0.0, bodies.q[n], bodies.v[n], bodies.v[n], bodies.a[n])
    return NO_FAILED_ROW
