"""The equations of bodies in natural coordinates, written down for solvers that see everything at once.

Coordinates are taken element by element, k = e d per body: q = (A, B, u, v).
"""

from __future__ import annotations

import functools

import numpy as np

from modular.elements import Array, Indices
from modular.kernel import kernel


@functools.cache
def spans(elements: int, points: int) -> Array:
    """w = spans q."""
    made = np.zeros((elements - 1, elements))
    made[:, 1:] = np.eye(elements - 1)
    made[: points - 1, 0] = -1.0
    return made


def mass_blocks(blocks: Array, elements: int, dimension: int) -> Array:
    """(A1.12): an e x e matrix per body, with a unit matrix for each of its numbers, (n, k, k)."""
    k = elements * dimension
    return np.asarray(np.einsum("nij,cd->nicjd", blocks, np.eye(dimension)).reshape(-1, k, k))


def closure(q: Array, v: Array, gram: Array, make: Indices, points: int) -> tuple[Array, Array, Array]:
    """Errors, rates and Jacobians of the internal constraints w_a . w_b - const (III.8); halved where a = b.

    `gram`: their constants, one row per make.
    """
    n, e, d = q.shape
    m = e * (e - 1) // 2
    error, rate, jacobian = np.empty((n, m)), np.empty((n, m)), np.empty((n, m, e * d))
    close(q, v, gram, make, spans(e, points), error, rate, jacobian)
    return error, rate, jacobian


@kernel
def close(
    q: Array, v: Array, gram: Array, make: Indices, span: Array, error: Array, rate: Array, jacobian: Array
) -> None:
    """Write them, for all bodies; w = span q."""
    bodies, elements, dimension = q.shape
    for n in range(bodies):
        row = 0
        for i in range(elements - 1):
            for j in range(i, elements - 1):
                half = 0.5 if i == j else 1.0
                product = ahead = behind = 0.0
                for k in range(dimension):
                    c = k if k == 0 else dimension - k  # x, z, y: as numpy's einsum adds
                    w_i, dw_i, w_j, dw_j = q[n, i + 1, c], v[n, i + 1, c], q[n, j + 1, c], v[n, j + 1, c]
                    if span[i, 0] != 0.0:  # B - A
                        w_i, dw_i = w_i - q[n, 0, c], dw_i - v[n, 0, c]
                    if span[j, 0] != 0.0:
                        w_j, dw_j = w_j - q[n, 0, c], dw_j - v[n, 0, c]
                    product += w_i * w_j
                    ahead += w_i * dw_j
                    behind += dw_i * w_j
                    for element in range(elements):
                        slope = span[i, element] * w_j + span[j, element] * w_i
                        jacobian[n, row, element * dimension + c] = half * slope
                error[n, row] = half * (product - gram[make[n], i, j])
                rate[n, row] = half * ahead + half * behind
                row += 1


def reach(attached: Indices, weights: Array, numbers: Indices, dimension: int) -> tuple[Indices, Indices, Array]:
    """Elements served, the rows of their bodies, and x = weights . q as blocks (s, d, k)."""
    owners = np.repeat(np.arange(len(numbers)), numbers)
    slots = np.arange(len(owners)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    w = weights[owners, slots]
    blocks = np.einsum("si,cd->scid", w, np.eye(dimension)).reshape(len(w), dimension, w.shape[1] * dimension)
    return attached[owners, slots], owners, blocks
