"""What samples tell of how far a run is off: gaps, slips, energy that joints took, and the way that was gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.record.recorder import Segment
from coordinator.verdict import Estimate
from modular.body import Body
from modular.elements import Array, Indices
from modular.ledger import DISSIPATED, LEAKED

SAMPLES, BODIES, PORTS = 200, 256, 8  # that are looked at for ways and energies, evenly spread
WORST = 32  # joints of one form that are weighed by the size of what hangs on them
Forms = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Gave:
    """By how much a joint gave when that was most, the angle taken as far as the model reaches."""

    joint: str
    form: str
    tick: int
    gap: float  # [m]
    turn: float  # [rad]
    size: float  # [m]


class Evidence:
    """Looks at samples that were taken since it looked last."""

    def __init__(self) -> None:
        self._seen: list[tuple[Indices, int]] = []  # ticks of the segments, and how many of them
        self._forget()
        self._last: tuple[Any, Estimate | None] = (None, None)

    def _forget(self) -> None:
        self._seen = []
        self._sizes: dict[str, float] = {}
        self._extent = 0.0
        self._gave: dict[str, Gave] = {}
        self._slid: dict[str, tuple[float, float]] = {}  # ways [m] and angles [rad]

    def estimate(
        self,
        segments: Sequence[Segment],
        forms: Forms,
        bodies: Mapping[str, Body],
        dt: float,
        order: int | None,
        *,
        least: bool = False,
    ) -> Estimate | None:
        """How far the run is off; None where there is nothing to judge by. `least`: forces begin and end inside ticks."""
        seen = [(segment.ticks, segment.used) for segment in segments]
        if self._last[0] is not None and same(self._last[0], seen):
            return self._last[1]
        with np.errstate(all="ignore"):  # what has diverged says so itself
            found = self._judged(segments, seen, forms, bodies, dt, order, least)
        self._last = (seen, found)
        return found

    def _judged(
        self,
        segments: Sequence[Segment],
        seen: list[tuple[Indices, int]],
        forms: Forms,
        bodies: Mapping[str, Body],
        dt: float,
        order: int | None,
        least: bool,
    ) -> Estimate | None:
        if not goes_on(self._seen, seen):
            self._forget()
        if not segments:
            return None
        if not self._extent:
            self._extent = extent_of(segments, bodies)
        way, bend, kinetic = travelled(segments, bodies, dt)
        extent = self._extent or way  # of one point, the way that it goes
        if not extent:
            return None
        before: int | None = None
        for k, segment in enumerate(segments):
            first = self._seen[k][1] if k < len(self._seen) else 0
            if first < segment.used:
                ticks = segment.ticks[first : segment.used]
                last = int(segment.ticks[first - 1]) if first else before
                pauses = dt * np.diff(ticks, prepend=ticks[0] if last is None else last)
                for names, series in segment.joints if len(ticks) else ():
                    new = {key: values[first : segment.used] for key, values in series.items()}
                    self._look(names, new, ticks, pauses, forms)
            before = int(segment.ticks[segment.used - 1])
        self._seen = seen
        taken = min(1.0, swallowed(segments, forms) / kinetic) if kinetic > 0.0 else 0.0
        gave, most = self._worst(forms, segments, bodies, extent)
        slides = {name: there / extent + turn for name, (there, turn) in self._slid.items()}
        slid = max(slides.values(), default=0.0)
        if slid > gave:
            joint = max(slides, key=lambda name: slides[name])
            most = {"joint": joint, "tick": int(segments[-1].ticks[segments[-1].used - 1])}
        numbers = (way / extent, gave, slid, taken, bend / extent)
        return Estimate.of(extent, *numbers, order, least=least, **most) if np.isfinite(numbers).all() else None

    def _look(
        self, names: Sequence[str], series: Mapping[str, Array], ticks: Indices, pauses: Array, forms: Forms
    ) -> None:
        if not names:
            return
        form = forms[names[0]]  # joints of one form stand together
        split = int(form["translations"])
        if not form["holonomic"]:
            ways, turns = parted(series["violation_rate"], split)
            slides = pauses[:, None, None] * np.stack([ways, turns], axis=-1)
            so_far = np.array([[self._slid.get(name, (0.0, 0.0)) for name in names]])
            total = np.cumsum(np.concatenate([so_far, slides]), axis=0)[-1]  # in order: the same bits in parts
            self._slid.update((name, (there, turn)) for name, (there, turn) in zip(names, total.tolist(), strict=True))
            return
        gaps, turns = parted(series["violation"], split)
        sizes = gaps + self._extent * turns
        if not np.isfinite(sizes).all():
            return  # what has diverged says so itself
        most = np.argmax(sizes, axis=0)
        for k in np.argsort(-sizes.max(axis=0), kind="stable")[:WORST].tolist():
            at, name = int(most[k]), names[k]
            size = float(sizes[at, k])
            if size > (self._gave[name].size if name in self._gave else 0.0):
                gap, turn = float(gaps[at, k]), float(turns[at, k])
                self._gave[name] = Gave(name, str(form["form"]), int(ticks[at]), gap, turn, size)

    def _worst(
        self, forms: Forms, segments: Sequence[Segment], bodies: Mapping[str, Body], extent: float
    ) -> tuple[float, dict[str, Any]]:
        """Gap over the size of what hangs there, and the angle, of the joint where that is most."""
        share, most, weighed = 0.0, {}, Counter[str]()
        for gave in sorted(self._gave.values(), key=lambda one: -one.size):
            weighed[gave.form] += 1
            if weighed[gave.form] > WORST:
                continue
            size = self._size(forms[gave.joint].get("between", ()), segments, bodies) or extent
            if gave.gap / size + gave.turn > share:
                share = gave.gap / size + gave.turn
                most = {"joint": gave.joint, "tick": gave.tick, "gap": gave.gap, "turn": gave.turn}
        return share, most

    def _size(self, sides: Sequence[str], segments: Sequence[Segment], bodies: Mapping[str, Body]) -> float:
        """Of the smaller body at the sides of a joint; 0 where none has a size."""
        for side in sides:
            if side in bodies and side not in self._sizes:
                self._sizes[side] = size_of(side, segments, bodies)
        return min((size for side in sides if (size := self._sizes.get(side, 0.0)) > 0.0), default=0.0)


# --- of the samples as a whole ------------------------------------------------------------------------------------------


def goes_on(before: Sequence[tuple[Indices, int]], now: Sequence[tuple[Indices, int]]) -> bool:
    """Whether nothing has been taken back."""
    if len(before) > len(now):
        return False
    return all(old is new and k <= m for (old, k), (new, m) in zip(before, now, strict=False))


def same(before: Sequence[tuple[Indices, int]], now: Sequence[tuple[Indices, int]]) -> bool:
    """Whether nothing has come, nor been taken back."""
    return goes_on(before, now) and goes_on(now, before)


def parted(values: Array, split: int) -> tuple[Array, Array]:
    """Sizes of the rows that lock translations, and of those that lock rotations, (t, n) each."""
    squares = np.square(values)
    return np.sqrt(squares[..., :split].sum(axis=-1)), np.sqrt(squares[..., split:].sum(axis=-1))


def some(count: int, most: int) -> Indices:
    """Indices evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def corners(body: Body, q: Array) -> Array:
    """Places of its ports and of its mass centre, (points, d)."""
    still = np.zeros_like(q)
    points = [body.port_motion(port, q, still, still)[0] for port in body.port_names[:PORTS]]
    return np.array([*points, body.mass_centre(q)])


