"""The shape of a body that bends by modes, what its inertia is then, and what its elements show of it."""

from __future__ import annotations

from components.bodies.loops.newmark_loops import Showing
from components.bodies.posed.kernels import rotation, rotation_bend, rotation_rate, turns
from modular.blocks import shaped
from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import types
from modular.views import View

points = shaped(types.float64, lambda gravity: [gravity] * 3)

MODES = 0  # place in `sizes`


@kernel
def follow(bodies: View, make: int, weights: Array, i: int, way: Array) -> None:
    """How a mode moves an element, in the axes of the body."""
    d, modes = way.shape[0], int(bodies.sizes[MODES])
    at = int(weights[1]) * modes + i
    if d == 3:
        for c in range(3):
            s, t = (c + 1) % 3, (c + 2) % 3
            turned = bodies.shapes[make, at, 3 + s] * weights[2 + t] - bodies.shapes[make, at, 3 + t] * weights[2 + s]
            way[c] = weights[0] * bodies.shapes[make, at, c] + turned
    else:
        way[0] = weights[0] * bodies.shapes[make, at, 0] - bodies.shapes[make, at, 2] * weights[3]
        way[1] = weights[0] * bodies.shapes[make, at, 1] + bodies.shapes[make, at, 2] * weights[2]


@kernel
def place_in_body(bodies: View, make: int, weights: Array, q: Array, e: Array) -> None:
    """Where an element is in the axes of the body, bent as it is."""
    way, _, _ = points(bodies.gravity)
    at = int(weights[1])
    for c in range(e.shape[0]):
        e[c] = weights[0] * bodies.places[make, at, c] + weights[2 + c]
    first = first_of(bodies)
    for i in range(int(bodies.sizes[MODES])):
        follow(bodies, make, weights, i, way)
        for c in range(e.shape[0]):
            e[c] += q[first + i] * way[c]


@kernel
def bend(bodies: View, make: int, weights: Array, v: Array, rate: Array) -> None:
    """How fast an element moves in the axes of the body."""
    way, _, _ = points(bodies.gravity)
    for c in range(rate.shape[0]):
        rate[c] = 0.0
    first = first_of(bodies)
    for i in range(int(bodies.sizes[MODES])):
        follow(bodies, make, weights, i, way)
        for c in range(rate.shape[0]):
            rate[c] += v[first + i] * way[c]


@kernel
def first_of(bodies: View) -> int:
    """Where the amplitudes begin among the coordinates."""
    return 3 if bodies.gravity.shape[0] == 2 else 7


@kernel
def integrate_inertia(bodies: View, n: int, q: Array, inertia: Array, mix: Array) -> None:
    """J and N of the bent body."""
    make, modes, first = bodies.make[n], int(bodies.sizes[MODES]), first_of(bodies)
    t = inertia.shape[0]
    for i in range(t):
        for j in range(t):
            inertia[i, j] = 0.0
    for a in range(1 + modes):
        one = 1.0 if a == 0 else q[first + a - 1]
        for b in range(a, 1 + modes):
            share = one * (1.0 if b == 0 else q[first + b - 1])
            share = share if a == b else 2.0 * share
            for i in range(t):
                for j in range(t):
                    inertia[i, j] += share * bodies.inertia[make, a * (1 + modes) + b, i * t + j]
    for j in range(modes):
        for c in range(t):
            value = 0.0
            for i in range(modes):
                value += q[first + i] * bodies.gyroscopic[make, i * modes + j, c]
            mix[j, c] = value


@kernel
def grow(bodies: View, n: int, q: Array, spin: Array, k: int) -> float:
    """Omega dJ/deta_k Omega / 2."""
    make, modes, first = bodies.make[n], int(bodies.sizes[MODES]), first_of(bodies)
    t, total = spin.shape[0], 0.0
    for a in range(1 + modes):
        share = 1.0 if a == 0 else q[first + a - 1]
        for i in range(t):
            for j in range(t):
                total += share * spin[i] * bodies.inertia[make, a * (1 + modes) + 1 + k, i * t + j] * spin[j]
    return total


@kernel
def gyroscopic_of(bodies: View, n: int, spin: Array, k: int, j: int) -> float:
    """C_kj Omega."""
    at, total = k * int(bodies.sizes[MODES]) + j, 0.0
    for c in range(spin.shape[0]):
        total += bodies.gyroscopic[bodies.make[n], at, c] * spin[c]
    return total


@kernel
def show_places(bodies: View, elements: View, n: int, q: Array) -> None:
    """Show where the elements of a body are."""
    turn, _, _ = turns(bodies.gravity)
    e, _, _ = points(bodies.gravity)
    rotation(q, turn)
    for k in range(bodies.numbers[n]):
        weights, shown = bodies.weights[n, k], elements.position[bodies.attached[n, k]]
        place_in_body(bodies, bodies.make[n], weights, q, e)
        for c in range(e.shape[0]):
            value = weights[0] * q[c]
            for j in range(e.shape[0]):
                value += turn[c, j] * e[j]
            shown[c] = value


@kernel(apart=True)
def show_rates(bodies: View, n: int, q: Array, v: Array, column: View) -> None:
    """Show how fast they are."""
    turn, rate, _ = turns(bodies.gravity)
    e, moved, _ = points(bodies.gravity)
    rotation(q, turn)
    rotation_rate(q, v, rate)
    for k in range(bodies.numbers[n]):
        weights, shown = bodies.weights[n, k], column[bodies.attached[n, k]]
        place_in_body(bodies, bodies.make[n], weights, q, e)
        bend(bodies, bodies.make[n], weights, v, moved)
        for c in range(e.shape[0]):
            value = weights[0] * v[c]
            for j in range(e.shape[0]):
                value += rate[c, j] * e[j] + turn[c, j] * moved[j]
            shown[c] = value


@kernel
def show_rates_ahead(bodies: View, n: int, q: Array, v: Array, a: Array, h: float, column: View) -> None:
    """Show how fast they would be if each went on for h with its present acceleration: x' + h x''."""
    turn, rate, curve = turns(bodies.gravity)
    e, moved, gained = points(bodies.gravity)
    rotation_rate(q, v, rate)
    rotation_bend(q, v, a, turn, curve)
    rotation(q, turn)
    for k in range(bodies.numbers[n]):
        weights, shown = bodies.weights[n, k], column[bodies.attached[n, k]]
        place_in_body(bodies, bodies.make[n], weights, q, e)
        bend(bodies, bodies.make[n], weights, v, moved)
        bend(bodies, bodies.make[n], weights, a, gained)
        for c in range(e.shape[0]):
            value = weights[0] * (v[c] + h * a[c])
            for j in range(e.shape[0]):
                value += (rate[c, j] + h * curve[c, j]) * e[j]
                value += (turn[c, j] + 2.0 * h * rate[c, j]) * moved[j] + h * turn[c, j] * gained[j]
            shown[c] = value


SHOWING = Showing(show_places, show_rates, show_rates_ahead)
