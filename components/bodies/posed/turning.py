"""How bodies turn that have an angle in the plane, a quaternion in space, behind their place: for many at a time.

q: (x, y, theta) or (r, p), (..., 3 or 7).
"""

from __future__ import annotations

import numpy as np

from components.bodies.posed.quaternions import mixed, product
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


def turned(q: Array, v: Array, rotation: Array) -> tuple[Array, Array]:
    """Place and turning of bodies that are turned about the origin of the world, with their rates; what else they have stays."""
    d = len(rotation)
    q, v = q.copy(), v.copy()
    q[..., :d], v[..., :d] = q[..., :d] @ rotation.T, v[..., :d] @ rotation.T
    if d == 2:
        q[..., 2] += np.arctan2(rotation[1, 0], rotation[0, 0])
        return q, v
    from scipy.spatial.transform import Rotation  # a third of a second, for those who need it

    x, y, z, s = Rotation.from_matrix(rotation).as_quat()
    for quaternions in (q[..., 3:7], v[..., 3:7]):
        quaternions[...] = np.moveaxis(product(np.array([s, x, y, z]), np.moveaxis(quaternions, -1, 0)), 0, -1)
    return q, v
