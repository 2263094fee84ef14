"""Universal joint: two points stay together, and two axes across each other stay across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import line_of, shown
from components.joints.revolute import HINGED_ROD
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, point_marks, unit
from modular.side import Side


@dataclass(frozen=True)
class Universal(Joint):
    """Cardan joint: locks the three translations and the rotation about the normal of its cross.

    `axis` is the arm of the cross that turns in the first body, `cross` the one that turns in the second, both in the
    world as the bodies stand when the joint is made; left out, they are the z and x axes of the first port. The angle
    between them stays; it need not be a right one, only not zero. In space only.
    """

    axis: Sequence[float] | None = None
    cross: Sequence[float] | None = None

    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Revolute()"
    symmetric: ClassVar[bool] = False

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points and one arm of the cross on each side."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        axis = line_of(name, self.axis, first)
        cross = unit(name, self.cross, 3) if self.cross is not None else first.frame[0]
        cosine = float(axis @ cross)
        if abs(cosine) > 0.99:
            raise ModelError(
                f"joint '{name}': axis = {shown(axis)} and cross = {shown(cross)} are parallel; the arms of a "
                "cross are perpendicular."
            )
        arm_a, arm_b = first.direction(axis), second.direction(cross)
        for side, arm in ((first, arm_a), (second, arm_b)):
            if arm is None:
                raise ModelError(
                    f"joint '{name}': '{side.owner}' is a slender rod or a point mass and does not carry its arm "
                    "of the cross; Spherical() holds such a rod the same way, or give it a radius (Rod: radius=…)."
                )
        assert arm_a is not None and arm_b is not None
        return Attachment(HINGED_ROD, [mark_a, arm_a], [mark_b, arm_b], (cosine,))

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(axis=(0.3, -0.5, 0.8), cross=(0.9, 0.4, 0.1))
