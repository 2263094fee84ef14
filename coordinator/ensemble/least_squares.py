"""Least squares where derivatives cost far more than tries: Levenberg's and Marquardt's steps, derivatives kept up by Broyden.

Every step says how residuals changed along it, and derivatives are made to say the same (Broyden's formula, in numbers that are
scaled by their size). They are differenced anew, roughly, where a step gains far less than they foretold, and with care once next
to nothing is left to gain: the last steps and the covariance go by these.

D. W. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", J. SIAM 11 (1963) 431-441.
C. G. Broyden, "A class of methods for solving nonlinear simultaneous equations", Math. Comp. 19 (1965) 577-593.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from modular.elements import Array

DAMPINGS = (0.1, 1.0, 10.0, 100.0)  # times what helped last, tried side by side
START_DAMPING = 1e-3  # of the largest square of a scaled column
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e12
SMALL_GAIN = 1e-10  # of the sum of squares: less is the end
ROUGH_GAIN = 1e-4  # of it: from here on derivatives are taken with care
AS_FORETOLD, FAR_LESS = 0.75, 0.5  # of what a step was to gain: one more is tried alone; derivatives are taken anew


class Asked(Protocol):
    """What has residuals."""

    def look(self, offsets: Array, *, roughly: bool) -> tuple[Array, Array]:
        """Residuals at a place, and their derivatives."""

    def residuals(self, places: Array) -> Sequence[Array | None]:
        """Residuals at several places; None where there are none."""

    def sizes(self, offsets: Array) -> Array:
        """How large each number is."""


@dataclass
class Place:
    """Where a search is, and what is known there."""

    offsets: Array
    residual: Array
    jacobian: Array
    iterations: int = 0
    damping: float = START_DAMPING
    several: bool = True  # whether several dampings are tried
    here: bool = True  # whether derivatives were taken at this very place
    careful: bool = False  # whether they were taken with care, here or a little before
    sum_then: float = np.inf  # of the squares where that was

    @property
    def sum(self) -> float:
        """Of the squares."""
        return float(self.residual @ self.residual)

    def look(self, asked: Asked, *, roughly: bool) -> None:
        """Take derivatives anew."""
        self.residual, self.jacobian = asked.look(self.offsets, roughly=roughly)
        self.here, self.careful = True, not roughly
        self.sum_then = np.inf if roughly else self.sum


def least_squares(asked: Asked, count: int, max_iterations: int) -> Place:
    """Where residuals are smallest, from nothing on; derivatives there are taken with care."""
    place = Place(np.zeros(count), np.empty(0), np.empty((0, count)))
    place.look(asked, roughly=True)
    while place.iterations < max_iterations and _step(asked, place):
        pass
    if not place.careful or place.sum_then - place.sum > ROUGH_GAIN * place.sum:
        place.look(asked, roughly=False)
    return place


def _step(asked: Asked, place: Place) -> bool:
    """One step, or what has to come before; whether there may be another."""
    sizes, before = asked.sizes(place.offsets), place.sum
    scaled = place.jacobian * sizes
    largest = float((scaled**2).sum(axis=0).max(initial=0.0))
    if before == 0.0 or largest == 0.0:
        return False
    place.iterations += 1
    tried = np.minimum(place.damping * np.array(DAMPINGS[: None if place.several else 1]), MOST_DAMPING)
    steps = np.array([_damped(scaled, place.residual, each * largest) for each in tried])
    found = asked.residuals(place.offsets + steps * sizes)
    sums = np.array([np.inf if each is None else float(each @ each) for each in found])
    best = int(np.argmin(sums))
    after, gain = found[best], before - sums[best]
    foretold = before - float(np.sum(np.square(place.residual + scaled @ steps[best])))
    if not place.here or gain > 0.0:
        for k in np.argsort(-sums, kind="stable").tolist():  # the best one last: derivatives say what it said
            if (there := found[k]) is not None and steps[k].any():
                scaled = _told(scaled, steps[k], there - place.residual)
        place.jacobian = scaled / sizes
    if after is None or not gain > 0.0:
        return _go_on_without(asked, place, near=foretold <= ROUGH_GAIN * before)
    place.offsets, place.residual = place.offsets + steps[best] * sizes, after
    place.damping, place.here = max(float(tried[best]), LEAST_DAMPING), False
    place.several = gain < AS_FORETOLD * foretold
    if gain <= (SMALL_GAIN if place.careful else ROUGH_GAIN) * before:
        if place.careful:
            return False
        place.look(asked, roughly=False)
    elif gain < FAR_LESS * foretold:
        place.look(asked, roughly=True)
    return True


def _go_on_without(asked: Asked, place: Place, *, near: bool) -> bool:
    """After tries of which none gained anything: more of them, better derivatives, or shorter steps; `near`: little is left."""
    if not place.several:
        place.several = True
    elif near and not (place.here and place.careful):
        place.look(asked, roughly=False)
    elif not place.here:
        place.look(asked, roughly=True)
    else:
        place.damping *= 1e4
    return place.damping < MOST_DAMPING


def _told(jacobian: Array, step: Array, change: Array) -> Array:
    """Derivatives that say of a step what it said."""
    return np.asarray(jacobian + np.outer(change - jacobian @ step, step) / float(step @ step))


def _damped(jacobian: Array, residual: Array, damping: float) -> Array:
    """The step that leaves least, as far as it is not too long."""
    p = jacobian.shape[1]
    whole = np.vstack([jacobian, np.sqrt(damping) * np.eye(p)])
    return np.asarray(np.linalg.lstsq(whole, np.concatenate([-residual, np.zeros(p)]), rcond=None)[0])
