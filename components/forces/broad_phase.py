"""Which of many boxes along the axes overlap, now or on their ways, and how far solids are from a plane.

Boxes are sorted along one axis and swept (sort and sweep: C. Ericson, "Real-Time Collision Detection", 2005, section 7.5), in
columns along the two others that are as wide as the widest of them, so that the time goes with their number; the few that
are much larger than most are held against all.
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array, Indices

LARGE = 4.0  # times the median extent: held against all
MAX_COLUMNS = 1e6  # more are none: then one axis alone is swept
ROUNDING = 1e-9  # of what there is in all


def overlapping(low: Array, high: Array) -> Indices:
    """Pairs of boxes that overlap, (pairs, 2), the smaller number first, sorted."""
    extents = (high - low).max(axis=1, initial=0.0)
    large = extents > LARGE * np.median(extents) if len(extents) else np.zeros(0, bool)
    small = np.flatnonzero(~large)
    found = [small[_swept(low[small], high[small])]]
    for one in np.flatnonzero(large):
        others = np.flatnonzero((low <= high[one]).all(axis=1) & (high >= low[one]).all(axis=1))
        others = others[~large[others] | (others > one)]
        found.append(np.stack([np.full(len(others), one), others], axis=1))
    pairs = np.sort(np.concatenate(found), axis=1)
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def meeting(places: Array, ways: Array, half: Array) -> Indices:
    """Pairs of boxes that overlap at some time, where each goes straight on its way at a speed of its own; half their extents."""
    ends = places + ways
    pairs = overlapping(np.minimum(places, ends) - half, np.maximum(places, ends) + half)
    one, other = pairs[:, 0], pairs[:, 1]
    apart, closing, reach = places[one] - places[other], ways[one] - ways[other], half[one] + half[other]
    # whoever does not move along an axis is there always, or never
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.stack([(-reach - apart) / closing, (reach - apart) / closing])
    still = closing == 0.0
    inside = np.where(np.abs(apart) <= reach, -np.inf, np.inf)
    enter = np.where(still, inside, times.min(axis=0)).max(axis=1, initial=0.0)
    leave = np.where(still, np.inf, times.max(axis=0)).min(axis=1, initial=1.0)
    return np.asarray(pairs[enter <= leave])


def passing(apart: Array, closing: Array) -> Array:
    """How near pairs come to each other as they go straight on, `closing` being what that changes of how they are apart."""
    square = (closing * closing).sum(axis=1)
    time = np.clip(-(apart * closing).sum(axis=1) / np.where(square > 0.0, square, 1.0), 0.0, 1.0)
    return np.asarray(np.sqrt(((apart + time[:, None] * closing) ** 2).sum(axis=1)))


def above_plane(place: Array, normal: Array, middles: Array, axes: Array, shapes: Array) -> Array:
    """How far the lowest points of solids are out of a plane."""
    out = np.abs(axes @ normal)
    return np.asarray((middles - place) @ normal - (shapes[:, : out.shape[1]] * out).sum(axis=1) - shapes[:, 3])


def _swept(low: Array, high: Array) -> Indices:
    """The same of boxes that are not too different."""
    n = len(low)
    if n < 2:
        return np.zeros((0, 2), np.int64)
    spread = low.max(axis=0) - low.min(axis=0)
    sweep = int(np.argmax(spread))
    others = [axis for axis in range(low.shape[1]) if axis != sweep]
    width = np.maximum((high - low).max(axis=0), 1e-300)
    counts = [int(min(spread[axis] / width[axis], MAX_COLUMNS)) + 3 for axis in others]  # one more on either side
    if np.prod([float(count) for count in counts]) > MAX_COLUMNS:
        counts = [3 for _ in others]
        places = [np.ones(n, np.int64) for _ in others]
    else:
        places = [1 + ((low[:, axis] - low[:, axis].min()) / width[axis]).astype(np.int64) for axis in others]
    column, strides = np.zeros(n, np.int64), list[int]()
    for place, count in zip(places, counts, strict=True):
        strides = [stride * count for stride in strides] + [1]
        column = column * count + place
    # one key for both: columns one behind the other, each as long as all there is along the swept axis
    along, reach = low[:, sweep] - low[:, sweep].min(), high[:, sweep] - low[:, sweep].min()
    length = 2.0 * float(reach.max()) + width[sweep]
    slack = ROUNDING * length
    key = column * length + along
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    found = []
    for shift in _half_of_neighbours(strides):
        start = np.searchsorted(ordered, (column + shift) * length + along - (width[sweep] if shift else 0.0) - slack)
        stop = np.searchsorted(ordered, (column + shift) * length + reach + slack, side="right")
        one = np.repeat(np.arange(n), stop - start)
        counted = np.arange(len(one)) - np.repeat(np.cumsum(stop - start) - (stop - start), stop - start)
        other = order[np.repeat(start, stop - start) + counted]
        meet = (low[one] <= high[other]).all(axis=1) & (high[one] >= low[other]).all(axis=1)
        meet &= column[other] == column[one] + shift
        if not shift:  # whoever begins later is found by the other one
            meet &= (along[one] < along[other]) | ((along[one] == along[other]) & (one < other))
        found.append(np.stack([one[meet], other[meet]], axis=1))
    return np.concatenate(found)


def _half_of_neighbours(strides: list[int]) -> list[int]:
    """The column itself and half of those around it: pairs are found once."""
    if len(strides) == 1:
        return [0, strides[0]]
    return [0, strides[1], strides[0] - strides[1], strides[0], strides[0] + strides[1]]
