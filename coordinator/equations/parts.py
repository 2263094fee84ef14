"""Ticks in parts: where a step is too long for the forces of a model, as of a damper that is stiffer than the step.

A method of order eight is explicit: beyond some six time constants of a force it diverges, from nothing and at first without a
trace. In how many time constants a step goes is therefore asked of every step (`h_lambda`, runge_kutta.py), and a tick that goes in
too many is taken again in four parts, sixteen or sixty-four; so are those that follow, as long as they ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.elements import Array

if TYPE_CHECKING:
    from coordinator.equations.common_formulas import CommonFormulas

MORE, MOST = 4, 64
HASTY = 4.0  # time constants in one step; from 6 on it diverges
EASY = 2.0  # in fewer parts: then the next tick goes in these
STATE = ("q", "v", "a", "powers")


def too_long_for(common: CommonFormulas, share: float, rows: slice = slice(None)) -> Array:
    """Which models a step was too long for; `share` of the extent that constraints may be open by.

    Where numbers are not finite, `h_lambda` is none either.
    """
    motions = common.motions
    with np.errstate(invalid="ignore"):
        slow = motions.h_lambda[rows, 0] <= HASTY
        closed = np.abs(motions.errors[rows]) <= share * common.extents[rows, None]
    return np.asarray(np.logical_not(np.logical_and(slow, closed.all(axis=1))))


def divide(
    common: CommonFormulas, k: int, one: Mapping[str, Any], time: float, h: float, parts: int, share: float
) -> int:
    """One model from a place in so many parts, or as many more as it takes; in how many the next tick is to go.

    Where most do not help, what is left in the motions says so.
    """
    motions, right, most = common.motions, False, 0.0
    while not right and parts <= MOST:
        for name in STATE:
            getattr(motions, name)[k] = one[name]
        works, missed = np.zeros(motions.works.shape[1]), np.zeros(motions.missed.shape[1])
        right, most = True, 0.0
        for part in range(parts):
            begin, end = time + h * part / parts, time + h * (part + 1) / parts
            common.step_of(k, begin, end - begin)
            works += motions.works[k]
            missed += motions.missed[k]
            most, right = max(most, float(motions.h_lambda[k, 0])), not too_long_for(common, share, slice(k, k + 1))[0]
            if not right:
                break
        motions.works[k], motions.missed[k] = works, missed
        parts *= 1 if right else MORE
    return max(1, parts // MORE if not right or MORE * most < EASY else parts)


def parts_in(memory: Mapping[str, Array], models: int) -> Array:
    """In how many parts each model takes its ticks."""
    return np.asarray(memory["parts"]).copy() if "parts" in memory else np.ones(models, np.int64)


def kept(parts: Array) -> dict[str, Array]:
    """As it is remembered."""
    return {"parts": parts} if (parts > 1).any() else {}
