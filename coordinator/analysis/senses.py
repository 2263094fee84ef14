"""Which way round joints are: what says that two directions are parallel is as content where they point against each other.

A weld, a hinge or a slide whose directions have been turned round by half a turn is closed, and is not what was written. So pairs
of directions that a joint keeps in line are held against how they stand as bodies are described: before joints are closed bodies
that are about a right angle off, or more, are turned, and what is closed the wrong way round counts as not closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.elements import Array

if TYPE_CHECKING:
    from coordinator.analysis.poses import Poses

IN_LINE = 0.9  # cosine of two directions that a joint may keep in line
CONTENT = 1e-9  # what it leaves open where they are turned round
ASKEW = 0.3  # cosine from which on bodies are not turned beforehand


@dataclass(frozen=True)
class Sense:
    """Two elements, directions of either side of a joint, and the sign of their cosine."""

    joint: str
    first: int
    second: int
    sign: float


def senses_of(poses: Poses, described: Array) -> list[Sense]:
    """Of all joints that would be content the other way round; `described`: where elements are as bodies are described."""
    elements = poses.system.elements
    saved = elements.position.copy()
    found: list[Sense] = []
    for joints in poses.system.joints:
        if joints.form.holonomic and not joints.form.drives:
            for name, row in joints.row.items():
                found += _senses(poses, joints, name, row, described)
    elements.position[:] = saved
    return found


def _senses(poses: Poses, joints: Any, name: str, row: int, described: Array) -> list[Sense]:
    elements, form = poses.system.elements, joints.form
    firsts, seconds = (
        [k for k in range(start, start + number) if not poses.point[k] and np.linalg.norm(described[k]) > 0.0]
        for start, number in ((joints.first[row], form.first), (joints.second[row], form.second))
    )
    found = []
    for i in firsts:
        for j in seconds:
            cosine = float(described[i] @ described[j] / np.linalg.norm(described[i]) / np.linalg.norm(described[j]))
            if abs(cosine) < IN_LINE:
                continue
            for half in _half_turns(described[j]):
                elements.position[:] = described
                elements.position[seconds] = described[seconds] @ half.T
                joints.linearise(elements)
                if float(np.abs(joints.error[row, form.translations :]).max(initial=0.0)) < CONTENT:
                    found.append(Sense(name, i, j, float(np.sign(cosine))))
                    break
    return found


def _half_turns(direction: Array) -> list[Array]:
    """That turn a direction round."""
    if len(direction) == 2:
        return [-np.eye(2)]
    across = np.linalg.svd(direction[None])[2][1:]
    return [2.0 * np.outer(axis, axis) - np.eye(3) for axis in across]


def turned_round(poses: Poses) -> list[str]:
    """Joints that are closed the wrong way round."""
    poses.show()
    position = poses.system.elements.position
    return [
        sense.joint
        for sense in poses.senses
        if sense.sign * float(position[sense.first] @ position[sense.second]) < 0.0
    ]


def turn_beforehand(poses: Poses) -> None:
    """Turn bodies, each after the one that it is joined to, so that no direction is far from where its joint wants it."""
    settled, waiting = {-1}, list(poses.senses)
    while waiting:
        owners = [{int(poses.owner[sense.first]), int(poses.owner[sense.second])} for sense in waiting]
        ready = [sense for sense, both in zip(waiting, owners, strict=True) if both & settled]
        if not ready:
            settled.add(int(poses.owner[waiting[0].first]))
            continue
        together = [sense for sense in ready if sense.joint == ready[0].joint]
        one, other = int(poses.owner[ready[0].first]), int(poses.owner[ready[0].second])
        owner = other if one in settled else one
        if owner not in settled:
            poses.show()
            position = poses.system.elements.position
            pairs = [(s.second, s.first) if owner == other else (s.first, s.second) for s in together]
            now = np.array([_unit(position[mine]) for mine, _ in pairs])
            wanted = np.array([s.sign * _unit(position[its]) for s, (_, its) in zip(together, pairs, strict=True)])
            if float(np.einsum("ni,ni->n", now, wanted).min()) < ASKEW:
                poses.turn(owner, _bringing(now[0], wanted[0]) if len(pairs) == 1 else _nearest(now, wanted))
            settled.add(owner)
        waiting = [sense for sense in waiting if sense.joint != ready[0].joint]


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def _nearest(now: Array, wanted: Array) -> Array:
    """The rotation that takes directions nearest to others (W. Kabsch, Acta Cryst. A 32 (1976) 922)."""
    left, _, right = np.linalg.svd(wanted.T @ now)
    signs = np.ones(len(left))
    signs[-1] = np.sign(np.linalg.det(left @ right))
    return np.asarray(left @ np.diag(signs) @ right)


def _bringing(now: Array, wanted: Array) -> Array:
    """The smallest rotation that takes one direction to another."""
    u, w = now / np.linalg.norm(now), wanted / np.linalg.norm(wanted)
    if len(u) == 2:
        c, s = float(u @ w), float(u[0] * w[1] - u[1] * w[0])
        return np.array([[c, -s], [s, c]])
    axis, c = np.cross(u, w), float(u @ w)
    if np.linalg.norm(axis) < 1e-9:
        return _half_turns(u)[0] if c < 0.0 else np.eye(3)
    skew = -np.cross(np.eye(3), axis)
    return np.eye(3) + skew + skew @ skew / (1.0 + c)
