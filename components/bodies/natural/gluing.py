"""A step of a body in natural coordinates between joints that are glued: RATTLE on its own, with constant operators.

H. C. Andersen, "Rattle: a velocity version of the Shake algorithm", J. Comput. Phys. 52 (1983) 24-34; symplectic of order two:
B. Leimkuhler, R. Skeel, J. Comput. Phys. 112 (1994) 117-125. With Q the forces on the coordinates, reactions of joints among them,

    v' = v + h/2 M^-1 (Q - H(q)^T mu),   q' = q + h v',   phi(q') = 0                          drift
    v  = v' + h/2 M^-1 (Q' - H(q')^T nu),   H(q') v = 0                                        kick

The operator of both, H M^-1 H^T at the place where the step begins, is the constant S of the local solver
(natural/kernels.py), so mu follows by a simplified Newton iteration, and nu at once. A drift starts from q and v again each
time it is asked, with the mu that it had last: the interface repeats it until its reactions close the joints.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from components.bodies.loops.across_step import directions_across, mixed_inertia
from components.bodies.natural.compliance import answer_of, axes_of
from components.bodies.natural.kernels import (
    accelerate_freely,
    constraint_errors,
    constraint_rates,
    differences,
    first_bad,
    pair,
    remove_internal,
    states,
    unsoundness,
    workspace,
)
from components.bodies.natural.showing import collect, combine, most, show_one, show_two
from components.bodies.scheme import ITERATIONS
from modular.blocks import like, shaped
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.lane_rows import fetch, fetch_slot, gather, gather_one, indices, indices_slot, scatter, store
from modular.lanes import LANES, lanes, larger, share, unfit
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

POSITION_ROUNDING = 2e-15  # of a place [m], in the difference of two
REFINEMENT_PASSES = 2  # on nu: the second takes away what rounding left


@kernel
def violation_beyond(
    error: Array, gram: Array, points: Array, q: Array, allowed: tuple[Any, Any], length: float, turn: float
) -> Any:
    """Above zero where an internal constraint is open by more than is allowed, in lengths [m] or directions [-].

    What rounding takes from places far away is allowed always.
    """
    far, direction = allowed
    for i in range(points.shape[0]):
        for c in range(q.shape[1]):
            far = larger(far, POSITION_ROUNDING * abs(q[i, c]))
    length = larger(far, length + 0.0 * far)
    direction = larger(direction, turn + 0.0 * direction)
    vectors = gram.shape[0]
    beyond = 0.0 * gram[0, 0]
    for i in range(vectors):
        for j in range(vectors):
            if j >= i:
                limit = length if i + 1 < points.shape[0] else direction
                if j + 1 < points.shape[0]:
                    limit = length * sqrt(gram[i, i])
                beyond += larger(abs(error[pair(i, j, vectors)]) - limit, 0.0 * limit)
    return beyond


@kernel
def rounded(a: Array, gram: Array, points: Array, q: Array, h: float) -> tuple[Any, Any]:
    """What rounding does beside to places [m], and to directions [-]; `a`: accelerations if nothing keeps the shape.

    Two pulls that hold a light body in balance are each far more than what is left of them. Two points lead to no sharper
    direction than their rounding as a share of how far they are apart, and what squares directions with it turns them by as much.
    """
    place, direction = 0.0 * a[0, 0], 0.0 * a[0, 0]
    for i in range(a.shape[0]):
        for c in range(a.shape[1]):
            way = 0.5 * h * h * POSITION_ROUNDING * abs(a[i, c])
            if i < points.shape[0]:
                place = larger(place, larger(way, POSITION_ROUNDING * abs(q[i, c])))
            else:
                direction = larger(direction, way)
    if 1 < points.shape[0] <= gram.shape[0]:
        direction = larger(direction, share(place, sqrt(gram[0, 0])))
    return place, direction


@loop
def drift_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Half a kick and the way that it leads, internal constraints closed there; the first body that is still open, or -1."""
    q, v, half, ahead, total = states(bodies.q)
    w, w_ahead, _, error, _rate, residual, multipliers, pull = workspace(bodies.q)
    fall, gram, closing = like(bodies.fall), like(bodies.gram), like(bodies.closing)
    inverse_mass, inverse_local = like(bodies.inverse_mass), like(bodies.inverse_local)
    count, dimension = bodies.q.shape
    h, iterations = elements.clock[STEP], int(bodies.gains[ITERATIONS])
    length, turn = elements.tolerance[0], elements.tolerance[1]
    open_ = NO_FAILED_ROW
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.v, n, stop, v)
        makes = indices(bodies.make, n, stop)
        gather(bodies.fall, makes, fall)
        gather(bodies.inverse_mass, makes, inverse_mass)
        collect(bodies, elements, n, stop, total)
        accelerate_freely(total, inverse_mass, fall, bodies.gravity, half)
        if count > 1:
            gather(bodies.gram, makes, gram)
            gather(bodies.inverse_local, makes, inverse_local)
            fetch(bodies.closing, n, stop, closing)
            differences(q, bodies.points, w)
            differences(half, bodies.points, w_ahead)
            constraint_rates(w, w_ahead, residual)
            for r in range(closing.shape[0]):
                residual[r] = 0.5 * h * (residual[r] + closing[r])
        for i in range(count):
            for c in range(dimension):
                half[i, c] = v[i, c] + 0.5 * h * half[i, c]
        for again in range(iterations + 1):
            if count > 1:
                if again > 0:
                    for r in range(closing.shape[0]):
                        residual[r] = error[r] / h
                        closing[r] += 2.0 * residual[r] / h
                remove_internal(w, bodies.points, inverse_mass, inverse_local, residual, multipliers, pull, half)
            for i in range(count):
                for c in range(dimension):
                    ahead[i, c] = q[i, c] + h * half[i, c]
            if count > 1:
                differences(ahead, bodies.points, w_ahead)
                constraint_errors(w_ahead, gram, error)
        if count > 1:
            store(closing, bodies.closing, n, stop)
            nothing = 0.0 * gram[0, 0], 0.0 * gram[0, 0]
            bad = unfit(violation_beyond(error, gram, bodies.points, ahead, nothing, length, turn))
            if bad != 0:
                accelerate_freely(total, inverse_mass, fall, bodies.gravity, v)
                allowed = rounded(v, gram, bodies.points, ahead, h)
                bad = unfit(violation_beyond(error, gram, bodies.points, ahead, allowed, length, turn))
            for k in range(min(LANES, stop - n)):
                bodies.ajar[n + k] = (bad >> k) & 1
            open_ = first_bad(open_, bad, n, stop)
        store(ahead, bodies.ahead, n, stop)
        store(half, bodies.half, n, stop)
        show_two(bodies, n, stop, ahead, half, elements.position, elements.velocity)
    return open_


