"""Linear systems bordered by constraints, also redundant ones, with the smallest multipliers that do.

    [A  G^T] [x     ]   [f]
    [G   0 ] [lambda] = [g]

Rows of G are scaled to a seen compliance of one, and the zero block is filled with a small -epsilon, which makes the matrix
regular whatever the rank of G. Refinement against the system without epsilon takes its influence away again: a
method of multipliers, which converges to the solution x, in the sense of least squares where g contradicts
itself by rounding. Multipliers are then fitted to f - A x from zero: each correction lies in the range of G,
so of all multipliers with that force they are the smallest (in the metric of the seen masses).

What a heavy body behind a light one shows of the seen compliance may be less than epsilon, and refinement then takes next to
nothing away. Where it comes to no end a smaller epsilon is taken.

Sparse matrices that are made again and again: where their numbers stand is worked out once.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from modular.elements import Array, Indices


class Pattern:
    """Places of numbers, which are summed where they meet."""

    def __init__(self, i: Indices, j: Indices, shape: tuple[int, int]) -> None:
        given: Indices = i * shape[1] + j
        if (given[1:] > given[:-1]).all():  # as those of blocks one after the other stand
            places, self._slots = given, np.arange(len(given))
        else:
            places, self._slots = np.unique(given, return_inverse=True)
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


REGULARISATION = 1e-9  # of the seen compliance
MIN_REGULARISATION = 1e-13  # the same, where masses are far apart
# of the solution: a last correction that says that refinement has not come to an end
REFINEMENT_FAILURE_TOLERANCE = 1e-6
MAX_REFINEMENTS = 6
REFINEMENT_TOLERANCE = 1e-14


class Saddle:
    """A factorised bordered system."""

    fresh = True  # whether the factors are those of this very system

    def __init__(self, matrix: Any, jacobian: Any, scale: Array, epsilon: float = REGULARISATION) -> None:
        self.matrix = matrix
        self.scale = scale
        self.n = matrix.shape[0]
        self.sparse = sparse.issparse(matrix)
        self._border(jacobian)
        self._fill(epsilon)

    def _border(self, jacobian: Any) -> None:
        """Take rows to a seen compliance of one."""
        if self.sparse:
            rows = jacobian.tocsr()
            self.jacobian = with_numbers(rows, np.repeat(self.scale, np.diff(rows.indptr)) * rows.data)
        else:
            self.jacobian = self.scale[:, None] * jacobian
        self.transposed = self.jacobian.T

    def _fill(self, epsilon: float) -> None:
        """Factorise with -epsilon in place of the zero block."""
        self.epsilon, matrix, m = epsilon, self.matrix, len(self.scale)
        if self.sparse:
            try:
                self._factor = splu(bordered(matrix, self.jacobian, -epsilon))
            except RuntimeError as error:  # what SuperLU says of a singular matrix
                raise np.linalg.LinAlgError(str(error)) from error
        else:
            whole = np.zeros((self.n + m, self.n + m))
            whole[: self.n, : self.n] = matrix
            whole[: self.n, self.n :] = self.transposed
            whole[self.n :, : self.n] = self.jacobian
            whole[range(self.n, self.n + m), range(self.n, self.n + m)] = -epsilon
            self._factor = _factorise(whole) if whole.size else None

    def moved(self, jacobian: Any) -> Saddle:
        """The same factors for a system whose Jacobian has moved on a little: refinement makes up for the difference."""
        other = object.__new__(Saddle)
        other.__dict__.update(self.__dict__)
        other.fresh = False
        other._border(jacobian)
        return other

    def once(self, f: Array, g: Array) -> tuple[Array, Array]:
        """One solution with the border as it is filled: penalties in place of constraints."""
        x, multipliers = self._apply(f, self.scale * g)
        return x, self.scale * multipliers

    def _apply(self, f: Array, g: Array) -> tuple[Array, Array]:
        right = np.concatenate([f, g])
        if self.sparse:
            both = self._factor.solve(right)
        else:  # scipy's lu_solve without its checks, which take longer than a small system
            both = linalg.lapack.dgetrs(*self._factor, right, overwrite_b=1)[0] if right.size else right
        return both[: self.n], both[self.n :]

    def solve(self, f: Array, g: Array) -> tuple[Array, Array]:
        """x and the multipliers."""
        x, force = self.balance(f, g)
        return x, self.fit(force)

    def balance(self, f: Array, g: Array) -> tuple[Array, Array]:
        """x, and the force that is left for the multipliers, who are asked for by `fit`."""
        scaled = self.scale * g
        x, multipliers = self._apply(f, scaled)
        for _ in range(MAX_REFINEMENTS):
            dx, change = self._apply(f - self.matrix @ x - self.transposed @ multipliers, scaled - self.jacobian @ x)
            x, multipliers = x + dx, multipliers + change
            last, size = float(np.abs(dx).max(initial=0.0)), float(np.abs(x).max(initial=0.0))
            if last <= REFINEMENT_TOLERANCE * size:
                break
        if last > REFINEMENT_FAILURE_TOLERANCE * size and self.fresh and self.epsilon > MIN_REGULARISATION:
            self._fill(MIN_REGULARISATION)
            return self.balance(f, g)
        return x, f - self.matrix @ x

    def fit(self, force: Array) -> Array:
        """The smallest multipliers with G^T lambda = force."""
        multipliers = np.zeros(len(self.scale))
        for _ in range(MAX_REFINEMENTS):
            _, change = self._apply(force - self.transposed @ multipliers, np.zeros(len(self.scale)))
            multipliers = multipliers + change
            if float(np.abs(change).max(initial=0.0)) <= REFINEMENT_TOLERANCE * float(
                np.abs(multipliers).max(initial=0.0)
            ):
                break
        return self.scale * multipliers


def _factorise(bordered: Array) -> tuple[Array, Array]:
    """As scipy's lu_factor, but a singular matrix is an error, as it is on the sparse path, and no warning."""
    factors, pivots, info = linalg.lapack.dgetrf(bordered)
    if info > 0:
        raise np.linalg.LinAlgError(f"singular matrix: pivot {info} of {len(bordered)} is zero")
    return factors, pivots
