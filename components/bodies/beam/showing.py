"""What the elements of a beam show, and how their forces come to its nodes."""

from __future__ import annotations

from components.bodies.posed.kernels import (
    SPACE,
    put_together,
    rotation,
    rotation_rate,
    square,
    turned,
)
from modular.blocks import shaped
from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import types
from modular.views import View

motions = {3: 3, SPACE: 6}  # of a node
turns = shaped(types.float64, lambda q: [square[q[-1]], square[q[-1]]])
sums = shaped(types.float64, lambda q: [(square[q[-1]][0],), (motions[q[-1]] - square[q[-1]][0],)])


@kernel
def node_of(weights: Array) -> int:
    """The node that an element is fixed to: the last of its weights."""
    return int(weights[weights.shape[0] - 1])


@kernel
def show_places(bodies: View, elements: View, n: int, column: View, turn: Array) -> None:
    """Show where the elements of a beam are."""
    for k in range(bodies.numbers[n]):
        q = column[n, node_of(bodies.weights[n, k])]
        rotation(q, turn)
        put_together(bodies.weights[n, k], q, turn, elements.position[bodies.attached[n, k]])


@kernel
def show_rates(bodies: View, n: int, places: View, rates: View, turn: Array, column: View) -> None:
    """Show how fast they are."""
    for k in range(bodies.numbers[n]):
        node = node_of(bodies.weights[n, k])
        q, v = places[n, node], rates[n, node]
        rotation_rate(q, v, turn)
        put_together(bodies.weights[n, k], v, turn, column[bodies.attached[n, k]])


@kernel
def collect(bodies: View, elements: View, n: int, places: View) -> None:
    """Forces on the elements, as forces in the world and torques in the axes of the nodes, in the order of attaching."""
    turn, _ = turns(bodies.q)
    _push, torque = sums(bodies.q)
    d, make = turn.shape[0], bodies.make[n]
    for k in range(bodies.nodes[make]):
        for c in range(bodies.outer.shape[1]):
            bodies.outer[n, k, c] = bodies.kilograms[make, k] * bodies.gravity[c] if c < d else 0.0
    for k in range(bodies.numbers[n]):
        weights, force = bodies.weights[n, k], elements.force[bodies.attached[n, k]]
        node = node_of(weights)
        rotation(places[n, node], turn)
        torque[:] = 0.0
        turned(weights, force, turn, torque)
        for c in range(d):
            bodies.outer[n, node, c] += weights[0] * force[c]
        for c in range(torque.shape[0]):
            bodies.outer[n, node, d + c] += torque[c]
