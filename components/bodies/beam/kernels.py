"""A beam that moves: slices that stay rigid, an elastic row between them, and an implicit step of its own.

Every node is a slice with a mass and an inertia, at q = (x, y, theta) or (x, y, z, p), and moves by the equations of Newton and
Euler (posed/kernels.py). What is elastic between neighbours (beam/strain.py) is taken where the step ends,

    M a + B^T (n + eta dn/dt) = Q - gyroscopic terms,     q' = q_predicted + beta dt^2 a,     v' = v_predicted + gamma dt a,

with the forces Q on the elements at the predicted place, as of all bodies: Newmark's rule solved for the beam alone (II.44), so
that no frequency of the beam limits the step. With beta = 1/4 a spring k of a joint that hangs on it, predicted, is stable for
k dt^2 < 4 m, whatever the stiffness of the beam: so it answers to a stiffness rule as slices do that nothing holds together.

The linear equations of a round, a chain of blocks, are eliminated node after node; rounds end when nothing moves any more.
"""

from __future__ import annotations

import numpy as np

from components.bodies.beam.showing import SHOWING, collect, node_of
from components.bodies.beam.strain import add_arc, add_tension, add_tension_of_arc, arc, strain
from components.bodies.loops.newmark_loops import finite, newmark_loops, predict, step_back
from components.bodies.posed.fixed_point import MOST_ITERATIONS, STALLED_TOLERANCE, still_converges
from components.bodies.posed.kernels import (
    SPACE,
    bend_along,
    by_spin,
    far_from_unit,
    put_together,
    rotation,
    rotation_rate,
    spin_of,
    square_of,
    turns,
)
from components.bodies.scheme import BETA, GAMMA
from modular.blocks import room, shaped
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.lanes import types
from modular.views import View

CONVERGENCE_TOLERANCE = 1e-12  # of its length, or a turning: below, nothing moves any more
POSITION_ROUNDING = 2e-15  # of a place, in the difference of two

motions = {3: 3, SPACE: 6}  # of a node, by its coordinates
nodes = shaped(types.float64, lambda q: [(q[-1],)] * 3)
pairs = shaped(types.float64, lambda right: [right[1:]] * 2)
blocks = shaped(types.float64, lambda right: [right[1:] * 2, right[1:]])
points = shaped(types.float64, lambda gravity: [gravity])


def _element(q: tuple[int, ...]) -> list[tuple[int, ...]]:
    f, d = motions[q[-1]], 2 if q[-1] == 3 else 3
    return [(f,), (f,), (d, d), (f, 2 * f), (f - d, 2 * f), (2 * f, 2 * f), (d, f - d)]


element_of = shaped(types.float64, _element)


# --- forces ------------------------------------------------------------------------------------------------------------


@kernel
def spin_at(q: Array, v: Array, spin: Array) -> None:
    """Velocity in the world, and spin in the axes of the node."""
    if q.shape[0] == SPACE:
        turning = room((3,))
        spin_of(q, v, turning)
        for c in range(3):
            spin[c] = v[c]
            spin[3 + c] = turning[c]
    else:
        for c in range(3):
            spin[c] = v[c]


@kernel
def give_mass(bodies: View, n: int, k: int, values: Array) -> None:
    """Mass and inertia of a node, one number for each of its motions."""
    make, d = bodies.make[n], bodies.point.shape[1]
    for c in range(values.shape[0]):
        values[c] = bodies.kilograms[make, k] if c < d else bodies.inertia[make, k, c - d]


