"""How far a mechanism reaches, and how far it goes: by some of its bodies in some of its samples; and how
much the paths of one body bend where that errs: a step takes them for straight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from coordinator.record.lifetimes import Flags
from coordinator.record.recorder import Segment, Taken
from coordinator.record.verdict import SAGITTA_DIVISOR
from modular.body import Body, StackMembers
from modular.elements import Array, Indices
from modular.errors import ModelError

SAMPLES, BODIES = 64, 16  # that are looked at for ways and energies, evenly spread; of samples at least so many
MAX_CORNER_BODIES = 64  # bodies whose places tell the extent
Bodies = Mapping[str, Body]
Pull = Callable[[str], Array]  # gravity at each body, by name [m/s^2]


def some(count: int, most: int) -> Indices:
    """Indices evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def chosen_of(segment: Segment, most: int) -> list[tuple[str, int, dict[str, Array]]]:
    """So many bodies of a segment, evenly spread: the name of each, its row, and the series of its stack."""
    ends = np.cumsum([0, *(len(names) for names, _ in segment.bodies)])
    found = []
    for k in some(int(ends[-1]), most).tolist() if ends[-1] else ():
        part = int(np.searchsorted(ends, k, side="right")) - 1
        names, series = segment.bodies[part]
        found.append((names[k - ends[part]], k - int(ends[part]), series))
    return found


def acquainted(names: Iterable[str], bodies: Bodies) -> None:
    """Let bodies get ready to be asked one by one."""
    kinds: dict[Any, dict[int, Body]] = {}
    for body in (bodies[name] for name in names):
        kinds.setdefault(type(body), {})[id(body)] = body
    for kind, those in kinds.items():
        if hasattr(kind, "look_at"):
            kind.look_at(list(those.values()))


def corners(bodies: Sequence[Body], q: Array) -> list[Array]:
    """Of bodies of one stack the places of their ports and of their mass centres, (points, d) each; q: (bodies, elements, d)."""
    kinds: dict[Any, list[int]] = {}
    for k, body in enumerate(bodies):
        kinds.setdefault(type(body), []).append(k)
    found: list[Array] = [np.empty(0)] * len(bodies)
    for kind, own in kinds.items():
        if not hasattr(kind, "mass_centres"):
            for k in own:
                found[k] = _corners_of_one(bodies[k], q[k])
            continue
        those = StackMembers(bodies[k] for k in own)
        places, centres = kind.port_places(those, q[None, own])[0], kind.mass_centres(those, q[None, own])[0]
        ends = np.cumsum([len(body.port_names) for body in those]).tolist()
        for k, end, body, centre in zip(own, ends, those, centres, strict=True):
            count = len(body.port_names)
            ports = places[end - count : end - count + min(count, PORTS)]
            found[k] = np.concatenate([ports, centre[None]])
    return found


def _corners_of_one(body: Body, q: Array) -> Array:
    """The same of a body of a kind that does not say it of many."""
    still = np.zeros_like(q)
    points = [body.port_motion(port, q, still, still)[0] for port in body.port_names[:PORTS]]
    return np.array([*points, body.mass_centre(q)])


def extent_of(segments: Sequence[Segment], bodies: Bodies) -> float:
    """The longest side of a box around all bodies of the first sample [m]; 0 where there is none, or they are one point."""
    if not segments:
        return 0.0
    stacks: dict[int, tuple[Array, list[str], list[int]]] = {}
    for name, row, series in chosen_of(segments[0], MAX_CORNER_BODIES):
        _, names, rows = stacks.setdefault(id(series), (series["q"][0], [], []))
        names.append(name)
        rows.append(row)
    points = [
        point for q, names, rows in stacks.values() for point in corners([bodies[name] for name in names], q[rows])
    ]
    size = float(np.ptp(np.concatenate(points), axis=0).max()) if points else 0.0
    return size if np.isfinite(size) else 0.0


def spread_of(segments: Sequence[Segment], bodies: Bodies) -> float:
    """Twice as far as the mass of any body lies about its centre [m]: their extent, where they are one point."""
    names = [name for stack, _ in segments[0].bodies for name in stack] if segments else []
    return 2.0 * max((bodies[name].spread for name in names), default=0.0)


def sizes_of(names: Iterable[str], segments: Sequence[Segment], bodies: Bodies) -> dict[str, float]:
    """The longest side of a box around each body where it was recorded first [m]; 0 where it was not."""
    found = dict.fromkeys(names, 0.0)
    wanted = set(found)
    for segment in segments:
        for own, series in segment.bodies:
            here = [(row, name) for row, name in enumerate(own) if name in wanted] if wanted else []
            if here:
                q = series["q"][0, [row for row, _ in here]]
                boxes = corners([bodies[name] for _, name in here], q)
                found |= {name: float(np.ptp(box, axis=0).max()) for (_, name), box in zip(here, boxes, strict=True)}
                wanted -= {name for _, name in here}
    return found


