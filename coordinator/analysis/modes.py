"""Vibrations about a place where a model rests, or a motion that goes on: eigenvalues, frequencies, damping, and what moves how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from coordinator.analysis.linear import Linear
from coordinator.analysis.linearise import linearise
from coordinator.analysis.ports import States, port_places, port_velocities, posed, stacked, whole
from coordinator.analysis.result import AXES, Result
from coordinator.record.export import Series
from coordinator.record.run import Run
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread

SILENT = 1e-12  # of the largest number of a matrix: what is no larger is rounding
UNSEEN = 1e-7  # of the largest coordinate of a mode: ports that move no more stand
DRIFTING = 1e-9  # of the largest answer: what changes a state by less leads to another motion that goes on
RESISTANCE = 1e-14  # of the largest: what resists a motion less is rounding
DOUBTED = 4.0  # times what differences leave in doubt: what resists a motion less may be nothing
TOLD = 12  # modes that a summary tells
WIDE, TURNED = 0.12, 0.5  # of the extent, and rad: how far a mode is shown to go, at most
SWING = 32  # poses of a period


@dataclass(frozen=True)
class Modes(Result):
    """Eigenvalues [1/s] by rising frequency, of each pair the one that turns forwards, and their shapes by columns."""

    rows = ("mode",)
    linear: Linear
    eigenvalues: Any  # complex [1/s]
    vectors: Any  # of the velocities, or of the ways from a motion that goes on, by columns, complex
    complete: bool = True  # whether these are all that there are, and not the slowest alone

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
        """Whether nothing grows by itself, of those that were looked for."""
        rounding = SILENT if self.linear.turning is None else DRIFTING
        return bool((self.eigenvalues.real <= rounding * np.abs(self.eigenvalues).max(initial=0.0)).all())

    def told(self, mode: int) -> str:
        """What one does, in a word or two: how often it swings, or whether it grows, decays or drifts."""
        value, frequency = complex(self.eigenvalues[mode]), float(self.frequencies[mode])
        if not value:
            return "drifts"
        return (
            f"{frequency:.4g} Hz" if frequency else f"{'grows' if value.real > 0.0 else 'decays'}, {value.real:.4g} 1/s"
        )

    def movers(self, mode: int, count: int = 3) -> list[tuple[str, float]]:
        """The ports that move most in a mode, and how far if the farthest moves by one."""
        sizes = {port: float(np.linalg.norm(shape[mode])) for port, shape in self.shapes.items()}
        return sorted(sizes.items(), key=lambda item: -item[1])[:count]

    @cached_property
    def shapes(self) -> dict[str, Any]:
        """How every port moves in each mode, "body.port" -> (modes, d), complex; the farthest port of a mode moves by one."""
        moved = self.linear.shown @ self.vectors
        found = port_velocities(self.linear.assembly, self.linear.rest, moved)
        most = np.max([np.linalg.norm(shape, axis=1) for shape in found.values()] or [np.zeros(moved.shape[1])], axis=0)
        # what turns about a line through all ports is not
        seen = most > UNSEEN * np.abs(moved).max(axis=0, initial=0.0)
        return {port: shape / np.where(seen, most, np.inf)[:, None] for port, shape in found.items()}

    def swing(self, mode: int) -> Run:
        """A period of one mode as a run of poses, to be drawn or filmed: what decays or grows does not on it.

        About a motion that goes on it is seen from a frame that goes along. What has 0 Hz is shown to go there and back in 1 s.
        """
        poses = self.poses(mode, np.arange(SWING + 1) / SWING)
        period = 1.0 / float(self.frequencies[mode]) if self.frequencies[mode] > 0.0 else 1.0
        return posed(self.linear.assembly, whole(self.linear.rest), poses, period / SWING, "modes")

    def poses(self, mode: int, parts: Sequence[float] | Array) -> list[Array]:
        """All coordinates at parts of a period, as far from the middle as can be seen well; the first pose is the widest."""
        if not 0 <= mode < len(self.eigenvalues):
            raise ModelError(f"mode {mode}: there are {len(self.eigenvalues)}, counted from 0 on.")
        linear = self.linear
        q, way = whole(linear.rest), linear.shown @ self.vectors[:, mode]
        way = way * np.exp(-0.5j * np.angle(np.sum(way**2))) * shown_size(linear.assembly, linear.rest, way)
        return [q + (way * np.exp(2j * np.pi * part)).real for part in parts]

    def summary(self) -> list[str]:
        """In words, a line each."""
        about = "the place where it rests" if self.linear.turning is None else "the motion with which it sets out"
        which, stays = ("modes", "stable") if self.complete else ("slowest modes", "none of which grows by itself")
        lines = [f"{len(self.eigenvalues)} {which} about {about}, {stays if self.stable else 'not stable'}"]
        for k in range(min(TOLD, len(self.eigenvalues))):
            value, frequency, damping = complex(self.eigenvalues[k]), float(self.frequencies[k]), float(self.damping[k])
            damped = f"damping {abs(damping):.3g}" if damping > -SILENT else f"grows by {value.real:.3g} 1/s"
            how = f"{frequency:.6g} Hz, {damped}" if frequency else f"{value.real:.6g} 1/s"
            moves = ", ".join(f"'{port}'" for port, size in self.movers(k, 2) if size > 0.005) or "no port"
            lines.append(f"mode {k}: {how if value else 'drifts'}; moves most: {moves}")
        if len(self.eigenvalues) > TOLD:
            lines.append(f"and {len(self.eigenvalues) - TOLD} more")
        return lines

    def series(self) -> dict[str, Series]:
        """Its arrays, by name."""
        shapes, places = self.shapes, port_places(self.linear.assembly, self.linear.rest)
        found = {
            "frequency": Series(("mode",), self.frequencies, "Hz", "frequency; 0 of what creeps, falls or drifts"),
            "damping": Series(("mode",), self.damping, "1", "share of critical damping"),
            "eigenvalue": Series(
                ("mode",), self.eigenvalues, "1/s", "eigenvalue, of a pair the one that turns forwards"
            ),
        }
        if shapes:
            found["shape"] = Series(
                ("mode", "port", "axis"), stacked(shapes), "1", "how ports move, the farthest of a mode by one"
            )
            found["place"] = Series(("port", "axis"), stacked(places), "m", "where ports are in the middle")
        return found

    def labels(self) -> dict[str, Sequence[Any]]:
        """What the places along each axis are called."""
        model = self.linear.assembly
        ports = {"port": list(self.shapes), "axis": AXES[: model.dimension]} if self.shapes else {}
        return {"mode": range(len(self.eigenvalues)), **ports}


def modes(model: Assembly, *, seek: bool = False, steady: bool = False, count: int | None = None) -> Modes:
    """Of a model where it stands, which has to be a place where it rests; `seek`: where it would come to rest from there.

    `steady`: about the motion with which it sets out, which has to go on as it is, as of a bicycle that rolls; with `seek` about
    the one that goes on with the same pace near where it is put, as of a blade that its own pull stretches. `count`: those of
    lowest frequency alone, as of models of thousands of bodies.
    """
    if count is not None:
        if steady:
            raise ModelError(
                "modes: count is for places where a model rests; about a motion that goes on leave it out."
            )
        from coordinator.analysis.lowest import lowest_modes  # which takes the modes of what it has found from here

        return lowest_modes(model, count, seek=seek)
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


def shown_size(model: Assembly, states: States, way: Any) -> float:
    """By how much a motion is multiplied to be seen well: no port goes farther than a part of the extent, no body turns by much."""
    ports = port_velocities(model, states, np.asarray(way)[:, None])
    if not ports:
        return 0.0
    places = port_places(model, states)
    where, goes = np.array(list(places.values())), np.array([one[0] for one in ports.values()])
    extent = max(float(np.ptp(where, axis=0).max()), 1e-300) if len(where) > 1 else 1.0
    limits = [float(np.linalg.norm(goes, axis=1).max()) / (WIDE * extent)]
    for name, body in model.bodies.items():
        own = [f"{name}.{port}" for port in body.port_names]
        for port in own[1:]:
            apart = float(np.linalg.norm(places[port] - places[own[0]]))
            if apart > UNSEEN * extent:
                limits.append(float(np.linalg.norm(ports[port][0] - ports[own[0]][0])) / (TURNED * apart))
    return 1.0 / max(limits) if max(limits) > 0.0 else 0.0


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
