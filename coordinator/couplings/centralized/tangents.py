"""How forces and constraint forces change with the state, for Newton's iteration.

By differences of what the components exert anyway, so that nobody has to write a tangent down. They are exact for quadratic
constraints; elsewhere the iteration only needs them nearly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from coordinator.couplings.centralized.equations import Equations, Matrix
from modular.elements import Array, Indices
from modular.joints import Joints


def force_tangents(equations: Equations, time: float) -> tuple[Matrix, Matrix]:
    """-dQ/dq and -dQ/dv of springs, dampers and loads and of bodies that bend, by differences; the system stays."""
    elements = equations.system.elements
    inside = [inner_tangent(equations, key) for key in ("q", "v")]
    if not len(equations.force_rows):
        return inside[0], inside[1]
    found = []
    for table in (elements.position, (elements.velocity, elements.current_velocity)):
        found.append(-(equations.reach.T @ _element_tangent(equations, table, time) @ equations.reach))
    return found[0] + inside[0], found[1] + inside[1]


DIFFERENCE_STEP = 1e-6  # of a coordinate or rate, for differences of what is elastic or damped inside a body


def inner_tangent(equations: Equations, key: str) -> Matrix:
    """How what acts inside bodies that bend changes with their coordinates ("q") or rates ("v"), with the sign turned.

    Nodes of a beam feel their neighbours alone, so every third of them may be moved at once.
    """
    firsts, values = [], []
    for stack, part in zip(equations.stacks, equations.parts, strict=True):
        for row, name in enumerate(stack.names) if getattr(stack, "elastic", False) else ():
            values.append(inner_block(stack, name, row, equations.system.gravity, key))
            firsts.append(part.start + len(values[-1]) * row)

    def places() -> Any:
        for first, block in zip(firsts, values, strict=True):
            numbers = first + np.arange(len(block))
            yield numbers[:, None], numbers[None, :]

    return equations.matrix(f"inside bodies, {key}", places, values, (equations.size, equations.size))


def inner_block(stack: Any, name: str, row: int, gravity: Array, key: str) -> Array:
    """The same of one body, where it stands."""
    q, v = (stack.state()[each][row].copy() for each in ("q", "v"))
    return _differences(partial(stack.bodies[name].drive, q, v, gravity), q if key == "q" else v)


def _differences(drive: Callable[[], Array], moved: Array) -> Array:
    """Of a drive, number by number of what is moved: of nodes (n, k), or of one place (k,)."""
    nodes = moved if moved.ndim == 2 else moved[None]
    count, size = nodes.shape
    block = np.zeros((count, size, count, size))
    for first in range(min(3, count)):
        for c in range(size):
            sides = []
            for sign in (1.0, -2.0):  # there, and as far on the other side
                nodes[first::3, c] += sign * DIFFERENCE_STEP
                sides.append(drive().reshape(count, size))
            nodes[first::3, c] += DIFFERENCE_STEP
            change = (sides[1] - sides[0]) / (2.0 * DIFFERENCE_STEP)
            for node in range(first, count, 3):
                near = slice(max(node - 1, 0), node + 2)
                block[near, :, node, c] = change[near]
    return block.reshape(count * size, count * size)


def _element_tangent(equations: Equations, tables: Any, time: float) -> Matrix:
    """How the forces on elements change with their positions or velocities: each force reads only its own elements,
    so one difference per number of an element serves all forces at once."""
    elements = equations.system.elements
    tables = tables if isinstance(tables, tuple) else (tables,)
    d = elements.dimension
    homes = list(equations.system.force_home.values())
    served = [[s + k for s, c in zip(h.starts, h.counts, strict=True) for k in range(c)] for h in homes]
    size = max(1.0, float(np.abs(tables[0]).max(initial=0.0)))
    h = 1e-5 * size
    rows, columns, values = [], [], []
    for slot in range(max(len(one) for one in served)):
        moved = [one for one in served if slot < len(one)]
        picked = np.array([one[slot] for one in moved])
        other = np.array([row for one in moved for row in one])
        owner = np.repeat(picked, [len(one) for one in moved])
        for c in range(d):
            kept = [table[picked, c].copy() for table in tables]
            sides = []
            for sign in (1.0, -1.0):
                for table, value in zip(tables, kept, strict=True):
                    table[picked, c] = value + sign * h
                for forces in equations.system.forces:
                    forces.exert(elements, time)
                sides.append(elements.force.copy())
            for table, value in zip(tables, kept, strict=True):
                table[picked, c] = value
            rows.append(d * other[:, None] + np.arange(d))
            columns.append(d * owner[:, None] + c)
            values.append(((sides[0] - sides[1]) / (2.0 * h))[other])
    n = d * len(elements.position)
    return equations.matrix("springs", lambda: zip(rows, columns, strict=True), values, (n, n))


def curvature(equations: Equations, q: Array, v: Array, multipliers: Array) -> Matrix:
    """d(G^T lambda)/dq at q with the multipliers held: the stiffness that constraint forces have. Leaves the system at q."""
    firsts, values = [], []
    h = 1e-3 * equations.extent
    for stack, part, into in zip(equations.stacks, equations.parts, equations.body_rows, strict=True):
        state = stack.state()["q"]
        n, k = state.shape[0], int(np.prod(state.shape[1:]))
        mu = multipliers[into].reshape(n, -1)
        if not mu.size:
            continue
        base = q[part].reshape(n, k)
        bends = equations.bends.of(stack, partial(_slopes_inside, stack), base, h)
        state[:] = base.reshape(state.shape)
        firsts.append((part.start + k * np.arange(n), k))
        values.append(np.einsum("nm,cnmk->nkc", mu, bends))

    def places() -> Any:
        for first, k in firsts:
            yield first[:, None, None] + np.arange(k)[:, None], first[:, None, None] + np.arange(k)

    total = equations.matrix("bend of bodies", places, values, (equations.size,) * 2)
    equations.go(q, v)
    if equations.joints:
        total = total + equations.reach.T @ _joint_curvature(equations, multipliers, h) @ equations.reach
    return total


def _slopes_inside(stack: Any, places: Array) -> Array:
    """Jacobians of what holds bodies together inside, where they stand somewhere else."""
    state = stack.state()["q"]
    state[:] = places.reshape(state.shape)
    return np.array(stack.closure()[2])


def _joint_curvature(equations: Equations, multipliers: Array, h: float) -> Matrix:
    elements = equations.system.elements
    d = elements.dimension
    rows, values = [], []
    for joints, into in zip(equations.joints, equations.joint_rows, strict=True):
        n, form = joints.count, joints.form
        sides = ((joints.first[:n], form.first), (joints.second[:n], form.second))
        served = np.concatenate([start[:, None] + np.arange(number) for start, number in sides], axis=1)
        position = elements.position
        kept = position[served].copy()
        bends = equations.bends.of(joints, partial(slopes_of_joints, equations, joints, served), kept.reshape(n, -1), h)
        position[served] = kept
        joints.linearise(elements)
        numbers = (d * served[:, :, None] + np.arange(d)).reshape(n, -1)
        rows.append(numbers)
        values.append(np.einsum("nm,cnmk->nkc", multipliers[into].reshape(n, form.rows), bends))

    def places() -> Any:
        for numbers in rows:
            yield numbers[:, :, None], numbers[:, None, :]

    m = d * len(elements.position)
    return equations.matrix("bend of joints", places, values, (m, m))


def slopes_of_joints(equations: Equations, joints: Joints, served: Indices, places: Array) -> Array:
    """Jacobians of joints, elements of both sides in a row, where these are somewhere else."""
    elements, n = equations.system.elements, joints.count
    elements.position[served] = places.reshape(*served.shape, -1)
    joints.linearise(elements)
    found = np.concatenate([block[:n] for block in (joints.on_first, joints.on_second)], axis=2)
    return np.array(found.reshape(n, found.shape[1], -1))
