"""Radau IIA with three stages, for M a = Q(t, s, v): order five, and what a step cannot resolve dies out within it.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", Springer (1996), IV.5 (the method) and IV.8 (simplified
Newton iterations). The last stage is the end of the step. Unknown are the accelerations A of the stages: with the matrix a of
the method, v = v0 + h a A and s = s0 + h c v0 + h^2 a a A.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from coordinator.couplings.centralized.solver import NoSolution, finite
from modular.elements import Array

ROOT = np.sqrt(6.0)
NODES = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])  # c
WEIGHTS = np.array(
    [
        [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
        [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
        [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
    ]
)  # a
WEIGHTS_SQUARED = WEIGHTS @ WEIGHTS
MAX_ITERATIONS = 12  # iterations
REFRESH_RATIO = 0.1  # changes that shrink less than this call for fresh matrices
STALLED_TOLERANCE_FACTOR = 1e3  # times the tolerance: changes so small that stop shrinking are rounding
MAX_HALVINGS = 5  # of a step whose stages are not solved

Balance = Callable[[float, Array, Array, Array], Array]  # M a - Q, of time, s, v and a
Matrices = Callable[[float, Array, Array], tuple[Array, Array, Array]]  # M, -dQ/dv and -dQ/ds, of time, s and v


def radau_step(
    balance: Balance, matrices: Matrices, time: float, s: Array, v: Array, a: Array, h: float, tolerance: float,
    halvings: int = MAX_HALVINGS,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """s, v and a at time + h; the `a` given is a first guess, `tolerance` what s may be off by."""
    try:
        return _solve(balance, matrices, time, s, v, a, h, tolerance)
    except NoSolution:
        if halvings == 0:
            raise
    for part in range(2):
        s, v, a = radau_step(balance, matrices, time + 0.5 * part * h, s, v, a, 0.5 * h, tolerance, halvings - 1)
    return s, v, a


def _solve(
    balance: Balance, matrices: Matrices, time: float, s: Array, v: Array, a: Array, h: float, tolerance: float
) -> tuple[Array, Array, Array]:
    factors = _factors(matrices(time, s, v), h)
    stages, before = np.tile(a, (3, 1)), np.inf
    for _ in range(MAX_ITERATIONS):
        places = s + h * NODES[:, None] * v + h**2 * (WEIGHTS_SQUARED @ stages)
        rates = v + h * (WEIGHTS @ stages)
        rest = [balance(time + c * h, *stage) for c, *stage in zip(NODES, places, rates, stages, strict=True)]
        finite(*rest)
        change = linalg.lu_solve(factors, np.concatenate(rest), check_finite=False).reshape(stages.shape)
        stages = stages - change
        size = h**2 * float(np.abs(WEIGHTS_SQUARED @ change).max(initial=0.0))
        if size <= tolerance or (size <= STALLED_TOLERANCE_FACTOR * tolerance and size >= 0.5 * before):
            return s + h * v + h**2 * (WEIGHTS_SQUARED[-1] @ stages), v + h * (WEIGHTS[-1] @ stages), stages[-1]
        if size > REFRESH_RATIO * before:
            factors = _factors(matrices(time + h, places[-1], rates[-1]), h)
        before = size
    raise NoSolution(
        f"the stages of its implicit step were not solved in {MAX_ITERATIONS} iterations (last change {before:.2g} m)"
    )


def _factors(matrices: tuple[Array, Array, Array], h: float) -> tuple[Array, Array]:
    """Of the equations of all stages together: 1 x M + h a x D + h^2 a a x K."""
    mass, damping, stiffness = matrices
    whole = np.kron(np.eye(3), mass) + np.kron(h * WEIGHTS, damping) + np.kron(h**2 * WEIGHTS_SQUARED, stiffness)
    finite(whole)
    return linalg.lu_factor(whole, check_finite=False)  # type: ignore[no-any-return]
