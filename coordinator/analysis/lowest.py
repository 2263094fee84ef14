"""The slowest vibrations of a large model: Lanczos' method on the whole, constraints and all, without a basis of its motions.

    K x = omega^2 M x,  G x = 0,    by    [K + s M  G^T; G  0]^-1 M    with a shift s of about the squares that are sought

(T. Ericsson, A. Ruhe, "The spectral transformation Lanczos method", Math. Comp. 35 (1980) 1251-1268; R. B. Lehoucq, D. C. Sorensen,
C. Yang, "ARPACK users' guide", SIAM 1998). Each product is one solution of a sparse system that is factorised once. What is damped,
or whose forces have no potential, is sought as (q, v) with the matrix of both, with K + r C + r^2 M in the same place. Tangents by
short differences lead there; equations are then written in the motions that were found, by the differences of all others
(tangent.py), so a square is off by the square of what a motion is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from coordinator.analysis.equilibrium import Rest, at_rest
from coordinator.analysis.linear import Linear, linear_at
from coordinator.analysis.modes import Modes, modes_of
from coordinator.analysis.ports import states_of
from coordinator.analysis.tangent import damping_along, dense, stiffness_along
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.tangents import curvature, force_tangents
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread

SYMMETRIC = 1e-7  # of the largest number: tangents that differ by less from their transpose have a potential
DAMPED = 1e-9  # of the largest stiffness, per second: damping that is less is none
FIRST = 1e-6  # of the square of the fastest coordinate: the shift with which squares are found roughly
ROUGHLY = 1e-2  # how closely squares are found for the shift
SHARE = 0.1  # of the largest square that is sought: the shift
LEAST = 1e-12  # of the largest stiffness against its mass: a shift that is no smaller
BEYOND = 1e3  # times the square of the fastest coordinate: what constraints leave no motion for
BESIDE = 4.0  # times: a shift that is no farther from the one that would be best is good enough
MOST_SHIFTS = 3  # that are tried
MORE = 2  # motions that are sought beyond those that were asked for, for pairs that lie close


@on_one_thread
def lowest_modes(model: Assembly, count: int, *, seek: bool = False) -> Modes:
    """The `count` modes of lowest frequency about where a model rests, of what is damped those nearest to zero."""
    if count < 1:
        raise ModelError(f"modes: count = {count}; give how many are sought, from 1 on.")
    with at_rest(model, seek=seek) as rest:
        equations = rest.equations
        if not equations.holonomic.all():
            raise ModelError("modes: count is for joints that lock places; leave it out where something rolls.")
        if equations.dense:  # all of them are found sooner
            return _first(modes_of(linear_at(rest)), count)
        q, still = rest.state.q, np.zeros(equations.size)
        equations.go(q, still)
        springs, dampers = force_tangents(equations, 0.0)
        stiffness = springs + curvature(equations, q, still, rest.state.multipliers)
        largest = float(abs(stiffness).max())
        potential = float(abs(stiffness - stiffness.T).max()) <= SYMMETRIC * largest
        if potential and float(abs(dampers).max()) <= DAMPED * largest:
            stiffness = 0.5 * (stiffness + stiffness.T)
            return _undamped(rest, _Whole(equations, stiffness, dampers), count)
        return _damped(rest, _Whole(equations, stiffness, dampers), count)


class _Whole:
    """The matrices of all coordinates, and solutions that keep to the constraints."""

    def __init__(self, equations: Equations, stiffness: Any, damping: Any) -> None:
        self.equations, self.stiffness, self.damping = equations, stiffness, damping
        self.mass, self.jacobian = equations.mass, equations.jacobian()
        self.size = equations.size
        diagonal = np.asarray(self.mass.diagonal())
        bends = np.abs(np.asarray(stiffness.diagonal())) / np.where(diagonal > 0.0, diagonal, 1.0)
        self.fastest = max(float(bends.max(initial=0.0)), 1e-300)
        self.start = np.cos(1.0 + np.arange(self.size) ** 1.5)  # no symmetry, and the same each time

    def solver(self, pace: float) -> Any:
        """(K + r C + r^2 M)^-1 within the constraints, r the pace."""
        whole = self.mass + self.damping / pace + self.stiffness / pace**2
        saddle = self.equations.saddle(sparse.csr_array(whole) if sparse.issparse(whole) else whole, self.jacobian)
        nothing = np.zeros(self.equations.rows)
        return lambda right: saddle.balance(right / pace**2, nothing)[0]


def _undamped(rest: Rest, whole: _Whole, count: int) -> Modes:
    known = FIRST * whole.fastest
    most = min(count + MORE, whole.size - 2)
    for tolerance in (ROUGHLY, 0.0):
        values, vectors = _lanczos(whole, np.sqrt(known), most, tolerance)
        known = max(SHARE * float(np.abs(values).max()), LEAST * whole.fastest)
    linear = _reduced(rest, whole, vectors[:, np.abs(values) < BEYOND * whole.fastest])
    return _first(modes_of(linear), count, complete=False)


def _lanczos(whole: _Whole, pace: float, count: int, tolerance: float) -> tuple[Array, Array]:
    solve = whole.solver(pace)
    shape = (whole.size, whole.size)
    try:
        values, vectors = eigsh(
            LinearOperator(shape, matvec=lambda x: whole.stiffness @ x, dtype=float),
            k=count,
            M=whole.mass,
            sigma=-(pace**2),
            OPinv=LinearOperator(shape, matvec=solve, dtype=float),
            v0=solve(whole.mass @ whole.start),
            tol=tolerance,
            ncv=min(max(2 * count + 1, 20), whole.size - 1),
        )
    except ArpackNoConvergence as error:
        raise ModelError(_not_found(count, len(error.eigenvalues))) from error
    return np.asarray(values), np.asarray(vectors)


def _damped(rest: Rest, whole: _Whole, count: int) -> Modes:
    """Of (q, v)' = A (q, v), as it comes out near a pace on the side where nothing grows.

    The pace is first that of what would swing without damping: far from what is sought nothing comes out in a reasonable time.
    """
    most = min(2 * count + 2 * MORE, 2 * whole.size - 2)
    pace = _undamped_pace(whole, min(count + MORE, whole.size - 2))
    for _ in range(MOST_SHIFTS):
        values, vectors = _arnoldi(whole, pace, most)
        better = max(np.sqrt(SHARE) * float(np.abs(values).max()), np.sqrt(LEAST * whole.fastest))
        if better <= BESIDE * pace and pace <= BESIDE * better:
            break
        pace = float(better)
    forwards = values.imag >= 0.0
    values, ways = values[forwards], vectors[: whole.size, forwards]
    nearest = np.argsort(np.abs(values), kind="stable")[:count]
    order = nearest[np.lexsort((np.abs(values[nearest].real), np.abs(values[nearest].imag)))]
    values, ways = values[order], ways[:, order]
    spanned = np.concatenate([ways.real, ways.imag], axis=1)
    left, sizes, _ = np.linalg.svd(spanned / np.maximum(np.linalg.norm(spanned, axis=0), 1e-300), full_matrices=False)
    linear = _reduced(rest, whole, left[:, sizes > 1e-9 * sizes.max()])
    shares = np.linalg.solve(linear.mass, linear.motions.T @ (whole.mass @ ways))
    for k, value in enumerate(values):  # Rayleigh's quotient of the equations as they were written
        values[k] = _polished(linear, value, shares[:, k])
    return Modes(linear, values + 0j, shares + 0j, complete=False)


def _undamped_pace(whole: _Whole, count: int) -> float:
    """A share of the fastest of the slowest swings that there are without damping, with what is symmetric of the stiffness."""
    stiffness = 0.5 * (whole.stiffness + whole.stiffness.T)
    swinging, known = _Whole(whole.equations, stiffness, 0.0 * whole.damping), FIRST * whole.fastest
    values, _ = _lanczos(swinging, np.sqrt(known), count, ROUGHLY)
    return float(np.sqrt(max(SHARE * float(np.abs(values).max()), LEAST * whole.fastest)))


def _arnoldi(whole: _Whole, pace: float, count: int) -> tuple[Any, Any]:
    """Eigenvalues nearest to a pace, and their vectors (q, v)."""
    n, solve = whole.size, whole.solver(pace)

    def inverse(both: Array) -> Array:
        a, b = both[:n], both[n:]
        place = -solve(whole.mass @ (b + pace * a) + whole.damping @ a)
        return np.concatenate([place, a + pace * place])

    begin = inverse(np.concatenate([solve(whole.mass @ whole.start), np.zeros(n)]))
    try:
        shifted, vectors = eigs(
            LinearOperator((2 * n, 2 * n), matvec=inverse, dtype=float), k=count, which="LM", v0=begin, tol=0.0,
            ncv=min(max(3 * count, 40), 2 * n - 1),
        )  # fmt: skip
    except ArpackNoConvergence as error:
        raise ModelError(_not_found(count, len(error.eigenvalues))) from error
    return pace + 1.0 / shifted, vectors


def _polished(linear: Linear, value: complex, share: Any) -> complex:
    """The root of x^H (K + lambda C + lambda^2 M) x nearest to a value."""
    a, b, c = (complex(share.conj() @ matrix @ share) for matrix in (linear.mass, linear.damping, linear.stiffness))
    return complex(min(np.roots([a, b, c]), key=lambda root: abs(root - value)))


def _reduced(rest: Rest, whole: _Whole, ways: Array) -> Linear:
    """The equations in some motions, orthonormal in the metric of M, by differences along them."""
    equations, q = rest.equations, rest.state.q
    root = np.linalg.cholesky(ways.T @ (whole.mass @ ways))
    motions: Array = np.asarray(np.linalg.solve(root, ways.T).T, float)
    bends = stiffness_along(equations, q, motions, rest.state.multipliers)
    damps = damping_along(equations, q, motions)
    return Linear(
        mass=dense(motions.T @ (whole.mass @ motions)), damping=motions.T @ damps.values,
        stiffness=motions.T @ bends.values, motions=motions, places=motions, assembly=rest.model,
        rest=states_of(equations, q), start=states_of(equations, rest.start), steps=rest.steps,
        doubt=(np.abs(motions.T) @ bends.doubt, np.abs(motions.T) @ damps.doubt),
    )  # fmt: skip


def _first(found: Modes, count: int, *, complete: bool = True) -> Modes:
    complete = complete and count >= len(found.eigenvalues)
    return Modes(found.linear, found.eigenvalues[:count], found.vectors[:, :count], complete)


def _not_found(count: int, found: int) -> str:
    return (
        f"modes: of {count} modes {found} were found; give a smaller count, or leave it out, so that all motions are looked at "
        "together."
    )
