"""Lagrange's two equations for the two angles.

Course text, part 3, with the names of its program (a11, a22, u, v, w):

    a11 theta2'' + a12 theta3'' = b1        a12 = u cos(theta2 - theta3)
    a12 theta2'' + a22 theta3'' = b2

The print has a22 = m2 l2^2 / 4 + J3; the kinetic energy of the second rod gives m3 l3^2 / 4 + J3. The two agree in the
example of the text, where everything is 1, and wherever m2 l2^2 = m3 l3^2. As in part 2, v and w are moments of weights
for g = 1 m/s^2 only.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array
from scenarios.handmade.rods import Rods
from scenarios.systems.two_rods import GRAVITY


def accelerations(rods: Rods, angles: Array, rates: Array, published: bool = False) -> Array:
    """Angular accelerations [rad/s^2], (2,); with `published` from a22 as printed."""
    (m2, m3), (l2, l3), (J2, J3) = rods.masses, rods.lengths, rods.inertias
    a11 = m2 * l2**2 / 4 + m3 * l2**2 + J2
    a22 = (m2 * l2**2 if published else m3 * l3**2) / 4 + J3
    u = 0.5 * m3 * l2 * l3
    v, w = (m2 * l2 / 2 + m3 * l2) * GRAVITY, m3 * l3 / 2 * GRAVITY

    (theta2, theta3), (w2, w3) = angles, rates
    a12 = u * np.cos(theta2 - theta3)
    b1 = u * np.sin(theta3 - theta2) * w3**2 - v * np.sin(theta2)
    b2 = u * np.sin(theta2 - theta3) * w2**2 - w * np.sin(theta3)
    determinant = a11 * a22 - a12**2
    return np.asarray(np.array([a22 * b1 - a12 * b2, a11 * b2 - a12 * b1]) / determinant, float)
