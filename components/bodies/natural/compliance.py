"""How a body in natural coordinates answers forces: its compliance, what joints may ask of it, and impulses."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from components.bodies.loops.response_loops import response_loops
from components.bodies.natural.kernels import differences, pair, predict, states
from components.bodies.natural.showing import combine, most
from components.bodies.scheme import BETA, DEMAND_WEIGHT, GAMMA
from modular.blocks import like, shaped
from modular.elements import STEP, Array
from modular.kernel import kernel
from modular.lane_rows import fetch, fetch_slot, gather, gather_one, indices, indices_slot, scatter, scatter_one
from modular.lanes import LANES, lanes, share, types
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

PLANAR_RIGID_DIRECTIONS = (3, 3)  # what a rigid body in the plane is asked: two translations and a rotation

answers = shaped(lanes, lambda response: [response, response[:1], (3, 3)])


@kernel
def axes_of(axes: Array, spin: Any, q: Array, turns: Array) -> None:
    """Directions about which a body turns, one row each, mass-normalised: principal axes, or those of the world."""
    for mode in range(3):
        for c in range(3):
            turns[mode, c] = spin if c == mode else 0.0 * spin
            if q.shape[1] == 3:
                for i in range(q.shape[0]):
                    turns[mode, c] += axes[mode, i] * q[i, c]


@kernel
def answer_of(
    weights: Array,
    points: Array,
    point: Array,
    middle: Array,
    slip: Any,
    spin: Any,
    turns: Array,
    arm: Array,
    response: Array,
) -> None:
    """B of one element that stands at `point`, of a body with its mass centre in the middle."""
    dimension = arm.shape[0]
    share_of_point = weights[0]  # 1 for a point, 0 for a direction
    for k in range(1, points.shape[0]):
        share_of_point = share_of_point + weights[k]
    response[:, :] = 0.0
    for c in range(dimension):
        arm[c] = point[0, c] - share_of_point * middle[0, c]
        response[c, c] = share_of_point * slip
    if dimension == 2:
        response[0, 2] = -spin * arm[1]
        response[1, 2] = spin * arm[0]
    else:
        for mode in range(3):
            axis = turns[mode]
            response[0, 3 + mode] = axis[1] * arm[2] - axis[2] * arm[1]
            response[1, 3 + mode] = axis[2] * arm[0] - axis[0] * arm[2]
            response[2, 3 + mode] = axis[0] * arm[1] - axis[1] * arm[0]


@kernel
def respond_rows(start: int, stop: int, bodies: View, elements: View, ahead: bool) -> None:
    """B of every attached element of a rigid body where it stands or is predicted to be: three translations, three rotations.

    Mass-normalised, B B^T = C M_c^-1 C^T with M_c^-1 = M^-1 - M^-1 H^T S^-1 H M^-1: a body whose internal constraints hold moves
    as a rigid body, so the constrained compliance needs no more than its mass centre and principal axes.
    """
    dt = elements.clock[STEP] if ahead else 0.0
    centre, axes, weights = like(bodies.centre), like(bodies.axes), like(bodies.fall)
    middle, point = like(bodies.point), like(bodies.point)
    response, arm, turns = answers(elements.response)
    q_now, v, a, q, rate = states(bodies.q)
    beta, gamma = bodies.gains[BETA], bodies.gains[GAMMA]
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q_now)
        fetch(bodies.v, n, stop, v)
        fetch(bodies.a, n, stop, a)
        predict(q_now, v, a, dt, beta, gamma, q, rate)
        makes = indices(bodies.make, n, stop)
        gather(bodies.centre, makes, centre)
        gather(bodies.axes, makes, axes)
        slip, spin = gather_one(bodies.slip, makes), gather_one(bodies.spin, makes)
        combine(centre, q, middle)
        axes_of(axes, spin, q, turns)
        for k in range(most(bodies.numbers, n, stop)):
            fetch_slot(bodies.weights, k, n, stop, weights)
            combine(weights, q, point)
            answer_of(weights, bodies.points, point, middle, slip, spin, turns, arm, response)
            scatter(response, elements.response, indices_slot(bodies.attached, k, n, stop, bodies.numbers))


respond_loop, respond_predicted_loop = response_loops(__name__, respond_rows)


roots = shaped(types.float64, lambda square: [square])


@kernel
def factorise(matrix: Array, root: Array) -> None:
    """Lower Cholesky factor of a small matrix."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[0]):
            root[i, j] = 0.0
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= root[i, k] * root[j, k]
            root[i, j] = sqrt(value) if i == j else value / root[j, j]


@loop
def respond_freely_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """B of every attached element with the plain M^-1 of (IV.14), from the Cholesky factor of M^-1."""
    count, dimension = bodies.q.shape
    (root,) = roots(bodies.inverse_mass)
    for n in range(start, stop):
        factorise(bodies.inverse_mass[bodies.make[n]], root)
        for k in range(bodies.numbers[n]):
            response = elements.response[bodies.attached[n, k]]
            response[:, :] = 0.0
            for c in range(dimension):
                for j in range(count):
                    value = 0.0
                    for i in range(count):
                        value += bodies.weights[n, k, i] * root[i, j]
                    response[c, j * dimension + c] = value
    return NO_FAILED_ROW


squares = shaped(lanes, lambda demand: [demand, demand, (1, *demand), (7,)])
flat_squares = shaped(lanes, lambda demand: [PLANAR_RIGID_DIRECTIONS, PLANAR_RIGID_DIRECTIONS, (1, *demand), (7,)])


