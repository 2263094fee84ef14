"""What the elements of a beam show, and how their forces come to its nodes. q, v, a: coordinates of all its nodes."""

from __future__ import annotations

from components.bodies.loops.newmark_loops import Showing
from components.bodies.posed.kernels import (
    put_together,
    put_together_ahead,
    rotation,
    rotation_bend,
    rotation_rate,
    sums,
    turned,
    turns,
)
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View


@kernel
def node_of(weights: Array) -> int:
    """The node that an element is fixed to: the last of its weights."""
    return int(weights[weights.shape[0] - 1])


@kernel
def show_places(bodies: View, elements: View, n: int, q: Array) -> None:
    """Show where the elements of a beam are."""
    turn, _, _ = turns(bodies.gravity)
    for k in range(bodies.numbers[n]):
        node = node_of(bodies.weights[n, k])
        rotation(q[node], turn)
        put_together(bodies.weights[n, k], q[node], turn, elements.position[bodies.attached[n, k]])


@kernel
def show_rates(bodies: View, n: int, q: Array, v: Array, column: View) -> None:
    """Show how fast they are."""
    rate, _, _ = turns(bodies.gravity)
    for k in range(bodies.numbers[n]):
        node = node_of(bodies.weights[n, k])
        rotation_rate(q[node], v[node], rate)
        put_together(bodies.weights[n, k], v[node], rate, column[bodies.attached[n, k]])


@kernel
def show_rates_ahead(bodies: View, n: int, q: Array, v: Array, a: Array, h: float, column: View) -> None:
    """Show how fast they would be if each went on for h with its present acceleration."""
    turn, rate, bend = turns(bodies.gravity)
    for k in range(bodies.numbers[n]):
        weights, shown = bodies.weights[n, k], column[bodies.attached[n, k]]
        node = node_of(weights)
        rotation_rate(q[node], v[node], rate)
        rotation_bend(q[node], v[node], a[node], turn, bend)
        put_together_ahead(weights, v[node], a[node], h, rate, bend, shown)


SHOWING = Showing(show_places, show_rates, show_rates_ahead)


@kernel
def collect(bodies: View, elements: View, n: int, q: Array) -> None:
    """Forces on the elements, as forces in the world and torques in the axes of the nodes, in the order of attaching."""
    turn, _, _ = turns(bodies.gravity)
    _, torque = sums(bodies.gravity)
    d, make = turn.shape[0], bodies.make[n]
    for k in range(bodies.nodes[make]):
        for c in range(bodies.outer.shape[1]):
            bodies.outer[n, k, c] = bodies.kilograms[make, k] * bodies.gravity[c] if c < d else 0.0
    for k in range(bodies.numbers[n]):
        weights, force = bodies.weights[n, k], elements.force[bodies.attached[n, k]]
        node = node_of(weights)
        rotation(q[node], turn)
        torque[:] = 0.0
        turned(weights, force, turn, torque)
        for c in range(d):
            bodies.outer[n, node, c] += weights[0] * force[c]
        for c in range(torque.shape[0]):
            bodies.outer[n, node, d + c] += torque[c]
