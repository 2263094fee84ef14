"""Independent coordinates, found automatically: as many equations as degrees of freedom, and no constraints left.

Séguy 2003, II.4.1 (projection methods) and VI.2.1, "paramétrage 1", without the work by hand. At the start of a tick the
independent motions N are found (freedoms.py) and the place is written q = q0 + N s + what the constraints ask, so s are as many
numbers as there are degrees of freedom. Of s'' = f(t, s, s') nothing is approximated: dependent coordinates are solved for to
rounding at every evaluation, so the only error is that of the method that integrates s.

Where something elastic is stiffer than an explicit method can follow (explicit.py), as beams of many pieces are, s'' is integrated
implicitly, by Radau IIA, with the tangents that Newton's iterations of other solvers use.

Radau IIA with three stages, for M a = Q(t, s, v): order five, and what a step cannot resolve dies out within it.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", Springer (1996), IV.5 (the method) and IV.8 (simplified
Newton iterations). The last stage is the end of the step. Unknown are the accelerations A of the stages: with the matrix a of
the method, v = v0 + h a A and s = s0 + h c v0 + h^2 a a A.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.explicit import (
    METHODS,
    RK4_STABILITY_RADIUS,
    Explicit,
    Fastest,
    check_method,
    find_fastest,
    integrate,
)
from coordinator.couplings.centralized.freedoms import Freedoms, find_freedoms
from coordinator.couplings.centralized.solver import NoSolution, State, finite, settled
from coordinator.couplings.centralized.tangents import curvature, force_tangents
from modular.elements import Array

ROOT = np.sqrt(6.0)
NODES = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])  # c
# a
WEIGHTS = np.array(
    [
        [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
        [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
        [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
    ]
)
WEIGHTS_SQUARED = WEIGHTS @ WEIGHTS
MAX_STAGE_ITERATIONS = 12  # iterations
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
    for _ in range(MAX_STAGE_ITERATIONS):
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
        f"the stages of its implicit step were not solved in {MAX_STAGE_ITERATIONS} iterations (last change {before:.2g} m)"
    )


def _factors(matrices: tuple[Array, Array, Array], h: float) -> tuple[Array, Array]:
    """Of the equations of all stages together: 1 x M + h a x D + h^2 a a x K."""
    mass, damping, stiffness = matrices
    whole = np.kron(np.eye(3), mass) + np.kron(h * WEIGHTS, damping) + np.kron(h**2 * WEIGHTS_SQUARED, stiffness)
    finite(whole)
    return linalg.lu_factor(whole, check_finite=False)  # type: ignore[no-any-return]


CLOSURE_TOLERANCE = 4e-16  # of the extent: dependent coordinates are solved for to this
MAX_ITERATIONS = 25
STAGE_TOLERANCE = 1e-12  # of the extent: stages of an implicit step are solved for to this
EXPLICIT, IMPLICIT = "RK4", "RadauIIA"  # with the tick as their step


@dataclass(frozen=True)
class MinimalCoordinates(Explicit):
    """method: RK4 (II.5.2) or RadauIIA (implicit, of order 5) with the tick as their step, or a method of scipy such as DOP853 that
    chooses its steps within a tick. Left out, RK4 where it can follow what is elastic, and RadauIIA where it cannot."""

    method: str | None = None
    rtol: float = 1e-10
    atol: float = 1e-12

    def __post_init__(self) -> None:
        super().__post_init__()
        check_method("MinimalCoordinates", self.method or EXPLICIT, self.rtol, self.atol, (*METHODS, IMPLICIT))

    def refuses(self, equations: Equations) -> str | None:
        """Joints that lock velocities and not places have more places than motions."""
        blades = [name for joints in equations.joints if not joints.form.holonomic for name in joints.names]
        if blades:
            return (
                f"MinimalCoordinates cannot treat {', '.join(repr(name) for name in blades)}: a non-holonomic joint leaves more "
                "coordinates independent than velocities. Choose HHT(), AugmentedLagrangian(), Baumgarte() or GGL()."
            )
        return None

    @property
    def meets_corners(self) -> bool:
        """Explicit methods do; where none is named, an implicit one is taken for stiff models alone."""
        return self.method != IMPLICIT

    def advance(self, equations: Equations, state: State, time: float, h: float, memory: dict[str, Any]) -> State:
        """Integrate the independent coordinates over one tick."""
        equations.go(state.q, state.v)
        chart = Chart(equations, state, find_freedoms(equations, memory.get("freedoms")))
        memory["freedoms"] = chart.freedoms.number
        n = chart.freedoms.number
        method = self._method(chart, time, h, memory)
        s, ds = np.zeros(n), chart.freedoms.basis.T @ state.v
        if method == IMPLICIT:
            s, ds, _ = radau_step(
                chart.balance,
                chart.tangents,
                time,
                s,
                ds,
                chart.freedoms.basis.T @ state.a,
                h,
                STAGE_TOLERANCE * equations.extent,
            )
        else:
            try:
                corners = chart.equations.corners(time, time + h)
                end = integrate(
                    chart.rates, time, np.concatenate([s, ds]), h, method, self.rtol, self.atol, memory, corners
                )
            except NoSolution as error:
                equations.go(state.q, state.v)
                raise _explained(error, method, find_fastest(equations, chart.freedoms, time, h), h) from error
            s, ds = end[:n], end[n:]
        equations.at(time + h)
        q, v, _ = chart.point(s, ds)
        return settled(equations, time + h, q, v)

    def _method(self, chart: Chart, time: float, h: float, memory: dict[str, Any]) -> str:
        """As named; otherwise as is asked for where the present topology begins, and kept."""
        if self.method is not None and (self.method != EXPLICIT or "method" in memory):
            return self.method
        if "method" not in memory:
            fastest = find_fastest(chart.equations, chart.freedoms, time, h)
            chart.equations.go(chart.origin, chart.speed)
            followed = fastest is None or fastest.followed
            if fastest is not None and not followed and self.method is not None:
                raise _explained(None, self.method, fastest, h)
            memory["method"] = EXPLICIT if followed else IMPLICIT
        return str(memory["method"])


class Chart:
    """Places near q0 by their independent coordinates s = N^T (q - q0)."""

    def __init__(self, equations: Equations, state: State, freedoms: Freedoms) -> None:
        self.equations = equations
        self.freedoms = freedoms
        self.origin, self.speed = state.q, state.v
        self.multipliers = state.multipliers  # held where it is asked how constraint forces change
        self._last = (np.zeros(freedoms.number), state.q)  # the place found last, for a first guess

    def _border(self) -> Array:
        """Inverse of the independent rows of G over N^T where the system stands: they make a regular square matrix."""
        jacobian = self.freedoms.kept @ self.equations.jacobian()
        return np.linalg.inv(np.concatenate([jacobian, self.freedoms.basis.T]))

    def point(self, s: Array, ds: Array) -> tuple[Array, Array, Array]:
        """Coordinates, velocities and the inverse border there; leaves the system there."""
        equations, n = self.equations, self.freedoms.number
        kept, basis = self.freedoms.kept, self.freedoms.basis
        q = self._last[1] + basis @ (s - self._last[0])
        still, inverse, before = np.zeros(equations.size), np.empty(0), np.inf
        for _ in range(MAX_ITERATIONS):
            equations.go(q, still)
            error = np.concatenate([kept @ equations.errors(), basis.T @ (q - self.origin) - s])
            if not inverse.size or float(np.abs(error).max()) > 0.01 * before:
                inverse = self._border()
            size = float(np.abs(error).max(initial=0.0))
            q = q - inverse @ error
            if size <= CLOSURE_TOLERANCE * equations.extent or (
                size <= 1e3 * CLOSURE_TOLERANCE * equations.extent and size >= 0.5 * before
            ):
                break
            before = size
        else:
            self._last = (np.zeros(n), self.origin)
            raise NoSolution(f"its loops did not close ({before:.2g} m)")
        equations.go(q, still)
        inverse = self._border()
        v = inverse[:, equations.size - n :] @ ds
        v = v - inverse[:, : equations.size - n] @ (kept @ equations.rates())  # drives move also what is at rest
        self._last = (s, q)
        equations.go(q, v)
        return q, v, inverse

    def rates(self, time: float, y: Array) -> Array:
        """s' and s''."""
        n = self.freedoms.number
        reduced, force = self.reduced(time, y[:n], y[n:])
        return np.concatenate([y[n:], np.linalg.solve(reduced, force)])

    def reduced(self, time: float, s: Array, ds: Array) -> tuple[Array, Array]:
        """Both sides of T^T M T s'' = T^T (Q - M c), with v = T s' and a = T s'' + c."""
        n, size = self.freedoms.number, self.equations.size
        self.equations.at(time)
        q, v, inverse = self.point(s, ds)
        t = inverse[:, size - n :]
        c = -inverse[:, : size - n] @ (self.freedoms.kept @ self.equations.bias(q, v))
        force = self.equations.forces(time)
        mass = self.equations.mass
        return t.T @ (mass @ t), t.T @ (force - mass @ c)

    def balance(self, time: float, s: Array, ds: Array, dds: Array) -> Array:
        """T^T (M a - Q)."""
        mass, force = self.reduced(time, s, ds)
        return np.asarray(mass @ dds - force)

    def tangents(self, time: float, s: Array, ds: Array) -> tuple[Array, Array, Array]:
        """T^T M T, and how T^T (M a - Q) changes with s' and s."""
        self.equations.at(time)
        q, v, inverse = self.point(s, ds)
        t = inverse[:, self.equations.size - self.freedoms.number :]
        stiffness, damping = force_tangents(self.equations, time)
        stiffness = stiffness + curvature(self.equations, q, v, self.multipliers)
        return t.T @ (self.equations.mass @ t), t.T @ (damping @ t), t.T @ (stiffness @ t)


def _explained(error: NoSolution | None, method: str, fastest: Fastest | None, h: float) -> NoSolution:
    """The same with its cause, where that is something elastic which an explicit method cannot follow."""
    if error is not None and (fastest is None or fastest.followed):
        return error
    assert fastest is not None
    return NoSolution(
        f"{method} cannot follow it: {fastest.describe(h)}, where RK4 follows up to {RK4_STABILITY_RADIUS}"
        + (f" ({error})" if error else ""),
        body=fastest.body,
        remedy=f"leave method out, which takes {IMPLICIT} there, or take dt = {fastest.step:.2g} s",
        step=fastest.step,
    )
