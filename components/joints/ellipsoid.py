"""What joints of an ellipsoid on a plane share: its axes, and where it touches.

With the half axes a_i along the directions e_i of the body and the normal k of the plane, the centre stands h = |(a_i k . e_i)|
above the plane and the body touches it at C - sum (a_i^2 k . e_i / h) e_i. A half axis of nothing makes a disc, two a rod's
edge, equal ones a ball; so wheels, coins, balls and rattlebacks are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from components.joints.marks import shown
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import unit
from modular.kernel import kernel
from modular.lanes import share
from modular.side import Mark, Side


@kernel
def touch(a: Array, b: Array, marker: Array, arms: Array) -> float:
    """How high the centre stands; the contact point is C + sum arms_i e_i. `a` begins P, k and `b` is C, e_1, e_2, e_3."""
    square = 0.0
    for i in range(3):
        lean = a[1, 0] * b[1 + i, 0] + a[1, 1] * b[1 + i, 1] + a[1, 2] * b[1 + i, 2]
        arms[i] = marker[i] * lean
        square += arms[i] * lean
    height: float = sqrt(square)
    for i in range(3):
        arms[i] = -share(arms[i], height)
    return height


def half_axes(name: str, axes: Sequence[float]) -> Array:
    """Three half axes, at least two of them longer than nothing."""
    try:
        given = np.asarray(axes, float)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.shape != (3,) or not np.isfinite(given).all() or given.min() < 0.0 or np.sum(given > 0.0) < 2:
        raise ModelError(
            f"joint '{name}': half_axes = {axes!r}; give three lengths [m] from 0 on, at most one of them 0: (r, r, 0) is a disc, "
            "(r, r, r) a ball."
        )
    return given


def frame_marks(name: str, second: Side, axes: Sequence[Sequence[float]] | None) -> list[Mark]:
    """The directions of the half axes on the body: two as given, in the world, and the third; left out, those of its port."""
    if axes is None:
        frame = second.frame
    else:
        if len(axes) != 2:
            raise ModelError(
                f"joint '{name}': axes = {axes!r}; give the directions of the first two half axes, or leave them out."
            )
        one, other = unit(name, axes[0], 3), unit(name, axes[1], 3)
        if abs(float(one @ other)) > 1e-9:
            raise ModelError(
                f"joint '{name}': axes = {shown(one)}, {shown(other)} are not perpendicular; the axes of an "
                "ellipsoid are."
            )
        frame = np.array([one, other, np.cross(one, other)])
    marks = [second.direction(axis) for axis in frame]
    if any(mark is None for mark in marks):
        raise ModelError(
            f"joint '{name}' needs the orientation of '{second.owner}': a slender rod has no orientation about its "
            "line, and a point mass has none. Give the body inertia (Rod: radius=…, RigidBody)."
        )
    return [mark for mark in marks if mark is not None]


def height_of(marks: Sequence[Mark], half: Array, normal: Array) -> float:
    """How high the centre stands as the joint is made [m]."""
    return float(np.linalg.norm([size * (normal @ mark.value) for size, mark in zip(half, marks, strict=True)]))


def lean_on(name: str, height: float, half: Array, normal: Array) -> None:
    """Refuse a disc that lies flat: it touches everywhere."""
    if height <= 1e-6 * float(half.max()):
        raise ModelError(
            f"joint '{name}': the disc lies flat on the plane across {shown(normal)} and touches it everywhere; stand it up, "
            "or use Planar()."
        )
