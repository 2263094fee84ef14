"""Samples in pieces: what a recorder has taken since a tick, and all of it put together again.

A piece holds everything from its first tick on, also the sample of that very tick: it may have been taken anew after an event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from coordinator.record.segments_as_data import segments_as_data, segments_from_data


def samples_since(segments: Sequence[Segment], tick: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A piece: samples of `tick` and later."""
    found: list[Segment] = []
    goes_on = False
    for segment in segments:
        start = int(np.searchsorted(segment.ticks[: segment.used], tick))
        if start < segment.used:
            goes_on = goes_on or (not found and start > 0)
            found.append(_part(segment, slice(start, segment.used)))
    layout, arrays = segments_as_data(found)
    return {"from": tick, "goes on": goes_on, "layout": layout}, arrays


def put_together(pieces: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> list[Segment]:
    """Segments from pieces in their order."""
    found: list[list[Segment]] = []  # parts of each segment
    for data, arrays in pieces:
        found = [kept for parts in found if (kept := _before(parts, data["from"]))]
        fresh = [[segment] for segment in segments_from_data(data["layout"], arrays)]
        if data["goes on"] and found and fresh:
            found[-1] += fresh.pop(0)
        found += fresh
    return [_joined(parts) for parts in found]


def _part(segment: Segment, samples: slice) -> Segment:
    def cut(part: list[tuple[list[str], dict[str, Any]]]) -> list[tuple[list[str], dict[str, Any]]]:
        return [(names, {key: array[samples] for key, array in series.items()}) for names, series in part]

    ticks = segment.ticks[samples]
    return Segment(ticks, cut(segment.bodies), cut(segment.joints), cut(segment.forces), segment.closed, len(ticks))


def _before(parts: list[Segment], tick: int) -> list[Segment]:
    """What was sampled before a tick."""
    cut = [_part(segment, slice(0, int(np.searchsorted(segment.ticks, tick)))) for segment in parts]
    return [segment for segment in cut if segment.used]


def _joined(parts: list[Segment]) -> Segment:
    if len(parts) == 1:
        return parts[0]

    def join(kind: str) -> list[tuple[list[str], dict[str, Any]]]:
        stacks = [getattr(segment, kind) for segment in parts]
        return [
            (names, {key: np.concatenate([stack[k][1][key] for stack in stacks]) for key in series})
            for k, (names, series) in enumerate(stacks[0])
        ]

    ticks = np.concatenate([segment.ticks for segment in parts])
    return Segment(ticks, join("bodies"), join("joints"), join("forces"), parts[0].closed, len(ticks))
