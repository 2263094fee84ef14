"""Quaternions p = (s, x, y, z) that turn bodies, for many at a time (..., 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from modular.elements import Array

NEXT, BEFORE = [1, 2, 0], [2, 0, 1]  # of three axes


def spinning(p: Array) -> Array:
    """G: 2 G p' is the angular velocity in the axes of the body, (..., 3, 4)."""
    s, x, y, z = (p[..., k] for k in range(4))
    return _filled([[-x, s, z, -y], [-y, -z, s, x], [-z, y, -x, s]], p.dtype)


def mixed(p: Array, r: Array) -> Array:
    """The symmetric bilinear form of which R is the square: half of dR/dp along r, (..., 3, 3)."""
    s, x, y, z = (p[..., k] for k in range(4))
    t, a, b, c = (r[..., k] for k in range(4))
    rows = [
        [s * t + x * a - y * b - z * c, x * b + y * a - s * c - z * t, x * c + z * a + s * b + y * t],
        [x * b + y * a + s * c + z * t, s * t - x * a + y * b - z * c, y * c + z * b - s * a - x * t],
        [x * c + z * a - s * b - y * t, y * c + z * b + s * a + x * t, s * t - x * a - y * b + z * c],
    ]
    return _filled(rows, np.result_type(p, r))


def crossed(a: Array, b: Array) -> Array:
    """a x b, (..., 3): as numpy's, in a fifth of its time for few."""
    return np.asarray(a[..., NEXT] * b[..., BEFORE] - a[..., BEFORE] * b[..., NEXT])


def _filled(rows: list[list[Array]], kind: np.dtype[Any]) -> Array:
    made = np.empty((*np.broadcast(*rows[0]).shape, len(rows), len(rows[0])), kind)
    for i, row in enumerate(rows):
        for j, one in enumerate(row):
            made[..., i, j] = one
    return made


def product(p: Array, r: Array) -> Array:
    """Of two quaternions."""
    s, x, y, z = p
    t, a, b, c = r
    return np.array(
        [
            s * t - x * a - y * b - z * c,
            s * a + x * t + y * c - z * b,
            s * b - x * c + y * t + z * a,
            s * c + x * b - y * a + z * t,
        ]
    )
