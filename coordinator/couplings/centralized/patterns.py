"""Sparse matrices that are made again and again: where their numbers stand is worked out once."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse

from modular.elements import Array, Indices


class Pattern:
    """Places of numbers, which are summed where they meet."""

    def __init__(self, i: Indices, j: Indices, shape: tuple[int, int]) -> None:
        places, self._slots = np.unique(i * shape[1] + j, return_inverse=True)
        starts = np.searchsorted(places, shape[1] * np.arange(shape[0] + 1))
        self._empty = sparse.csr_array((np.zeros(len(places)), places % shape[1], starts), shape=shape)

    def filled(self, numbers: Array) -> Any:
        """The matrix of these numbers, in the order of their places."""
        return with_numbers(self._empty, np.asarray(np.bincount(self._slots, numbers, self._empty.nnz), float))


def with_numbers(matrix: Any, numbers: Array) -> Any:
    """A matrix with the same places; scipy would check them anew."""
    made = copy.copy(matrix)
    made.data = numbers
    return made


def bordered(matrix: Any, border: Any, corner: float) -> Any:
    """[[A, G^T], [G, corner 1]] column by column; scipy's own goes through lists of places."""
    upper, lower, right = matrix.tocsc(), border.tocsc(), border.tocsr()  # a row of G is a column of G^T
    n, m = upper.shape[1], right.shape[0]
    sizes = [np.diff(part.indptr) for part in (upper, lower, right)]
    ends = np.cumsum(np.concatenate([sizes[0] + sizes[1], sizes[2] + 1]))
    starts = np.concatenate([[0], ends])
    found, rows = np.full(starts[-1], corner), np.empty(starts[-1], np.int64)
    begins = (starts[:n], starts[:n] + sizes[0], starts[n:-1])
    for part, size, begin, offset in zip((upper, lower, right), sizes, begins, (0, n, 0), strict=True):
        at = np.repeat(begin - part.indptr[:-1], size) + np.arange(part.nnz)
        found[at], rows[at] = part.data, part.indices + offset
    rows[starts[n + 1 :] - 1] = n + np.arange(m)
    return sparse.csc_array((found, rows, starts), shape=(n + m, n + m))
