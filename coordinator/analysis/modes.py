"""Vibrations about a place where a model rests, or a motion that goes on: eigenvalues, frequencies, damping, and what moves how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from coordinator.analysis.linear import Linear
from coordinator.analysis.linearise import linearise
from modular.assembly import Assembly
from modular.elements import Array
from modular.one_thread import on_one_thread

SILENT = 1e-12  # of the largest number of a matrix: what is no larger is rounding
UNSEEN = 1e-7  # of the largest coordinate of a mode: ports that move no more stand
DRIFTING = 1e-9  # of the largest answer: what changes a state by less leads to another motion that goes on
RESISTANCE = 1e-14  # of the largest: what resists a motion less is rounding
DOUBTED = 4.0  # times what differences leave in doubt: what resists a motion less may be nothing


@dataclass(frozen=True)
class Modes:
    """Eigenvalues [1/s] by rising frequency, of each pair the one that turns forwards, and their shapes by columns."""

    linear: Linear
    eigenvalues: Any  # complex [1/s]
    vectors: Any  # of the velocities, or of the ways from a motion that goes on, by columns, complex

    @property
    def frequencies(self) -> Array:
        """Of what swings [Hz]; 0 of what creeps, falls or drifts."""
        return np.asarray(np.abs(self.eigenvalues.imag) / (2.0 * np.pi))

    @property
    def damping(self) -> Array:
        """Share of critical damping: 1 and more creeps back, below 0 it grows; nan of what drifts."""
        size = np.abs(self.eigenvalues)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(size > 0.0, -self.eigenvalues.real / size, np.nan))

    @property
    def stable(self) -> bool:
        """Whether nothing grows by itself."""
        rounding = SILENT if self.linear.turning is None else DRIFTING
        return bool((self.eigenvalues.real <= rounding * np.abs(self.eigenvalues).max(initial=0.0)).all())

    def movers(self, mode: int, count: int = 3) -> list[tuple[str, float]]:
        """The ports that move most in a mode, and how far if the farthest moves by one."""
        sizes = {port: float(np.linalg.norm(shape[mode])) for port, shape in self.shapes.items()}
        return sorted(sizes.items(), key=lambda item: -item[1])[:count]

    @cached_property
    def shapes(self) -> dict[str, Any]:
        """How every port moves in each mode, "body.port" -> (modes, d), complex; the farthest port of a mode moves by one."""
        moved = self.linear.shown @ self.vectors
        found: dict[str, Any] = {}
        for name, body in self.linear.assembly.bodies.items():
            q, own = self.linear.rest[name]
            parts = []
            for part in (moved[own].real, moved[own].imag):
                v = part.T.reshape(-1, *q.shape)
                place = np.broadcast_to(q, v.shape)
                parts.append({port: body.port_motion(port, place, v, 0.0 * v)[1] for port in body.port_names})
            found |= {f"{name}.{port}": parts[0][port] + 1j * parts[1][port] for port in body.port_names}
        most = np.max([np.linalg.norm(shape, axis=1) for shape in found.values()] or [np.zeros(moved.shape[1])], axis=0)
        seen = most > UNSEEN * np.abs(moved).max(
            axis=0, initial=0.0
        )  # what turns about a line through all ports is not
        return {port: shape / np.where(seen, most, np.inf)[:, None] for port, shape in found.items()}


def modes(model: Assembly, *, seek: bool = False, steady: bool = False) -> Modes:
    """Of a model where it stands, which has to be a place where it rests; `seek`: where it would come to rest from there.

    `steady`: about the motion with which it sets out, which has to go on as it is, as of a bicycle that rolls; with `seek` about
    the one that goes on with the same pace near where it is put, as of a blade that its own pull stretches.
    """
    return modes_of(linearise(model, seek=seek, steady=steady))


@on_one_thread
def modes_of(linear: Linear, *, drifting: int | None = None) -> Modes:
    """Of its linear equations. What nothing damps swings as a symmetric problem, to rounding.

    `drifting`: how many lead from a motion that goes on to another, where that is known.
    """
    if linear.turning is not None:
        values, vectors = _about_motion(linear, drifting)
    elif linear.places is linear.motions:
        free, bound = _free_and_bound(linear)
        values, vectors = _undamped(linear, bound) if _is_still(linear) else _damped(linear, bound)
        values, vectors = np.concatenate([np.zeros(free.shape[1]), values]), np.concatenate([free, vectors], axis=1)
    else:
        values, vectors = _halves(*np.linalg.eig(linear.matrix), linear.places.shape[1])
    order = np.lexsort((np.abs(values.real), np.abs(values.imag)))
    return Modes(linear, values[order] + 0j, vectors[:, order] + 0j)


def _is_still(linear: Linear) -> bool:
    return bool(np.abs(linear.damping).max(initial=0.0) <= SILENT * np.abs(linear.mass).max(initial=0.0))


def _free_and_bound(linear: Linear) -> tuple[Array, Array]:
    """Velocities that nothing resists, and those that have no momentum with them, orthonormal in the metric of M.

    Free ones are taken out: where they are, p' = u makes two equal eigenvalues of which rounding leaves the root.
    """
    root = np.linalg.cholesky(linear.mass)
    kinds = (linear.stiffness,) if _is_still(linear) else (linear.stiffness, linear.damping)
    weights = [1.0 / max(float(np.abs(one).max(initial=0.0)), 1e-300) for one in kinds]
    resists = np.concatenate([weight * one for weight, one in zip(weights, kinds, strict=True)])
    doubts = [np.zeros_like(one) for one in kinds] if linear.doubt is None else linear.doubt
    doubt = np.concatenate([weight * one for weight, one in zip(weights, doubts, strict=False)])
    left, sizes, _ = np.linalg.svd(linalg.solve_triangular(root, resists.T, lower=True))
    whole = linalg.solve_triangular(root.T, left, lower=False)
    blurred = DOUBTED * np.linalg.norm(doubt @ np.abs(whole), axis=0)[: len(sizes)]
    bound = len(sizes) - _last_below(sizes, np.maximum(RESISTANCE * sizes.max(initial=0.0), blurred))
    return whole[:, bound:], whole[:, :bound]


def _undamped(linear: Linear, bound: Array) -> tuple[Any, Any]:
    stiffness = bound.T @ linear.stiffness @ bound
    squares, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
    return np.sqrt(-squares + 0j), bound @ vectors


def _damped(linear: Linear, bound: Array) -> tuple[Any, Any]:
    n = bound.shape[1]
    stiffness, damping = bound.T @ linear.stiffness @ bound, bound.T @ linear.damping @ bound
    whole = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness, -damping]])
    values, vectors = _halves(*np.linalg.eig(whole), n)
    return values, bound @ vectors


def _about_motion(linear: Linear, known: int | None) -> tuple[Any, Any]:
    """About a motion that goes on: what leads to another such motion is taken out, one after the other.

    Where a bicycle goes, and by how much its wheels have turned, drifts with its heading and speed: equal eigenvalues, of which
    rounding leaves roots.
    """
    whole, n = linear.matrix, linear.places.shape[1]
    basis, paces = _by_their_paces(linear, whole)
    scaled = np.linalg.solve(basis, whole @ basis)
    left, kept, drifting = scaled, np.eye(len(whole)), np.zeros((len(whole), 0))
    while len(left):
        _, sizes, right = np.linalg.svd(left)
        limits = DRIFTING * np.linalg.norm(paces[:, None] * (kept @ right.T), axis=0)
        rank = len(left) - _last_below(sizes, limits)
        if known is not None:
            rank = max(rank, len(left) - (known - drifting.shape[1]))
        if rank == len(left):
            break
        drifting = np.concatenate([drifting, kept @ right[rank:].T], axis=1)
        left, kept = right[:rank] @ left @ right[:rank].T, kept @ right[:rank].T
    values = np.linalg.eigvals(left) if len(left) else np.zeros(0)
    values = values[values.imag >= 0.0]
    vectors = [np.linalg.svd(scaled - value * np.eye(len(whole)))[2][-1].conj() for value in values]
    found = basis @ np.concatenate([drifting, np.array(vectors).reshape(-1, len(whole)).T], axis=1)
    return np.concatenate([np.zeros(drifting.shape[1]), values]), found[:n]


def _by_their_paces(linear: Linear, whole: Array) -> tuple[Array, Array]:
    """States by columns in which ways and speeds are alike, and how fast each is: [1/s].

    What is stiff is told from what is slow by the stiffness alone: else a blade's first swing, 1e5 times slower than the waves
    along it, would be taken for none. Where velocities are fewer than places one pace is that of all.
    """
    n = linear.places.shape[1]
    turning = max(_size(whole[:n, :n]), _size(whole[n:, n:]))
    if linear.places is not linear.motions:
        pace = max(turning, np.sqrt(_size(whole[n:, :n]))) or 1.0
        paces = np.full(len(whole), pace)
        return np.diag(np.concatenate([np.ones(n), paces[n:]])), paces
    root = np.linalg.cholesky(linear.mass)
    bends = linalg.solve_triangular(root, 0.5 * (linear.stiffness + linear.stiffness.T), lower=True)
    squares, ways = np.linalg.eigh(linalg.solve_triangular(root, bends.T, lower=True))
    ways = linalg.solve_triangular(root.T, ways, lower=False)
    own = np.sqrt(np.abs(squares))
    paces = np.maximum(own, max(turning, DRIFTING * float(own.max(initial=0.0))) or 1.0)
    return linalg.block_diag(ways, ways * paces), np.concatenate([paces, paces])


def _last_below(sizes: Array, limits: Array) -> int:
    """How many of the last sizes are below their limits, one after the other."""
    below = (sizes <= limits)[::-1]
    return int(len(below) if below.all() else np.argmin(below))


def _size(block: Array) -> float:
    """Its largest stretch; 0 where there is nothing."""
    return float(np.linalg.norm(block, 2)) if block.size else 0.0


def _halves(values: Any, vectors: Any, places: int) -> tuple[Any, Any]:
    """Of each pair the one that turns forwards, and the velocities of its vector."""
    forwards = values.imag >= 0.0
    return values[forwards], vectors[places:, forwards]
