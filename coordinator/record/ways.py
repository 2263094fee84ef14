"""How far a mechanism reaches, and how far it goes: by some of its bodies in some of its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coordinator.record.recorder import Segment
from modular.body import Body
from modular.elements import Array, Indices

SAMPLES, BODIES, PORTS = 64, 16, 4  # that are looked at for ways and energies, evenly spread
CORNERS = 64  # bodies whose places tell the extent
Bodies = Mapping[str, Body]


def some(count: int, most: int) -> Indices:
    """Indices evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def corners(body: Body, q: Array) -> Array:
    """Places of its ports and of its mass centre, (points, d)."""
    still = np.zeros_like(q)
    points = [body.port_motion(port, q, still, still)[0] for port in body.port_names[:PORTS]]
    return np.array([*points, body.mass_centre(q)])


def extent_of(segments: Sequence[Segment], bodies: Bodies) -> float:
    """The longest side of a box around all bodies of the first sample [m]; 0 where there is none, or they are one point."""
    if not segments:
        return 0.0
    found = [(name, series["q"][0, row]) for names, series in segments[0].bodies for row, name in enumerate(names)]
    points = [corners(bodies[found[k][0]], found[k][1]) for k in some(len(found), CORNERS)] if found else []
    size = float(np.ptp(np.concatenate(points), axis=0).max()) if points else 0.0
    return size if np.isfinite(size) else 0.0


def size_of(name: str, segments: Sequence[Segment], bodies: Bodies) -> float:
    """The longest side of a box around a body where it was recorded first [m]."""
    for segment in segments:
        for names, series in segment.bodies:
            if name in names:
                return float(np.ptp(corners(bodies[name], series["q"][0, names.index(name)]), axis=0).max())
    return 0.0


def travelled(segments: Sequence[Segment], bodies: Bodies, dt: float) -> tuple[float, float, float]:
    """The longest way of any port [m], the largest a dt^2 [m], and the largest kinetic energy [J], of evenly spread samples."""
    times, speeds, energies, bend = [], [], [], 0.0
    for segment, at in spread(segments):
        speed, energy = np.zeros(len(at)), np.zeros(len(at))
        held = [(name, row, series) for names, series in segment.bodies for row, name in enumerate(names)]
        chosen = some(len(held), BODIES) if held else ()
        for k in chosen:
            name, row, series = held[k]
            q, v, a = (series[key][at, row] for key in "qva")
            energy += bodies[name].kinetic_energy(q, v)
            for port in bodies[name].port_names[:PORTS]:
                _, velocity, acceleration = bodies[name].port_motion(port, q, v, a)
                speed = np.maximum(speed, np.sqrt(np.square(velocity).sum(axis=-1)))
                bend = max(bend, float(np.sqrt(np.square(acceleration).sum(axis=-1).max())) * dt**2)
        times.append(segment.ticks[at] * dt)
        speeds.append(speed)
        energies.append(energy * (len(held) / max(len(chosen), 1)))
    time, speed = np.concatenate(times), np.concatenate(speeds)
    way = float((0.5 * (speed[1:] + speed[:-1]) * np.diff(time)).sum())
    return way, bend, float(np.concatenate(energies).max())


def spread(segments: Sequence[Segment]) -> Iterator[tuple[Segment, Indices]]:
    """Segments with those of their samples that are looked at."""
    asked = some(sum(segment.used for segment in segments), SAMPLES)
    start = 0
    for segment in segments:
        at = asked[(asked >= start) & (asked < start + segment.used)] - start
        start += segment.used
        if len(at):
            yield segment, at
