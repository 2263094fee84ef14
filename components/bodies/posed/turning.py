"""How bodies turn that have an angle in the plane, a quaternion in space, behind their place: for many at a time.

q: (x, y, theta) or (r, p), (..., 3 or 7).
"""

from __future__ import annotations

import numpy as np

from components.bodies.posed.quaternions import mixed
from modular.elements import Array


def rotation(q: Array) -> Array:
    """R, whose columns are the axes of the body, (..., d, d)."""
    if q.shape[-1] == 3:
        c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
        return np.stack([np.stack([c, -s], -1), np.stack([s, c], -1)], -2)
    return mixed(q[..., 3:], q[..., 3:])


def slopes(q: Array) -> Array:
    """How R follows the coordinates that turn: dR/dq of one body, (d, d, 1 or 4)."""
    if q.shape[-1] == 3:
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([[-s, -c], [c, -s]])[:, :, None]
    return np.ascontiguousarray(np.moveaxis(2.0 * mixed(q[3:], np.eye(4)), 0, -1))


def rotations(q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """R and its two derivatives."""
    turn = rotation(q)
    if q.shape[-1] == 7:
        p, dp, ddp = q[..., 3:], v[..., 3:], a[..., 3:]
        return turn, 2.0 * mixed(p, dp), 2.0 * (mixed(p, ddp) + mixed(dp, dp))
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    rate = v[..., 2, None, None] * (turn @ quarter)
    return turn, rate, a[..., 2, None, None] * (turn @ quarter) - v[..., 2, None, None] ** 2 * turn
