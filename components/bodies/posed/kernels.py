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

from math import cos, sin, sqrt
from typing import Any

from components.bodies.loops.newmark_loops import Showing, finite, newmark_loops, newmark_step
from components.bodies.scheme import DAMPING, EXTRA_GYROSCOPIC_ROUNDS, GAMMA, STIFFNESS, inward
from modular.blocks import room, shaped
from modular.elements import Array
from modular.flat_rows import width_of
from modular.kernel import kernel
from modular.lanes import types
from modular.views import View

SPACE = 7  # coordinates of a body in space

turns = shaped(types.float64, lambda gravity: [(gravity[0], gravity[0])] * 3)
sums = shaped(types.float64, lambda gravity: [gravity, (2 * gravity[0] - 3,)])  # a force, and a torque or a spin


# --- places ------------------------------------------------------------------------------------------------------------


@kernel
def square_of(q: Array) -> float:
    """|p|^2."""
    total: float = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]
    return total


@kernel
def rotation(q: Array, turn: Array) -> None:
    """R: its columns are the axes of the body."""
    if turn.shape[0] == 3:
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
    if rate.shape[0] == 3:
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
    if turn.shape[0] == 3:  # R is a square of p
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
def put_together_ahead(weights: Array, v: Array, a: Array, h: float, rate: Array, bend: Array, shown: Array) -> None:
    """What its rate would be after h with the present acceleration: x' + h x''."""
    for c in range(rate.shape[0]):
        value = weights[0] * (v[c] + h * a[c])
        for j in range(rate.shape[0]):
            value += (rate[c, j] + h * bend[c, j]) * weights[1 + j]
        shown[c] = value


@kernel
def show_places(bodies: View, elements: View, n: int, q: Array) -> None:
    """Show where the elements of a body are."""
    turn, _, _ = turns(bodies.gravity)
    rotation(q, turn)
    for k in range(bodies.numbers[n]):
        put_together(bodies.weights[n, k], q, turn, elements.position[bodies.attached[n, k]])


@kernel
def show_rates(bodies: View, n: int, q: Array, v: Array, column: View) -> None:
    """Show how fast they are."""
    rate, _, _ = turns(bodies.gravity)
    rotation_rate(q, v, rate)
    for k in range(bodies.numbers[n]):
        put_together(bodies.weights[n, k], v, rate, column[bodies.attached[n, k]])


@kernel
def show_rates_ahead(bodies: View, n: int, q: Array, v: Array, a: Array, h: float, column: View) -> None:
    """Show how fast they would be if each went on for h with its present acceleration."""
    turn, rate, bend = turns(bodies.gravity)
    rotation_rate(q, v, rate)
    rotation_bend(q, v, a, turn, bend)
    for k in range(bodies.numbers[n]):
        put_together_ahead(bodies.weights[n, k], v, a, h, rate, bend, column[bodies.attached[n, k]])


SHOWING = Showing(show_places, show_rates, show_rates_ahead)


# --- forces ------------------------------------------------------------------------------------------------------------


@kernel
def collect(bodies: View, elements: View, n: int, q: Array, push: Array, torque: Array) -> None:
    """Forces on the elements become a force at the mass centre and a torque in the axes of the body, in the order of attaching."""
    turn, _, _ = turns(bodies.gravity)
    d = turn.shape[0]
    rotation(q, turn)
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


@kernel
def spin_of(q: Array, v: Array, spin: Array) -> None:
    """Omega, 2 Im(p^-1 p') |p|^2: the angular velocity in the axes of the body."""
    s, x, y, z = q[3], q[4], q[5], q[6]
    spin[0] = 2.0 * (-x * v[3] + s * v[4] + z * v[5] - y * v[6])
    spin[1] = 2.0 * (-y * v[3] - z * v[4] + s * v[5] + x * v[6])
    spin[2] = 2.0 * (-z * v[3] + y * v[4] - x * v[5] + s * v[6])


@kernel
def spin_at(q: Array, v: Array, spin: Array) -> None:
    """Omega, in the plane the one number of it."""
    if spin.shape[0] == 3:
        spin_of(q, v, spin)
    else:
        spin[0] = v[2]


@kernel
def by_spin(q: Array, along: float, spin: Array, v: Array) -> None:
    """p' = (along p + p spin / 2) / |p|^2: the way back."""
    s, x, y, z, size = q[3], q[4], q[5], q[6], square_of(q)
    v[3] = (along * s - 0.5 * (x * spin[0] + y * spin[1] + z * spin[2])) / size
    v[4] = (along * x + 0.5 * (s * spin[0] + y * spin[2] - z * spin[1])) / size
    v[5] = (along * y + 0.5 * (s * spin[1] + z * spin[0] - x * spin[2])) / size
    v[6] = (along * z + 0.5 * (s * spin[2] + x * spin[1] - y * spin[0])) / size


@kernel
def turn_by(q: Array, spin: Array, v: Array) -> None:
    """Rates of the coordinates that turn, from the spin; a quaternion keeps its length."""
    if spin.shape[0] == 3:
        by_spin(q, 0.0, spin, v)
    else:
        v[2] = spin[0]


@kernel
def times(q: Array, way: Array, made: Array) -> None:
    """p way, its length made 1."""
    s, x, y, z = q[3], q[4], q[5], q[6]
    made[3] = s * way[0] - x * way[1] - y * way[2] - z * way[3]
    made[4] = s * way[1] + x * way[0] + y * way[3] - z * way[2]
    made[5] = s * way[2] + y * way[0] + z * way[1] - x * way[3]
    made[6] = s * way[3] + z * way[0] + x * way[2] - y * way[1]
    size = 1.0 / sqrt(square_of(made))
    for c in range(3, SPACE):
        made[c] *= size


@kernel
def accelerate(bodies: View, elements: View, n: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """Accelerations at q under the forces on the elements; v is the predicted velocity, `now` the newer one, v + dt a.

    What whirls is asked again with the velocities that the answer leads to (scheme.py).
    """
    push, torque = sums(bodies.gravity)
    make = bodies.make[n]
    mass, inertia = bodies.kilograms[make], bodies.inertia[make]
    collect(bodies, elements, n, q, push, torque)
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
def unsound(bodies: View, n: int, q: Array, v: Array) -> bool:
    """Whether a number is none any more, or a quaternion far from 1."""
    return not finite(width_of(bodies.q), q, v) or (bodies.gravity.shape[0] == 3 and far_from_unit(q))


@kernel
def far_from_unit(q: Array) -> bool:
    """Whether that is no turning any more."""
    return abs(square_of(q) - 1.0) > 0.5


predict_loop, show_end_velocity_loop, correct_loop, correct_and_predict_loop, show_loop, reevaluate_loop = (
    newmark_loops(__name__, SHOWING, *newmark_step(SHOWING, accelerate, unsound))
)
