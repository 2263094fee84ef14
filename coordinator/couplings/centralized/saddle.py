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
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from coordinator.couplings.centralized.patterns import bordered, with_numbers
from modular.elements import Array

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