@kernel
def assemble(bodies: View, n: int, pull: float, place: float, pace: float, tension: float) -> None:
    """Elastic forces at `trial`, where nodes move by `swing`, on the right-hand side, times `pull`; and the matrix of a round,

    M + place (B^T C B + tension) + pace eta B^T C B, `place` and `pace` telling how the trial follows the unknowns; `tension`: 1,
    or 0 where that leads astray.
    """
    stretch, effort, frame, slope, tilt, matrix, lean = element_of(bodies.q)
    f, d, make = stretch.shape[0], frame.shape[0], bodies.make[n]
    count, length, eta = bodies.nodes[make], bodies.spacing[make], bodies.damping[make]
    for k in range(count):
        give_mass(bodies, n, k, effort)
        for i in range(f):
            for j in range(2 * f):
                bodies.band[n, k, i, j] = effort[i] if i == j else 0.0
    for k in range(count - 1):
        strain(bodies.trial[n, k], bodies.trial[n, k + 1], stretch, frame, slope, tilt)
        arc(stretch, length, lean)
        for i in range(f):
            rate = 0.0
            for j in range(f):
                rate += slope[i, j] * bodies.swing[n, k, j] + slope[i, f + j] * bodies.swing[n, k + 1, j]
            effort[i] = eta * rate + stretch[i] - (length if i == 0 else 0.0)
        for i in range(d):
            for c in range(f - d):
                effort[i] += lean[i, c] * (effort[d + c] - 0.5 * stretch[d + c])
        for i in range(f):
            effort[i] *= bodies.stiffness[make, i] / length
        matrix[:, :] = 0.0
        add_tension(effort, stretch, slope, tilt, place * tension, matrix)
        add_tension_of_arc(effort, slope, length, place * tension, matrix)
        add_arc(slope, lean)
        for a in range(2 * f):
            for b in range(2 * f):
                value = 0.0
                for i in range(f):
                    value += slope[i, a] * bodies.stiffness[make, i] * slope[i, b]
                matrix[a, b] += (place + pace * eta) / length * value
        for a in range(f):
            one, other = 0.0, 0.0
            for i in range(f):
                one += slope[i, a] * effort[i]
                other += slope[i, f + a] * effort[i]
            bodies.right[n, k, a] -= pull * one
            bodies.right[n, k + 1, a] -= pull * other
            for b in range(f):
                bodies.band[n, k, a, b] += matrix[a, b]
                bodies.band[n, k, a, f + b] = matrix[a, f + b]
                bodies.band[n, k + 1, a, b] += matrix[f + a, f + b]


@kernel
def eliminate(bodies: View, n: int) -> None:
    """The blocks on the diagonal become the inverses of what eliminating the nodes before leaves of them."""
    block, _ = blocks(bodies.right)
    f, count = block.shape[0], bodies.nodes[bodies.make[n]]
    for k in range(count):
        band = bodies.band[n, k]
        for p in range(f):  # the inverse in place; symmetric and, but for what is pressed beyond buckling, positive
            pivot = 1.0 / band[p, p]
            for i in range(f):
                if i != p:
                    factor = band[i, p] * pivot
                    for j in range(f):
                        if j != p:
                            band[i, j] -= factor * band[p, j]
                    band[i, p] = -factor
            for j in range(f):
                band[p, j] = band[p, j] * pivot if j != p else pivot
        if k + 1 < count:
            for i in range(f):
                for j in range(f):
                    value = 0.0
                    for c in range(f):
                        value += band[i, c] * band[c, f + j]
                    block[i, j] = value
            for i in range(f):
                for j in range(f):
                    value = 0.0
                    for c in range(f):
                        value += band[c, f + i] * block[c, j]
                    bodies.band[n, k + 1, i, j] -= value


@kernel
def solve(bodies: View, n: int) -> None:
    """The right-hand side becomes the solution."""
    _, share = blocks(bodies.right)
    f, count = share.shape[0], bodies.nodes[bodies.make[n]]
    for k in range(count - 1):
        for i in range(f):
            value = 0.0
            for c in range(f):
                value += bodies.band[n, k, i, c] * bodies.right[n, k, c]
            share[i] = value
        for i in range(f):
            for c in range(f):
                bodies.right[n, k + 1, i] -= bodies.band[n, k, c, f + i] * share[c]
    for back in range(count):
        k = count - 1 - back
        for i in range(f):
            value = bodies.right[n, k, i]
            if back > 0:
                for c in range(f):
                    value -= bodies.band[n, k, i, f + c] * bodies.right[n, k + 1, c]
            share[i] = value
        for i in range(f):
            value = 0.0
            for c in range(f):
                value += bodies.band[n, k, i, c] * share[c]
            bodies.right[n, k, i] = value


