"""What the elements of bodies in natural coordinates show: every one is a constant linear map of the coordinates (III.3.5)."""

from __future__ import annotations

from modular.blocks import like
from modular.elements import Array
from modular.kernel import kernel
from modular.lane_rows import fetch_slot, gather, indices_slot, scatter
from modular.lanes import LANES
from modular.views import View


@kernel
def most(numbers: Array, n: int, stop: int) -> int:
    """The longest of four lists."""
    longest = 0
    for k in range(n, min(n + LANES, stop)):
        longest = max(longest, numbers[k])
    return longest


@kernel
def combine(weights: Array, state: Array, shown: Array) -> None:
    """An element from the coordinates that it is put together from."""
    for c in range(state.shape[1]):
        value = 0.0
        for i in range(state.shape[0]):
            value += weights[i] * state[i, c]
        shown[0, c] = value


@kernel
def motion_of(weights: Array, q: Array, v: Array, a: Array, motion: Array) -> None:
    """Position, velocity and acceleration of one point of one body."""
    combine(weights, q, motion[0:1])
    combine(weights, v, motion[1:2])
    combine(weights, a, motion[2:3])


@kernel
def show_one(bodies: View, n: int, stop: int, state: Array, column: Array) -> None:
    """Show one kind of state of four bodies."""
    weights, shown = like(bodies.fall), like(bodies.point)
    for k in range(most(bodies.numbers, n, stop)):
        fetch_slot(bodies.weights, k, n, stop, weights)
        combine(weights, state, shown)
        scatter(shown, column, indices_slot(bodies.attached, k, n, stop, bodies.numbers))


@kernel
def show_two(bodies: View, n: int, stop: int, q: Array, v: Array, position: Array, velocity: Array) -> None:
    """Show positions and velocities of four bodies."""
    weights, x, dx = like(bodies.fall), like(bodies.point), like(bodies.point)
    for k in range(most(bodies.numbers, n, stop)):
        fetch_slot(bodies.weights, k, n, stop, weights)
        where = indices_slot(bodies.attached, k, n, stop, bodies.numbers)
        combine(weights, q, x)
        combine(weights, v, dx)
        scatter(x, position, where)
        scatter(dx, velocity, where)


@kernel
def show_three(bodies: View, elements: View, n: int, stop: int, v: Array, q_new: Array, v_new: Array) -> None:
    """Show corrected velocities and predicted positions and velocities of four bodies."""
    weights, now, x, dx = like(bodies.fall), like(bodies.point), like(bodies.point), like(bodies.point)
    for k in range(most(bodies.numbers, n, stop)):
        fetch_slot(bodies.weights, k, n, stop, weights)
        where = indices_slot(bodies.attached, k, n, stop, bodies.numbers)
        combine(weights, v, now)
        combine(weights, q_new, x)
        combine(weights, v_new, dx)
        scatter(now, elements.current_velocity, where)
        scatter(x, elements.position, where)
        scatter(dx, elements.velocity, where)


@kernel
def collect(bodies: View, elements: View, n: int, stop: int, total: Array) -> None:
    """Forces on the elements become forces on the coordinates: the transpose of showing, summed in the order of attaching."""
    weights, force = like(bodies.fall), like(bodies.point)
    total[:, :] = 0.0
    for k in range(most(bodies.numbers, n, stop)):
        fetch_slot(bodies.weights, k, n, stop, weights)
        gather(elements.force, indices_slot(bodies.attached, k, n, stop, bodies.numbers), force)
        for i in range(total.shape[0]):
            for c in range(total.shape[1]):
                total[i, c] += weights[i] * force[0, c]