@loop
def invalidate_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Nothing is known of the multipliers that close the next drift."""
    for n in range(start, stop):
        for r in range(bodies.closing.shape[0]):
            bodies.closing[n, r] = 0.0
    return NO_FAILED_ROW


@kernel
def obey(
    q: Array, points: Array, inverse_mass: Array, inverse_local: Array, scratch: tuple[Array, ...], v: Array
) -> None:
    """Velocities without what the internal constraints stop."""
    w, dw, _, _error, _rate, residual, multipliers, pull = scratch
    differences(q, points, w)
    for _ in range(REFINEMENT_PASSES):
        differences(v, points, dw)
        constraint_rates(w, dw, residual)
        remove_internal(w, points, inverse_mass, inverse_local, residual, multipliers, pull, v)


@loop
def kick_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """The other half of the kick, with velocities that obey the internal constraints; the first body that went wrong, or -1."""
    q, v, half, a, total = states(bodies.q)
    scratch = workspace(bodies.q)
    fall, gram = like(bodies.fall), like(bodies.gram)
    inverse_mass, inverse_local = like(bodies.inverse_mass), like(bodies.inverse_local)
    count, dimension = bodies.q.shape
    h = elements.clock[STEP]
    wrong = NO_FAILED_ROW
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.half, n, stop, half)
        makes = indices(bodies.make, n, stop)
        gather(bodies.fall, makes, fall)
        gather(bodies.inverse_mass, makes, inverse_mass)
        collect(bodies, elements, n, stop, total)
        accelerate_freely(total, inverse_mass, fall, bodies.gravity, a)
        for i in range(count):
            for c in range(dimension):
                v[i, c] = half[i, c] + 0.5 * h * a[i, c]
        gather(bodies.gram, makes, gram)
        if count > 1:
            gather(bodies.inverse_local, makes, inverse_local)
            obey(q, bodies.points, inverse_mass, inverse_local, scratch, v)
        store(v, bodies.v, n, stop)
        show_one(bodies, n, stop, v, elements.velocity)
        wrong = first_bad(wrong, unfit(unsoundness(q, v, gram, bodies.points)), n, stop)
    return wrong


@loop
def apply_impulse_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Velocities after impulses on the elements."""
    q, v, _, _a, total = states(bodies.q)
    scratch = workspace(bodies.q)
    inverse_mass, inverse_local = like(bodies.inverse_mass), like(bodies.inverse_local)
    count, dimension = bodies.q.shape
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.v, n, stop, v)
        makes = indices(bodies.make, n, stop)
        gather(bodies.inverse_mass, makes, inverse_mass)
        collect(bodies, elements, n, stop, total)
        for i in range(count):
            for c in range(dimension):
                for j in range(count):
                    v[i, c] += inverse_mass[i, j] * total[j, c]
        if count > 1:
            gather(bodies.inverse_local, makes, inverse_local)
            obey(q, bodies.points, inverse_mass, inverse_local, scratch, v)
        store(v, bodies.v, n, stop)
        show_one(bodies, n, stop, v, elements.velocity)
    return NO_FAILED_ROW


