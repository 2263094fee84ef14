"""Coupler: two hinges that turn in a fixed ratio, wherever the body goes that carries both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi
from typing import Any, ClassVar, Self

import numpy as np

from components.joints.gear import mesh_in_plane_rows
from components.joints.marks import line_of, must, oriented, shown, turning_marks
from components.joints.turns import turn, wrapped
from modular.blocks import shaped
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks, unit
from modular.joints import joint_loop
from modular.lanes import lanes
from modular.numbers import number
from modular.side import Side

FINEST = (
    12  # turns of the first hinge after which both are back where they were, at most: of ratios p / q, with q from 1 on
)
FAR = 1e9  # [rad], the period of all other ratios: none
COAXIAL = 0.02  # sine below which hinges lie on one line
RATIO, CONSTANT, PERIOD, BY_LINE, BY_AXES = range(5)

arms_in_space = shaped(lanes, lambda joints: [(1, 3), (1, 3), (1, 1, 3), (1, 1, 3)])


@joint_loop
def coupled_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """beta - ratio alpha = const; alpha and beta are the angles from a spoke of either side to an arm of the body between.

    That body carries both hinges, so any sum of the line of centres and of the axis of the other hinge is an arm of it.
    """
    to_second, to_first, on_to_second, on_to_first = arms_in_space(error)
    by_line, by_axes, ratio = marker[BY_LINE], marker[BY_AXES], marker[RATIO]
    for c in range(3):
        line = by_line * (b[0, c] - a[0, c])
        to_second[0, c] = line + by_axes * b[1, c]
        to_first[0, c] = line + by_axes * a[1, c]
        on_to_second[0, 0, c] = 0.0
        on_to_first[0, 0, c] = 0.0
    path = -ratio * turn(a, 1, a, 2, to_second, 0, 0, -ratio, on_first, on_first, on_to_second)
    path += turn(b, 1, b, 2, to_first, 0, 0, 1.0, on_second, on_second, on_to_first)
    for c in range(3):
        through_line = by_line * (on_to_second[0, 0, c] + on_to_first[0, 0, c])
        on_first[0, 0, c] -= through_line
        on_second[0, 0, c] += through_line
        on_second[0, 1, c] += by_axes * on_to_second[0, 0, c]
        on_first[0, 1, c] += by_axes * on_to_first[0, 0, c]
    error[0] = wrapped(path - marker[CONSTANT], marker[PERIOD])


COUPLED = JointForm("coupled", coupled_rows, first=3, second=3, rows=1, translations=0, locks=1, rotations=1, marker=5)
COUPLED_IN_PLANE = JointForm(
    "coupled-2d", mesh_in_plane_rows, first=2, second=2, rows=1, translations=0, locks=1, rotations=1, marker=4
)


@dataclass(frozen=True)
class Coupler(Joint):
    """Two hinges of one body turn together: the second by `ratio` times the first, as belts, gears and linkages make fingers do.

    It stands between the two outer bodies, each of which hangs on the body between by a hinge; its ports are the places of these
    hinges. Both turns are those of the outer bodies as seen from the body between, and are counted from where the joint is made:
    an offset is there from the start. `axis` and `second_axis` are the directions of the hinges in the world as the bodies stand
    then; left out they are the z axes of the ports, and in the plane there are none.

    The body between is not among its ports: where it stands is told by the two hinges, which it carries. So they may be parallel,
    cross or pass each other, but may not lie on one line, and a body that loses its hinge loses its turn. With a ratio p / q of
    whole numbers, q up to 12, any number of turns is followed; with others half a turn either way.
    """

    ratio: float = 1.0
    axis: Sequence[float] | None = None
    second_axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coincident: ClassVar[bool] = False
    apart: ClassVar[bool] = True

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take both hinges, and a spoke of either side."""
        ratio = number(self.ratio, f"joint '{name}': ratio", "-")
        if ratio == 0.0:
            raise ModelError(
                f"joint '{name}': ratio = 0 couples nothing; give another number, or lock the hinge (Fixed)."
            )
        mark_a, mark_b = point_marks(name, first, second, a, b)
        oriented(name, first, second)
        line = b - a
        apart, far = float(np.linalg.norm(line)), max(1.0, float(np.abs(a).max()))
        if len(a) == 2:
            self._check_plane(name, apart, far)
            # angles from the line of centres to either side; `turn_in_plane` tells them the other way, as those of a Gear
            spoke_a, spoke_b = (must(side.direction(side.directions[0])) for side in (first, second))
            constant = _in_plane(spoke_b.value, line) - ratio * _in_plane(spoke_a.value, line)
            return Attachment(
                COUPLED_IN_PLANE, [mark_a, spoke_a], [mark_b, spoke_b], (-ratio, 1.0, constant, period_of(ratio))
            )
        axis = line_of(name, self.axis, first)
        other = line_of(name, None, second) if self.second_axis is None else unit(name, self.second_axis, 3)
        across = [line - (line @ one) * one for one in (axis, other)]
        leaning = float(np.linalg.norm(np.cross(axis, other)))  # sines: the larger, the better the arm is told
        aside = min(map(float, map(np.linalg.norm, across))) / max(apart, 1e-6 * far)
        by_axes = leaning > aside
        if max(leaning, aside) < COAXIAL:
            raise ModelError(
                f"joint '{name}': its hinges, about {shown(axis)} and {shown(other)} at {shown(a)} and {shown(b)}, lie on one "
                "line, so the rotation of the body between them is not determined; move them apart, or tilt one of "
                "them."
            )
        arms = [_across(one, arm) for one, arm in ((axis, other), (other, axis))] if by_axes else across
        spokes = [arm / np.linalg.norm(arm) for arm in arms]
        along_a, spoke_a = turning_marks(name, first, axis, spokes[0])
        along_b, spoke_b = turning_marks(name, second, other, spokes[1])
        by_line = 0.0 if by_axes else 1.0 / apart
        marker = (ratio, 0.0, period_of(ratio), by_line, float(by_axes))
        return Attachment(COUPLED, [mark_a, along_a, spoke_a], [mark_b, along_b, spoke_b], marker)

    def _check_plane(self, name: str, apart: float, far: float) -> None:
        if self.axis is not None or self.second_axis is not None:
            raise ModelError(f"joint '{name}': in the plane hinges turn about z; leave axis and second_axis out.")
        if apart <= 1e-6 * far:
            raise ModelError(
                f"joint '{name}': its hinges are {apart:.3g} m apart, so the rotation of the body between them is not "
                "determined; move them apart. On the ground, place one with at=…."
            )

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """Hinges lie where they lie."""
        return 0.0

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(-1.5) if dimension == 2 else cls(-1.5, axis=(0.3, -0.5, 0.8), second_axis=(0.3, -0.4, 0.85))


def period_of(ratio: float) -> float:
    """After which angle of the second hinge, less `ratio` times the first, all looks the same: 2 pi / q of a ratio p / q [rad]."""
    nearest = Fraction(ratio).limit_denominator(FINEST)
    exact = abs(float(nearest) - ratio) <= 1e-12 * max(1.0, abs(ratio))
    return 2.0 * pi / nearest.denominator if exact else FAR


def _across(axis: Array, arm: Array) -> Array:
    return np.asarray(arm - (arm @ axis) * axis)


def _in_plane(x: Array, y: Array) -> Any:
    return np.arctan2(x[0] * y[1] - x[1] * y[0], x @ y)
