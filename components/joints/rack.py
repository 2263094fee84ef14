"""Rack and pinion: a wheel rolls on a toothed bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import ClassVar, Self

import numpy as np

from components.joints.marks import angle_between, line_of, must, oriented, shown, turning_marks
from components.joints.turns import turn, turn_in_plane, wrapped
from modular.blocks import shaped
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks, unit
from modular.joints import joint_loop
from modular.lanes import lanes
from modular.side import Side

bar_in_plane = shaped(lanes, lambda joints: [(1, 2), (1, 1, 2)])


@joint_loop
def rack_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """u . (P_b - P_a) + r theta = const: u along the bar, theta the angle of the wheel from it about the axis."""
    radius = marker[0]
    path = radius * turn(a, 1, a, 2, b, 1, 0, radius, on_first, on_first, on_second)
    for c in range(3):
        arm = b[0, c] - a[0, c]
        path += a[2, c] * arm
        on_first[0, 2, c] += arm
        on_first[0, 0, c] -= a[2, c]
        on_second[0, 0, c] += a[2, c]
    error[0] = wrapped(path - marker[1], marker[2])


@joint_loop
def rack_in_plane_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """The same in the plane, where u stands at a fixed angle to the direction of the first side."""
    bar, on_bar = bar_in_plane(error)
    radius, cosine, sine = marker[0], marker[3], marker[4]
    bar[0, 0] = cosine * a[1, 0] - sine * a[1, 1]
    bar[0, 1] = sine * a[1, 0] + cosine * a[1, 1]
    on_bar[0, 0, 0] = 0.0
    on_bar[0, 0, 1] = 0.0
    path = radius * turn_in_plane(bar, 0, b, 1, 0, radius, on_bar, on_second)
    for c in range(2):
        arm = b[0, c] - a[0, c]
        path += bar[0, c] * arm
        on_bar[0, 0, c] += arm
        on_first[0, 0, c] -= bar[0, c]
        on_second[0, 0, c] += bar[0, c]
    on_first[0, 1, 0] += cosine * on_bar[0, 0, 0] + sine * on_bar[0, 0, 1]
    on_first[0, 1, 1] += cosine * on_bar[0, 0, 1] - sine * on_bar[0, 0, 0]
    error[0] = wrapped(path - marker[1], marker[2])


RACK = JointForm("rack", rack_rows, first=3, second=2, rows=1, translations=1, locks=1, rotations=0, marker=3)
RACK_IN_PLANE = JointForm(
    "rack-2d", rack_in_plane_rows, first=2, second=2, rows=1, translations=1, locks=1, rotations=0, marker=5
)


@dataclass(frozen=True)
class Rack(Joint):
    """Rack and pinion: the second side is a wheel with so many `teeth`, the first carries the bar.

    The port of the first side is a point of the bar's pitch line, that of the second the centre of the wheel; `line` is the
    direction of the bar and, in space, `axis` that of the wheel, both in the world as the bodies stand when the joint is made.
    Left out, they are the x and z axes of the first port. The distance of the centre from the pitch line is the radius of the
    pitch circle; bearings and guides have to keep it. A large number of teeth makes it a wheel that rolls without slip.
    Backlash is none.
    """

    teeth: int
    line: Sequence[float] | None = None
    axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    apart: ClassVar[bool] = True

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the pitch line and its point, the centre, the axis and a spoke."""
        if isinstance(self.teeth, bool) or not isinstance(self.teeth, int | np.integer) or self.teeth < 1:
            raise ModelError(f"joint '{name}': teeth = {self.teeth!r}; give a whole number from 1 on.")
        mark_a, mark_b = point_marks(name, first, second, a, b)
        oriented(name, first, second)
        line = first.frame[0] if self.line is None else unit(name, self.line, len(a))
        if len(a) == 2:
            if self.axis is not None:
                raise ModelError(
                    f"joint '{name}': axis = {tuple(self.axis)}; in the plane wheels turn about z; leave axis out."
                )
            bar, spoke = must(first.direction(first.directions[0])), must(second.direction(second.directions[0]))
            up = np.array([-line[1], line[0]])
            radius = self._radius(name, float((b - a) @ up), float(np.abs(a).max()))
            cosine, sine = angle_between(bar.value, line)
            theta = float(np.arctan2(*angle_between(line, spoke.value)[::-1]))
            start = float((b - a) @ line) + radius * theta
            return Attachment(
                RACK_IN_PLANE, [mark_a, bar], [mark_b, spoke], (radius, start, self._pitch(radius), cosine, sine)
            )
        axis = line_of(name, self.axis, first)
        if abs(float(axis @ line)) > 1e-9:
            raise ModelError(
                f"joint '{name}': line = {shown(line)} is not perpendicular to axis = {shown(axis)}; give two "
                "perpendicular directions."
            )
        radius = self._radius(name, float((b - a) @ np.cross(axis, line)), float(np.abs(a).max()))
        along, bar = turning_marks(name, first, axis, line)
        _, spoke = turning_marks(name, second, axis, line)
        start = float((b - a) @ line)
        return Attachment(RACK, [mark_a, along, bar], [mark_b, spoke], (radius, start, self._pitch(radius)))

    def _radius(self, name: str, height: float, far: float) -> float:
        """Signed: positive where the wheel stands on the left of the bar, seen along it with the axis towards the eye."""
        if abs(height) <= 1e-6 * max(1.0, far):
            raise ModelError(
                f"joint '{name}': the centre of the wheel lies on the pitch line; give the second side a port at its centre, "
                "one radius off the line. To the ground, place the point of the bar with at=…."
            )
        return height

    def _pitch(self, radius: float) -> float:
        return 2 * pi * abs(radius) / self.teeth

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """The distance of the centre from the line, whatever it is, is the radius."""
        return 0.0

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(19, line=(0.6, 0.8)) if dimension == 2 else cls(19, line=(0.5, 0.3, 0.0), axis=(0.3, -0.5, 0.8))