class Looked(NamedTuple):
    """What one sample tells."""

    time: float  # [s]
    speed: float  # the largest of any port [m/s]
    bend: float  # the largest a dt^2 [m], of what flies freely about its mass centre
    bending: float  # the largest speed of any port [m/s], of what flies freely about its mass centre
    energy: float  # kinetic [J]
    twist: float  # the largest square of an angle by which a body turns in a step, in space and where it does not fly freely
    names: tuple[str, ...]  # of the bodies that were looked at
    places: Array  # of their ports [m], (ports, d)


class Travelled(NamedTuple):
    """What all of them tell."""

    way: float  # the longest of any port [m]
    bend: float  # the largest a dt^2 [m]
    bending: float  # the longest way on which paths bend [m]: a parabola is followed exactly, whatever the step
    kinetic: float  # the largest energy [J]
    moved: float  # the longest diagonal of a box around all places of a port [m]
    twist: float  # the largest square of an angle by which a body turns in a step


class Ways:
    """Ways, bends and energies by every so many-th sample and the last; what was looked at is remembered, so time costs nothing.

    The pause between those that are looked at doubles as a run goes on: there are never more than two times SAMPLES of them.
    """

    def __init__(self) -> None:
        self._looked: dict[int, Looked] = {}

    def travelled(
        self,
        taken: Taken,
        bodies: Bodies,
        dt: float,
        pull: Pull,
        *,
        at_once: bool = False,
        damps: bool = False,
    ) -> Travelled:
        """Ways, bends and energies so far; `damps`: what begins between two ticks may be over by the next."""
        last, pause = taken.count - 1, 1
        while last > 2 * SAMPLES * pause:
            pause *= 2
        self._looked = {k: looked for k, looked in self._looked.items() if k % pause == 0}
        wanted = [*range(0, last, pause), last]
        for segment, first, at in taken.where([k for k in wanted if k not in self._looked]):
            looked = _look(segment, at, bodies, dt, pull, at_once, damps)
            self._looked |= zip((first + at).tolist(), looked, strict=True)
        found = [self._looked[k] for k in wanted]
        self._looked.pop(last)  # an event may take it back
        time, speed, bend, bending, energy, twist = np.array([looked[:6] for looked in found]).T
        way, on_bends = (float((0.5 * (v[1:] + v[:-1]) * np.diff(time)).sum()) for v in (speed, bending))
        most, moved = float(bend.max()), _moved(found)
        # it lasts for a small part of the way, between the most and the mean; and may go its way between two ticks
        if damps:
            mean = float((0.5 * (bend * bending)[1:] + 0.5 * (bend * bending)[:-1]) @ np.diff(time))
            most = float(np.sqrt(most * mean / on_bends)) if on_bends > 0.0 else most
            way, on_bends = max(way, moved), max(on_bends, moved)
        return Travelled(way, most, on_bends, float(energy.max()), moved, float(twist.max()))


def _moved(looked: Sequence[Looked]) -> float:
    """The longest diagonal of a box around all places of a port, while the same bodies were looked at."""
    by_names: dict[tuple[str, ...], list[Array]] = {}
    for one in looked:
        by_names.setdefault(one.names, []).append(one.places)
    boxes = (lengths(np.ptp(np.array(places), axis=0)) for places in by_names.values())
    return max((float(box.max(initial=0.0)) for box in boxes), default=0.0)


def _lasting(series: Mapping[str, Array], ticks: Indices, row: int, at: Indices, dt: float) -> tuple[Array, Array]:
    """How much of an acceleration lasts for a step, and how far a step goes beside its velocities [m]; 1 and 0 where only every
    so many-th tick was recorded.

    A light body that a stiff damper lets go is accelerated beyond measure for far less than a step, in which it may go its way.
    """
    q, v, a = (series[key][:, row].reshape(len(series[key]), -1) for key in "qva")
    acceleration, count = lengths(a[at]), len(ticks)
    changed, beside, known = np.zeros(len(at)), np.zeros(len(at)), np.ones(len(at), bool)
    for way in (-1, 1):
        other = np.clip(at + way, 0, count - 1)
        next_to = abs(ticks[other] - ticks[at]) == 1
        known &= next_to | (other == at)
        changed = np.maximum(changed, lengths(v[other] - v[at]))
        beside = np.maximum(beside, next_to * lengths(q[other] - q[at] - 0.5 * way * dt * (v[other] + v[at])))
    lasts = np.minimum(1.0, changed / np.where(acceleration > 0.0, dt * acceleration, np.inf))
    return np.where(known & (acceleration > 0.0), lasts, 1.0), beside


