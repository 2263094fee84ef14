"""A law(t, s, rate) in Python as a straight line near where it is asked: by its derivatives, or by differences of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from modular.errors import ModelError

DIFFERENCE = (
    6e-6  # of the coordinate or its rate, and of 1: of central differences of a smooth law, the cube root of rounding
)


class Line(NamedTuple):
    """What a law says, how it holds back where the coordinate and its rate grow, and what it will say when the step has gone."""

    value: float
    stiffness: float
    damping: float
    later: float


@dataclass(frozen=True)
class AskedLaw:
    """A law of a motor, with its derivatives where it gives them."""

    name: str
    law: Callable[..., Any]
    derivatives: Callable[..., Any] | None = None

    def value(self, time: float, s: float, rate: float) -> float:
        """What it says."""
        try:
            given = float(self.law(time, s, rate))
        except Exception as error:
            raise ModelError(
                f"motor '{self.name}': its law raised {type(error).__name__}: {error} (at {time:g} s); it is called as "
                "law(t, s, rate)."
            ) from error
        if not np.isfinite(given):
            raise ModelError(f"motor '{self.name}': its law returned {given!r} at {time:g} s; return a finite number.")
        return given

    def line(self, time: float, step: float, s: float, rate: float) -> Line:
        """The straight line that touches it; what would push where it should hold back is left to the value."""
        value = self.value(time, s, rate)
        later = self.value(time + step, s, rate) if step else value
        slopes = self._differences(time, s, rate) if self.derivatives is None else self._given(time, s, rate)
        stiffness, damping = (max(-slope, 0.0) for slope in slopes)
        return Line(value, stiffness, damping, later)

    def _differences(self, time: float, s: float, rate: float) -> tuple[float, float]:
        ds, dr = DIFFERENCE * max(1.0, abs(s)), DIFFERENCE * max(1.0, abs(rate))
        along = self.value(time, s + ds, rate) - self.value(time, s - ds, rate)
        over = self.value(time, s, rate + dr) - self.value(time, s, rate - dr)
        return along / (2.0 * ds), over / (2.0 * dr)

    def _given(self, time: float, s: float, rate: float) -> tuple[float, float]:
        assert self.derivatives is not None
        try:
            by_way, by_rate = (float(one) for one in self.derivatives(time, s, rate))
        except Exception as error:
            raise ModelError(
                f"motor '{self.name}': the derivatives of its law raised {type(error).__name__}: {error} (at {time:g} s); they "
                "are called as derivatives(t, s, rate), and return two numbers, d law / ds and d law / d rate."
            ) from error
        if not np.isfinite([by_way, by_rate]).all():
            raise ModelError(
                f"motor '{self.name}': the derivatives of its law are {by_way!r} and {by_rate!r} at {time:g} s; "
                "return finite numbers, or leave derivatives out, and differences take their place."
            )
        return by_way, by_rate
