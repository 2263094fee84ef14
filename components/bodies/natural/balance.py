"""The equations of bodies in natural coordinates as compiled loops, for a solver that sees everything at once.

The same as `equations.py` writes down, but what depends on the state lies in columns that loops fill in: what is left of the
forces, phi and its second derivative along the motion, and where linearised equations are asked for, M + mu d2phi/dq2 and H.

    pull = Q - H^T mu,   inertia = M a,   openness = phi,   bend = dH/dt v
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.bodies.natural.kernels import constraint_errors, constraint_rates, differences, pair, workspace
from components.bodies.natural.showing import collect
from modular.blocks import like
from modular.elements import Array
from modular.kernel import kernel
from modular.lane_rows import fetch, gather, indices, store
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Table
from modular.views import View

if TYPE_CHECKING:
    from components.bodies.natural.stack import NaturalBodies

COLUMNS, COMMON = ("q", "v", "attached", "weights", "numbers", "make"), ("mass_matrix", "gram", "fall")


class NaturalBalance(Table):
    """Beside a stack of bodies, whose columns it reads where they lie: it is good for as long as nobody comes or goes."""

    acceleration: Array  # given: a, (n, e, d)
    effort: Array  # given: mu, (n, m)
    pull: Array  # (n, e, d)
    inertia: Array
    openness: Array  # (n, m)
    bend: Array
    matrix: Array  # one number for each of the d directions, (n, e, e)
    slopes: Array  # H, (n, m, e, d)

    def __init__(self, stack: NaturalBodies) -> None:
        super().__init__(max(stack.count, 1))
        self.bodies = stack
        elements, dimension = stack.shape
        rows = elements * (elements - 1) // 2
        listed = {"attached", "weights"}
        for name in COLUMNS:
            column = getattr(stack, name)
            self.column(name, *column.shape[1:], dtype=column.dtype, listed=name in listed)
            self._place(name, column)
        for name in COMMON:
            self.common(name, *getattr(stack, name).shape[1:])
            self._place(name, getattr(stack, name))
        for name in ("gravity", "points", "point"):
            self.fixed(name, *getattr(stack, name).shape)
            self.lay(name, getattr(stack, name))
        for name in ("acceleration", "pull", "inertia"):
            self.column(name, elements, dimension)
        for name in ("effort", "openness", "bend"):
            self.column(name, rows)
        self.column("matrix", elements, elements)
        self.column("slopes", rows, elements, dimension)
        self.loops = {"balance": balance_loop, "linearise_shape": linearise_shape_loop}

    @property
    def count(self) -> int:
        """As many as there are bodies."""
        return self.bodies.count


@kernel
def pull_inside(w: Array, effort: Array, points: Array, total: Array) -> None:
    """total - H^T mu: a pair w_i . w_j pulls w_i along w_j and w_j along w_i; what pulls at points pulls A backwards."""
    vectors = w.shape[0]
    for c in range(w.shape[1]):
        for i in range(vectors):
            value = 0.0 * w[i, c]
            for j in range(vectors):
                value += effort[pair(min(i, j), max(i, j), vectors)] * w[j, c]
            total[i + 1, c] -= value
            if i + 1 < points.shape[0]:
                total[0, c] += value


@loop
def balance_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """Forces of all kinds under given multipliers, M a, and the internal constraints, where the bodies stand."""
    q, v, a, total, inertia = like(bodies.q), like(bodies.q), like(bodies.q), like(bodies.q), like(bodies.q)
    mass, fall, gram, effort = like(bodies.mass_matrix), like(bodies.fall), like(bodies.gram), like(bodies.effort)
    w, dw, _, error, bend, _residual, _multipliers, _pull = workspace(bodies.q)
    count, dimension = bodies.q.shape
    for n in range(start, stop, LANES):
        fetch(bodies.q, n, stop, q)
        fetch(bodies.v, n, stop, v)
        fetch(bodies.acceleration, n, stop, a)
        makes = indices(bodies.make, n, stop)
        gather(bodies.mass_matrix, makes, mass)
        gather(bodies.fall, makes, fall)
        collect(bodies, elements, n, stop, total)
        for i in range(count):
            for c in range(dimension):
                value = 0.0 * q[0, 0]
                for j in range(count):
                    value += mass[i, j] * a[j, c]
                    total[i, c] += mass[i, j] * (fall[j] * bodies.gravity[c])
                inertia[i, c] = value
        if count > 1:
            gather(bodies.gram, makes, gram)
            fetch(bodies.effort, n, stop, effort)
            differences(q, bodies.points, w)
            differences(v, bodies.points, dw)
            constraint_errors(w, gram, error)
            constraint_rates(dw, dw, bend)
            pull_inside(w, effort, bodies.points, total)
            store(error, bodies.openness, n, stop)
            store(bend, bodies.bend, n, stop)
        store(total, bodies.pull, n, stop)
        store(inertia, bodies.inertia, n, stop)
    return NO_FAILED_ROW


@loop
def linearise_shape_loop(start: int, stop: int, bodies: View, elements: View) -> int:
    """M + mu d2phi/dq2 and H where the bodies stand: with S q = w, and Mu of the multipliers of all pairs, M + S^T Mu S."""
    count, dimension = bodies.q.shape
    points = bodies.points.shape[0]
    for n in range(start, stop):
        make, q = bodies.make[n], bodies.q[n]
        for i in range(count):
            for j in range(count):
                bodies.matrix[n, i, j] = bodies.mass_matrix[make, i, j]
        row = 0
        for i in range(count - 1):
            for j in range(i, count - 1):
                half = 0.5 if i == j else 1.0
                mu = bodies.effort[n, row]
                for e in range(count):
                    s_i = slope_of(i, e, points)
                    s_j = slope_of(j, e, points)
                    for c in range(dimension):
                        w_i, w_j = q[i + 1, c], q[j + 1, c]
                        if i + 1 < points:
                            w_i -= q[0, c]
                        if j + 1 < points:
                            w_j -= q[0, c]
                        bodies.slopes[n, row, e, c] = half * (s_i * w_j + s_j * w_i)
                    for f in range(count):
                        bodies.matrix[n, e, f] += (
                            half * mu * (s_i * slope_of(j, f, points) + s_j * slope_of(i, f, points))
                        )
                row += 1
    return NO_FAILED_ROW


@kernel
def slope_of(i: int, e: int, points: int) -> float:
    """How the vector w_i follows element e: B - A, u, v."""
    if e == i + 1:
        return 1.0
    return -1.0 if e == 0 and i + 1 < points else 0.0
