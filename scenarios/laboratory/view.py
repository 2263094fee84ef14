"""Where one looks from: so that all that is to be seen is within the frame, and what lies in a plane is not seen edge-on.

Knows no viewer. A camera looks along -`away`, and its frame is as wide as high times `aspect`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coordinator.laboratory.snapshot import Plan
from modular.elements import Array
from scenarios.laboratory.figure import broadside, in_space

FOV = float(np.radians(75.0))  # from the lower to the upper edge of a frame
FRAME_MARGIN, MOTION_MARGIN = 1.15, 1.8  # of a frame around what is to be seen, and around what is to move there
EDGE_ON_COSINE = 0.3  # cosine of the angle beyond which a plane is seen edge-on, about 73 degrees


class View(NamedTuple):
    """From where one looks, to where, and what is up."""

    position: Array
    look_at: Array
    up: Array


def up_of(plan: Plan) -> Array:
    """Against gravity; without any, y in the plane and z in space."""
    gravity = in_space(np.array(plan.gravity))
    if np.any(gravity):
        return np.asarray(-gravity / np.linalg.norm(gravity))
    return np.array([0.0, 1.0, 0.0] if plan.dimension == 2 else [0.0, 0.0, 1.0])


def away_of(plan: Plan, points: Array, up: Array) -> Array:
    """The direction from which a mechanism is seen best: before the plane, or beside its widest side and a little above."""
    away = np.array([0.0, 0.0, 1.0]) if plan.dimension == 2 else broadside(points, up) + 0.35 * up
    return np.asarray(away / np.linalg.norm(away))


def fitted(
    points: Array,
    away: Array,
    up: Array,
    *,
    aspect: float,
    fov: float = FOV,
    least: float = 1e-3,
    margin: float = FRAME_MARGIN,
) -> View:
    """The nearest view from a direction in which all points are within the frame; `least`: what it shows at least [m]."""
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        points = np.zeros((1, 3))
    right = np.cross(up, away)
    if np.linalg.norm(right) < 1e-6:  # from straight above
        right = np.cross(np.eye(3)[int(np.argmin(np.abs(away)))], away)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(away, right), away])
    seen = points @ axes.T
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    across, above, ahead = np.abs((seen - middle)[:, :2]).T[0], np.abs(seen - middle)[:, 1], (seen - middle)[:, 2]
    slope = np.tan(0.5 * fov)
    half = margin * np.maximum(above, across / aspect)
    reach = max(float((ahead + half / slope).max()), 0.5 * margin * least / slope)
    look_at = middle @ axes
    return View(look_at + reach * away, look_at, up)


def shown_share(points: Array, view: View, *, aspect: float, fov: float = FOV) -> Array:
    """Where points are in a frame, from -1 to 1 across and upwards, (n, 2); what is behind the camera is nowhere in it."""
    away = view.position - view.look_at
    away = away / max(float(np.linalg.norm(away)), 1e-12)
    right = np.cross(view.up, away)
    right = right / max(float(np.linalg.norm(right)), 1e-12)
    seen = (points - view.position) @ np.array([right, np.cross(away, right), -away]).T
    ahead = np.where(seen[:, 2:] > 0.0, seen[:, 2:], np.nan)
    found = seen[:, :2] / ahead / np.tan(0.5 * fov) / np.array([aspect, 1.0])
    return np.asarray(np.nan_to_num(found, nan=np.inf))


def is_edge_on(position: Array, look_at: Array) -> bool:
    """Whether somebody looks at the plane z = 0 from its edge, or from behind, where all is mirrored."""
    way = position - look_at
    length = float(np.linalg.norm(way))
    return length > 0.0 and float(way[2]) < EDGE_ON_COSINE * length


def cell_of(size: float) -> float:
    """Between two lines of a grid, for a mechanism of a size [m]: 1, 2 or 5 times a power of ten, at most a third of it."""
    most = max(size, 1e-9) / 3.0
    power = 10.0 ** np.floor(np.log10(most) + 1e-9)
    return float(next(round(digit * power, 12) for digit in (5, 2, 1) if digit * power <= most * (1 + 1e-9)))


def format_length(length: float) -> str:
    """A length in a unit in which it is told in a few digits."""
    for unit, factor in (("m", 1.0), ("mm", 1e-3), ("µm", 1e-6)):
        if length >= 0.99 * (0.01 if unit == "m" else 1.0) * factor:
            return f"{length / factor:g} {unit}"
    return f"{length:g} m"
