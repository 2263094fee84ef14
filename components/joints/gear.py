"""Gear: two toothed wheels in mesh, wherever their centres go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import ClassVar, Self

import numpy as np

from components.joints.marks import line_of, must, oriented, shown, turning_marks
from components.joints.turns import turn, turn_in_plane, wrapped
from modular.blocks import shaped
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.lanes import lanes
from modular.side import Side

centres_in_space = shaped(lanes, lambda joints: [(1, 3), (1, 1, 3)])
centres_in_plane = shaped(lanes, lambda joints: [(1, 2), (1, 1, 2)])


@joint_loop
def mesh_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """r_a alpha + r_b beta = const, where alpha and beta are the angles from a spoke of either wheel to the line of centres."""
    line, on_line = centres_in_space(error)
    for c in range(3):
        line[0, c] = b[0, c] - a[0, c]
        on_line[0, 0, c] = 0.0
    r_a, r_b = marker[0], marker[1]
    path = r_a * turn(a, 1, a, 2, line, 0, 0, r_a, on_first, on_first, on_line)
    path += r_b * turn(a, 1, b, 1, line, 0, 0, r_b, on_first, on_second, on_line)
    for c in range(3):
        on_first[0, 0, c] -= on_line[0, 0, c]
        on_second[0, 0, c] += on_line[0, 0, c]
    error[0] = wrapped(path - marker[2], marker[3])


@joint_loop
def mesh_in_plane_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """The same in the plane."""
    line, on_line = centres_in_plane(error)
    for c in range(2):
        line[0, c] = b[0, c] - a[0, c]
        on_line[0, 0, c] = 0.0
    r_a, r_b = marker[0], marker[1]
    path = r_a * turn_in_plane(a, 1, line, 0, 0, r_a, on_first, on_line)
    path += r_b * turn_in_plane(b, 1, line, 0, 0, r_b, on_second, on_line)
    for c in range(2):
        on_first[0, 0, c] -= on_line[0, 0, c]
        on_second[0, 0, c] += on_line[0, 0, c]
    error[0] = wrapped(path - marker[2], marker[3])


MESH = JointForm("mesh", mesh_rows, first=3, second=2, rows=1, translations=1, locks=1, rotations=0, marker=4)
MESH_IN_PLANE = JointForm(
    "mesh-2d", mesh_in_plane_rows, first=2, second=2, rows=1, translations=1, locks=1, rotations=0, marker=4
)


@dataclass(frozen=True)
class Gear(Joint):
    """Two wheels in mesh with so many `teeth`, first and second; `internal`: the larger of the two is a ring with its teeth inside.

    Its ports are the centres of the wheels. Their distance when the joint is made gives the pitch circles, which roll on each
    other wherever the centres go then: the line of centres may turn (planets), and the teeth push across it, so bearings feel
    the mesh. It leaves the distance itself to the bearings. `axis` is the direction of both axes in the world, in space; it
    moves with the first side, and left out it is the z axis of the first port. Backlash is none, teeth are counted by nobody:
    what is more than half a tooth away has jumped to the next.
    """

    teeth: Sequence[int]
    internal: bool = False
    axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    apart: ClassVar[bool] = True

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take both centres, the axis, and a spoke of either wheel."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        line = b - a
        self._check(name, float(np.linalg.norm(line)), float(np.abs(a).max()))
        oriented(name, first, second)
        if len(a) == 2:
            if self.axis is not None:
                raise ModelError(
                    f"joint '{name}': axis = {tuple(self.axis)}; in the plane wheels turn about z; leave axis out."
                )
            spoke_a, spoke_b = (must(side.direction(side.directions[0])) for side in (first, second))
            marker = self._marker(line, _in_plane(spoke_a.value, line), _in_plane(spoke_b.value, line))
            return Attachment(MESH_IN_PLANE, [mark_a, spoke_a], [mark_b, spoke_b], marker)
        axis = line_of(name, self.axis, first)
        across = line - (line @ axis) * axis
        if np.linalg.norm(across) < 1e-3 * np.linalg.norm(line):
            raise ModelError(
                f"joint '{name}': the line between the centres, {shown(line)}, lies along the axis {shown(axis)}; "
                "meshing wheels lie side by side. Give the axis of the wheels, or place the ports at their centres."
            )
        spoke = across / np.linalg.norm(across)
        along, spoke_a = turning_marks(name, first, axis, spoke)
        _, spoke_b = turning_marks(name, second, axis, spoke)
        return Attachment(MESH, [mark_a, along, spoke_a], [mark_b, spoke_b], self._marker(across, 0.0, 0.0))

    def _check(self, name: str, apart: float, far: float) -> None:
        teeth = tuple(self.teeth) if isinstance(self.teeth, Sequence) else ()
        if len(teeth) != 2 or any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1 for n in teeth):
            raise ModelError(
                f"joint '{name}': teeth = {self.teeth!r}; give two whole numbers from 1 on, one for each side."
            )
        if self.internal and teeth[0] == teeth[1]:
            raise ModelError(f"joint '{name}': teeth = {teeth}; a wheel inside a ring has fewer teeth than the ring.")
        if apart <= 1e-6 * max(1.0, far):
            raise ModelError(
                f"joint '{name}': its centres are {apart:.3g} m apart; meshing wheels lie side by side. To the "
                "ground, "
                "place the centre with at=…."
            )

    def _marker(self, line: Array, alpha: float, beta: float) -> tuple[float, ...]:
        """Signed pitch radii, the constant, and the pitch of the teeth."""
        sign = -1 if self.internal else 1
        each = float(np.linalg.norm(line)) / abs(self.teeth[0] + sign * self.teeth[1])  # radius per tooth
        r_a, r_b = each * self.teeth[0], sign * each * self.teeth[1]
        return r_a, r_b, r_a * alpha + r_b * beta, 2 * pi * each

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """The distance of the centres, whatever it is, is that of its pitch circles."""
        return 0.0

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls((17, 23)) if dimension == 2 else cls((17, 23), axis=(0.3, -0.5, 0.8))


def _in_plane(x: Array, y: Array) -> float:
    return float(np.arctan2(x[0] * y[1] - x[1] * y[0], x @ y))
