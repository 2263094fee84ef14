"""A step of a posed body between joints that are glued: half a kick, free flight, half a kick.

Free flight of the turning body is split into turns about its principal axes, each exact: symplectic, symmetric, of order two, and
it keeps angular momentum to rounding. A. Dullweber, B. Leimkuhler, R. McLachlan, "Symplectic splitting methods for rigid body
molecular dynamics", J. Chem. Phys. 107 (1997) 5840-5851. In the plane there is nothing to split.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from components.bodies.posed.kernels import (
    SPACE,
    by_spin,
    collect,
    predict,
    rotation,
    show_places,
    show_rates,
    spin_of,
    square_of,
    states,
    sums,
    turns,
    unsound,
)
from components.bodies.posed.kick_work import exclude_flight
from components.bodies.response_loops import response_loops
from modular.blocks import room
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@kernel
def kick(bodies: View, elements: View, n: int, q: Array, h: float, v: Array) -> None:
    """v += h/2 M^-1 forces, at q, with p' across p."""
    push, torque, turn = sums(q)
    make = bodies.make[n]
    mass, inertia = bodies.kilograms[make], bodies.inertia[make]
    rotation(q, turn)
    collect(bodies, elements, n, turn, push, torque)
    for c in range(push.shape[0]):
        v[c] += 0.5 * h * (push[c] / mass + bodies.gravity[c])
    if q.shape[0] == SPACE:
        spin = room((3,))
        spin_of(q, v, spin)
        for j in range(3):
            spin[j] += 0.5 * h * torque[j] / inertia[j]
        by_spin(q, 0.0, spin, v)
    else:
        v[2] += 0.5 * h * torque[0] / inertia[0]


@kernel
def fly(inertia: Array, q: Array, h: float, v: Array) -> None:
    """Free flight for h, in place."""
    if q.shape[0] == SPACE:
        spin = room((3,))
        spin_of(q, v, spin)
        for j in range(3):
            spin[j] *= inertia[j]
        turn_about(0, 0.5 * h, inertia, spin, q)
        turn_about(1, 0.5 * h, inertia, spin, q)
        turn_about(2, h, inertia, spin, q)
        turn_about(1, 0.5 * h, inertia, spin, q)
        turn_about(0, 0.5 * h, inertia, spin, q)
        size = 1.0 / sqrt(square_of(q))
        for c in range(3):
            q[c] += h * v[c]
            spin[c] /= inertia[c]
        for c in range(3, SPACE):
            q[c] *= size
        by_spin(q, 0.0, spin, v)
    else:
        for c in range(3):
            q[c] += h * v[c]


@kernel
def turn_about(axis: int, h: float, inertia: Array, momentum: Array, q: Array) -> None:
    """Turn about one principal axis alone: the body by an angle, its angular momentum, seen from it, back by the same."""
    angle = h * momentum[axis] / inertia[axis]
    s, t = (axis + 1) % 3, (axis + 2) % 3
    c, d = cos(angle), sin(angle)
    first, second = momentum[s], momentum[t]
    momentum[s] = c * first + d * second
    momentum[t] = c * second - d * first
    c, d = cos(0.5 * angle), sin(0.5 * angle)  # p (c + d e)
    scalar, along, first, second = q[3], q[4 + axis], q[4 + s], q[4 + t]
    q[3] = c * scalar - d * along
    q[4 + axis] = c * along + d * scalar
    q[4 + s] = c * first + d * second
    q[4 + t] = c * second - d * first


@loop
def drift_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Half a kick and the way that it leads; forces work in the kick, and no turn of the flight is their work (kick_work.py)."""
    turn, _, _turn = turns(bodies.q)
    h = elements.clock[STEP]
    for n in range(start, stop):
        ahead, half = bodies.ahead[n], bodies.half[n]
        for i in range(ahead.shape[0]):
            ahead[i], half[i] = bodies.q[n, i], bodies.v[n, i]
        show_rates(bodies, n, ahead, half, turn, elements.velocity_before)
        kick(bodies, elements, n, ahead, h, half)
        show_rates(bodies, n, ahead, half, turn, elements.velocity)
        exclude_flight(bodies, elements, n, 1.0)
        fly(bodies.inertia[bodies.make[n]], ahead, h, half)
        show_places(bodies, elements, n, ahead, turn)
        show_rates(bodies, n, ahead, half, turn, elements.velocity)
        exclude_flight(bodies, elements, n, -1.0)
    return NO_FAILED_ROW


@loop
def kick_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """The other half of the kick; the first body that went wrong, or -1."""
    turn, _, _turn = turns(bodies.q)
    h, wrong = elements.clock[STEP], NO_FAILED_ROW
    for n in range(start, stop):
        q, v = bodies.q[n], bodies.v[n]
        for i in range(v.shape[0]):
            v[i] = bodies.half[n, i]
        kick(bodies, elements, n, q, h, v)
        show_rates(bodies, n, q, v, turn, elements.velocity)
        if unsound(q, v) and wrong < 0:
            wrong = n
    return wrong


@loop
def apply_impulse_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Velocities after impulses on the elements."""
    turn, _, _turn = turns(bodies.q)
    for n in range(start, stop):
        apply_impulse(bodies, elements, n)
        show_rates(bodies, n, bodies.q[n], bodies.v[n], turn, elements.velocity)
    return NO_FAILED_ROW


