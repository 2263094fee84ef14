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
from modular.elements import Array
from modular.errors import ModelError
from modular.seen_mass import responses_of

RIGID_ROTATION_TOLERANCE = 1e-6  # of what elements answer: what may be no turning of the body as a whole
MIN_COMPLIANCE_RATIO = 1e-9  # of what a body answers at a joint: what the other side does at the least


class Swing(NamedTuple):
    """The joint that brings most of the load under which a body swings, and omega^2 [1/s^2]."""

    joint: str
    square: float


class Pushed(NamedTuple):
    """An element of a body: whose it is, its row, and whether it is a point (or an axis)."""

    use: str
    row: int
    point: bool


def swing(system: System, body: str) -> Swing | None:
    """How a body swings under the forces of now, where bodies have just answered; None of one that does not, or is not rigid."""
    described, stack, elements = system.described[body], system.body_home[body], system.elements
    if described.led or getattr(stack, "elastic", False):
        return None
    try:
        centre = described.mass_centre(stack.state()["q"][stack.row[body]])
    except ModelError:  # nobody can be asked
        return None
    pushed = _pushed(system, body)
    joints = [one.use for one in pushed if one.use in system.joint_home]
    turning = _turning(system, pushed)
    if turning is None or not joints:
        return None
    stiffness, most = np.zeros((turning.shape[0], turning.shape[0])), dict.fromkeys(joints, 0.0)
    for use, row, point in pushed:
        arm, force = elements.position[row] - (centre if point else 0.0), elements.force[row]
        stiffness += _stiffness(arm, force)
        if use in most:
            most[use] += float(np.linalg.norm(arm) * np.linalg.norm(force))
    square = _largest(turning.T @ stiffness @ turning, _resisting(system, body, joints))
    return Swing(max(most, key=lambda joint: most[joint]), square) if square > 0.0 else None


def _pushed(system: System, body: str) -> list[Pushed]:
    """Elements on which joints and forces push: of each a point first, then axes."""
    found = []
    for use in dict.fromkeys(system.uses[body]):
        home = system.home(use)
        first = use not in system.joint_home or bool(system.joint_home[use].stack.form.translations)
        for owner, start, count in zip(home.owners, home.starts, home.counts, strict=True):
            if owner == body:
                found += [Pushed(use, start + k, first and k == 0) for k in range(count)]
    return found


def _turning(system: System, pushed: list[Pushed]) -> Array | None:
    """The angle by which a body turns for each of its motions; None where that is not all that its elements do."""
    elements, points = system.elements, [row for _, row, point in pushed if point]
    arms = [elements.position[row] - elements.position[points[0]] for row in points[1:]]
    moved = [elements.response[row] - elements.response[points[0]] for row in points[1:]]
    arms += [elements.position[row] for _, row, point in pushed if not point]
    moved += [elements.response[row] for _, row, point in pushed if not point]
    if not arms:
        return None
    turned, answers = np.concatenate([_across(arm) for arm in arms]), np.concatenate(moved)
    if not np.isfinite(turned).all() or not np.isfinite(answers).all():
        return None
    angle = np.linalg.lstsq(turned, answers, rcond=RIGID_ROTATION_TOLERANCE)[0]
    return angle if np.abs(turned @ angle - answers).max() <= RIGID_ROTATION_TOLERANCE * np.abs(answers).max() else None


def _across(arm: Array) -> Array:
    """theta -> theta x arm."""
    if len(arm) == 2:
        return np.array([[-arm[1]], [arm[0]]])
    x, y, z = arm
    return np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])


def _stiffness(arm: Array, force: Array) -> Array:
    """(f . r) - sym(f r^T): what a force that keeps its direction asks of a turning."""
    if len(arm) == 2:
        return np.array([[force @ arm]])
    both = np.outer(force, arm)
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
