"""Least squares with derivatives that are kept up: the answers of another program, with few derivatives."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy import optimize

from coordinator.ensemble.least_squares import least_squares

TRUE = np.array([2.0, 0.4, 3.0, 1.5, 0.2])  # how high, how it fades, how fast it swings, a phase, and what stays


class Swing:
    """A swing that fades, measured with noise; none where it would grow."""

    def __init__(self, noise: float, start) -> None:
        self.time, self.start = np.linspace(0.0, 6.0, 80), np.asarray(start, float)
        self.measured = self.said(TRUE) + noise * np.random.default_rng(2).normal(size=len(self.time))
        self.looks: list[bool] = []

    def said(self, x):
        t = self.time
        return x[0] * np.exp(-x[1] * t) * np.cos(x[2] * t + x[3]) + x[4]

    def of(self, offsets):
        return 100.0 * (self.said(self.start + offsets) - self.measured)

    def sizes(self, offsets):
        return np.abs(self.start + offsets)

    def residuals(self, places):
        return [self.of(place) if self.start[1] + place[1] > 0.0 else None for place in places]

    def look(self, offsets, *, roughly):
        self.looks.append(roughly)
        step = 1e-7 if roughly else 1e-5
        ahead = np.stack([self.of(offsets + step * one) for one in np.eye(5)], axis=1)
        back = (
            self.of(offsets)[:, None]
            if roughly
            else np.stack([self.of(offsets - step * one) for one in np.eye(5)], axis=1)
        )
        return self.of(offsets), (ahead - back) / (step if roughly else 2.0 * step)


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("start", [(1.7, 0.5, 3.2, 1.3, 0.25), (4.0, 0.1, 2.6, 2.0, 0.6), (0.8, 2.0, 2.5, 0.9, -0.5)])
def test_it_finds_what_another_program_finds_with_few_derivatives(noise, start):
    asked = Swing(noise, start)
    found = least_squares(asked, np.zeros(5), 60)
    other = optimize.least_squares(
        asked.of, np.zeros(5), x_scale=np.abs(start), method="lm", ftol=1e-15, xtol=1e-15, gtol=1e-15
    )
    assert found.sum == pytest.approx(2.0 * other.cost, rel=1e-6, abs=1e-12)
    assert found.offsets == pytest.approx(other.x, rel=1e-4, abs=1e-6)
    assert np.allclose(found.jacobian, other.jac, atol=0.02 * np.abs(other.jac).max())
    assert all(asked.looks) and len(asked.looks) < found.iterations  # differences one way are enough


def test_what_is_hardly_told_apart_is_differenced_with_care():
    """Of two numbers that act nearly alike differences one way would tell too much."""
    ways = np.random.default_rng(4).normal(size=(40, 2))
    ways[:, 1] = ways[:, 0] + 1e-6 * ways[:, 1]

    class Alike:
        looks: ClassVar[list[bool]] = []

        def residuals(self, places):
            return [ways @ (place - (0.3, 0.2)) + 1e-3 for place in places]

        def sizes(self, offsets):
            return np.ones(2)

        def look(self, offsets, *, roughly):
            self.looks.append(roughly)
            return self.residuals([offsets])[0], ways + (1e-4 if roughly else 0.0)

    found = least_squares(Alike(), np.zeros(2), 20)
    assert Alike.looks[0] and not Alike.looks[-1]
    assert np.linalg.cond(found.jacobian) > 1e5
