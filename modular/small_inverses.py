"""Inverses of the small symmetric matrices of joints, 2 x 2 or 3 x 3, four at a time."""

from __future__ import annotations

import numpy as np

from modular.blocks import shaped
from modular.elements import Array
from modular.kernel import kernel
from modular.lanes import given, lanes, share

PIVOT_TOLERANCE = 1e-14  # share of a diagonal entry: what is left of it below that is rounding

scratch_for_inverse = shaped(lanes, lambda _: [(3, 3), (3, 3), (3, 3)])


@kernel(apart=True)
def invert_on_range(answer: Array, at: int, size: int, rank: int, scratch: tuple[Array, ...], inverse: Array) -> None:
    """Pseudo-inverse of the semi-definite block of `answer` that begins at `at`, its rank being known.

    A threshold would have to tell rounding from directions that are a million times softer than others; of three rows of a cross
    product it is known that they lock two. A block of rank `size` that answers nothing in some direction gets nothing there.
    """
    w, normal, root = scratch
    trace = 0.0 * answer[at, at]
    for i in range(size):
        trace += answer[at + i, at + i]
        for j in range(size):
            w[i, j] = answer[at + i, at + j]
    if rank < size:  # adj(W) = l1 l2 n n^T with n the direction that stays free: fill it, invert, empty it again
        adjugate(w, normal)
        whole = normal[0, 0] + normal[1, 1] + normal[2, 2]
        for i in range(3):
            for j in range(3):
                normal[i, j] = share(normal[i, j], whole)
                w[i, j] += trace * normal[i, j]
        invert_by_factors(w, size, root, inverse)
        for i in range(3):
            for j in range(3):
                inverse[i, j] = given(whole, inverse[i, j] - share(normal[i, j], trace))
    else:
        invert_by_factors(w, size, root, inverse)


@kernel
def invert_by_factors(w: Array, size: int, root: Array, inverse: Array) -> None:
    """W^-1 = L^-T L^-1 with W = L L^T.

    By its factors, and not by its cofactors: where a body answers a thousand million times as much one way as another, both ways
    are kept.
    """
    for i in range(size):  # rows of L, then of L^-1, into `root` and `inverse`
        for j in range(i):
            value = w[i, j]
            for k in range(j):
                value -= root[i, k] * root[j, k]
            root[i, j] = share(value, root[j, j])
        value = w[i, i]
        for k in range(i):
            value -= root[i, k] * root[i, k]
        root[i, i] = np.sqrt(given(value - PIVOT_TOLERANCE * w[i, i], value))
    for i in range(size):
        w[i, i] = share(1.0, root[i, i])
        for j in range(i):
            value = 0.0 * w[i, i]
            for k in range(j, i):
                value -= root[i, k] * w[k, j]
            w[i, j] = value * w[i, i]
    for i in range(size):
        for j in range(i + 1):
            value = 0.0 * w[i, i]
            for k in range(i, size):
                value += w[k, i] * w[k, j]
            inverse[i, j] = inverse[j, i] = value


@kernel
def adjugate(m: Array, out: Array) -> None:
    """Adjugate of a symmetric 3 x 3 matrix."""
    out[0, 0] = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    out[1, 1] = m[0, 0] * m[2, 2] - m[0, 2] * m[2, 0]
    out[2, 2] = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
    out[0, 1] = out[1, 0] = m[0, 2] * m[1, 2] - m[0, 1] * m[2, 2]
    out[0, 2] = out[2, 0] = m[0, 1] * m[1, 2] - m[0, 2] * m[1, 1]
    out[1, 2] = out[2, 1] = m[0, 1] * m[0, 2] - m[0, 0] * m[1, 2]