@kernel
def apply_impulse(bodies: View, elements: View, n: int) -> None:
    """Let what stands as forces on the elements of a body act as impulses."""
    q, v = bodies.q[n], bodies.v[n]
    push, torque, turn = sums(q)
    make = bodies.make[n]
    mass, inertia = bodies.kilograms[make], bodies.inertia[make]
    rotation(q, turn)
    collect(bodies, elements, n, turn, push, torque)
    for c in range(push.shape[0]):
        v[c] += push[c] / mass
    if q.shape[0] == SPACE:
        spin = room((3,))
        spin_of(q, v, spin)
        for j in range(3):
            spin[j] += torque[j] / inertia[j]
        by_spin(q, 0.0, spin, v)
    else:
        v[2] += torque[0] / inertia[0]


# --- how it answers forces ---------------------------------------------------------------------------------------------


@kernel
def answer(weights: Array, turn: Array, axes: Array, slip: float, arm: Array, response: Array) -> None:
    """B of one element: as a point it slips with the body, and it turns about `axes`, mass-normalised, one row each."""
    d = turn.shape[0]
    response[:, :] = 0.0
    for c in range(d):
        value = 0.0
        for j in range(d):
            value += turn[c, j] * weights[1 + j]
        arm[c] = value
        response[c, c] = weights[0] * slip
    if d == 3:
        for mode in range(3):
            for c in range(3):
                s, t = (c + 1) % 3, (c + 2) % 3
                response[c, 3 + mode] = axes[mode, s] * arm[t] - axes[mode, t] * arm[s]
    else:
        response[0, 2] = -axes[0, 0] * arm[1]
        response[1, 2] = axes[0, 0] * arm[0]


@kernel
def principal(turn: Array, inertia: Array, axes: Array) -> None:
    """Principal axes over sqrt(inertia) as rows; in the plane one number."""
    if turn.shape[0] == 3:
        for mode in range(3):
            for c in range(3):
                axes[mode, c] = turn[c, mode] / sqrt(inertia[mode])
    else:
        axes[0, 0] = 1.0 / sqrt(inertia[0])


@kernel
def respond_rows(start: int, stop: int, bodies: View, elements: View, ahead: bool) -> None:
    """B of every attached element where it stands or is predicted to be; nothing feels the one constraint, of the quaternion."""
    dt = elements.clock[STEP] if ahead else 0.0
    turn, axes, _turn = turns(bodies.q)
    arm, _, _square = sums(bodies.q)
    q, v, now = states(bodies.q)
    for n in range(start, stop):
        make = bodies.make[n]
        predict(bodies.q[n], bodies.v[n], bodies.a[n], dt, bodies.gains, q, v, now)
        rotation(q, turn)
        principal(turn, bodies.inertia[make], axes)
        slip = 1.0 / sqrt(bodies.kilograms[make])
        for k in range(bodies.numbers[n]):
            answer(bodies.weights[n, k], turn, axes, slip, arm, elements.response[bodies.attached[n, k]])


respond_loop, respond_predicted_loop = response_loops(__name__, respond_rows)


@loop
def respond_ahead_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """How elements at the end of a drift answer forces at its beginning.

    B' N^-1 B^T with N = B^T M B', as in natural/gluing.py: exact for steps that keep the shape by RATTLE, and as near to free
    flight as the step is short.
    """
    turn, axes, axes_ahead = turns(bodies.q)
    arm, _, ahead = sums(bodies.q)
    mixed, matrix, inverse = room((3, 3)), room((3, 3)), room((3, 3))
    for n in range(start, stop):
        make = bodies.make[n]
        inertia = bodies.inertia[make]
        rotation(bodies.q[n], turn)
        rotation(bodies.ahead[n], ahead)
        principal(turn, inertia, axes)
        principal(ahead, inertia, axes_ahead)
        slip = 1.0 / sqrt(bodies.kilograms[make])
        if bodies.q.shape[0] == SPACE:
            total = 0.5 * (inertia[0] + inertia[1] + inertia[2])
            trace = 0.0
            for b in range(3):
                for c in range(3):
                    mixed[b, c] = 0.0
                    for j in range(3):
                        mixed[b, c] += (total - inertia[j]) * turn[b, j] * ahead[c, j]
                trace += mixed[b, b]
            for k in range(3):
                for m in range(3):
                    value = 0.0
                    for b in range(3):
                        value += axes[k, b] * axes_ahead[m, b] * trace
                        for c in range(3):
                            value -= axes_ahead[m, b] * mixed[b, c] * axes[k, c]
                    matrix[k, m] = value
            determinant = 0.0
            for k in range(3):
                k1, k2 = (k + 1) % 3, (k + 2) % 3
                for m in range(3):
                    m1, m2 = (m + 1) % 3, (m + 2) % 3
                    inverse[m, k] = matrix[k1, m1] * matrix[k2, m2] - matrix[k1, m2] * matrix[k2, m1]
                determinant += matrix[k, 0] * inverse[0, k]
            for k in range(3):
                for c in range(3):
                    value = 0.0
                    for m in range(3):
                        value += inverse[m, k] * axes_ahead[m, c]
                    axes[k, c] = value / determinant if determinant > 0.0 else 0.0
        for k in range(bodies.numbers[n]):
            answer(bodies.weights[n, k], ahead, axes, slip, arm, elements.response[bodies.attached[n, k]])
    return NO_FAILED_ROW
