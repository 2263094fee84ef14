"""Newton's iteration on the positions at the end of a step, with constraints as a border.

Séguy 2003, II.5.3.2, (II.47)-(II.49). The equations of motion are multiplied by beta h^2, and so are the multipliers: the
matrix is then M with a border of order one, however short the step (Bottasso, Bauchau, Cardona, "Time-step-size-independent
conditioning and sensitivity to perturbations in the numerical solution of index three DAEs", SIAM J. Sci. Comput. 29 (2007)).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.saddle import Saddle
from coordinator.couplings.centralized.solver import NoSolution, finite
from modular.elements import Array

REFRESH_RATIO = 0.1  # a step that shrinks less than this calls for a fresh matrix
RELATIVE_TOLERANCE = 1e-12  # of the extent of the system
MAX_ITERATIONS = 30
GAP_TOLERANCE = 1e-13  # of the extent: what joints may leave open in the end
INITIAL_GAP_TOLERANCE = 1e-11  # of the extent: a gap with which a step may begin


def closed(equations: Equations, q: Array, v: Array) -> Array:
    """The place from which to step: a joint may be made with a gap, and a step that closed it would take it for a velocity
    of gap / h. Leaves the system there."""
    return equations.project_position(q, v, INITIAL_GAP_TOLERANCE, most=3)


def close_step(
    equations: Equations,
    q: Array,
    multipliers: Array,
    residual: Callable[[Array], Array],
    tangent: Callable[[Array, Array], Saddle],
    pace: float,
) -> tuple[Array, Array]:
    """Positions with phi(q) = 0 and residual(q) + G^T lambda = 0, and lambda, all scaled as the caller likes.

    `residual(q)` and `tangent(q, lambda)` leave the system at q. `pace`: dq/dv of the scheme [s].
    """
    saddle, before = tangent(q, multipliers), np.inf
    size = RELATIVE_TOLERANCE * equations.extent
    for _ in range(MAX_ITERATIONS):
        rest = residual(q)
        change, force = saddle.balance(-rest, -equations.violations(pace))
        finite(change, force)
        q = q + change
        step = float(np.abs(change).max(initial=0.0))
        if step <= size or (step <= 1e3 * size and step >= 0.5 * before):  # there, or as near as rounding lets it
            residual(q)
            gap = float(np.abs(equations.violations(pace)).max(initial=0.0))
            if saddle.fresh or gap <= GAP_TOLERANCE * equations.extent:
                return q, saddle.fit(force)
            step = np.inf  # small changes with joints open: factors of another place that are too far from here
        if step > REFRESH_RATIO * before or step == np.inf:
            residual(q)
            saddle = tangent(q, saddle.fit(force))
        else:
            saddle = saddle.moved(equations.jacobian_at(q))
        before = step
    raise NoSolution(f"its equations were not solved in {MAX_ITERATIONS} iterations (last change {before:.2g} m)")
