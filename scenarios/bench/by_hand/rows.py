"""Where the numbers of a block of bodies lie, and vectors of three of them, for the chain written by hand (chain.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from modular.elements import Array
from modular.kernel import kernel

Function = TypeVar("Function", bound=Callable[..., Any])
Vector = tuple[float, float, float]
Four = tuple[float, float, float, float]
Elements = tuple[Vector, Vector, Vector, Vector]  # A, B, u, v

WIDE, ROUND, PITCH = 64, 8, 72  # places in use in a row; their number is a multiple of ROUND; numbers in a row
Q, V, A = 0, 12, 24  # rows of a block: state; predicted values stand in the same place
START, START_V, END, END_V = range(36, 48, 3)  # points; the end of body n stands at n + 1, where joint n + 1 reads it
EFFORT, EFFORT_BEFORE, START_V_BEFORE, END_V_BEFORE = range(48, 60, 3)
K, C, PRELOAD, POWER, POWER_BEFORE, BOOK = 60, 69, 78, 81, 82, 83
INVERSE_MASS, INVERSE_S, GRAM = 91, 101, 122  # upper halves
FALL, START_WEIGHTS, END_WEIGHTS, ROWS = 128, 132, 136, 140


# --- rows of a block ---------------------------------------------------------------------------------------------------


@kernel(written_out=False)
def get(block: Array, row: int, n: int) -> float:
    """A number of body n."""
    x: float = block[np.uint64(row * PITCH + n)]
    return x


@kernel(written_out=False)
def put(block: Array, row: int, n: int, x: float) -> None:
    """The way back."""
    block[np.uint64(row * PITCH + n)] = x


@kernel(written_out=False)
def get3(block: Array, row: int, n: int) -> Vector:
    """A vector of body n."""
    return get(block, row, n), get(block, row + 1, n), get(block, row + 2, n)


@kernel(written_out=False)
def put3(block: Array, row: int, n: int, x: Vector) -> None:
    """The way back."""
    put(block, row, n, x[0])
    put(block, row + 1, n, x[1])
    put(block, row + 2, n, x[2])


@kernel
def get4(block: Array, row: int, n: int) -> Four:
    """Four weights of body n."""
    return get(block, row, n), get(block, row + 1, n), get(block, row + 2, n), get(block, row + 3, n)


@kernel
def get12(block: Array, row: int, n: int) -> Elements:
    """Four elements of body n."""
    return get3(block, row, n), get3(block, row + 3, n), get3(block, row + 6, n), get3(block, row + 9, n)


@kernel
def put12(block: Array, row: int, n: int, x: Elements) -> None:
    """The way back."""
    put3(block, row, n, x[0])
    put3(block, row + 3, n, x[1])
    put3(block, row + 6, n, x[2])
    put3(block, row + 9, n, x[3])


# --- three numbers, four vectors ---------------------------------------------------------------------------------------


@kernel
def times(x: Vector, y: Vector) -> float:
    """x . y."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


@kernel
def plus(x: Vector, y: Vector) -> Vector:
    """x + y."""
    return x[0] + y[0], x[1] + y[1], x[2] + y[2]


@kernel
def minus(x: Vector, y: Vector) -> Vector:
    """x - y."""
    return x[0] - y[0], x[1] - y[1], x[2] - y[2]


@kernel
def further(x: Vector, factor: float, y: Vector) -> Vector:
    """x + factor y."""
    return x[0] + factor * y[0], x[1] + factor * y[1], x[2] + factor * y[2]


@kernel
def further12(x: Elements, factor: float, y: Elements) -> Elements:
    """x + factor y."""
    return (
        further(x[0], factor, y[0]),
        further(x[1], factor, y[1]),
        further(x[2], factor, y[2]),
        further(x[3], factor, y[3]),
    )


@kernel
def turned(block: Array, row: int, n: int, x: Vector) -> Vector:
    """A 3 x 3 matrix of joint n times x."""
    return times(get3(block, row, n), x), times(get3(block, row + 3, n), x), times(get3(block, row + 6, n), x)


@kernel
def combined(w: Four, x: Elements) -> Vector:
    """Sum of w_i x_i."""
    total = w[0] * x[0][0], w[0] * x[0][1], w[0] * x[0][2]
    return further(further(further(total, w[1], x[1]), w[2], x[2]), w[3], x[3])


@kernel
def accelerations(block: Array, n: int, x: Elements) -> Elements:
    """M^-1 x."""
    a, b, c, d = get4(block, INVERSE_MASS, n)
    e, f, g = get3(block, INVERSE_MASS + 4, n)
    h, i, j = get3(block, INVERSE_MASS + 7, n)
    return combined((a, b, c, d), x), combined((b, e, f, g), x), combined((c, f, h, i), x), combined((d, g, i, j), x)
