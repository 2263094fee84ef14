"""Orders of convergence: least squares in log-log over the steps where the error falls along a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

MIN_SLOPE = 0.5  # slope between two neighbours below which the error no longer falls: rounding, or the reference
MAX_SLOPE_RATIO = 1.4  # largest slope between neighbours over the smallest one, inside the range of a fit


@dataclass(frozen=True)
class Fit:
    """error = factor * dt^order, over a range of steps."""

    order: float
    factor: float
    coarsest: float  # [s]
    finest: float  # [s]
    points: int

    def at(self, dt: float) -> float:
        """The error that the line gives."""
        return float(self.factor * dt**self.order)


def fit_order(steps: Sequence[float], errors: Sequence[float | None]) -> Fit | None:
    """The order over the longest range of neighbouring steps that converge; of two such, over the finer one.

    A case without an error (it diverged) ends a range. A range converges where the error falls from each step to the next
    with a slope of at least MIN_SLOPE, and the slopes differ by no more than the factor MAX_SLOPE_RATIO.
    None where no two steps do.
    """
    order = np.argsort(np.asarray(steps, float))[::-1]  # coarsest first
    x = np.log([float(steps[k]) for k in order])
    sizes = [errors[k] for k in order]
    y = np.array([np.log(e) if e is not None and np.isfinite(e) and e > 0 else np.nan for e in sizes])
    slopes = np.diff(y) / np.diff(x)
    best: tuple[int, int] | None = None
    for first in range(len(slopes)):
        for last in range(first, len(slopes)):
            part = slopes[first : last + 1]
            straight = (
                np.isfinite(part).all() and part.min() >= MIN_SLOPE and part.max() <= MAX_SLOPE_RATIO * part.min()
            )
            if straight and (best is None or last - first >= best[1] - best[0]):
                best = first, last
    if best is None:
        return None
    chosen = slice(best[0], best[1] + 2)
    slope, level = np.polyfit(x[chosen], y[chosen], 1)
    picked = [float(steps[k]) for k in order[chosen]]
    return Fit(float(slope), float(np.exp(level)), picked[0], picked[-1], len(picked))
