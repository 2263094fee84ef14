"""The family of coordinates that are constant linear maps of each other: e elements of d numbers, points first.

Which elements stand for a body is a matter of taste, for its motion is the same to rounding: mass matrices are congruent, and
so are internal constraints (Séguy 2003, III.2.2.2 and III.2.3). In space, of a body whose mass extends in all directions:

    natural     A, B, u, v       two points and two unit vectors                                 (III.7)
    canonical   T, R             a point and three axes: translation and rotation                (III.3)
    points      A, B, C, D       point coordinates of Nikravesh                                  (III.5)
    masses      four points      that carry a quarter of the mass each, as in the code Plexus    (III.2.3.1)

In the plane, and of bodies with mass along a line, there are as many elements fewer as there are directions fewer.

(III.3) measures T from where the body stood at the start, so R = 1 there; here T is the mass centre itself, for rounding grows
with the distance of the point from the body. The four masses of Plexus bear no joint: "points supplémentaires" with little
mass would have to (III.2.4), and stiff joints between those are then forbidden. Here none is needed: a port is put together
from the four, its force is shared among them, and joints see the compliance of the body as a whole.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array

NATURAL, CANONICAL, POINTS, MASSES = "natural", "canonical", "points", "masses"
FAMILY = (NATURAL, CANONICAL, POINTS, MASSES)
SIMPLEX = {  # corners of bodies with equal masses at them and a second moment of one in every direction
    0: np.zeros((1, 0)),
    1: np.array([[-1.0], [1.0]]),
    2: np.sqrt(2.0) * np.array([[0.0, 1.0], [-np.sqrt(0.75), -0.5], [np.sqrt(0.75), -0.5]]),
    3: np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]),
}


def points_in(basis: str, rank: int) -> int:
    """How many points there are among the rank + 1 elements of bodies whose mass extends in so many directions."""
    return {NATURAL: min(rank, 1) + 1, CANONICAL: 1}.get(basis, rank + 1)


def placed(basis: str, centre: Array, reach: Array, axes: Array, rank: int) -> Array:
    """Elements of n bodies in one of the others than the natural basis, (n, rank + 1, d).

    `reach`: radii of gyration along the principal axes, sqrt(second moment / mass), (n, d); `axes` as rows, (n, d, d).
    """
    n, d = centre.shape
    if basis == CANONICAL:
        vectors = np.broadcast_to(np.eye(d), (n, d, d)) if rank == d else axes[:, :rank]
        return np.concatenate([centre[:, None], vectors], axis=1)
    corners = SIMPLEX[rank] if basis == MASSES else np.eye(rank + 1)[:, 1:]
    return np.asarray(centre[:, None] + corners @ (reach[:, :rank, None] * axes[:, :rank]))
