"""Where ports are now, and where there is room for something new."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np

from coordinator.laboratory.snapshot import Snapshot
from modular.elements import Array
from modular.errors import ModelError
from modular.port import GROUND, PortName

MAX_EXAMINED_BODIES = 40  # bodies, to find room beside them


def place_of(snapshot: Snapshot, port: str, owner: str) -> Array:
    """Where a port is [m]."""
    name = PortName.parse(port, owner)
    body = snapshot.plan.bodies.get(name.body)
    if body is None:
        what = "the ground is everywhere" if name.body == GROUND else f"there is no body '{name.body}' any more"
        raise ModelError(f"{owner}: {what}; choose another place.")
    q, v = snapshot.state(name.body)
    return np.asarray(body.port_motion(name.port, q, v, v)[0])


def room_beside(snapshot: Snapshot) -> tuple[Array, Array]:
    """Two points beside what is there, as far apart as the ends of a body are."""
    d = snapshot.plan.dimension
    points, lengths = [np.zeros(d)], []
    for name, body in islice(snapshot.plan.bodies.items(), MAX_EXAMINED_BODIES):
        try:
            own = [place_of(snapshot, f"{name}.{port}", name) for port in body.port_names]
        except (KeyError, ModelError):  # just gone
            continue
        points += own
        lengths += [float(np.linalg.norm(b - a)) for a, b in pairwise(own)]
    size = float(np.median(lengths)) if lengths else 1.0
    size = float(f"{size:.2g}") or 1.0
    highest = np.max(points, axis=0)
    start = np.zeros(d)
    start[0], start[-1] = highest[0] + 0.4 * size, highest[-1]
    end = start.copy()
    end[0] += size
    return np.round(start, 3), np.round(end, 3)
