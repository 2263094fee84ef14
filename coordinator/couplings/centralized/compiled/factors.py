"""A matrix over the coordinates bordered by constraints, put together, factorised and solved with by compiled loops.

    [A      (s G)^T] [x         ]   [f  ]
    [s G   -epsilon] [lambda / s] = [s g]

as `saddle.py` has it: rows scaled to a seen compliance of one, the zero block filled with -epsilon, so that the order of
elimination is free (R. J. Vanderbei, "Symmetric quasidefinite matrices", SIAM J. Optim. 5 (1995) 100-113). No rows are exchanged
within a node; where that will not do a pivot says so, or refinement finds no end, and the system goes the road of `saddle.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.couplings.centralized.compiled.elimination import (
    BEGIN,
    COORDINATES,
    DIAGONAL,
    FIRST,
    LAST,
    LOWER,
    OFFSET,
    ROWS,
    SIZE,
    START,
    TARGETS,
    UPPER,
    WIDTH,
    Layout,
)
from coordinator.couplings.interface.fields import numbers_at
from modular.elements import Array
from modular.kernel import kernel
from modular.loop import NO_FAILED_ROW, loop
from modular.table import Number, Table
from modular.views import View

NODE_COLUMNS = 10
# columns of bodies: their node, addresses of M + mu d2phi/dq2 and H, how many elements, directions and constraints
AT, STRIDE, MATRIX, SLOPES, ELEMENTS, DIRECTIONS, CLOSURES, SCALE = range(8)
# columns of what a joint sees of one element: where it stands above and below, the width, Jacobian, weights, …
OVER, UNDER, PANEL, JACOBIAN, PITCH, WEIGHTS, COUNT, AXES, LINES, SCALES = range(10)
TINY = 1e-200
REDUNDANT = 1e-6  # a pivot of a constraint below: a row that repeats others
WHOLE_NUMBERS = ("node_count", "body_count", "grip_count", "row_count", "redundant")


class Factors(Table):
    """One such matrix; `nodes` and panels as `elimination.py` lays them out."""

    most_fields = 24
    work: Array  # all blocks: D as L and U, D^-1 of the upper panel, and the lower one as it was
    whole: Array  # the same as it was put together
    x: Array  # right side, and then the solution
    y: Array  # a solution that is refined, and what it leaves
    rest: Array
    node_count: Number
    body_count: Number
    grip_count: Number
    row_count: Number
    redundant: Number  # whether a row repeats others
    epsilon: Number

    def __init__(
        self, layout: Layout, bodies: list[tuple[int, ...]], grips: list[tuple[int, ...]], scale: Array
    ) -> None:
        super().__init__(1)
        self.layout = layout
        for name, rows, columns in (
            ("nodes", layout.nodes, NODE_COLUMNS), ("later", layout.later, 3), ("targets", layout.targets, 3),
            ("bodies", bodies, 8), ("grips", grips, 10),
        ):  # fmt: skip
            self.common(name, columns, dtype=np.int64)
            self._place(name, np.array(rows, np.int64).reshape(-1, columns))
        for name in WHOLE_NUMBERS:
            self.fixed(name, dtype=np.int64)
        self.fixed("epsilon")
        sizes = {
            "work": layout.numbers,
            "whole": layout.numbers,
            **dict.fromkeys(("x", "y", "rest"), layout.rows),
            "row": layout.widest,
        }
        for name, size in sizes.items():
            self.stretch(name)
            self.lay(name, np.zeros(size + 4))
        self.stretch("scale")
        self.lay("scale", scale)
        self.node_count, self.body_count, self.grip_count = len(layout.nodes), len(bodies), len(grips)
        self.row_count = layout.rows
        self.loops = {
            "assemble": assemble_loop,
            "factorise": factorise_loop,
            "solve": solve_loop,
            "residual": residual_loop,
        }


@loop
def assemble_loop(start: int, stop: int, factors: View, elements: View) -> int:
    """Bodies by themselves and what joints see of them; forces between bodies are added by whoever knows them."""
    work, nodes = factors.work, factors.nodes
    last = factors.node_count - 1
    for i in range(nodes[last, LOWER] + nodes[last, SIZE] * nodes[last, WIDTH]):
        work[i] = 0.0
    for k in range(factors.node_count):
        size = nodes[k, SIZE]
        for i in range(nodes[k, COORDINATES], size):
            work[nodes[k, DIAGONAL] + (size + 1) * i] = -factors.epsilon
    for b in range(factors.body_count):
        body = factors.bodies[b]
        count, axes, size = body[ELEMENTS], body[DIRECTIONS], body[STRIDE]
        matrix, slopes = numbers_at(body[MATRIX]), numbers_at(body[SLOPES])
        for i in range(count):
            for j in range(count):
                for c in range(axes):
                    work[body[AT] + size * (i * axes + c) + j * axes + c] = matrix[i * count + j]
        own = count * axes
        for r in range(body[CLOSURES]):
            scale = factors.scale[body[SCALE] + r]
            for i in range(own):
                value = scale * slopes[r * own + i]
                work[body[AT] + size * (own + r) + i] = value
                work[body[AT] + size * i + own + r] = value
    for g in range(factors.grip_count):
        add_grip(work, factors.grips[g], factors.scale)
    return NO_FAILED_ROW


@kernel
def add_grip(work: Array, grip: Any, scale: Array) -> None:
    """s G of a joint with one of its elements, x = weights . q, above and below the diagonal."""
    jacobian, weights = numbers_at(grip[JACOBIAN]), numbers_at(grip[WEIGHTS])
    axes = grip[AXES]
    for i in range(grip[COUNT]):
        if weights[i] == 0.0:
            continue
        for c in range(axes):
            at = (i * axes + c) * grip[PANEL]
            for r in range(grip[LINES]):
                value = scale[grip[SCALES] + r] * weights[i] * jacobian[r * grip[PITCH] + c]
                work[grip[OVER] + at + r] += value
                work[grip[UNDER] + at + r] += value


@kernel
def factorise_diagonal(work: Array, at: int, size: int, coordinates: int) -> Any:
    """D = L U in its place; the smallest pivot of a constraint, or a negative number where there is none."""
    least = 1e300
    for p in range(size):
        pivot = work[at + size * p + p]
        if not abs(pivot) > TINY:
            return -1.0
        if p >= coordinates:
            least = min(least, abs(pivot))
        for i in range(p + 1, size):
            factor = work[at + size * i + p] / pivot
            work[at + size * i + p] = factor
            if factor != 0.0:
                for j in range(p + 1, size):
                    work[at + size * i + j] -= factor * work[at + size * p + j]
    return least


@kernel
def divide_panel(work: Array, at: int, size: int, upper: int, width: int) -> None:
    """The upper panel becomes D^-1 of itself."""
    for i in range(size):
        for p in range(i):
            factor = work[at + size * i + p]
            if factor != 0.0:
                for c in range(width):
                    work[upper + i * width + c] -= factor * work[upper + p * width + c]
    for k in range(size):
        i = size - 1 - k
        for p in range(i + 1, size):
            factor = work[at + size * i + p]
            if factor != 0.0:
                for c in range(width):
                    work[upper + i * width + c] -= factor * work[upper + p * width + c]
        inverse = 1.0 / work[at + size * i + i]
        for c in range(width):
            work[upper + i * width + c] *= inverse


@kernel
def update_later(factors: View, k: int) -> None:
    """What eliminating a node does to those that come later."""
    work, row, later = factors.work, factors.row, factors.later
    size, width, lower, upper = (
        factors.nodes[k, SIZE], factors.nodes[k, WIDTH], factors.nodes[k, LOWER], factors.nodes[k, UPPER],
    )  # fmt: skip
    first, last = factors.nodes[k, FIRST], factors.nodes[k, LAST]
    for one in range(first, last):
        targets = factors.nodes[k, TARGETS] + (one - first) * (last - first)
        for a in range(later[one, ROWS]):
            for c in range(width):
                row[c] = 0.0
            for b in range(size):
                factor = work[lower + b * width + later[one, OFFSET] + a]
                if factor != 0.0:
                    for c in range(width):
                        row[c] += factor * work[upper + b * width + c]
            for other in range(first, last):
                at, down, right = (
                    factors.targets[targets + other - first, 0], factors.targets[targets + other - first, 1],
                    factors.targets[targets + other - first, 2],
                )  # fmt: skip
                offset = later[other, OFFSET]
                for c in range(later[other, ROWS]):
                    work[at + a * down + c * right] -= row[offset + c]


@loop
def factorise_loop(start: int, stop: int, factors: View, elements: View) -> int:
    """In place; 0 where a pivot is nothing."""
    work, nodes = factors.work, factors.nodes
    last = factors.node_count - 1
    for i in range(nodes[last, LOWER] + nodes[last, SIZE] * nodes[last, WIDTH]):
        factors.whole[i] = work[i]
    least = 1e300
    for k in range(factors.node_count):
        found = factorise_diagonal(work, nodes[k, DIAGONAL], nodes[k, SIZE], nodes[k, COORDINATES])
        if found < 0.0:
            return 0
        least = min(least, found)
        divide_panel(work, nodes[k, DIAGONAL], nodes[k, SIZE], nodes[k, UPPER], nodes[k, WIDTH])
        update_later(factors, k)
    factors.redundant = 1 if least < REDUNDANT else 0
    return NO_FAILED_ROW


@kernel
def product(work: Array, at: int, x: Array, begin: int, count: int) -> Any:
    """A row times a vector, in four sums that do not wait for each other."""
    one = two = three = four = 0.0
    k = 0
    while k + 4 <= count:
        one += work[at + k] * x[begin + k]
        two += work[at + k + 1] * x[begin + k + 1]
        three += work[at + k + 2] * x[begin + k + 2]
        four += work[at + k + 3] * x[begin + k + 3]
        k += 4
    while k < count:
        one += work[at + k] * x[begin + k]
        k += 1
    return (one + two) + (three + four)


@kernel
def times_lower(work: Array, at: int, width: int, x: Array, begin: int, size: int, row: Array) -> None:
    """What a node brings to the rows that come after it: its columns there times its part of a vector."""
    for c in range(width):
        row[c] = 0.0
    for b in range(size):
        factor, lower = x[begin + b], at + b * width
        for c in range(width):
            row[c] += factor * work[lower + c]


@loop
def solve_loop(start: int, stop: int, factors: View, elements: View) -> int:
    """The right side becomes the solution."""
    work, nodes, later, x, row = factors.work, factors.nodes, factors.later, factors.x, factors.row
    for k in range(factors.node_count):
        size, begin, at, width = nodes[k, SIZE], nodes[k, START], nodes[k, DIAGONAL], nodes[k, WIDTH]
        for i in range(size):
            x[begin + i] -= product(work, at + size * i, x, begin, i)
        for i in range(size - 1, -1, -1):
            rest = x[begin + i] - product(work, at + size * i + i + 1, x, begin + i + 1, size - 1 - i)
            x[begin + i] = rest / work[at + size * i + i]
        times_lower(work, nodes[k, LOWER], width, x, begin, size, row)
        for one in range(nodes[k, FIRST], nodes[k, LAST]):
            for a in range(later[one, ROWS]):
                x[later[one, BEGIN] + a] -= row[later[one, OFFSET] + a]
    for k in range(factors.node_count - 1, -1, -1):
        width = nodes[k, WIDTH]
        for one in range(nodes[k, FIRST], nodes[k, LAST]):
            for a in range(later[one, ROWS]):
                row[later[one, OFFSET] + a] = x[later[one, BEGIN] + a]
        for b in range(nodes[k, SIZE]):
            x[nodes[k, START] + b] -= product(work, nodes[k, UPPER] + b * width, row, 0, width)
    return NO_FAILED_ROW


@loop
def residual_loop(start: int, stop: int, factors: View, elements: View) -> int:
    """`rest` -= the matrix without its border times `y`: what refinement still has to find."""
    whole, nodes, later, y, rest, row = (
        factors.whole, factors.nodes, factors.later, factors.y, factors.rest, factors.row,
    )  # fmt: skip
    for k in range(factors.node_count):
        size, begin, at, width = nodes[k, SIZE], nodes[k, START], nodes[k, DIAGONAL], nodes[k, WIDTH]
        for i in range(nodes[k, COORDINATES], size):
            rest[begin + i] -= factors.epsilon * y[begin + i]
        for one in range(nodes[k, FIRST], nodes[k, LAST]):
            for a in range(later[one, ROWS]):
                row[later[one, OFFSET] + a] = y[later[one, BEGIN] + a]
        for i in range(size):
            rest[begin + i] -= product(whole, at + size * i, y, begin, size)
            rest[begin + i] -= product(whole, nodes[k, UPPER] + i * width, row, 0, width)
        times_lower(whole, nodes[k, LOWER], width, y, begin, size, row)
        for one in range(nodes[k, FIRST], nodes[k, LAST]):
            for a in range(later[one, ROWS]):
                rest[later[one, BEGIN] + a] -= row[later[one, OFFSET] + a]
    return NO_FAILED_ROW