@kernel
def improve(bodies: View, n: int, way: float, places: View) -> float:
    """Take a round's change of the unknowns; by how much that, times `way`, moves anything, as a multiple of nothing."""
    make, d = bodies.make[n], bodies.point.shape[1]
    count, length = bodies.nodes[make], bodies.spacing[make]
    most, sound = 0.0, 0.0
    for k in range(count):
        far = 0.0
        for c in range(d):
            far = max(far, abs(places[n, k, c]))
        for c in range(bodies.right.shape[1]):
            change = bodies.right[n, k, c]
            bodies.found[n, k, c] += change
            limit = (
                CONVERGENCE_TOLERANCE * length * (count - 1) + POSITION_ROUNDING * far
                if c < d
                else CONVERGENCE_TOLERANCE
            )
            most = max(most, abs(way * change) / limit)
            sound += 0.0 * change
    return most + sound


# --- predict and correct -----------------------------------------------------------------------------------------------


@kernel
def settle(bodies: View, n: int, k: int, dt: float, q: Array, v: Array, now: Array, a: Array) -> None:
    """Accelerations of the coordinates of a node from those of its motions; `now`: the newer velocity."""
    for c in range(3):
        a[c] = bodies.found[n, k, c]
    if q.shape[0] == SPACE:
        turning = room((3,))
        rate, square_rate = 0.0, 0.0
        for c in range(3, SPACE):
            rate += q[c] * v[c]
            square_rate += now[c] * now[c]
        for c in range(3):
            turning[c] = bodies.found[n, k, 3 + c]
        by_spin(q, bend_along(bodies.gains, dt, square_of(q), rate, square_rate), turning, a)


@kernel
def bend(bodies: View, n: int, k: int, dt: float, q_new: Array, v_new: Array, now: Array, a: Array) -> None:
    """The prediction of one node, and its accelerations from the unknowns."""
    predict(q_new.shape[0], bodies.q[n, k], bodies.v[n, k], bodies.a[n, k], dt, bodies.gains, q_new, v_new, now)
    settle(bodies, n, k, dt, q_new, v_new, now, a)


@kernel
def resist(bodies: View, n: int, k: int, q: Array, now: Array) -> None:
    """Outer forces less what inertia asks for, at a place q with the velocity `now`, on the right-hand side."""
    f, d = bodies.right.shape[1], bodies.point.shape[1]
    mass, x = bodies.kilograms[bodies.make[n], k], bodies.found[n, k]
    for c in range(d):
        bodies.right[n, k, c] = bodies.outer[n, k, c] - mass * x[c]
    inertia = bodies.inertia[bodies.make[n], k]
    if f == 6:
        spin = room((3,))
        spin_of(q, now, spin)
        size, along = square_of(q), 0.0
        for c in range(3, SPACE):
            along += q[c] * now[c]
        for j in range(3):
            s, t = (j + 1) % 3, (j + 2) % 3
            gyroscopic = spin[s] * inertia[t] * spin[t] - spin[t] * inertia[s] * spin[s]
            asked = gyroscopic + 2.0 * along * inertia[j] * spin[j] + size * inertia[j] * x[3 + j]
            bodies.right[n, k, 3 + j] = bodies.outer[n, k, 3 + j] - asked
    else:
        bodies.right[n, k, 2] = bodies.outer[n, k, 2] - inertia[0] * x[2]


@kernel
def guess(bodies: View, n: int, k: int, q: Array) -> None:
    """The unknowns as they were: accelerations, of turnings in the axes of the node."""
    spin_at(q, bodies.a[n, k], bodies.found[n, k])


