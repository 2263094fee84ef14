"""Ways of a mechanism that look the same at all times: it goes or turns as a whole, and round bodies spin about their own axes.

Each is a field of velocities that is affine in the coordinates, q' = X q + x. As a whole everything is moved or turned in space,
about the vertical where there is gravity: how, every kind of body says (`moved`, `turned`). A body by itself is moved in its own
frame: its points and vectors are Q = S A, with what never changes in S and its place and axes in A, so that a motion K in its frame
gives Q' = S K A = (S K S^+) Q. Where K takes nothing from its mass moments, K^T J + J K = 0 with J = S^T m S, it does not show from
outside how far the body has spun. Bodies of other coordinates say that themselves (`hidden_spins`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from coordinator.analysis.tangent import dense
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.solver import State
from modular.assembly import Assembly
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError

RANK_TOLERANCE = 1e-9  # of the largest number: what is smaller is nothing
FOLLOWED_TOLERANCE = 1e-8  # of the largest velocity: what no way explains


@dataclass(frozen=True)
class Symmetry:
    """q' = turn q + shift."""

    turn: Array
    shift: Array

    def velocity(self, q: Array) -> Array:
        """Where it leads from a place."""
        return np.asarray(self.turn @ q + self.shift)

    def after(self, time: float, q: Array) -> tuple[Array, Array]:
        """Where it has led a place to by a time, and how vectors have turned meanwhile."""
        n = len(q)
        whole = linalg.expm(time * np.block([[self.turn, self.shift[:, None]], [np.zeros((1, n + 1))]]))
        return whole[:n, :n] @ q + whole[:n, n], whole[:n, :n]


def symmetry_of(model: Assembly, equations: Equations, state: State, *, following: bool = True) -> Symmetry:
    """The way along which a model goes, with its velocities and accelerations; one that does not turn as a whole is preferred.

    Where none has these accelerations, or they do not matter (`following`), one with these velocities: whoever asks will find that
    the model does not go on.
    """
    q, v, speed = state.q, state.v, float(np.abs(state.v).max(initial=0.0))
    time, small = equations.extent / speed if speed > 0.0 else 1.0, FOLLOWED_TOLERANCE * speed
    ways = [*_shifts(model, equations, q), *_spins(model, equations, q)]
    for more in ((), _turns(model, equations, q)):
        ways += more
        moving = np.array([way.velocity(q) for way in ways]).T.reshape(len(q), -1)
        bending = np.array([time * (way.turn @ v) for way in ways]).T.reshape(len(q), -1)
        both, wanted = np.concatenate([moving, bending]), np.concatenate([v, time * state.a])
        shares = np.linalg.lstsq(both, wanted, rcond=RANK_TOLERANCE)[0]
        if following and np.abs(both @ shares - wanted).max(initial=0.0) <= small:
            return _sum_of(shares, ways, len(q))
    shares = np.linalg.lstsq(moving, v, rcond=RANK_TOLERANCE)[0]
    left = np.abs(moving @ shares - v)
    if left.max(initial=0.0) > small:
        body = max(equations.columns, key=lambda name: float(left[equations.columns[name]].max(initial=0.0)))
        raise ModelError(
            f"body '{body}' changes the shape of the model as it moves: to be linearised, a motion must be steady, such that the "
            "whole model translates or turns as one (about the vertical) and round bodies spin about their own axes. Give such "
            "velocities, or leave them out and linearise about the equilibrium."
        )
    return _sum_of(shares, ways, len(q))


def _sum_of(shares: Array, ways: Sequence[Symmetry], n: int) -> Symmetry:
    turn, shift = np.zeros((n, n)), np.zeros(n)
    for share, way in zip(shares, ways, strict=True):
        turn, shift = turn + share * way.turn, shift + share * way.shift
    return Symmetry(turn, shift)


def blocks_of(model: Assembly, equations: Equations, q: Array) -> Iterator[tuple[str, slice, Array]]:
    """Of bodies whose coordinates are points and vectors of space: which are theirs, and 1 for each point, 0 for each vector."""
    d = model.dimension
    for name, own in equations.columns.items():
        if len(q[own]) % d:
            continue
        body, here = model.bodies[name], q[own].reshape(-1, d)
        offset = np.arange(1.0, d + 1.0)
        try:
            moved = (
                np.asarray(body.moved(q[own].reshape(_shape(equations, name)), offset)).reshape(-1, d) - here
            ) @ offset
        except (ModelError, ValueError):
            moved = np.full(len(here), np.nan)
        points = moved / (offset @ offset)
        if np.isfinite(points).all() and (np.abs(points * (points - 1.0)) < RANK_TOLERANCE).all():
            yield name, own, np.round(points)


def smallest_of(model: Assembly, equations: Equations, q: Array) -> float:
    """The shortest vector, or way between points, of a body, or of a force that pulls along its line [m]; the extent at most."""
    found = [equations.extent]
    known = {name for name, _, _ in blocks_of(model, equations, q)}
    for name in equations.columns.keys() - known:
        found += [1.0, *_lengths(model.bodies[name], q[equations.columns[name]].reshape(_shape(equations, name)))]
    for _, own, points in blocks_of(model, equations, q):
        here = q[own].reshape(-1, model.dimension)
        first = here[np.argmax(points)] * points.max()
        lengths = np.linalg.norm(here - points[:, None] * first, axis=1)
        found += lengths[lengths > RANK_TOLERANCE * equations.extent].tolist()
    positions = equations.system.elements.position
    for name, home in equations.system.force_home.items():
        if model.force_edges[name].force.coordinate == "distance":
            length = float(np.linalg.norm(positions[home.starts[1]] - positions[home.starts[0]]))
            found += [length] if length > RANK_TOLERANCE * equations.extent else []
    return min(found)


