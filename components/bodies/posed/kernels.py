"""The equations of Newton and Euler of a rigid body that stands at a place, turned by an angle or a quaternion.

In the plane q = (x, y, theta), in space q = (x, y, z, p0, p1, p2, p3), from the mass centre and the principal axes. A point or
direction of the body is put together as w0 r + R(q) rho, (III.13), w0 = 1 for points and 0 for directions; R is linear in
(cos, sin), or quadratic in p: R rho = p rho p^-1 times |p|^2. With Omega = 2 Im(p^-1 p') |p|^2 and N = |p|^2, Lagrange's
equations with the mass matrix 4 G^T J G (P. E. Nikravesh, "Computer-aided analysis of mechanical systems", Prentice-Hall 1988,
6.6; J. Wittenburg, "Dynamics of multibody systems", Springer 2008) are

    N J A + Omega x J Omega + 2 (p . p') J Omega = torque,    A = 2 Im(p^-1 p'') N

in the axes of the body, and p . p'' follows from the one internal constraint, (p . p - 1) / 2 = 0, with the gains of all bodies
(Séguy 2003, (IV.6)). So nothing is solved: axes are principal, and J is three numbers. Terms with velocities read v + dt a, for
the predicted velocity lags behind by half a step.
"""

from __future__ import annotations

from math import cos, isfinite, sin
from typing import Any

from components.bodies.scheme import BETA, DAMPING, EXTRA_GYROSCOPIC_ROUNDS, GAMMA, STIFFNESS, inward, step_of
from modular.blocks import room, shaped
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.lanes import types
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

SPACE = 7  # coordinates of a body in space

states = shaped(types.float64, lambda q: [q] * 3)
square = {3: (2, 2), SPACE: (3, 3)}
turns = shaped(types.float64, lambda q: [square[q[0]], square[q[0]], square[q[0]]])


# --- places ------------------------------------------------------------------------------------------------------------


@kernel
def square_of(q: Array) -> float:
    """|p|^2."""
    total: float = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]
    return total


@kernel
def rotation(q: Array, turn: Array) -> None:
    """R: its columns are the axes of the body."""
    if q.shape[0] == SPACE:
        s, x, y, z = q[3], q[4], q[5], q[6]
        turn[0, 0] = s * s + x * x - y * y - z * z
        turn[1, 1] = s * s - x * x + y * y - z * z
        turn[2, 2] = s * s - x * x - y * y + z * z
        turn[0, 1] = 2.0 * (x * y - s * z)
        turn[1, 0] = 2.0 * (x * y + s * z)
        turn[0, 2] = 2.0 * (x * z + s * y)
        turn[2, 0] = 2.0 * (x * z - s * y)
        turn[1, 2] = 2.0 * (y * z - s * x)
        turn[2, 1] = 2.0 * (y * z + s * x)
    else:
        turn[0, 0] = turn[1, 1] = cos(q[2])
        turn[1, 0] = sin(q[2])
        turn[0, 1] = -turn[1, 0]


@kernel
def rotation_rate(q: Array, v: Array, rate: Array) -> None:
    """dR/dt."""
    if q.shape[0] == SPACE:
        s, x, y, z = q[3], q[4], q[5], q[6]
        ds, dx, dy, dz = v[3], v[4], v[5], v[6]
        ss, xx, yy, zz = 2.0 * s * ds, 2.0 * x * dx, 2.0 * y * dy, 2.0 * z * dz
        rate[0, 0] = ss + xx - yy - zz
        rate[1, 1] = ss - xx + yy - zz
        rate[2, 2] = ss - xx - yy + zz
        rate[0, 1] = 2.0 * (dx * y + x * dy - ds * z - s * dz)
        rate[1, 0] = 2.0 * (dx * y + x * dy + ds * z + s * dz)
        rate[0, 2] = 2.0 * (dx * z + x * dz + ds * y + s * dy)
        rate[2, 0] = 2.0 * (dx * z + x * dz - ds * y - s * dy)
        rate[1, 2] = 2.0 * (dy * z + y * dz - ds * x - s * dx)
        rate[2, 1] = 2.0 * (dy * z + y * dz + ds * x + s * dx)
    else:
        c, s2 = cos(q[2]), sin(q[2])
        rate[0, 0] = rate[1, 1] = -v[2] * s2
        rate[1, 0] = v[2] * c
        rate[0, 1] = -v[2] * c