turning = shaped(lanes, lambda response: [response, response[:1], (3, 3), (3, 3), (3, 3), (3, 3), (3, 3), (3,)])


@loop
def respond_ahead_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """How elements at the end of a drift answer forces at its beginning, the shape kept at both.

    A force f on the coordinates at q moves q' by B' N^-1 B^T f with N = B^T M B': so written, what joints make of it with
    the B that they have is exact. Far from places where joints lose their grip W alone is good enough; near them this
    decides, for there a joint may push to the other side.
    """
    q, ahead = like(bodies.q), like(bodies.q)
    centre, axes, weights, mass = like(bodies.centre), like(bodies.axes), like(bodies.fall), like(bodies.mass_matrix)
    fall, gram = like(bodies.fall), like(bodies.gram)
    middle, there, point = like(bodies.point), like(bodies.point), like(bodies.point)
    response, arm, turns, turned, n_matrix, inverse, mixed, _ = turning(elements.response)
    count, dimension = bodies.q.shape
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.ahead, n, stop, ahead)
        makes = indices(bodies.make, n, stop)
        gather(bodies.centre, makes, centre)
        gather(bodies.axes, makes, axes)
        gather(bodies.mass_matrix, makes, mass)
        gather(bodies.fall, makes, fall)
        slip, spin = gather_one(bodies.slip, makes), gather_one(bodies.spin, makes)
        combine(centre, q, middle)
        combine(centre, ahead, there)
        # sum of m r r'^T over the body, r and r' from the mass centre before and after
        mixed[:, :] = 0.0
        for i in range(count):
            for c in range(dimension):
                arm[c] = 0.0 * spin
                for j in range(count):
                    arm[c] += mass[i, j] * (ahead[j, c] - fall[j] * there[0, c])
            for b in range(dimension):
                for c in range(dimension):
                    mixed[b, c] += (q[i, b] - fall[i] * middle[0, b]) * arm[c]
        trace = 0.0 * spin
        for c in range(dimension):
            trace += mixed[c, c]
        if dimension == 2:
            spin_ahead = share(spin, spin * spin * trace)
            axes_of(axes, spin, ahead, turned)
        else:
            spin_ahead = spin
            axes_of(axes, spin, q, turns)
            axes_of(axes, spin, ahead, turned)
            mixed_inertia(turns, turned, mixed, trace, n_matrix)
            if count == 2:  # nothing turns a rod about its line: leave that out
                gather(bodies.gram, makes, gram)
                for k in range(3):
                    for m in range(3):
                        n_matrix[k, m] += (q[1, k] - q[0, k]) * (ahead[1, m] - ahead[0, m]) / gram[0, 0]
            directions_across(n_matrix, turned, inverse, turns)
        for k in range(most(bodies.numbers, n, stop)):
            fetch_slot(bodies.weights, k, n, stop, weights)
            combine(weights, ahead, point)
            answer_of(weights, bodies.points, point, there, slip, spin_ahead, turns, arm, response)
            scatter(response, elements.response, indices_slot(bodies.attached, k, n, stop, bodies.numbers))
    return NO_FAILED_ROW
