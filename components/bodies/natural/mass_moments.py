"""Second moments of mass: from inertia, their principal axes, and in how many directions the mass extends."""

from __future__ import annotations

import numpy as np

from components.bodies.short_sums import cross, dot, trace
from modular.elements import Array, Indices

ZERO_MOMENT_TOLERANCE = 1e-10  # second moments below this share of the largest count as none


def second_moment_from_inertia(inertia: Array) -> Array:
    """J = 1/2 tr(I) 1 - I about the mass centre (A1.11), (..., 3, 3)."""
    return 0.5 * trace(inertia)[..., None, None] * np.eye(inertia.shape[-1]) - inertia


def principal(second_moment: Array) -> tuple[Array, Array]:
    """Principal second moments, largest first, and their axes as rows, right-handed in space."""
    moments, axes = np.linalg.eigh(second_moment)
    moments, axes = moments[..., ::-1], np.swapaxes(axes, -1, -2)[..., ::-1, :].copy()
    if axes.shape[-1] == 3:
        left_handed = dot(cross(axes[..., 0, :], axes[..., 1, :]), axes[..., 2, :]) < 0.0
        axes[..., 2, :] *= np.where(left_handed, -1.0, 1.0)[..., None]
    return moments, axes


def rank(second_moment: Array, mass: Array | float, size: Array | float) -> Indices:
    """In how many directions the mass extends, seen from `size` [m]; (...)."""
    moments = np.linalg.eigvalsh(second_moment)
    scale = np.fmax(moments[..., -1], ZERO_MOMENT_TOLERANCE * mass * np.square(size))
    return np.where(scale > 0, np.sum(moments > ZERO_MOMENT_TOLERANCE * scale[..., None], axis=-1), 0)