def _lengths(body: Body, q: Array) -> Iterator[float]:
    """Of the pieces of which a body that bends is made [m]."""
    still = np.zeros_like(q)
    for ends in body.skeleton:
        one, other = (body.port_motion(end, q, still, still)[0] for end in ends)
        length = float(np.linalg.norm(other - one))
        if length > 0.0:
            yield length


def _shape(equations: Equations, name: str) -> tuple[int, ...]:
    return next(tuple(stack.state()["q"].shape[1:]) for stack in equations.stacks if name in stack.row)


def _shifts(model: Assembly, equations: Equations, q: Array) -> Iterator[Symmetry]:
    """All is moved along an axis."""
    n = len(q)
    for axis in np.eye(model.dimension):
        shift = np.zeros(n)
        for name, own in equations.columns.items():
            nowhere = np.zeros(_shape(equations, name))
            with suppress(ModelError):  # a kind that does not say how it is moved
                shift[own] = np.ravel(model.bodies[name].moved(nowhere, axis))
        yield Symmetry(np.zeros((n, n)), shift)


def _turns(model: Assembly, equations: Equations, q: Array) -> list[Symmetry]:
    """All turns about the vertical through the origin, without gravity about any axis."""
    gravity, n, found = np.asarray(model.gravity, float), len(q), []
    weight = float(np.linalg.norm(gravity))
    for turn in generators(model.dimension):
        if weight > 0.0 and np.abs(turn @ gravity).max() > RANK_TOLERANCE * weight and model.dimension == 2:
            continue
        found.append(turn)
    if weight > 0.0 and model.dimension == 3:
        along = gravity / weight
        found = [sum(share * turn for share, turn in zip(along, generators(3), strict=True))]
    ways = []
    for turn in found:
        whole, shift = np.zeros((n, n)), np.zeros(n)
        for name, own in equations.columns.items():
            with suppress(ModelError):
                whole[own, own], shift[own] = turning_of(model.bodies[name], _shape(equations, name), turn)
        ways.append(Symmetry(whole, shift))
    return ways


def turning_of(body: Body, shape: tuple[int, ...], turn: Array) -> tuple[Array, Array]:
    """X and x of coordinates of a body that turns as a whole, from where one rad takes them: the logarithm of that map."""
    rotation, count = linalg.expm(turn), int(np.prod(shape))
    nowhere = np.zeros(shape)
    columns = [np.ravel(body.turned(nowhere, unit.reshape(shape), rotation)[1]) for unit in np.eye(count)]
    whole = np.eye(count + 1)
    whole[:count, :count], whole[:count, count] = (
        np.array(columns).T,
        np.ravel(body.turned(nowhere, nowhere, rotation)[0]),
    )
    plain = np.kron(np.eye(count // len(turn)), rotation)  # points and vectors turn one by one, and so are their rates
    if (
        plain.shape == (count, count)
        and not whole[:count, count].any()
        and np.array_equal(whole[:count, :count], plain)
    ):
        return np.asarray(np.kron(np.eye(count // len(turn)), turn), float), np.zeros(count)
    found = np.real(linalg.logm(whole))
    return found[:count, :count], found[:count, count]


def _spins(model: Assembly, equations: Equations, q: Array) -> Iterator[Symmetry]:
    """Bodies move in their own frames so that it does not show."""
    n, d, mass = len(q), equations.system.elements.dimension, dense(equations.mass)
    for name, own in equations.columns.items():
        for spin, spun in model.bodies[name].hidden_spins():
            whole, shift = np.zeros((n, n)), np.zeros(n)
            whole[own, own], shift[own] = spin, spun
            yield Symmetry(whole, shift)
    for _, own, points in blocks_of(model, equations, q):
        here = q[own].reshape(-1, d)
        fixed = np.column_stack([points, here])  # S in a frame that is that of the world now
        if np.linalg.matrix_rank(fixed, tol=RANK_TOLERANCE * np.abs(fixed).max()) < d + 1:
            continue
        masses = mass[own, own].reshape(len(here), d, len(here), d)[:, 0, :, 0]
        if np.abs(mass[own, own] - np.kron(masses, np.eye(d))).max() > RANK_TOLERANCE * np.abs(masses).max():
            continue
        moments = fixed.T @ masses @ fixed
        motions = list(_frame_motions(d))
        shows = np.array([(motion.T @ moments + moments @ motion).ravel() for motion in motions]).T
        _, sizes, right = np.linalg.svd(shows, full_matrices=True)
        rank = int((sizes > RANK_TOLERANCE * np.abs(moments).max()).sum())
        for shares in right[rank:]:
            motion = sum(share * one for share, one in zip(shares, motions, strict=True))
            whole = np.zeros((n, n))
            whole[own, own] = np.kron(fixed @ motion @ np.linalg.pinv(fixed), np.eye(d))
            yield Symmetry(whole, np.zeros(n))


def _frame_motions(d: int) -> Iterator[Array]:
    """K of shifts and turns of a frame: rows (f, s) become (0, f t + w x s)."""
    for c in range(d):
        motion = np.zeros((d + 1, d + 1))
        motion[0, 1 + c] = 1.0
        yield motion
    for turn in generators(d):
        motion = np.zeros((d + 1, d + 1))
        motion[1:, 1:] = turn.T
        yield motion


def generators(d: int) -> list[Array]:
    """Of turns about the axes; in the plane about its normal."""
    if d == 2:
        return [np.array([[0.0, -1.0], [1.0, 0.0]])]
    return [-np.cross(np.eye(3), axis) for axis in np.eye(3)]
