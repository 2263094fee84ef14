"""Products of stacks of small matrices, with the sums written out in a fixed order.

A library may sum in another order when a stack is longer. Written out, a body alone and the same body among
thousands give the same bits. The last one or two axes are the short ones; the others carry the stack.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array


def product(a: Array, b: Array) -> Array:
    """Matrix times matrix, (..., i, k) and (..., k, j) to (..., i, j)."""
    total: Array = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    for k in range(a.shape[-1]):
        total += a[..., :, k, None] * b[..., k, None, :]
    return total


def combined(c: Array, x: Array) -> Array:
    """Sum of c_k times row k of `x`, (..., k) and (..., k, j) to (..., j)."""
    return product(c[..., None, :], x)[..., 0, :]


def dot(a: Array, b: Array) -> Array:
    """Sum of a_k b_k, (..., k) to (...)."""
    total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
    for k in range(a.shape[-1]):
        total += a[..., k] * b[..., k]
    return total


def length(a: Array) -> Array:
    """Of vectors, (..., k) to (...)."""
    return np.sqrt(dot(a, a))


def outer(a: Array, b: Array) -> Array:
    """a_i b_j, (..., i) and (..., j) to (..., i, j)."""
    return np.asarray(a[..., :, None] * b[..., None, :])


def cross(a: Array, b: Array) -> Array:
    """Vector product in space, (..., 3)."""
    x, y, z = (a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1)))
    return np.stack([x, y, z], axis=-1)


def trace(a: Array) -> Array:
    """Sum of the diagonal, (..., k, k) to (...)."""
    total: Array = np.zeros(a.shape[:-2])
    for k in range(a.shape[-1]):
        total += a[..., k, k]
    return total


def transposed(a: Array) -> Array:
    """The last two axes swapped."""
    return np.swapaxes(a, -1, -2)


def inverted(a: Array) -> Array:
    """Inverse matrices, one by one, (..., k, k)."""
    if a.shape[-2:] == (1, 1) and a.all():  # to the same bits, at a tenth of the time
        return np.asarray(1.0 / a)
    return np.asarray(np.linalg.inv(a))
