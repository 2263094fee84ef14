"""Distance joint: a massless link with a ball at each end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import joint_loop
from modular.side import Side


@joint_loop
def distance_rows(a: Array, b: Array, marker: Array, error: Array, on_first: Array, on_second: Array) -> None:
    """(|P_a P_b|^2 - l^2) / (2 l): quadratic in the elements like (A2.6), and a length near zero."""
    length = marker[0]
    square = 0.0
    for c in range(a.shape[1]):
        arm = b[0, c] - a[0, c]
        square += arm * arm
        on_first[0, 0, c] = -arm / length
        on_second[0, 0, c] = arm / length
    error[0] = 0.5 * (square - length * length) / length


DISTANCE = JointForm(
    "distance", distance_rows, first=1, second=1, rows=1, translations=1, locks=1, rotations=0, marker=1
)


@dataclass(frozen=True)
class Distance(Joint):
    """Rigid link between two points: locks their distance; `length` [m] is the one they have when it is made.

    To the ground it needs a place: `join("link", Distance(), "ground", "body.port", at=(x, y, z))`.
    """

    length: float | None = None

    coincident: ClassVar[bool] = False
    apart: ClassVar[bool] = True

    def attach(self, name: str, first: Side, second: Side, a: Array, b: Array) -> Attachment:
        """Take the two points and their distance."""
        mark_a, mark_b = point_marks(name, first, second, a, b)
        apart = float(np.linalg.norm(b - a))
        length = apart if self.length is None else float(self.length)
        least = 1e-6 * max(1.0, float(np.abs(a).max()))
        if self.length is not None and not (np.isfinite(length) and length > least):
            raise ModelError(f"joint '{name}': length = {self.length} m; a link needs a positive length.")
        if apart <= least:
            raise ModelError(
                f"joint '{name}': its points are {apart:.3g} m apart; a link needs a length. Place the ground's end with at=…, or "
                "use Spherical() where the points coincide."
            )
        return Attachment(DISTANCE, [mark_a], [mark_b], (length,))

    def gap(self, first: Side, second: Side, a: Array, b: Array) -> float:
        """Its points need not meet, but be so far apart."""
        return 0.0 if self.length is None else abs(float(self.length) - float(np.linalg.norm(b - a)))

    def misfit(self, a: Array, b: Array) -> str:
        """Not that of its length."""
        apart = float(np.linalg.norm(b - a))
        return (
            f"length = {self.length:g} m, but its points are {apart:.9g} m apart; give length={apart:.9g}, leave it "
            "out, or move the bodies"
        )

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A joint of this type for the contract tests."""
        return cls()
