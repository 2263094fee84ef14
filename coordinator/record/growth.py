"""What grew in the last ticks of a run: where to look when it went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array

SMALLEST_SIZE = 1e-300
ROUNDING_SIZE = 1e-12  # [m], [-]: errors that are no larger at the end are none
GROWTH_RATIO = 10.0  # times what it was before


@dataclass(frozen=True)
class Growth:
    """An error that grew: of a joint (its equations) or of a body (its internal constraints)."""

    name: str
    kind: str
    per_tick: float  # factor, over the last third of the ticks
    size: float  # at the end
    ratio: float  # at the end over the median of the first half
    since: int  # tick from which on it is ten times that median; the last one where it never was


def growth(run: Run) -> list[Growth]:
    """All joints and bodies, the one that grew most at first; a run of a few ticks says nothing."""
    if len(run) < 6:
        return []
    found = [_grown(name, kind, errors, run) for name, kind, errors in _errors(run)]
    seen = [one for one in found if np.isfinite(one.ratio) and one.size > ROUNDING_SIZE]
    return sorted(seen, key=lambda one: -one.ratio)


def _errors(run: Run) -> Iterator[tuple[str, str, Array]]:
    for joint in run.joints:
        yield joint, "joint", run.violation(joint)
    for body in run.bodies:
        yield body, "body", run.internal_violation(body)


def _grown(name: str, kind: str, errors: Array, run: Run) -> Growth:
    sizes = np.abs(errors).max(axis=1, initial=0.0)
    there = np.isfinite(sizes)
    sizes, ticks = sizes[there], run.ticks[there]
    if len(sizes) < 6 or not sizes.any():
        return Growth(name, kind, 1.0, 0.0, 0.0, int(run.ticks[-1]))
    usual = max(float(np.median(sizes[: len(sizes) // 2])), SMALLEST_SIZE)
    third = slice(-max(len(sizes) // 3, 3), None)
    slope = float(np.polyfit(ticks[third] - ticks[-1], np.log(np.maximum(sizes[third], SMALLEST_SIZE)), 1)[0])
    small = np.flatnonzero(sizes <= GROWTH_RATIO * usual)
    since = int(ticks[min(small[-1] + 1, len(ticks) - 1)]) if len(small) else int(ticks[0])
    return Growth(name, kind, float(np.exp(slope)), float(sizes[-1]), float(sizes[-1]) / usual, since)
