"""Linear and angular momentum of bodies and of all of them, over the samples of a run, for every kind of body.

T is quadratic in velocities, so w . M v = (T(v + w) - T(v - w)) / 2 for any two of them: with w the velocities of a turn as a whole
about an axis through the origin that is the angular momentum about it, and no kind of body has to tell its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array
from modular.errors import ModelError

ANGLE = 0.02  # rad, between places of the stencil: turned coordinates are sines and cosines of it
STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # eighth-order derivative


def momentum(run: Run, body: str | None) -> Array:
    """Linear, [kg m/s], (n, d)."""
    if body is None:
        parts = [np.nan_to_num(momentum(run, name)) for name in run.bodies]
        return np.sum(parts, axis=0) if parts else np.zeros((len(run), len(run.model["gravity"])))
    q, v, _ = run.state(body)
    return np.asarray(run.bodies[body].momentum(q, v))


def angular_momentum(run: Run, body: str | None, about: Sequence[float] | None) -> Array:
    """About a place of the world, its origin unless said [kg m^2/s], (n,) in the plane, else (n, 3)."""
    d = len(run.model["gravity"])
    place = np.zeros(d) if about is None else np.asarray(about, float)
    if place.shape != (d,) or not np.isfinite(place).all():
        raise ModelError(f"angular_momentum: about = {about!r}; give a place of {d} finite numbers [m].")
    if body is None:
        parts = [np.nan_to_num(angular_momentum(run, name, about)) for name in run.bodies]
        return np.sum(parts, axis=0) if parts else np.zeros((len(run), 3)[: d - 1])
    q, v, _ = run.state(body)
    described, found = run.bodies[body], []
    for i, j in ((0, 1),) if d == 2 else ((1, 2), (2, 0), (0, 1)):
        w = sum(
            sign * share / ANGLE * described.turned(q, 0.0 * q, _rotation(d, i, j, sign * k * ANGLE))[0]
            for k, share in STENCIL
            for sign in (1, -1)
        )
        found.append(0.5 * (described.kinetic_energy(q, v + w) - described.kinetic_energy(q, v - w)))
    whole, p = np.stack(found, axis=-1), momentum(run, body)
    if d == 2:
        return np.asarray(whole[:, 0] - (place[0] * p[:, 1] - place[1] * p[:, 0]))
    return np.asarray(whole - np.cross(place, p))


def _rotation(d: int, i: int, j: int, angle: float) -> Array:
    """From axis i towards axis j."""
    found = np.eye(d)
    found[i, i] = found[j, j] = np.cos(angle)
    found[j, i], found[i, j] = np.sin(angle), -np.sin(angle)
    return found
