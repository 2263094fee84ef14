"""Volume, centre and second moments of what flat faces close in: sums over the tetrahedra from one point to all triangles.

Of a tetrahedron (0, a, b, c) of volume V the integral of r is V s / 4 and that of r r^T is V (a a^T + b b^T + c c^T + s s^T) / 20,
with s = a + b + c.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from modular.elements import Array, Indices
from modular.errors import ModelError

MOST_SHOWN = 1e9  # [m], of a place
FLAT = 1e-12  # of the cube of the extent: a volume that is none


def moments_of(points: Any, faces: Any) -> tuple[float, Array, Array]:
    """Volume [m^3], centre [m], and second moment about it per volume [m^2]."""
    corners, triangles = _checked(points, faces)
    middle = corners.mean(axis=0)
    extent = float(np.ptp(corners, axis=0).max())
    a, b, c = (corners[triangles[:, k]] - middle for k in range(3))
    volumes = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    if not abs(volume) > FLAT * extent**3:
        raise ModelError(f"Solid.mesh: its faces close in {abs(volume):.3g} m^3; give a mesh that encloses a volume.")
    volumes = volumes / volume  # also where all faces look inwards
    sums = a + b + c
    centre = np.einsum("n,ni->i", volumes, sums) / 4.0
    second = sum(np.einsum("n,ni,nj->ij", volumes, x, x) for x in (a, b, c, sums)) / 20.0
    return abs(volume), middle + centre, np.asarray(second - np.outer(centre, centre))


def _checked(points: Any, faces: Any) -> tuple[Array, Indices]:
    """Corners and triangles; refused where they do not close."""
    try:
        corners = np.array(points, float)
    except (TypeError, ValueError):
        corners = np.zeros(0)
    if corners.ndim != 2 or corners.shape[1] != 3 or not np.all(np.abs(corners) < MOST_SHOWN):
        raise ModelError("Solid.mesh: each point must be three finite numbers [m].")
    triangles = np.array([each for face in faces for each in _fan(face, len(corners))], np.int64).reshape(-1, 3)
    edges: Counter[tuple[int, int]] = Counter()
    for i, j in ((0, 1), (1, 2), (2, 0)):
        edges.update(zip(triangles[:, i].tolist(), triangles[:, j].tolist(), strict=True))
    if loose := next((edge for edge, count in edges.items() if edges[edge[::-1]] != count), None):
        raise ModelError(
            f"Solid.mesh: the edge from point {loose[0]} to point {loose[1]} belongs to one face only, or to faces of "
            "opposite orientation; give a closed mesh whose faces are all ordered the same way round."
        )
    if not len(triangles):
        raise ModelError("Solid.mesh: it has no faces; give three points or more for each.")
    return corners, triangles


def _fan(face: Sequence[Any], count: int) -> list[tuple[int, int, int]]:
    """A face as triangles from its first corner."""
    corners = [
        int(k) for k in face if isinstance(k, int | float | np.integer) and not isinstance(k, bool) and int(k) == k
    ]
    if len(corners) != len(face) or len(corners) < 3 or not all(0 <= k < count for k in corners):
        raise ModelError(
            f"Solid.mesh: the face {list(face)!r}; give three whole numbers or more, from 0 to {count - 1}."
        )
    return [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
