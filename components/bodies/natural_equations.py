"""The equations of bodies in natural coordinates, written down for solvers that see everything at once.

Coordinates are taken element by element, k = e d per body: q = (A, B, u, v).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from modular.elements import Array, Indices


def mass_blocks(matrices: Sequence[Array], elements: int, dimension: int) -> Array:
    """(A1.12): an e x e matrix per body, with a unit matrix for each of its numbers, (n, k, k)."""
    blocks = np.array(matrices).reshape(-1, elements, elements)
    k = elements * dimension
    return np.asarray(np.einsum("nij,cd->nicjd", blocks, np.eye(dimension)).reshape(-1, k, k))


def closure(q: Array, v: Array, gram: Array) -> tuple[Array, Array, Array]:
    """Errors, rates and Jacobians of the internal constraints w_a . w_b - const (III.8); halved where a = b."""
    n, e, d = q.shape
    pairs = [(i, j) for i in range(e - 1) for j in range(i, e - 1)]
    spans = np.zeros((e - 1, e))  # w = spans q
    spans[:, 1:] = np.eye(e - 1)
    spans[:1, 0] = -1.0
    w, dw = spans @ q, spans @ v
    error, rate = np.empty((2, n, len(pairs)))
    jacobian = np.zeros((n, len(pairs), e, d))
    for row, (i, j) in enumerate(pairs):
        half = 0.5 if i == j else 1.0
        error[:, row] = half * (np.einsum("nc,nc->n", w[:, i], w[:, j]) - gram[:, i, j])
        rate[:, row] = half * np.einsum("nc,nc->n", w[:, i], dw[:, j])
        rate[:, row] += half * np.einsum("nc,nc->n", dw[:, i], w[:, j])
        jacobian[:, row] = half * (spans[i][:, None] * w[:, j, None, :] + spans[j][:, None] * w[:, i, None, :])
    return error, rate, jacobian.reshape(n, len(pairs), e * d)


def reach(attached: Indices, weights: Array, numbers: Indices, dimension: int) -> tuple[Indices, Indices, Array]:
    """Elements served, the rows of their bodies, and x = weights . q as blocks (s, d, k)."""
    owners = np.repeat(np.arange(len(numbers)), numbers)
    slots = np.concatenate([np.arange(number) for number in numbers]) if len(numbers) else np.empty(0, np.int64)
    w = weights[owners, slots]
    blocks = np.einsum("si,cd->scid", w, np.eye(dimension)).reshape(len(w), dimension, w.shape[1] * dimension)
    return attached[owners, slots], owners, blocks
