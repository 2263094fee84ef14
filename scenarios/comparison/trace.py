"""What a method gave at the common times: where its ports were, how joints and bodies held, what energy drifted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.elements import Array
from scenarios.report.balance import balance
from scenarios.report.page import magnitude, peak
from scenarios.study.measures import quality

if TYPE_CHECKING:
    from coordinator.record.run import Run

Positions = dict[str, Array]  # port -> [m], (n, d); NaN where it is not there


@dataclass(frozen=True)
class Trace:
    """Series over the common times, and the largest values over all samples that were recorded."""

    positions: Positions
    joints: Array | None = None  # largest error of any joint since the time before [m or -], (n,)
    bodies: Array | None = None  # of any internal constraint [m^2 or -], (n,)
    drift: Array | None = None  # largest change of energy that nothing accounts for [J], (n,)
    quality: dict[str, Any] = field(default_factory=dict)  # see scenarios.study.measures
    steps: int = 0
    evaluations: int = 0
    seconds: float = 0.0


def trace_of(run: Run, interval: float, samples: int) -> Trace:
    """A run that came to its end, recorded at least at the common times."""
    every = round(interval / (run.dt * float(run.ticks[1] - run.ticks[0])))
    at = every * np.arange(samples + 1)
    ledger = balance(run)
    return Trace(
        positions=ports_of(run, at),
        joints=_largest([_sizes(run.violation(j), run.translations(j)) for j in run.joints], every),
        bodies=_largest([np.abs(run.internal_violation(b)).max(axis=1, initial=0.0) for b in run.bodies], every),
        drift=None if ledger.changed else _largest([np.abs(ledger.drift)], every),
        quality=quality(run),
        steps=int(run.ticks[-1]),
        evaluations=int(run.timings.get("evaluations", run.ticks[-1])),
        seconds=run.timings.get("seconds", 0.0),
    )


def ports_of(run: Run, at: Any = slice(None)) -> Positions:
    """Positions of all ports of all bodies that ever were there, at some samples."""
    return {
        f"{name}.{port}": run.position(f"{name}.{port}")[at]
        for name, body in run.bodies.items()
        for port in body.port_names
    }


def apart(one: Mapping[str, Array], other: Mapping[str, Array]) -> dict[str, Array]:
    """Distance of every port that both know [m], (n,); NaN where one of them has it not."""
    return {port: magnitude(one[port] - other[port]) for port in one if port in other}


def largest_over_ports(distances: Mapping[str, Array]) -> Array:
    """Largest over all ports, over time (n,)."""
    return np.asarray(np.fmax.reduce(list(distances.values())))


def errors(positions: Positions, reference: Positions) -> dict[str, Any]:
    """Largest error over time and ports [m], whose it is, the largest at the end, and the largest of every port."""
    distances = apart(positions, reference)
    ports = {port: peak(series) for port, series in distances.items()}
    worst = max(ports, key=lambda port: ports[port])
    ends = [float(series[-1]) for series in distances.values() if np.isfinite(series[-1])]
    return {
        "error": ports[worst],
        "error_port": worst,
        "final_error": max(ends, default=None),
        "ports": ports,
    }


def _sizes(error: Array, split: int) -> Array:
    """Gap or error of direction of a joint, whichever is larger, over time."""
    parts = [magnitude(part) for part in (error[:, :split], error[:, split:]) if part.shape[1]]
    return np.asarray(np.fmax.reduce(parts))


def _largest(series: list[Array], every: int) -> Array | None:
    """Of several series, and of all samples since the common time before."""
    if not series:
        return None
    together = np.fmax.reduce(series)
    starts = np.concatenate([[0], np.arange(1, len(together), every)])
    return np.asarray(np.fmax.reduceat(together, starts))
