"""Ball with a pin: a ball joint whose pin glides in a groove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from components.joints.marks import edge_mark, line_mark, line_of
from components.joints.revolute import HINGED_ROD
from modular.elements import Array
from modular.joint import Attachment, Joint, point_marks
from modular.side import Side


@dataclass(frozen=True)
class SphericalWithPin(Joint):
    """Ball joint whose pin stays in a groove: locks the three translations, and the rotation that would take the pin out.

    The groove lies in the plane across `normal`, which the first side carries; the `pin` moves with the second side. Both are given
    in the world, as the bodies stand when the joint is made, and stand across each other. Left out, they are the z axis of the
    first port, and the x axis of the second or the rod itself where that is slender. Its equations are those of `Universal` with a
    cross at right angles: two axes across each other stay across. In space only.
    """

    normal: Sequence[float] | None = None
    pin: Sequence[float] | None = None

    symmetric: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (3,)
    otherwise: ClassVar[str] = "Revolute()"

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the points, the normal of the groove and the pin."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        normal = line_of(name, self.normal, first)
        edge = edge_mark(name, self.pin, second, normal, "pin")
        return Attachment(
            HINGED_ROD,
            [mark_a, line_mark(name, first, normal)],
            [mark_b, edge],
            (0.0,),
        )

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls(normal=(0.3, -0.5, 0.8), pin=(0.5, 0.3, 0.0))
