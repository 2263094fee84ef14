"""What a side of a contact shows of its body and takes forces on: a point, and directions that turn with it."""

from __future__ import annotations

from math import sqrt

from components.forces.vectors import cross
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View
from modular.workspaces import Workspace


@kernel
def lines_of(elements: View, row: int, carry: Array, side: int) -> None:
    """The share with which forces on the directions of a side make a moment: 1/2 on three, 1/3 on a rod's one, none on a point.

    A point mass shows its point in place of directions, and so answers forces on them as on the point.
    """
    dimension = elements.position.shape[0]
    point, moves = True, False
    for c in range(dimension):
        for mode in range(elements.demand.shape[0]):
            point = point and elements.response[row, c, mode] == elements.response[row + 1, c, mode]
            moves = moves or elements.response[row, c, mode] != 0.0
    if dimension == 2:
        carry[side] = 0.0 if point and moves else 1.0
        return
    same = True
    for c in range(dimension):
        same = same and elements.position[row + 1, c] == elements.position[row + 2, c]
    carry[side] = 0.0 if point and moves else 1.0 / 3.0 if same else 0.5


@kernel
def pose_of(elements: View, row: int, carry: float, pose: Array) -> None:
    """Middle and axes of a shape: pose[0] and pose[1:4]."""
    dimension = elements.position.shape[0]
    for k in range(4):
        for c in range(3):
            pose[k, c] = 1.0 if c == k - 1 else 0.0
    for c in range(dimension):
        pose[0, c] = elements.position[row, c]
    if carry == 0.0:
        return
    lines = 1 if dimension == 2 else 3
    for k in range(lines):
        square = 0.0
        for c in range(dimension):
            square += elements.position[row + 1 + k, c] ** 2
        for c in range(dimension):
            pose[1 + k, c] = elements.position[row + 1 + k, c] / sqrt(square)
    if dimension == 2:
        pose[2, 0], pose[2, 1] = -pose[1, 1], pose[1, 0]


@kernel
def motion(
    elements: View, row: int, carry: float, pose: Array, was: Array, pair: Workspace, slide: Array, spin: Array
) -> None:
    """Velocity and turning of a side, from where it was a tick ago; at first (`shown`) what it shows, which then is the same."""
    dimension = elements.position.shape[0]
    lines = 1 if dimension == 2 else 3
    old, turn, span = room((3,)), room((3,)), pair.span
    for c in range(3):
        slide[c] = (pose[0, c] - was[0, c]) / span
        spin[c] = 0.0
    for k in range(lines):
        for c in range(3):
            old[c] = was[1 + k, c]
        if pair.shown:
            for c in range(dimension):
                old[c] = pose[1 + k, c] - span * elements.velocity[row + 1 + k, c]
        cross(old, pose[1 + k], turn)
        for c in range(3):
            spin[c] += carry * turn[c] / span
    if pair.shown:
        for c in range(dimension):
            slide[c] = elements.velocity[row, c]


@kernel
def act(elements: View, row: int, carry: float, pose: Array, force: Array, moment: Array, sign: float) -> None:
    """A force on the middle of a shape and a moment on its directions."""
    dimension = elements.position.shape[0]
    lines = 1 if dimension == 2 else 3
    turn = room((3,))
    for c in range(dimension):
        elements.force[row, c] = sign * force[c]
    for k in range(lines):
        cross(moment, pose[1 + k], turn)
        for c in range(dimension):
            elements.force[row + 1 + k, c] = carry * turn[c]