@kernel
def rotation_bend(q: Array, v: Array, a: Array, turn: Array, bend: Array) -> None:
    """d2R/dt2; `turn` is spoilt."""
    rotation_rate(q, a, bend)
    if q.shape[0] == SPACE:  # R is a square of p
        rotation(v, turn)
        share = 2.0
    else:
        rotation(q, turn)
        share = -v[2] * v[2]
    for c in range(turn.shape[0]):
        for j in range(turn.shape[0]):
            bend[c, j] += share * turn[c, j]


@kernel
def put_together(weights: Array, place: Array, turn: Array, shown: Array) -> None:
    """A point or direction, or its rate: w0 r + R rho."""
    for c in range(turn.shape[0]):
        value = weights[0] * place[c]
        for j in range(turn.shape[0]):
            value += turn[c, j] * weights[1 + j]
        shown[c] = value


@kernel
def show_places(bodies: View, elements: View, n: int, q: Array, turn: Array) -> None:
    """Show where the elements of a body are."""
    rotation(q, turn)
    for k in range(bodies.numbers[n]):
        put_together(bodies.weights[n, k], q, turn, elements.position[bodies.attached[n, k]])


@kernel
def show_rates(bodies: View, n: int, q: Array, v: Array, turn: Array, column: View) -> None:
    """Show how fast they are."""
    rotation_rate(q, v, turn)
    for k in range(bodies.numbers[n]):
        put_together(bodies.weights[n, k], v, turn, column[bodies.attached[n, k]])


@kernel
def show_rates_ahead(
    bodies: View, n: int, q: Array, v: Array, a: Array, h: float, blocks: tuple[Array, ...], column: View
) -> None:
    """Show how fast they would be if each went on for h with its present acceleration: x' + h x''."""
    turn, rate, bend = blocks
    d = turn.shape[0]
    rotation_rate(q, v, rate)
    rotation_bend(q, v, a, turn, bend)
    for k in range(bodies.numbers[n]):
        weights, shown = bodies.weights[n, k], column[bodies.attached[n, k]]
        for c in range(d):
            value = weights[0] * (v[c] + h * a[c])
            for j in range(d):
                value += (rate[c, j] + h * bend[c, j]) * weights[1 + j]
            shown[c] = value


# --- forces ------------------------------------------------------------------------------------------------------------


@kernel
def collect(bodies: View, elements: View, n: int, turn: Array, push: Array, torque: Array) -> None:
    """Forces on the elements become a force at the mass centre and a torque in the axes of the body, in the order of attaching."""
    d = turn.shape[0]
    for c in range(d):
        push[c] = 0.0
    for c in range(torque.shape[0]):
        torque[c] = 0.0
    for k in range(bodies.numbers[n]):
        weights, force = bodies.weights[n, k], elements.force[bodies.attached[n, k]]
        for c in range(d):
            push[c] += weights[0] * force[c]
        turned(weights, force, turn, torque)


@kernel
def turned(weights: Array, force: Array, turn: Array, torque: Array) -> None:
    """torque += rho x R^T force."""
    if turn.shape[0] == 3:
        own = room((3,))
        for j in range(3):
            own[j] = turn[0, j] * force[0] + turn[1, j] * force[1] + turn[2, j] * force[2]
        for j in range(3):
            s, t = (j + 1) % 3, (j + 2) % 3
            torque[j] += weights[1 + s] * own[t] - weights[1 + t] * own[s]
    else:
        first = turn[0, 0] * force[0] + turn[1, 0] * force[1]
        second = turn[0, 1] * force[0] + turn[1, 1] * force[1]
        torque[0] += weights[1] * second - weights[2] * first


sums = shaped(types.float64, lambda q: [(square[q[0]][0],), (1 if q[0] == 3 else 3,), square[q[0]]])


@kernel
def spin_of(q: Array, v: Array, spin: Array) -> None:
    """Omega, 2 Im(p^-1 p') |p|^2: the angular velocity in the axes of the body."""
    s, x, y, z = q[3], q[4], q[5], q[6]
    spin[0] = 2.0 * (-x * v[3] + s * v[4] + z * v[5] - y * v[6])
    spin[1] = 2.0 * (-y * v[3] - z * v[4] + s * v[5] + x * v[6])
    spin[2] = 2.0 * (-z * v[3] + y * v[4] - x * v[5] + s * v[6])


