"""Traces: where a port has been, from the record, as often as they are drawn."""

from __future__ import annotations

import numpy as np

from coordinator.laboratory.snapshot import Snapshot
from modular.elements import Array
from scenarios.laboratory.figure import in_space
from scenarios.laboratory.shapes import (
    Detail,
)


def path_since(snapshot: Snapshot, body: str, port: str, after: float, detail: Detail) -> Array:
    """Places of a port after a time, as often as they are drawn, from the record, (n, 3)."""
    dt, length = snapshot.plan.dt, max(1, round(detail.often / snapshot.plan.dt))  # ticks between two places
    since = -1 if after < 0.0 else round(after / dt)
    described, found = snapshot.plan.bodies[body], []
    for segment in reversed(snapshot.record):
        last = int(np.searchsorted(segment.ticks[: segment.used], snapshot.tick, side="right"))
        if last and segment.ticks[last - 1] <= since:
            break
        start = int(np.searchsorted(segment.ticks[:last], since, side="right"))
        pages = segment.ticks[start:last] // length  # the first sample of each page is taken
        rows = start + np.flatnonzero(np.diff(pages, prepend=since // length))
        for names, series in segment.bodies:
            if body in names and len(rows):
                q = series["q"][rows, names.index(body)]
                found.append(in_space(described.port_motion(port, q, q, q)[0]))
        if sum(map(len, found)) > detail.trace:
            break
    return np.concatenate(found[::-1]) if found else np.zeros((0, 3))
