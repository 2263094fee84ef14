"""Segments of samples as data and arrays: a layout says what each array is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