@kernel
def by_spin(q: Array, along: float, spin: Array, v: Array) -> None:
    """p' = (along p + p spin / 2) / |p|^2: the way back."""
    s, x, y, z, size = q[3], q[4], q[5], q[6], square_of(q)
    v[3] = (along * s - 0.5 * (x * spin[0] + y * spin[1] + z * spin[2])) / size
    v[4] = (along * x + 0.5 * (s * spin[0] + y * spin[2] - z * spin[1])) / size
    v[5] = (along * y + 0.5 * (s * spin[1] + z * spin[0] - x * spin[2])) / size
    v[6] = (along * z + 0.5 * (s * spin[2] + x * spin[1] - y * spin[0])) / size


@kernel
def accelerate(bodies: View, elements: View, n: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """Accelerations at q under the forces on the elements; v is the predicted velocity, `now` the newer one, v + dt a.

    What whirls is asked again with the velocities that the answer leads to (scheme.py).
    """
    push, torque, turn = sums(q)
    make = bodies.make[n]
    mass, inertia = bodies.kilograms[make], bodies.inertia[make]
    rotation(q, turn)
    collect(bodies, elements, n, turn, push, torque)
    for c in range(push.shape[0]):
        a[c] = push[c] / mass + bodies.gravity[c]
    if q.shape[0] == SPACE:
        gains, ease, pace, spin, swing = bodies.gains, room((3,)), room((3,)), room((3,)), room((3,))
        size, along, rate, square_rate = square_of(q), 0.0, 0.0, 0.0
        for c in range(3, SPACE):
            along += q[c] * now[c]
            rate += q[c] * v[c]
            square_rate += now[c] * now[c]
        for j in range(3):
            ease[j] = 1.0 / (size * inertia[j])
        spin_of(q, now, spin)
        euler_acceleration(inertia, ease, along, spin, torque, swing)
        bend = bend_along(gains, dt, size, rate, square_rate)
        if dt > 0.0:
            spin_of(q, v, pace)
            later = gains[GAMMA] * dt
            for _ in range(EXTRA_GYROSCOPIC_ROUNDS):
                along, square_rate = rate + later * bend, 0.0
                for j in range(3):
                    spin[j] = pace[j] + later * swing[j]
                    square_rate += 0.25 * spin[j] * spin[j]
                square_rate = (square_rate + along * along) / size
                euler_acceleration(inertia, ease, along, spin, torque, swing)
                bend = bend_along(gains, dt, size, rate, square_rate)
        by_spin(q, bend, swing, a)
    else:
        a[2] = torque[0] / inertia[0]


@kernel
def euler_acceleration(inertia: Array, ease: Array, along: float, spin: Array, torque: Array, swing: Array) -> None:
    """Spin of the acceleration, from Euler's equations in the axes of the body; p p' = `along`, 1 / (|p|^2 I) = `ease`."""
    for j in range(3):
        s, t = (j + 1) % 3, (j + 2) % 3
        gyroscopic = spin[s] * inertia[t] * spin[t] - spin[t] * inertia[s] * spin[s]
        swing[j] = (torque[j] - gyroscopic - 2.0 * along * inertia[j] * spin[j]) * ease[j]


@kernel
def bend_along(gains: Array, dt: float, size: float, rate: float, square_rate: float) -> Any:
    """p p'': what keeps a quaternion a unit, and what draws it back."""
    bend: float = -(inward(gains, dt) * square_rate + gains[DAMPING] * rate + gains[STIFFNESS] * 0.5 * (size - 1.0))
    return bend


# --- predict and correct -----------------------------------------------------------------------------------------------


@kernel
def predict(q: Array, v: Array, a: Array, dt: float, gains: Array, q_new: Array, v_new: Array, now: Array) -> None:
    """Predict (II.44 with the unknown acceleration left out), and v + dt a."""
    for i in range(q.shape[0]):
        q_new[i] = q[i] + dt * v[i] + (0.5 - gains[BETA]) * dt * dt * a[i]
        v_new[i] = v[i] + (1.0 - gains[GAMMA]) * dt * a[i]
        now[i] = v[i] + dt * a[i]


@kernel
def show_predicted(bodies: View, elements: View, n: int, q_new: Array, v_new: Array, turn: Array) -> None:
    """Show predicted places and rates; q_new is spoilt.

    Predicted velocities are those of half a step before, so elements are as fast as where the body was then. Further on arms have
    turned, and sides of a joint that move alike would seem to part, to first order: a damper would take what nobody loses.
    """
    show_places(bodies, elements, n, q_new, turn)
    step_back(q_new, v_new, step_of(bodies, elements), bodies.gains)
    show_rates(bodies, n, q_new, v_new, turn, elements.velocity)


@kernel
def step_back(q: Array, v: Array, dt: float, gains: Array) -> None:
    """From the predicted place to where the predicted velocity was reached."""
    for i in range(q.shape[0]):
        q[i] -= gains[GAMMA] * dt * v[i]


@loop
def predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Predict and show the predicted elements."""
    q_new, v_new, now = states(bodies.q)
    turn, _, _turn = turns(bodies.q)
    dt = step_of(bodies, elements)
    for n in range(start, stop):
        predict(bodies.q[n], bodies.v[n], bodies.a[n], dt, bodies.gains, q_new, v_new, now)
        show_predicted(bodies, elements, n, q_new, v_new, turn)
    return NO_FAILED_ROW


@loop
def show_end_velocity_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the velocities x' + dt x'' of the elements: for forces that depend on velocity, and for reactions of glued joints."""
    blocks = turns(bodies.q)
    for n in range(start, stop):
        show_rates_ahead(
            bodies, n, bodies.q[n], bodies.v[n], bodies.a[n], elements.clock[STEP], blocks, elements.current_velocity
        )
    return NO_FAILED_ROW


@kernel
def correct(bodies: View, elements: View, n: int, q_new: Array, v_new: Array, now: Array) -> bool:
    """Local solve and correction (II.44) of one body; whether it went wrong."""
    q, v, a = bodies.q[n], bodies.v[n], bodies.a[n]
    dt, gains = step_of(bodies, elements), bodies.gains
    predict(q, v, a, dt, gains, q_new, v_new, now)
    accelerate(bodies, elements, n, dt, q_new, v_new, now, a)
    for i in range(q.shape[0]):
        v[i] = v_new[i] + gains[GAMMA] * dt * a[i]
        q[i] = q_new[i] + gains[BETA] * dt * dt * a[i]
    return unsound(q, v)


@kernel
def unsound(q: Array, v: Array) -> bool:
    """Whether a number is none any more, or a quaternion far from 1."""
    total = 0.0
    for i in range(q.shape[0]):
        total += 0.0 * q[i] + 0.0 * v[i]
    wrong = not isfinite(total)
    if q.shape[0] == SPACE:
        wrong = wrong or abs(square_of(q) - 1.0) > 0.5
    return wrong


@loop
def correct_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Local solve, correction, corrected velocities of the elements; the first row that went wrong, or -1."""
    q_new, v_new, now = states(bodies.q)
    turn, _, _turn = turns(bodies.q)
    wrong = NO_FAILED_ROW
    for n in range(start, stop):
        if correct(bodies, elements, n, q_new, v_new, now) and wrong < 0:
            wrong = n
        show_rates(bodies, n, bodies.q[n], bodies.v[n], turn, elements.velocity)
    return wrong


@loop
def correct_and_predict_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Correct, then predict for the next tick: the same as both, with the rows at hand once."""
    q_new, v_new, now = states(bodies.q)
    turn, _, _turn = turns(bodies.q)
    dt, wrong = step_of(bodies, elements), NO_FAILED_ROW
    for n in range(start, stop):
        if correct(bodies, elements, n, q_new, v_new, now) and wrong < 0:
            wrong = n
        q, v = bodies.q[n], bodies.v[n]
        show_rates(bodies, n, q, v, turn, elements.current_velocity)
        predict(q, v, bodies.a[n], dt, bodies.gains, q_new, v_new, now)
        show_predicted(bodies, elements, n, q_new, v_new, turn)
    return wrong


@loop
def show_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Show the present elements."""
    turn, _, _turn = turns(bodies.q)
    for n in range(start, stop):
        show_places(bodies, elements, n, bodies.q[n], turn)
        show_rates(bodies, n, bodies.q[n], bodies.v[n], turn, elements.velocity)
    return NO_FAILED_ROW


@loop
def reevaluate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Accelerations at the unchanged state."""
    for n in range(start, stop):
        v = bodies.v[n]
        accelerate(bodies, elements, n, 0.0, bodies.q[n], v, v, bodies.a[n])
    return NO_FAILED_ROW