@kernel
def correct(bodies: View, elements: View, n: int) -> bool:
    """The local solve and the correction (II.44) of one beam; whether it went wrong."""
    q_new, v_new, now = nodes(bodies.q)
    a, q, v = nodes(bodies.q)
    dt, gains = elements.clock[STEP], bodies.gains
    count = bodies.nodes[bodies.make[n]]
    place, pace = gains[BETA] * dt * dt, gains[GAMMA] * dt
    for k in range(count):
        predict(q.shape[0], bodies.q[n, k], bodies.v[n, k], bodies.a[n, k], dt, gains, q_new, v_new, now)
        for c in range(q.shape[0]):
            bodies.trial[n, k, c] = q_new[c]
        guess(bodies, n, k, q_new)
    collect(bodies, elements, n, bodies.trial[n])
    moved, before, rounds, tension = np.inf, np.inf, 0, 1.0
    while still_converges(moved, before) and rounds < MOST_ITERATIONS:
        tension = 0.0 if moved > before else tension
        before = moved
        rounds += 1
        for k in range(count):
            bend(bodies, n, k, dt, q_new, v_new, now, a)
            for c in range(q.shape[0]):
                q[c] = q_new[c] + place * a[c]
                v[c] = v_new[c] + pace * a[c]
                bodies.trial[n, k, c] = q[c]
            spin_at(q, v, bodies.swing[n, k])
            resist(bodies, n, k, q_new, now)
        assemble(bodies, n, 1.0, place, pace, tension)
        eliminate(bodies, n)
        solve(bodies, n)
        moved = improve(bodies, n, max(place, 1e-30), bodies.trial)
    for k in range(count):
        bend(bodies, n, k, dt, q_new, v_new, now, a)
        for c in range(q.shape[0]):
            bodies.q[n, k, c] = q_new[c] + place * a[c]
            bodies.v[n, k, c] = v_new[c] + pace * a[c]
            bodies.a[n, k, c] = a[c]
    return not moved <= STALLED_TOLERANCE or unsound(bodies, n, bodies.q[n], bodies.v[n])


@kernel
def unsound(bodies: View, n: int, q: Array, v: Array) -> bool:
    """Whether a number is none any more, or a quaternion far from 1."""
    wrong = False
    for k in range(bodies.nodes[bodies.make[n]]):
        wrong = wrong or not finite(bodies.q.shape[1], q[k], v[k])
        if bodies.gravity.shape[0] == 3:
            wrong = wrong or far_from_unit(q[k])
    return wrong


@kernel
def show_predicted(bodies: View, elements: View, n: int) -> None:
    """Predict, and show predicted places and rates."""
    turn, _, _ = turns(bodies.gravity)
    q_new, v_new, now = nodes(bodies.q)
    dt, gains, count = elements.clock[STEP], bodies.gains, q_new.shape[0]
    for k in range(bodies.numbers[n]):
        element, weights = bodies.attached[n, k], bodies.weights[n, k]
        node = node_of(weights)
        predict(count, bodies.q[n, node], bodies.v[n, node], bodies.a[n, node], dt, gains, q_new, v_new, now)
        rotation(q_new, turn)
        put_together(weights, q_new, turn, elements.position[element])
        step_back(count, q_new, v_new, dt, gains, now)
        rotation_rate(now, v_new, turn)
        put_together(weights, v_new, turn, elements.velocity[element])


@kernel
def reevaluate(bodies: View, elements: View, n: int) -> None:
    """Accelerations at the unchanged state."""
    _, values = blocks(bodies.right)
    count = bodies.nodes[bodies.make[n]]
    collect(bodies, elements, n, bodies.q[n])
    for k in range(count):
        q, v, trial = bodies.q[n, k], bodies.v[n, k], bodies.trial[n, k]
        for c in range(q.shape[0]):
            trial[c] = q[c]
        for c in range(values.shape[0]):
            bodies.found[n, k, c] = 0.0
        spin_at(q, v, bodies.swing[n, k])
        resist(bodies, n, k, q, v)
    assemble(bodies, n, 1.0, 0.0, 0.0, 1.0)
    for k in range(count):
        q, v, a = bodies.q[n, k], bodies.v[n, k], bodies.a[n, k]
        give_mass(bodies, n, k, values)
        for c in range(values.shape[0]):
            bodies.found[n, k, c] = bodies.right[n, k, c] / values[c]
        settle(bodies, n, k, 0.0, q, v, v, a)


predict_loop, show_end_velocity_loop, correct_loop, correct_and_predict_loop, show_loop, reevaluate_loop = (
    newmark_loops(__name__, SHOWING, show_predicted, correct, reevaluate)
)
