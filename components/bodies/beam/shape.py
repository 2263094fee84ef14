"""The shape of a beam in numbers of many nodes at once: its strains, what they store, and how it pulls back (beam/strain.py).

q: places of all nodes, (..., nodes, 3 or 7); forces and spins of a node as in the kernels, the force in the world and the torque in
its own axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from components.bodies.posed.quaternions import crossed, mixed, spinning
from modular.elements import Array


class Strains(NamedTuple):
    """Between neighbouring nodes, (..., nodes - 1, ...)."""

    stretch: Array  # e, seen from the frame half-way
    beyond: Array  # e - e0
    twist: Array  # kappa
    frame: Array  # R: its columns are the axes half-way
    half: Array  # tan(|kappa| / 4) kappa / |kappa|
    lean: Array  # how e follows kappa, seen from the arc
    bend: Array  # (1 - |kappa| / 2 cot |kappa| / 2) / |kappa|^2


def strains(q: Array, spacing: float) -> Strains:
    """How far neighbours are apart and how much they are turned, beyond those of an arc of length `spacing`."""
    one, other = q[..., :-1, :], q[..., 1:, :]
    if q.shape[-1] == 3:
        mean, twist = 0.5 * (one[..., 2] + other[..., 2]), other[..., 2:] - one[..., 2:]
        c, s = np.cos(mean), np.sin(mean)
        frame = np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
        stretch = np.einsum("...cj,...c->...j", frame, (other - one)[..., :2])
        lean = spacing / 12.0 * np.stack([twist, np.zeros_like(twist)], -2)
        return Strains(stretch, _beyond(stretch, twist, lean, spacing), twist, frame, np.zeros_like(twist), lean, mean)
    p, r = one[..., 3:], other[..., 3:]
    middle = p + r
    frame = mixed(middle, middle) / np.sum(middle * middle, -1)[..., None, None]
    stretch = np.einsum("...cj,...c->...j", frame, (other - one)[..., :3])
    way, turned = np.einsum("...ic,...c->...i", spinning(p), r), np.sum(p * r, -1)
    length = np.linalg.norm(way, axis=-1)
    angle = 2.0 * np.arctan2(length, turned)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    twist = way * np.where(small, 2.0 / turned, angle / np.where(small, 1.0, length))[..., None]
    quarter = np.where(small, 0.25, np.tan(0.25 * safe) / safe)
    bend = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / safe**2)
    x, y, z = np.moveaxis(spacing / 24.0 * twist, -1, 0)
    none = np.zeros_like(x)
    lean = np.stack([none, 2.0 * y, 2.0 * z, -y, -x, none, -z, none, -x], -1).reshape(*x.shape, 3, 3)
    return Strains(
        stretch, _beyond(stretch, twist, lean, spacing), twist, frame, quarter[..., None] * twist, lean, bend
    )


def _beyond(stretch: Array, twist: Array, lean: Array, spacing: float) -> Array:
    straight = spacing * np.eye(stretch.shape[-1])[0]
    return np.asarray(stretch - straight + 0.5 * np.einsum("...ic,...c->...i", lean, twist))


def stored(q: Array, stiffness: Array, spacing: float) -> Array:
    """Energy of stretching, shearing, bending and twisting [J], shape (...)."""
    found, d = strains(q, spacing), 2 if q.shape[-1] == 3 else 3
    whole = np.sum(stiffness[:d] * found.beyond**2, (-2, -1)) + np.sum(stiffness[d:] * found.twist**2, (-2, -1))
    return np.asarray(whole / (2.0 * spacing))


def pulled_back(q: Array, motion: Array, stiffness: Array, spacing: float, damping: float) -> Array:
    """Forces and torques on the nodes of one beam that moves by `motion`: what is elastic and damped in it, (nodes, 3 or 6)."""
    found, forces = strains(q, spacing), np.zeros_like(motion)
    one, other = motion[:-1], motion[1:]
    if q.shape[-1] == 3:
        quarter = np.stack([found.stretch[:, 1], -found.stretch[:, 0]], -1)  # how e follows the turning
        spin = 0.5 * (one[:, 2:] + other[:, 2:])
        rates = np.einsum("ncj,nc->nj", found.frame, (other - one)[:, :2]) + quarter * spin
        bending = (other - one)[:, 2:]
        effort, moment = _efforts(found, rates, bending, stiffness, spacing, damping)
        force = np.einsum("ncj,nj->nc", found.frame, effort)
        torque = np.sum(effort * quarter, -1, keepdims=True)
        on_one, on_other = moment - 0.5 * torque, -moment - 0.5 * torque
    else:

        def inverse(vector: Array, sign: float) -> Array:
            twisted = crossed(found.twist, vector)
            return np.asarray(vector + 0.5 * sign * twisted + found.bend[:, None] * crossed(found.twist, twisted))

        spins = one[:, 3:], other[:, 3:]
        middle = 0.5 * (spins[0] + spins[1] + crossed(found.half, spins[1] - spins[0]))
        rates = np.einsum("ncj,nc->nj", found.frame, (other - one)[:, :3]) + crossed(found.stretch, middle)
        bending = inverse(spins[1], 1.0) - inverse(spins[0], -1.0)
        effort, moment = _efforts(found, rates, bending, stiffness, spacing, damping)
        force, turning = np.einsum("ncj,nj->nc", found.frame, effort), crossed(effort, found.stretch)
        on_one = inverse(moment, 1.0) - 0.5 * (turning + crossed(found.half, turning))
        on_other = -inverse(moment, -1.0) - 0.5 * (turning - crossed(found.half, turning))
    d = force.shape[1]
    forces[:-1, :d] += force
    forces[1:, :d] -= force
    forces[:-1, d:] += on_one
    forces[1:, d:] += on_other
    return forces


def _efforts(
    found: Strains, rates: Array, bending: Array, stiffness: Array, spacing: float, damping: float
) -> tuple[Array, Array]:
    """Forces, and moments with those that the forces have along the arc; `rates` of e, `bending` of kappa."""
    d = rates.shape[-1]
    along = rates + np.einsum("nic,nc->ni", found.lean, bending)
    effort = stiffness[:d] * (found.beyond + damping * along) / spacing
    moment = stiffness[d:] * (found.twist + damping * bending) / spacing
    return effort, moment + np.einsum("nic,ni->nc", found.lean, effort)
