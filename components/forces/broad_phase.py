"""Which of many boxes along the axes overlap, now or on their ways, and how far solids are from a plane.

Boxes are sorted along one axis and swept (sort and sweep: C. Ericson, "Real-Time Collision Detection", 2005, section 7.5), in
columns along the two others that are as wide as the widest of them, so that the time goes with their number; the few that
are much larger than most are held against all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from modular.elements import Array, Indices
from modular.kernel import kernel

LARGE = 4.0  # times the median extent: held against all
MAX_COLUMNS = 1e6  # more are none: then one axis alone is swept
ROUNDING = 1e-9  # of what there is in all
PAIRS_OF_A_BOX = 16  # that there is room for at first


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


def meeting(places: Array, ways: Array, half: Array, among: Indices | None = None) -> Indices:
    """Pairs of boxes that overlap at some time, where each goes straight on its way at a speed of its own; half their extents.

    Of all pairs, or of those that are asked about.
    """
    ends = places + ways
    low, high = np.minimum(places, ends) - half, np.maximum(places, ends) + half
    pairs = overlapping(low, high) if among is None else among[_overlap(low, high, among)]
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


def _overlap(low: Array, high: Array, pairs: Indices) -> npt.NDArray[np.bool_]:
    """Which pairs of boxes overlap."""
    one, other = pairs[:, 0], pairs[:, 1]
    return np.asarray((low[one] <= high[other]).all(axis=1) & (high[one] >= low[other]).all(axis=1))


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
    sweep_axis = int(np.argmax(spread))
    others = [axis for axis in range(low.shape[1]) if axis != sweep_axis]
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
    along, reach = low[:, sweep_axis] - low[:, sweep_axis].min(), high[:, sweep_axis] - low[:, sweep_axis].min()
    length = 2.0 * float(reach.max()) + width[sweep_axis]
    slack = ROUNDING * length
    key = column * length + along
    order = np.argsort(key, kind="stable")
    swept = key[order], order, column, along, reach, low, high
    shifts, found = np.array(_half_of_neighbours(strides), np.int64), np.zeros((PAIRS_OF_A_BOX * n, 2), np.int64)
    while True:
        count = sweep(*swept, shifts, length, float(width[sweep_axis]), slack, found)
        if count <= len(found):
            return np.asarray(found[:count])
        found = np.zeros((count, 2), np.int64)


@kernel
def sweep(
    keys: Array, order: Indices, column: Indices, along: Array, reach: Array, low: Array, high: Array, shifts: Indices,
    length: float, width: float, slack: float, found: Indices,
) -> int:  # fmt: skip
    """Pairs that overlap, as many as there is room for; how many there are. `shifts`: to columns where others are looked for."""
    count, n, axes = 0, low.shape[0], low.shape[1]
    for s in range(shifts.shape[0]):
        shift = shifts[s]
        for one in range(n):
            begin = (column[one] + shift) * length + along[one] - (width if shift != 0 else 0.0) - slack
            end = (column[one] + shift) * length + reach[one] + slack
            at, beyond = 0, n
            while at < beyond:
                middle = (at + beyond) // 2
                if keys[middle] < begin:
                    at = middle + 1
                else:
                    beyond = middle
            while at < n and keys[at] <= end:
                other = order[at]
                at += 1
                meet = column[other] == column[one] + shift
                if shift == 0:  # whoever begins later is found by the other one
                    meet = meet and (along[one] < along[other] or (along[one] == along[other] and one < other))
                for c in range(axes):
                    meet = meet and low[one, c] <= high[other, c] and high[one, c] >= low[other, c]
                if meet:
                    if count < found.shape[0]:
                        found[count, 0], found[count, 1] = one, other
                    count += 1
    return count


def _half_of_neighbours(strides: list[int]) -> list[int]:
    """The column itself and half of those around it: pairs are found once."""
    if len(strides) == 1:
        return [0, strides[0]]
    return [0, strides[1], strides[0] - strides[1], strides[0], strides[0] + strides[1]]