def extent_of(segments: Sequence[Segment], bodies: Mapping[str, Body]) -> float:
    """The longest side of a box around all bodies of the first sample [m]; 0 where there is none, or they are one point."""
    if not segments:
        return 0.0
    found = [(name, series["q"][0, row]) for names, series in segments[0].bodies for row, name in enumerate(names)]
    points = [corners(bodies[found[k][0]], found[k][1]) for k in some(len(found), BODIES)] if found else []
    size = float(np.ptp(np.concatenate(points), axis=0).max()) if points else 0.0
    return size if np.isfinite(size) else 0.0


def size_of(name: str, segments: Sequence[Segment], bodies: Mapping[str, Body]) -> float:
    """The longest side of a box around a body where it was recorded first [m]."""
    for segment in segments:
        for names, series in segment.bodies:
            if name in names:
                return float(np.ptp(corners(bodies[name], series["q"][0, names.index(name)]), axis=0).max())
    return 0.0


def swallowed(segments: Sequence[Segment], forms: Forms) -> float:
    """What joints have taken by their dampers and leaked [J], of all that were ever there."""
    total = 0.0
    last = segments[-1]
    for _, series in last.joints:
        book = series["ledger"][last.used - 1]
        total += float(np.abs(book[:, DISSIPATED] + book[:, LEAKED]).sum())
    return total + sum(abs(float(row[DISSIPATED] + row[LEAKED])) for name, row in last.closed.items() if name in forms)


def travelled(segments: Sequence[Segment], bodies: Mapping[str, Body], dt: float) -> tuple[float, float, float]:
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