@loop
def bound_demands_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Upper bound of the largest eigenvalue of each body's summed loads, as often as it counts, written to all its elements."""
    bound_demands_rows(start, stop, bodies, elements, squares(elements.demand))
    return NO_FAILED_ROW


@loop
def bound_demands_flat_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """The same for rigid bodies in the plane: they have three motions, whatever there is room for."""
    bound_demands_rows(start, stop, bodies, elements, flat_squares(elements.demand))
    return NO_FAILED_ROW


@kernel
def bound_demands_rows(start: int, stop: int, bodies: View, elements: View, scratch: tuple[Array, ...]) -> None:
    """As many motions as the first scratch blocks have."""
    total, square, demand, traces = scratch
    for n in range(start, stop, LANES):
        total[:, :] = 0.0
        longest = most(bodies.numbers, n, stop)
        for k in range(longest):
            gather(elements.demand, indices_slot(bodies.attached, k, n, stop, bodies.numbers), demand)
            for i in range(total.shape[0]):
                for j in range(total.shape[1]):
                    total[i, j] += demand[0, i, j]
        value = bodies.gains[DEMAND_WEIGHT] * largest_eigenvalue(total, square, traces)
        for k in range(longest):
            scatter_one(value, elements.bound, indices_slot(bodies.attached, k, n, stop, bodies.numbers))


@kernel
def largest_eigenvalue(matrix: Array, square: Array, traces: Array) -> Any:
    """Upper bound of the largest eigenvalue of a symmetric semi-definite matrix, at most 3 % above it; spoils it.

    lambda <= (tr A^64)^(1/64), by six squarings scaled by their traces: no branch, no library, smooth in A.
    """
    size = matrix.shape[0]
    trace = 0.0
    for i in range(size):
        trace += matrix[i, i]
    traces[0] = trace
    for i in range(size):
        for j in range(size):  # a sum of loads is symmetric but for rounding; its squares are so to the last bit
            matrix[i, j] = share(matrix[i, j], trace)
    for power in range(1, 7):
        trace = 0.0
        for i in range(size):
            for j in range(i, size):
                value = 0.0
                for k in range(size):
                    value += matrix[i, k] * matrix[k, j]
                square[i, j] = value
            trace += square[i, i]
        traces[power] = trace
        if power < 6:
            for i in range(size):
                for j in range(i, size):
                    matrix[i, j] = matrix[j, i] = share(square[i, j], trace)
    largest = traces[6]
    for power in range(5, -1, -1):
        largest = traces[power] * sqrt(largest)
    return largest


@kernel
def push_one(
    q: Array, v: Array, push: Array, points: Array, inverse_mass: Array, inverse_local: Array, work: Array
) -> None:
    """Let impulses on the coordinates of one body change its velocity; their work, coordinate by coordinate."""
    jump = np.zeros(q.shape)
    jump_of(q, push, points, inverse_mass, inverse_local, jump)
    for i in range(q.shape[0]):
        for c in range(q.shape[1]):
            work[i, c] = push[i, c] * (v[i, c] + 0.5 * jump[i, c])
            v[i, c] += jump[i, c]


@kernel
def jump_of(q: Array, push: Array, points: Array, inverse_mass: Array, inverse_local: Array, jump: Array) -> None:
    """Jump of velocity of one body under impulses on its coordinates, M_c^-1 p; it starts from zeros."""
    elements, dimension = q.shape
    add_product(inverse_mass, push, jump)
    vectors = elements - 1
    if vectors < 1:
        return
    rows = vectors * (vectors + 1) // 2
    w, dw, mu, on_w = (
        np.empty((vectors, dimension)),
        np.empty((vectors, dimension)),
        np.empty(rows),
        np.zeros(dimension),
    )
    rate, pull, back = np.empty(rows), np.zeros(q.shape), np.zeros(q.shape)
    differences(q, points, w)
    differences(jump, points, dw)
    for i in range(vectors):
        for j in range(i, vectors):
            one, other = 0.0, 0.0
            for c in range(dimension):
                one += w[i, c] * dw[j, c]
                other += w[j, c] * dw[i, c]
            rate[pair(i, j, vectors)] = one + (other if i != j else 0.0)
    for r in range(rows):
        value = 0.0
        for s in range(rows):
            value += inverse_local[pair(min(r, s), max(r, s), rows)] * rate[s]
        mu[r] = value
    for i in range(vectors):  # H^T mu on the vectors; A takes what pulls at points, backwards
        on_w[:] = 0.0
        for j in range(vectors):
            for c in range(dimension):
                on_w[c] += mu[pair(min(i, j), max(i, j), vectors)] * w[j, c]
        for c in range(dimension):
            if i + 1 < points.shape[0]:
                pull[0, c] -= on_w[c]
            pull[i + 1, c] = on_w[c]
    add_product(inverse_mass, pull, back)
    for i in range(elements):
        for c in range(dimension):
            jump[i, c] -= back[i, c]


@kernel
def add_product(matrix: Array, vectors: Array, total: Array) -> None:
    """total += matrix times vectors."""
    for i in range(total.shape[0]):
        for c in range(total.shape[1]):
            value = total[i, c]
            for k in range(vectors.shape[0]):
                value += matrix[i, k] * vectors[k, c]
            total[i, c] = value