def _look(
    segment: Segment, at: Indices, bodies: Bodies, dt: float, pull: Pull, at_once: bool, damps: bool
) -> Iterator[Looked]:
    """At some samples of a segment."""
    largest, energy = np.zeros((4, len(at))), np.zeros(len(at))
    places: list[Array] = []
    held, chosen = sum(len(names) for names, _ in segment.bodies), chosen_of(segment, BODIES)
    acquainted((name for name, _, _ in chosen), bodies)
    for name, row, series in chosen:
        q, v, a = (series[key][at, row] for key in "qva")
        energy += bodies[name].kinetic_energy(q, v)
        found = bends_of(bodies[name], q, v, a, pull(name), at_once=at_once)
        if damps:
            lasts, beside = _lasting(series, segment.ticks[: segment.used], row, at, dt)
            found = found._replace(bend=np.maximum(found.bend * lasts, SAGITTA_DIVISOR * beside / dt**2))
        largest = np.maximum(largest, found[:4])
        places += found.places
    speed, bending, bend, twist = largest
    times, energy = segment.ticks[at] * dt, energy * (held / max(len(chosen), 1))
    names = tuple(name for name, _, _ in chosen)
    stood = np.stack(places, axis=1) if places else np.zeros((len(at), 0, 1))
    for k in range(len(at)):
        seen = (speed[k], bend[k] * dt**2, bending[k], energy[k], twist[k] * dt**2)
        yield Looked(times[k], *seen, names, stood[k])


PORTS = 4  # of a body that are looked at
FREE_FALL_TOLERANCE = 1e-6  # of what acts: a mass centre that departs from free fall by no more flies, and errs nowhere


class PathCurvature(NamedTuple):
    """The largest of any port at some samples, (samples,)."""

    speed: Array  # [m/s]
    bending: Array  # the speed on paths that bend [m/s]: of what flies freely about its mass centre
    bend: Array  # the acceleration that errs [m/s^2]: of what flies freely about its mass centre, but for what turns steadily
    twist: Array  # the square of how fast a body turns in space where that errs [1/s^2]
    places: list[Array]  # of its ports [m], (samples, d) each


class FreeFlight(NamedTuple):
    """Velocity and acceleration of a mass centre where nothing but weight acts on a body, and else none, (samples, d)."""

    velocity: Array
    acceleration: Array
    flies: Flags


def bends_of(body: Body, q: Array, v: Array, a: Array, gravity: Array, *, at_once: bool) -> PathCurvature:
    """Of one body; `at_once`: under joints that hold at once, where a free turn about an axis is followed exactly in space too.

    Under springs what turns freely errs by how its turn changes, and by the moment of gyros, which is that of a tick.
    """
    motions = [body.port_motion(port, q, v, a) for port in body.port_names[:PORTS]]
    largest = max((float(lengths(acceleration).max()) for *_, acceleration in motions), default=0.0)
    flown, beside = _free_flight(body, q, v, a, gravity, largest), body.off_axis(q, v)
    spin = _spin(body, q, v, wanted=body.dimension == 3 or beside is not None)
    steady = flown.flies & (beside is not None)
    exact = steady & (at_once or body.dimension == 2)
    pace = lengths(spin) if beside is None else np.where(exact, beside, lengths(spin))
    speed, bending, bend, most = np.zeros((4, len(q)))
    for _, velocity, acceleration in motions:
        along = velocity - flown.velocity
        bent = acceleration - flown.acceleration - steady[:, None] * _turned(spin, along)
        twist = pace**2 * (lengths(along) > 0.0) * (body.dimension == 3)
        speed, bending = np.maximum(speed, lengths(velocity)), np.maximum(bending, lengths(along))
        bend, most = np.maximum(bend, lengths(bent) * ~exact), np.maximum(most, twist)
    return PathCurvature(speed, bending, bend, most, [place for place, *_ in motions])


def lengths(vectors: Array) -> Array:
    """Of each of them, (...,)."""
    length: Array = np.sqrt(np.square(vectors).sum(axis=-1))
    return length


def _free_flight(body: Body, q: Array, v: Array, a: Array, gravity: Array, largest: float) -> FreeFlight:
    """`largest`: acceleration of a port [m/s^2]."""
    velocity, acceleration = (body.momentum(q, rates) / body.total_mass for rates in (v, a))
    falls = lengths(acceleration - gravity) <= FREE_FALL_TOLERANCE * (float(lengths(gravity)) + largest)
    return FreeFlight(velocity * falls[:, None], acceleration * falls[:, None], falls)


def _spin(body: Body, q: Array, v: Array, *, wanted: bool) -> Array:
    """How a body turns [rad/s], (samples, 1 or 3), where that is wanted: in space it bends paths though no port goes round."""
    none = np.zeros((len(q), 2 * body.dimension - 3))
    if not wanted or not body.port_names:
        return none
    try:
        return np.nan_to_num(np.reshape(body.angular_velocity_of(body.port_names[0], q, v), none.shape))
    except ModelError:  # a kind that tells of no axes
        return none


def _turned(spin: Array, velocity: Array) -> Array:
    """The acceleration of what goes round with such a velocity while the spin stays."""
    if spin.shape[-1] == 1:
        return np.asarray(spin * velocity[:, ::-1] * np.array([-1.0, 1.0]))
    return np.asarray(np.cross(spin, velocity))
