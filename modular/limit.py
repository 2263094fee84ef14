"""What a joint can take before it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, inf, isfinite

from modular.component import Component
from modular.errors import ModelError


@dataclass(frozen=True)
class Limit(Component):
    """A joint breaks when its force [N], or its impulse [N s], exceeds a limit.

    Both are read from the same signal S: the force F on its point, filtered twice over `window` seconds,

        window J' = window F - J,   window S' = J - S,   breaks at |S| > force * window or e |S| > impulse.

    A steady force gives S = F window; a short blow P gives e |S| = P at its peak, whatever the step. One filter would not
    do: a penalty joint rings after a blow and hands its impulse to and fro, so the force in it grows as the step falls and
    its integral swings between 0 and 2 P. The second filter takes that out. The window must last at least 20 ticks.
    """

    force: float | None = None  # [N]
    impulse: float | None = None  # [N s]
    window: float = 0.02  # [s]

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [value for value in (self.force, self.impulse) if value is not None]
        numbers = all(isinstance(value, int | float) for value in (*given, self.window))
        if not given or not numbers or not all(isfinite(value) and value > 0 for value in (*given, self.window)):
            raise ModelError(
                f"Limit: force = {self.force} N, impulse = {self.impulse} N s, window = {self.window} s; give a positive force or "
                "impulse, and a positive window."
            )

    @property
    def most(self) -> float:
        """Largest |S| that holds [N s]."""
        return min(
            self.impulse / e if self.impulse is not None else inf,
            self.force * self.window if self.force is not None else inf,
        )
