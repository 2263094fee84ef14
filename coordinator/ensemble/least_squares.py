"""Least squares where derivatives cost far more than tries: Levenberg's and Marquardt's steps, derivatives kept up by Broyden.

Every step says how residuals changed along it, and derivatives are made to say the same (Broyden's formula, in numbers that are
scaled by their size). They are differenced anew where a step gains far less than they foretold. At the end they are believed where
residuals have followed them from the place at which they were taken to this one; elsewhere they are taken once more, and steps go
on. Differences are taken both ways, which costs twice as much, only where the smallest singular values would drown in what
differences one way leave out.

D. W. Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", J. SIAM 11 (1963) 431-441.
C. G. Broyden, "A class of methods for solving nonlinear simultaneous equations", Math. Comp. 19 (1965) 577-593.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from modular.elements import Array
from modular.one_thread import on_one_thread

DAMPINGS = (0.1, 1.0, 10.0, 100.0)  # times what helped last, tried side by side
START_DAMPING = 1e-3  # of the largest square of a scaled column
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e12
SMALL_GAIN = 1e-4  # of the mean square: less is the end, a hundredth of a standard deviation
NEAR, FAR = 1e-2, 1.0  # the same of what is foretold: little is left; derivatives that fail are worth being taken anew
AS_FORETOLD, FAR_LESS = 0.75, 0.5  # of what a step was to gain: one more is tried alone; derivatives are taken anew
FOLLOWED = 0.02  # of how far residuals went since derivatives were taken: what these may have missed of it
WIDE = 1e-4  # of the largest singular value: smaller ones need derivatives that are taken with care


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
    careful: bool = False  # whether they were taken with care, here or before
    taken: tuple[Array, Array, Array] | None = None  # where they were: offsets, residual, and what was found

    @property
    def sum(self) -> float:
        """Of the squares."""
        return float(self.residual @ self.residual)

    def look(self, asked: Asked, *, roughly: bool) -> None:
        """Take derivatives anew."""
        self.residual, self.jacobian = asked.look(self.offsets, roughly=roughly)
        self.here, self.careful = True, not roughly
        self.taken = self.offsets, self.residual, self.jacobian

    def followed(self) -> bool:
        """Whether residuals went as the derivatives had it since these were taken."""
        if self.taken is None:
            return False
        offsets, residual, jacobian = self.taken
        straight = jacobian @ (self.offsets - offsets)
        bent = self.residual - residual - straight
        return bool(np.linalg.norm(bent) <= FOLLOWED * np.linalg.norm(straight))


def least_squares(
    asked: Asked, start: Array, max_iterations: int, *, damping: float | None = None, gain: float = SMALL_GAIN, last: bool = True
) -> Place:  # fmt: skip
    """Where residuals are smallest; derivatives that are told are right there.

    `damping`: of the first step, where one is known; `gain`: of the mean square, less of which ends it; without `last` derivatives
    at the end are those that there are.
    """
    place = Place(np.array(start, float), np.empty(0), np.empty((0, len(start))))
    if damping is not None:
        place.damping, place.several = damping, False
    place.look(asked, roughly=True)
    while place.iterations < max_iterations and _step(asked, place, gain, last):
        pass
    if last and not _believed(asked, place):
        _look_at_the_end(asked, place)
    return place


def _step(asked: Asked, place: Place, enough: float, last: bool) -> bool:
    """One step, or what has to come before; whether there may be another."""
    sizes, before = asked.sizes(place.offsets), place.sum
    mean = before / max(1, len(place.residual))
    scaled = place.jacobian * sizes
    largest = float((scaled**2).sum(axis=0).max(initial=0.0))
    if before == 0.0 or largest == 0.0:
        return False
    place.iterations += 1
    tried = np.minimum(place.damping * np.array(DAMPINGS[: None if place.several else 1]), MOST_DAMPING)
    steps = _damped(scaled, place.residual, tried * largest)
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
        return _go_on_without(asked, place, near=foretold <= NEAR * mean, last=last)
    place.offsets, place.residual = place.offsets + steps[best] * sizes, after
    place.damping, place.here = max(float(tried[best]), LEAST_DAMPING), False
    place.several = gain < AS_FORETOLD * foretold and foretold > FAR * mean
    if gain <= enough * mean:
        if not last or _believed(asked, place):
            return False
        _look_at_the_end(asked, place)
    elif gain < FAR_LESS * foretold and foretold > FAR * mean:
        place.look(asked, roughly=True)
    return True


def _go_on_without(asked: Asked, place: Place, *, near: bool, last: bool) -> bool:
    """After tries of which none gained anything: more of them, better derivatives, or shorter steps; `near`: little is left."""
    if near and (not last or _believed(asked, place)):
        return False
    if near:
        _look_at_the_end(asked, place)
    elif not place.several:
        place.several = True
    elif not place.here:
        place.look(asked, roughly=True)
    else:
        place.damping *= 1e4
    return place.damping < MOST_DAMPING


def _believed(asked: Asked, place: Place) -> bool:
    """Whether derivatives say enough of the place where they are used."""
    return place.followed() and (place.careful or _is_wide(asked, place))


def _is_wide(asked: Asked, place: Place) -> bool:
    """Whether all singular values stand out from what differences one way leave out."""
    singular = np.linalg.svd(place.jacobian * asked.sizes(place.offsets), compute_uv=False)
    return bool(singular.min(initial=np.inf) >= WIDE * singular.max(initial=0.0))


def _look_at_the_end(asked: Asked, place: Place) -> None:
    """Derivatives by which the answer goes."""
    place.look(asked, roughly=_is_wide(asked, place))
    if not place.careful and not _is_wide(asked, place):
        place.look(asked, roughly=False)


def _told(jacobian: Array, step: Array, change: Array) -> Array:
    """Derivatives that say of a step what it said."""
    return np.asarray(jacobian + np.outer(change - jacobian @ step, step) / float(step @ step))


@on_one_thread
def _damped(jacobian: Array, residual: Array, dampings: Array) -> Array:
    """The steps that leave least, as far as they are not too long, one for each damping."""
    p = jacobian.shape[1]
    q, r = np.linalg.qr(jacobian)
    right = np.concatenate([-(q.T @ residual), np.zeros(p)])
    return np.array([np.linalg.lstsq(np.vstack([r, np.sqrt(d) * np.eye(p)]), right, rcond=None)[0] for d in dampings])
