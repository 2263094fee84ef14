"""A step of a posed body between joints that are glued: half a kick, free flight, half a kick.

Free flight of the turning body is split into turns about its principal axes, each exact: symplectic, symmetric, of order two, and
it keeps angular momentum to rounding. A. Dullweber, B. Leimkuhler, R. McLachlan, "Symplectic splitting methods for rigid body
molecular dynamics", J. Chem. Phys. 107 (1997) 5840-5851. In the plane there is nothing to split.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from components.bodies.loops.across_step import directions_across, mixed_inertia
from components.bodies.loops.leapfrog_loops import leapfrog_loops
from components.bodies.loops.newmark_loops import in_frame, predict
from components.bodies.loops.response_loops import response_loops
from components.bodies.loops.trial_step import copy_row
from components.bodies.posed.kernels import (
    SHOWING,
    SPACE,
    collect,
    rotation,
    spin_at,
    square_of,
    sums,
    turn_by,
    turns,
    unsound,
)
from modular.blocks import room
from modular.elements import STEP, Array
from modular.flat_rows import width_of
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@kernel
def kick(bodies: View, elements: View, n: int, share: float, falling: float, v: Array) -> None:
    """v += share M^-1 (forces + falling weight) where it stands, with p' across p."""
    push, torque = sums(bodies.gravity)
    _, spin = sums(bodies.gravity)
    make = bodies.make[n]
    q, mass, inertia = bodies.q[n], bodies.kilograms[make], bodies.inertia[make]
    collect(bodies, elements, n, q, push, torque)
    for c in range(push.shape[0]):
        v[c] += share * (push[c] / mass + falling * bodies.gravity[c])
    spin_at(q, v, spin)
    for j in range(spin.shape[0]):
        spin[j] += share * torque[j] / inertia[j]
    turn_by(q, spin, v)


@kernel
def fly(bodies: View, n: int, h: float) -> bool:
    """Free flight from q with the velocity `half` to `ahead`; it always leads somewhere."""
    ahead, v, inertia = bodies.ahead[n], bodies.half[n], bodies.inertia[bodies.make[n]]
    if bodies.gravity.shape[0] == 3:
        copy_row(bodies.q, bodies.ahead, n)
        spin = room((3,))
        spin_at(ahead, v, spin)
        for j in range(3):
            spin[j] *= inertia[j]
        turn_about(0, 0.5 * h, inertia, spin, ahead)
        turn_about(1, 0.5 * h, inertia, spin, ahead)
        turn_about(2, h, inertia, spin, ahead)
        turn_about(1, 0.5 * h, inertia, spin, ahead)
        turn_about(0, 0.5 * h, inertia, spin, ahead)
        size = 1.0 / sqrt(square_of(ahead))
        for c in range(3):
            ahead[c] += h * v[c]
            spin[c] /= inertia[c]
        for c in range(3, SPACE):
            ahead[c] *= size
        turn_by(ahead, spin, v)
    else:
        for c in range(3):
            ahead[c] = bodies.q[n, c] + h * v[c]
    return False


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


drift_loop, kick_loop, apply_impulse_loop = leapfrog_loops(__name__, SHOWING, kick, fly, unsound)


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
    turn, axes, _ = turns(bodies.gravity)
    arm, _ = sums(bodies.gravity)
    for n in range(start, stop):
        make = bodies.make[n]
        q, v, now = in_frame(bodies, n)
        predict(width_of(bodies.q), bodies.q[n], bodies.v[n], bodies.a[n], dt, bodies.gains, q, v, now)
        rotation(q, turn)
        principal(turn, bodies.inertia[make], axes)
        slip = 1.0 / sqrt(bodies.kilograms[make])
        for k in range(bodies.numbers[n]):
            answer(bodies.weights[n, k], turn, axes, slip, arm, elements.response[bodies.attached[n, k]])


respond_loop, respond_predicted_loop = response_loops(__name__, respond_rows)


@loop
def respond_ahead_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """How elements at the end of a drift answer forces at its beginning (across_step.py)."""
    turn, axes, axes_ahead = turns(bodies.gravity)
    ahead, _, _ = turns(bodies.gravity)
    arm, _ = sums(bodies.gravity)
    mixed, matrix, inverse = room((3, 3)), room((3, 3)), room((3, 3))
    for n in range(start, stop):
        make = bodies.make[n]
        inertia = bodies.inertia[make]
        rotation(bodies.q[n], turn)
        rotation(bodies.ahead[n], ahead)
        principal(turn, inertia, axes)
        principal(ahead, inertia, axes_ahead)
        slip = 1.0 / sqrt(bodies.kilograms[make])
        if turn.shape[0] == 3:
            total = 0.5 * (inertia[0] + inertia[1] + inertia[2])
            trace = 0.0
            for b in range(3):
                for c in range(3):
                    mixed[b, c] = 0.0
                    for j in range(3):
                        mixed[b, c] += (total - inertia[j]) * turn[b, j] * ahead[c, j]
                trace += mixed[b, b]
            mixed_inertia(axes, axes_ahead, mixed, trace, matrix)
            directions_across(matrix, axes_ahead, inverse, axes)
        for k in range(bodies.numbers[n]):
            answer(bodies.weights[n, k], ahead, axes, slip, arm, elements.response[bodies.attached[n, k]])
    return NO_FAILED_ROW
