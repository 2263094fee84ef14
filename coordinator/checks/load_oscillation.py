"""Bodies that swing under their loads between joints without play: what a step of kicks and flights cannot follow.

Glued joints limit no step by themselves. But a reaction pushes along its joint as that stood before the step, as any load does. A
body that turns by theta under forces f at r, and under forces f on its axes r, feels

    theta^T K theta = sum of (f . r) |theta|^2 - (f . theta) (r . theta),

and swings with omega^2 = K / M, stable up to omega dt = 2 in a step of order 2 (couplings/compositions.py). M is what resists:
the inertia of the body, and through each joint that of its neighbour as if nobody held it, J^T (J_n M_n^-1 J_n^T)^-1 J. So what
hangs on a heavy one that would have to move along does not swing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coordinator.system import System
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.seen_mass import responses_of

RIGID_ROTATION_TOLERANCE = 1e-6  # of what elements answer: what may be no turning of the body as a whole
MARGIN_OF_TURNING = 2.0  # times how easily a rigid body turns, in all directions together: more is no rounding
MIN_COMPLIANCE_RATIO = 1e-9  # of what a body answers at a joint: what the other side does at the least


class LoadOscillation(NamedTuple):
    """The joint that brings most of the load under which a body swings, and omega^2 [1/s^2]."""

    joint: str
    square: float


class Pushed(NamedTuple):
    """An element of a body: whose it is, its row, and whether it is a point (or an axis)."""

    use: str
    row: int
    point: bool


class Known(NamedTuple):
    """What is known of a body as long as joints and forces stay: their elements, and a bound of 1 / I, of which a turn changes
    nothing where the body is rigid."""

    pushed: list[Pushed]
    rows: Indices
    points: Array
    easiest: float  # [1/(kg m^2)]


def oscillation_of(system: System, body: str, least: float = 0.0) -> LoadOscillation | None:
    """How a body swings under the forces of now, where bodies have just answered; None of one that does not, or is not rigid.

    `least`: omega^2 [1/s^2] below which nobody wants to know.
    """
    described, stack, elements = system.described[body], system.body_home[body], system.elements
    if described.led or getattr(stack, "elastic", False):
        return None
    try:
        centre = described.mass_centre(stack.state()["q"][stack.row[body]])
    except ModelError:  # nobody can be asked
        return None
    known = system.cache.setdefault("swinging", {})  # of each body: what pushes on it, and how easily it turns at most
    if body not in known:
        known[body] = Known(*_pushed(system, body), np.inf)
    pushed, rows, points, easiest = known[body]
    joints = [one.use for one in pushed if one.use in system.joint_home]
    if not joints:
        return None
    arms, forces = elements.position[rows] - points[:, None] * centre, elements.force[rows]
    asked = _stiffness(arms, forces)
    if easiest < np.inf and np.linalg.norm(asked) * easiest < least:
        return None
    turning = _turning(system, pushed)
    if turning is None:
        return None
    if np.isinf(easiest):
        known[body] = known[body]._replace(easiest=MARGIN_OF_TURNING * float(np.square(turning).sum()))
    stiffness = turning.T @ asked @ turning
    if not np.linalg.norm(stiffness) > least:  # a body alone resists at least as much as 1
        return None
    square = _largest(stiffness, _resisting(system, body, joints))
    if not square > 0.0:
        return None
    most = dict.fromkeys(joints, 0.0)
    loads = (np.linalg.norm(arms, axis=1) * np.linalg.norm(forces, axis=1)).tolist()
    for (use, _, _), load in zip(pushed, loads, strict=True):
        if use in most:
            most[use] += load
    return LoadOscillation(max(most, key=lambda joint: most[joint]), square)


def _pushed(system: System, body: str) -> tuple[list[Pushed], Indices, Array]:
    """Elements on which joints and forces push, of each a point first, then axes; their rows, and 1 of points, 0 of axes."""
    found = []
    for use in dict.fromkeys(system.uses[body]):
        home = system.home(use)
        first = use not in system.joint_home or bool(system.joint_home[use].stack.form.translations)
        for owner, start, count in zip(home.owners, home.starts, home.counts, strict=True):
            if owner == body:
                found += [Pushed(use, start + k, first and k == 0) for k in range(count)]
    return found, np.array([one.row for one in found], np.int64), np.array([float(one.point) for one in found])


def _turning(system: System, pushed: list[Pushed]) -> Array | None:
    """The angle by which a body turns for each of its motions; None where that is not all that its elements do."""
    elements, points = system.elements, [row for _, row, point in pushed if point]
    rows = points[1:] + [row for _, row, point in pushed if not point]
    if not rows:
        return None
    arms, moved = elements.position[rows], elements.response[rows]
    if points:
        arms[: len(points) - 1] -= elements.position[points[0]]
        moved[: len(points) - 1] -= elements.response[points[0]]
    turned, answers = _across(arms), moved.reshape(-1, moved.shape[-1])
    if not np.isfinite(turned).all() or not np.isfinite(answers).all():
        return None
    angle = np.linalg.lstsq(turned, answers, rcond=RIGID_ROTATION_TOLERANCE)[0]
    return (
        np.asarray(angle)
        if np.abs(turned @ angle - answers).max() <= RIGID_ROTATION_TOLERANCE * np.abs(answers).max()
        else None
    )


def _across(arms: Array) -> Array:
    """theta -> theta x arm, arm after arm."""
    count, dimension = arms.shape
    if dimension == 2:
        return np.stack([-arms[:, 1], arms[:, 0]], axis=1).reshape(-1, 1)
    turned = np.zeros((count, 3, 3))
    for one, other, of in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        turned[:, one, other], turned[:, other, one] = arms[:, of], -arms[:, of]
    return turned.reshape(-1, 3)


def _stiffness(arms: Array, forces: Array) -> Array:
    """Sum of (f . r) - sym(f r^T): what forces that keep their direction ask of a turning."""
    both = forces.T @ arms
    if len(both) == 2:
        return np.array([[np.trace(both)]])
    return np.asarray(np.trace(both) * np.eye(3) - 0.5 * (both + both.T))


def _resisting(system: System, body: str, joints: list[str]) -> Array:
    """The mass of a body in its motions, in which it is one by itself, with what its neighbours add."""
    elements = system.elements
    mass = np.eye(elements.response.shape[-1])
    for joint in dict.fromkeys(joints):
        home = system.joint_home[joint]
        sides = responses_of(home.stack, elements, home.stack.row[joint])
        for side, owner in enumerate(home.owners):
            mine, other = sides[side], sides[1 - side]
            least = MIN_COMPLIANCE_RATIO * float(np.square(mine).sum(axis=-1).max(initial=0.0))
            if owner == body and least > 0.0:
                mass += mine.T @ np.linalg.solve(other @ other.T + least * np.eye(len(other)), mine)
    return mass


def _largest(stiffness: Array, mass: Array) -> float:
    """omega^2; none of numbers that have left the world, which say so themselves."""
    try:
        half = np.linalg.inv(np.linalg.cholesky(mass))
        whole = half @ stiffness @ half.T
        return float(np.linalg.eigvalsh(whole)[-1]) if np.isfinite(whole).all() else 0.0
    except np.linalg.LinAlgError:
        return 0.0
