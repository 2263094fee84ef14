"""Vibrations about a place where a model rests: eigenvalues, frequencies, damping, and what moves how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from coordinator.analysis.linear import Linear, linearise
from modular.assembly import Assembly
from modular.elements import Array
from modular.one_thread import on_one_thread

SILENT = 1e-12  # of the largest number of a matrix: what is no larger is rounding
UNSEEN = 1e-7  # of the largest coordinate of a mode: ports that move no more stand
RESISTANCE = 1e-10  # of the largest: what resists a motion less is what rounding leaves of differences


@dataclass(frozen=True)
class Modes:
    """Eigenvalues [1/s] by rising frequency, of each pair the one that turns forwards, and their shapes by columns."""

    linear: Linear
    eigenvalues: Any  # complex [1/s]
    vectors: Any  # of the velocities, by columns, complex

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
        return bool((self.eigenvalues.real <= SILENT * np.abs(self.eigenvalues).max(initial=0.0)).all())

    def movers(self, mode: int, count: int = 3) -> list[tuple[str, float]]:
        """The ports that move most in a mode, and how far if the farthest moves by one."""
        sizes = {port: float(np.linalg.norm(shape[mode])) for port, shape in self.shapes.items()}
        return sorted(sizes.items(), key=lambda item: -item[1])[:count]

    @cached_property
    def shapes(self) -> dict[str, Any]:
        """How every port moves in each mode, "body.port" -> (modes, d), complex; the farthest port of a mode moves by one."""
        moved = self.linear.motions @ self.vectors
        found: dict[str, Any] = {}
        for name, body in self.linear.assembly.bodies.items():
            q, own = self.linear.rest[name]
            parts = []
            for part in (moved[own].real, moved[own].imag):
                v = part.T.reshape(-1, *q.shape)
                place = np.broadcast_to(q, v.shape)
                parts.append({port: body.port_motion(port, place, v, 0.0 * v)[1] for port in body.port_names})
            found |= {f"{name}.{port}": parts[0][port] + 1j * parts[1][port] for port in body.port_names}
        most = np.max([np.abs(shape).max(axis=1) for shape in found.values()] or [np.zeros(moved.shape[1])], axis=0)
        seen = most > UNSEEN * np.abs(moved).max(
            axis=0, initial=0.0
        )  # what turns about a line through all ports is not
        return {port: shape / np.where(seen, most, np.inf)[:, None] for port, shape in found.items()}


def modes(model: Assembly, *, seek: bool = False) -> Modes:
    """Of a model where it stands, which has to be a place where it rests; `seek`: where it would come to rest from there."""
    return modes_of(linearise(model, seek=seek))


@on_one_thread
def modes_of(linear: Linear) -> Modes:
    """Of its linear equations. What nothing damps swings as a symmetric problem, to rounding."""
    if linear.places is linear.motions:
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
    resists = [one / max(np.abs(one).max(initial=0.0), 1e-300) for one in kinds]
    turned = linalg.solve_triangular(root, np.concatenate(resists).T, lower=True)
    left, sizes, _ = np.linalg.svd(turned)
    bound = int((sizes > RESISTANCE * sizes.max(initial=0.0)).sum())
    whole = linalg.solve_triangular(root.T, left, lower=False)
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


def _halves(values: Any, vectors: Any, places: int) -> tuple[Any, Any]:
    """Of each pair the one that turns forwards, and the velocities of its vector."""
    forwards = values.imag >= 0.0
    return values[forwards], vectors[places:, forwards]
