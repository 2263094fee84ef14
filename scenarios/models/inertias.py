"""Inertias that no distribution of mass has, and the nearest that one has.

Moments of inertia are sums of second moments P = integral of r r^T dm, which cannot be negative: I = tr(P) 1 - P. So the principal
second moments tell what is wrong, and the nearest possible inertia is a least-squares problem in three numbers from nothing on.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from modular.elements import Array

POSSIBLE = 1e-9  # of the largest inertia, by which a sum may be off: rounding of what was written
NOTHING = 1e-9  # [m], a radius of gyration that is none
THINNEST = 1e-6  # of the largest second moment, below which a mended one does not go


def second_moments(inertia: Array) -> tuple[Array, Array]:
    """Principal second moments and their axes as columns."""
    values, axes = np.linalg.eigh(inertia)
    return 0.5 * values.sum() - values, axes


def is_possible(inertia: Array, mass: float) -> bool:
    """None exceeds the sum of the other two."""
    moments, _ = second_moments(inertia)
    return bool(moments.min() >= -max(POSSIBLE * np.abs(inertia).max(), mass * NOTHING**2))


def nearest_possible(inertia: Array, least: float = 0.0) -> Array:
    """The possible inertia with the least sum of squared differences; no second moment is below `least` [kg m^2], or THINNEST
    of the largest.

    |I' - I|^2 = |P' - P|^2 + (tr P' - tr P)^2, with the principal axes kept.
    """
    moments, axes = second_moments(inertia)
    floor = max(least, THINNEST * max(moments.max(), 0.0))
    more, _ = nnls(np.vstack([np.eye(3), np.ones(3)]), np.append(moments - floor, (moments - floor).sum()))
    mended = floor + more
    return np.asarray((axes * (mended.sum() - mended)) @ axes.T)
