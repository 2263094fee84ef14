"""How a body with modes answers forces on its elements, where it stands and where it will."""

from __future__ import annotations

from math import sqrt

from components.bodies.loops.response_loops import response_loops
from components.bodies.modal.kernels import FOUND, answer, cross, spins, wheels
from components.bodies.modal.showing import MODES, follow, integrate_inertia, place_in_body, points
from components.bodies.posed.kernels import SPACE, rotation, square_of, turns
from modular.blocks import room
from modular.elements import STEP, Array
from modular.flat_rows import width_of
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View


@kernel
def root_of(inertia: Array, mix: Array, modes: int, root: Array) -> None:
    """The factor of J - N N^T, what turns once the modes are free to follow (Cholesky)."""
    t = root.shape[0]
    for i in range(t):
        for j in range(i + 1):
            value = inertia[i, j]
            for k in range(modes):
                value -= mix[k, i] * mix[k, j]
            for c in range(j):
                value -= root[i, c] * root[j, c]
            root[i, j] = sqrt(value) if i == j else value / root[j, j]


@kernel
def line_of(bodies: View, n: int, weights: Array, q: Array, turn: Array, c: int, torque: Array, column: int) -> None:
    """What a force along one axis of the world does at an element: a torque in the axes of the body, and on each mode."""
    e, row, way = points(bodies.gravity)
    make = bodies.make[n]
    for j in range(e.shape[0]):
        row[j] = turn[c, j]
    for i in range(torque.shape[0]):
        torque[i] = 0.0
    place_in_body(bodies, make, weights, q, e)
    cross(e, row, torque)
    for k in range(int(bodies.sizes[MODES])):
        follow(bodies, make, weights, k, way)
        value = 0.0
        for j in range(e.shape[0]):
            value += way[j] * row[j]
        bodies.amounts[n, k, column] = value


@kernel
def write(bodies: View, elements: View, n: int, e: int, c: int, torque: Array, column: int) -> None:
    """A row of the answer of one element: of the mass centre, the turning, the modes."""
    weights, response = bodies.weights[n, e], elements.response[bodies.attached[n, e]]
    d, t = bodies.gravity.shape[0], torque.shape[0]
    for j in range(response.shape[1]):
        response[c, j] = 0.0
    response[c, c] = weights[0] / sqrt(bodies.kilograms[bodies.make[n]])
    for i in range(t):
        response[c, d + i] = torque[i]
    for k in range(int(bodies.sizes[MODES])):
        response[c, d + t + k] = bodies.amounts[n, k, column]


@kernel
def respond_rows(start: int, stop: int, bodies: View, elements: View, ahead: bool) -> None:
    """B of every attached element: L^-1 of what a force does there, L L^T the mass matrix with the
    modes first."""
    turn, _, _ = turns(bodies.gravity)
    torque, _v, _w, _x = spins(bodies.gravity)
    inertia, root = wheels(bodies.gravity)
    places = bodies.next_q if ahead else bodies.q
    for n in range(start, stop):
        modes, mix = int(bodies.sizes[MODES]), bodies.mix[n]
        rotation(places[n], turn)
        integrate_inertia(bodies, n, places[n], inertia, mix)
        root_of(inertia, mix, modes, root)
        for e in range(bodies.numbers[n]):
            for c in range(turn.shape[0]):
                line_of(bodies, n, bodies.weights[n, e], places[n], turn, c, torque, FOUND)
                for i in range(torque.shape[0]):
                    for k in range(modes):
                        torque[i] -= mix[k, i] * bodies.amounts[n, k, FOUND]
                    for j in range(i):
                        torque[i] -= root[i, j] * torque[j]
                    torque[i] /= root[i, i]
                write(bodies, elements, n, e, c, torque, FOUND)


respond_loop, respond_predicted_loop = response_loops(__name__, respond_rows)


@kernel
def change_axes(one: Array, other: Array, vector: Array) -> None:
    """From the axes `one` to the axes `other`."""
    if vector.shape[0] == 3:
        world = room((3,))
        for c in range(3):
            world[c] = one[c, 0] * vector[0] + one[c, 1] * vector[1] + one[c, 2] * vector[2]
        for j in range(3):
            vector[j] = other[0, j] * world[0] + other[1, j] * world[1] + other[2, j] * world[2]


@loop
def respond_ahead_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """How elements at the end of a drift answer forces at its beginning: J' M^-1 J^T, with M of the flight half-way, h^2 / 4
    omega^2 in it: all that is stiff is there, and what turns is as near as the step is short."""
    turn, turn_ahead, axes = turns(bodies.gravity)
    torque, _v, _w, _x = spins(bodies.gravity)
    inertia, root = wheels(bodies.gravity)
    h = elements.clock[STEP]
    for n in range(start, stop):
        modes, mix, amounts = int(bodies.sizes[MODES]), bodies.mix[n], bodies.amounts[n]
        q, ahead, middle = bodies.q[n], bodies.ahead[n], bodies.next_q[n]
        for c in range(width_of(bodies.q)):
            middle[c] = 0.5 * (ahead[c] + q[c])
        if turn.shape[0] == 3:
            size = 1.0 / sqrt(square_of(middle))
            for c in range(3, SPACE):
                middle[c] *= size
        rotation(q, turn)
        rotation(ahead, turn_ahead)
        rotation(middle, axes)
        integrate_inertia(bodies, n, q, inertia, bodies.mix_before[n])
        root_of(inertia, bodies.mix_before[n], modes, root)
        integrate_inertia(bodies, n, middle, inertia, mix)
        for e in range(bodies.numbers[n]):
            for c in range(turn.shape[0]):
                line_of(bodies, n, bodies.weights[n, e], ahead, turn_ahead, c, torque, FOUND)
                change_axes(turn_ahead, axes, torque)
                answer(bodies, n, inertia, mix, 0.25 * h * h, 0.5 * h, torque, FOUND)
                change_axes(axes, turn, torque)
                for k in range(modes):
                    for i in range(torque.shape[0]):
                        amounts[k, FOUND] += bodies.mix_before[n, k, i] * torque[i]
                for i in range(torque.shape[0]):
                    value = 0.0
                    for j in range(i, torque.shape[0]):
                        value += root[j, i] * torque[j]
                    torque[i] = value
                write(bodies, elements, n, e, c, torque, FOUND)
    return NO_FAILED_ROW
