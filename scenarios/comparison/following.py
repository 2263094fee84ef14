"""The motion of a system whose constraints are violated in a given way over time: phi(q) = phi_0(t) instead of phi(q) = 0.

Integrated as exactly as asked for. It answers what a violation alone does to a motion: take the gaps that the joints of a
modular run showed, or the drift of its bodies, and let an otherwise exact system follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import NoSolution
from coordinator.system import System
from modular.elements import Array
from modular.one_thread import on_one_thread

# Baumgarte's gains while it follows [1/s]: they act on rounding and on the ends of the interpolation only
BAUMGARTE_RATE = 50.0

# time -> phi_0, its first and second derivatives, over all rows
Violations = Callable[[float], tuple[Array, Array, Array]]


@on_one_thread
def follow(
    system: System, times: Sequence[float], violations: Violations | None, *, rtol: float = 1e-10, atol: float = 1e-12,
    show: Callable[[float], None] | None = None,
) -> list[tuple[Array, Array]]:  # fmt: skip
    """Coordinates and velocities at `times`, from where the system stands at the first of them; leaves it at the last."""
    from scipy.integrate import solve_ivp  # an eighth of a second, for those who want it

    system.show()
    equations = Equations(system)
    n = equations.size
    q, v = equations.read()
    if violations is not None:
        q, v = _start(equations, q, v, *violations(times[0])[:2])

    def rates(time: float, y: Array) -> Array:
        place, speed = y[:n], y[n:]

        def pull(errors: Array, rate: Array) -> Array:
            if violations is None:
                return 2.0 * BAUMGARTE_RATE * rate + BAUMGARTE_RATE**2 * errors
            phi, dphi, ddphi = violations(time)
            return 2.0 * BAUMGARTE_RATE * (rate - dphi) + BAUMGARTE_RATE**2 * (errors - phi) - ddphi

        return np.concatenate([speed, equations.accelerate(time, place, speed, pull)[0]])

    found, y = [(q, v)], np.concatenate([q, v])
    for begin, end in pairwise(times):
        part = solve_ivp(rates, (begin, end), y, method="DOP853", rtol=rtol, atol=atol)
        if not part.success:
            raise NoSolution(f"the motion could not be followed at {begin:.9g} s: {part.message}")
        y = part.y[:, -1]
        found.append((y[:n], y[n:]))
        if show is not None:
            show(end)
    equations.go(y[:n], y[n:])
    return found


def _start(equations: Equations, q: Array, v: Array, phi: Array, dphi: Array) -> tuple[Array, Array]:
    """The state nearest to (q, v), in the metric of M, that has these violations."""
    for _ in range(10):
        equations.go(q, v)
        change, _ = equations.saddle(equations.mass, equations.jacobian()).solve(
            np.zeros(equations.size), phi - equations.errors()
        )
        q = q + change
        if float(np.abs(change).max(initial=0.0)) <= 1e-15 * equations.extent:
            break
    equations.go(q, v)
    change, _ = equations.saddle(equations.mass, equations.jacobian()).solve(
        np.zeros(equations.size), dphi - equations.rates()
    )
    return q, v + change
