"""Newton and Euler for each rod: ten equations for six accelerations and four reactions, solved anew in every step.

Course text, part 2. X = (x2'', y2'', theta2'', x3'', y3'', theta3'', Fx12, Fy12, Fx23, Fy23) with x downward and y to the
right; Fij is what body i exerts on body j, 1 is the ground. Rows 0 to 3 are its equations (1) to (4), the accelerations of
the mass centres; rows 4 to 6 are Newton and Euler for the first rod, rows 7 to 9 for the second.

The text calls the lengths l1 and l2 in words and l2 and l3 in its equations and program; they are l2 and l3 here. Its rows 4
and 7 have the bare masses on the right, which is their weight for g = 1 m/s^2 only; that g is nowhere else in part 2.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array
from scenarios.handmade.rods import Rods
from scenarios.systems.two_rods import GRAVITY


def system(rods: Rods, angles: Array, rates: Array) -> tuple[Array, Array]:
    """The matrix A, (10, 10), and the right-hand side B, (10,), of A X = B."""
    (m2, m3), (J2, J3) = rods.masses, rods.inertias
    h2, h3 = 0.5 * rods.lengths[0], 0.5 * rods.lengths[1]  # from an end to the mass centre
    (s2, s3), (c2, c3) = np.sin(angles), np.cos(angles)
    q2, q3 = rates**2
    x2, y2, t2, x3, y3, t3, fx12, fy12, fx23, fy23 = range(10)
    A, B = np.zeros((10, 10)), np.zeros(10)

    # (1), (2): the first mass centre turns about the pivot
    A[0, x2], A[0, t2], B[0] = 1, h2 * s2, -h2 * q2 * c2
    A[1, y2], A[1, t2], B[1] = 1, -h2 * c2, -h2 * q2 * s2
    # (3), (4): the second one turns about the end of the first rod
    A[2, x3], A[2, t2], A[2, t3], B[2] = 1, 2 * h2 * s2, h3 * s3, 2 * B[0] - h3 * q3 * c3
    A[3, y3], A[3, t2], A[3, t3], B[3] = 1, -2 * h2 * c2, -h3 * c3, 2 * B[1] - h3 * q3 * s3
    # Newton and Euler, first rod: the pivot pulls at one end, the second rod pulls back at the other
    A[4, x2], A[4, fx12], A[4, fx23], B[4] = m2, -1, 1, m2 * GRAVITY
    A[5, y2], A[5, fy12], A[5, fy23] = m2, -1, 1
    A[6, t2] = J2
    A[6, fx12], A[6, fy12], A[6, fx23], A[6, fy23] = -h2 * s2, h2 * c2, -h2 * s2, h2 * c2
    # Newton and Euler, second rod: one end is free
    A[7, x3], A[7, fx23], B[7] = m3, -1, m3 * GRAVITY
    A[8, y3], A[8, fy23] = m3, -1
    A[9, t3], A[9, fx23], A[9, fy23] = J3, -h3 * s3, h3 * c3
    return A, B


def accelerations(rods: Rods, angles: Array, rates: Array) -> tuple[Array, Array]:
    """Angular accelerations [rad/s^2], (2,), and what pivot and elbow exert on the rod below them [N], (2, 2)."""
    X = np.linalg.solve(*system(rods, angles, rates))
    down, right = X[6::2], X[7::2]
    return np.asarray(X[[2, 5]], float), np.asarray(np.stack([right, -down], axis=-1), float)
