"""Screw joint: one body slides along an axis as it turns about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import ClassVar, Self

import numpy as np

from components.joints.marks import line_of, off_line, turning_marks
from components.joints.rows import align, stay_on_line
from components.joints.turns import turn, wrapped
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.numbers import number
from modular.side import Side


@joint_loop
def screw_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """A point on a line and a common axis as in a sliding hinge, and k . (P_b - P_a) = pitch / 2 pi times the angle."""
    stay_on_line(a, b, 0, 1, error, on_first, on_second)
    align(a, b, 4, 1, 1, error, on_first, on_second)
    lead, along = marker[0], marker[1]
    advance = -lead * turn(a, 1, a, 2, b, 2, 3, -lead, on_first, on_first, on_second) - along
    for c in range(3):
        arm = b[0, c] - a[0, c]
        advance += a[1, c] * arm
        on_first[3, 1, c] += arm
        on_first[3, 0, c] -= a[1, c]
        on_second[3, 0, c] += a[1, c]
    error[3] = wrapped(advance, 2.0 * np.pi * lead)


SCREW = JointForm("screw", screw_rows, first=3, second=3, rows=7, translations=4, locks=5, rotations=2, marker=2)


@dataclass(frozen=True)
class Screw(Joint):
    """Screw and nut: one body turns about `axis` of the other and moves along it by `pitch` [m] per turn.

    A right-handed thread has a positive pitch. `axis` is given in the world, as the bodies stand when the joint is made, and
    moves with the first side; left out, it is the z axis of the first port. It counts any number of turns without remembering
    them: the place along the axis tells which turn it is, as long as the play stays below half a thread. In space only.
    """

    pitch: float
    axis: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    coordinates: ClassVar[tuple[str, ...]] = ("way", "angle")
    coincident: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Rack(…), which converts an angle into a distance"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points, the axis on both sides, and a direction across it on either by which turns are told."""
        pitch = number(self.pitch, f"joint '{name}': pitch", "m")
        if pitch == 0.0:
            raise ModelError(
                f"joint '{name}': pitch = 0 m; a screw needs a pitch; use Revolute() for a joint without one."
            )
        mark_a, mark_b = point_marks(name, first, second, a, b)
        axis = line_of(name, self.axis, first)
        across = np.linalg.svd(axis[None])[2][1]
        along_a, across_a = turning_marks(name, first, axis, across)
        along_b, across_b = turning_marks(name, second, axis, across)
        lead = pitch / (2 * pi)
        return Attachment(
            SCREW, [mark_a, along_a, across_a], [mark_b, along_b, across_b], (lead, float((b - a) @ axis))
        )

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """How far the second point is off the axis."""
        return off_line(b - a, line_of("", self.axis, first))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(0.7, axis=(0.3, -0.5, 0.8))
