"""Segments of samples as data and arrays: a layout says what each array is.

A piece is what a recorder has taken since a tick, and all pieces can be put together again. It holds everything from its first tick
on, also the sample of that very tick: it may have been taken anew after an event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from coordinator.record.series import PARTS


def segments_as_data(segments: Sequence[Segment]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The layout of segments, and their arrays by name."""
    arrays: dict[str, Any] = {}
    layout = []
    for s, segment in enumerate(segments):
        arrays[f"{s}.ticks"] = segment.ticks
        for part in PARTS:
            for k, (_, series) in enumerate(getattr(segment, part)):
                arrays.update({f"{s}.{part}.{k}.{key}": array for key, array in series.items()})
        layout.append(
            {part: [[names, list(series)] for names, series in getattr(segment, part)] for part in PARTS}
            | {"closed": {name: row.tolist() for name, row in segment.closed.items()}}
        )
    return layout, arrays


def segments_from_data(layout: Sequence[Mapping[str, Any]], arrays: Mapping[str, Any]) -> list[Segment]:
    """The segments that were described."""
    segments = []
    for s, about in enumerate(layout):
        parts = {
            part: [
                (names, {key: arrays[f"{s}.{part}.{k}.{key}"] for key in keys})
                for k, (names, keys) in enumerate(about[part])
            ]
            for part in PARTS
        }
        ticks = arrays[f"{s}.ticks"]
        closed = {name: np.array(row) for name, row in about["closed"].items()}
        segments.append(Segment(ticks, parts["bodies"], parts["joints"], parts["forces"], closed, len(ticks)))
    return segments


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
