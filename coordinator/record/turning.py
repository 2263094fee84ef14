"""Angles, ways and efforts along the one axis of a hinge, a slide, a drive or a motor, signed, over the samples of a run.

Everything along one axis of a run: angles, ways and distances of hinges, slides, drives and springs, and efforts.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coordinator.record.lifetimes import Ever, Flags
from coordinator.record.recorder import Segment
from coordinator.record.run import Run
from coordinator.record.sensors import Exerted, counted_turns, exerted, worked_out
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.joint import Joint, unit
from modular.names import missing
from modular.port import GROUND

MAX_AXIS_DEVIATION = 0.02  # how far an axis may lean away before a turn is no turn about it


@dataclass(frozen=True)
class Held:
    """A joint or force between two ports, and the samples at which it is there."""

    name: str
    component: Any
    first: str
    second: str
    at: Array | None  # where its point on the ground is, where that was said [m]
    there: Flags

    @property
    def begin(self) -> int:
        """The first sample."""
        return int(np.argmax(self.there))


def angle(run: Run, name: str, ever: Ever | None = None) -> Array:
    """By how much the second side of a joint or force has turned about its axis against the first [rad], (n,).

    Counted from where it stood when it was made, over any number of turns, positive about the axis (in the plane about z); NaN
    while it was not there. Where samples come less often than half turns, angular velocities tell how many turns lie between; a
    warning says where these leave it open.
    """
    held = _held(run, name, ever)
    first = _axes(run, held.first)
    seen, axis = np.asarray(np.einsum("nij,nkj->nik", first, _axes(run, held.second))), _axis_of_first(run, held, first)
    since = np.einsum("nij,kj->nik", seen, seen[held.begin])  # how the second side has turned, in the axes of the first
    if seen.shape[-1] == 2:
        turn = np.arctan2(since[:, 1, 0], since[:, 0, 0])
    else:
        leans = np.linalg.norm(np.einsum("j,nji->ni", axis, since) - axis, axis=1)[held.there]
        if leans.max(initial=0.0) > MAX_AXIS_DEVIATION:
            raise ModelError(
                f"'{name}' ({type(held.component).__name__}) does not turn about one axis; take coordinator.record.sensors.angle "
                "with two ports."
            )
        sine = 0.5 * np.einsum("nij,kij,k->n", since, _turners(), axis)
        turn = np.arctan2(sine, 0.5 * (np.trace(since, axis1=1, axis2=2) - 1.0))
    found = np.full(len(run), np.nan)
    rate = _turning_rate(run, held, first, axis)[held.there]
    found[held.there] = counted_turns(run, f"'{name}'", turn[held.there], rate, held.there)
    return np.asarray(found - found[held.begin])


def way(run: Run, name: str, ever: Ever | None = None) -> Array:
    """How far the second side of a joint or force has gone along its axis of the first [m], (n,), since it was made.

    Where what it measures is a distance, by how much that has grown.
    """
    held = _held(run, name, ever)
    measures = _measures(held.component)
    if "distance" in measures:
        apart = distance(run, name, ever)
        return np.asarray(apart - apart[held.begin])
    if "way" not in measures:
        raise ModelError(
            f"'{name}' ({type(held.component).__name__}) does not slide along one axis; take run.angle where it "
            "turns, or places "
            "of its ports (run.position)."
        )
    gone = _place(run, held.second) - _place(run, held.first)
    along = np.einsum("ni,ni->n", gone, _axis_of_held(run, held))
    return np.asarray(np.where(held.there, along - along[held.begin], np.nan))


def distance(run: Run, name: str, ever: Ever | None = None) -> Array:
    """How far the points of the two sides of a joint or force are apart [m], (n,)."""
    held = _held(run, name, ever)
    between = _place(run, held.second, held.at) - _place(run, held.first, held.at)
    return np.where(held.there, np.linalg.norm(between, axis=1), np.nan)


def effort(run: Run, name: str, ever: Ever | None = None, wrench: Array | None = None) -> Array:
    """What a drive, a motor, or another force between two ports does along its coordinate, (n,): positive makes it larger.

    A torque about the axis [N m] where the coordinate is an angle, a force along the axis where it is a way, and one that
    pushes apart where it is a distance [N]. A force is worked out as `exerted` does, unless its `wrench` is known.
    """
    held = _held(run, name, ever)
    if isinstance(held.component, Joint):
        if not held.component.drive:
            raise ModelError(
                f"joint '{name}' ({type(held.component).__name__}) is not a drive; run.reaction('{name}') has its "
                "reaction."
            )
        if len(held.component.coordinates) != 1:
            raise ModelError(f"joint '{name}' drives more than one coordinate; run.reaction('{name}') has all of them.")
        return _along(run, held, held.component.coordinates[0], run.reaction(name))
    if held.component.coordinate is None:
        raise ModelError(
            f"force '{name}' ({type(held.component).__name__}) acts along no single coordinate; "
            f"coordinator.record.sensors.exerted(run, '{name}') has all of it."
        )
    return _along(run, held, held.component.coordinate, exerted(run, name) if wrench is None else wrench)


def _along(run: Run, held: Held, coordinate: str, wrench: Array) -> Array:
    """Force and moment on the second side, along a coordinate."""
    d = len(run.model["gravity"])
    if coordinate == "angle":
        moment = wrench[:, d:]
        return np.asarray(moment[:, 0] if d == 2 else np.einsum("ni,ni->n", moment, _axis_of_held(run, held)))
    if coordinate == "way":
        return np.asarray(np.einsum("ni,ni->n", wrench[:, :d], _axis_of_held(run, held)))
    between = _place(run, held.second, held.at) - _place(run, held.first, held.at)
    length = np.linalg.norm(between, axis=1)
    apart = np.einsum("ni,ni->n", wrench[:, :d], between)
    return np.asarray(np.divide(apart, length, where=length > 0.0, out=np.where(np.isnan(length), np.nan, 0.0)))


def axis_in_world(run: Run, name: str) -> Array:
    """The axis of a joint or force, which its first side carries, (n, d)."""
    return _axis_of_held(run, _held(run, name, None))


def angular_velocity(run: Run, of: str) -> Array:
    """How fast a body, or a port of it ("rod.end"), turns, in the world [rad/s], (n,) in the plane, else (n, 3)."""
    owner, dot, port = of.partition(".")
    q, v, _ = run.state(owner)
    body = run.bodies[owner]
    if dot and port not in body.port_names:
        raise ModelError(missing("port", port, body.port_names, f"body '{owner}'"))
    if not dot and not body.port_names:
        raise ModelError(f"body '{owner}' has no port whose axes could be looked at.")
    return body.angular_velocity_of(port if dot else body.port_names[0], q, v)


# --- the parts of it -------------------------------------------------------------------------------------------------


def _held(run: Run, name: str, ever: Ever | None) -> Held:
    """As the model describes it, or an event of the model makes it."""
    known = Ever(run) if ever is None else ever
    made, there = known[name], known.there(name)
    component, ports = made.component, made.ports
    if isinstance(component, Force):
        ports = ports[: component.driven]
        if len(ports) != 2:
            raise ModelError(
                f"force '{name}' acts at {len(ports)} port{'s' * (len(ports) != 1)}, not along a line between two."
            )
    for owner in made.owners:
        there = there & np.isfinite(run.state(owner)[0]).reshape(len(run), -1).all(axis=1)
    at = None if made.at is None else np.array(made.at, float)
    return Held(name, component, ports[0], ports[1], at, there)


def _measures(component: Any) -> tuple[str, ...]:
    """What it measures along its axis, or drives: "angle", "way", "distance"."""
    if isinstance(component, Joint):
        return component.coordinates
    return () if component.coordinate is None else (component.coordinate,)


def _axes(run: Run, port: str) -> Array:
    d = len(run.model["gravity"])
    return np.broadcast_to(np.eye(d), (len(run), d, d)) if port.partition(".")[0] == GROUND else run.axes(port)


def _place(run: Run, port: str, at: Array | None = None) -> Array:
    """Where a port is; one of the ground where it was placed, or at the origin."""
    if port.partition(".")[0] == GROUND:
        d = len(run.model["gravity"])
        return np.broadcast_to(np.zeros(d) if at is None else at, (len(run), d))
    return run.position(port)


def _turning_rate(run: Run, held: Held, first: Array, axis: Array) -> Array:
    """How fast the second side turns about its axis against the first [rad/s], (n,); `first`: axes of the first side, (n, d, d)."""
    rates = [
        0.0 if port.partition(".")[0] == GROUND else angular_velocity(run, port) for port in (held.first, held.second)
    ]
    between = np.asarray(rates[1] - rates[0])
    return between if between.ndim == 1 else np.einsum("ni,nji,j->n", between, first, axis)


def _axis_of_first(run: Run, held: Held, axes: Array) -> Array:
    """The axis by its components along the axes of the first side, which carries it, (n, d, d)."""
    first, begin = axes[held.begin], held.begin
    given, d = (
        held.component.line
        if isinstance(held.component, Force)
        else getattr(held.component, "axis", getattr(held.component, "normal", None)),
        len(first),
    )
    if d == 2 and given is None:
        return np.array([1.0, 0.0])
    if given is None:
        owner = held.second if held.first.partition(".")[0] == GROUND else held.first
        world = _axes(run, owner)[begin][2]
    else:
        world = unit(held.name, given, d)
    return np.asarray(first @ world)


def _axis_of_held(run: Run, held: Held) -> Array:
    axes = _axes(run, held.first)
    return np.asarray(np.einsum("i,nij->nj", _axis_of_first(run, held, axes), axes))


def _turners() -> Array:
    """E with E_kij R_ij = twice the sine of the turn R, along its axis."""
    found = np.zeros((3, 3, 3))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        found[k, j, i], found[k, i, j] = 1.0, -1.0
    return found


TOLD = {"angle": angle, "way": way, "distance": distance}
UNITS = {"angle": "rad", "way": "m", "distance": "m"}
EFFORTS = {"angle": "N m", "way": "N", "distance": "N"}
Part = list[tuple[list[str], dict[str, Array]]]


@dataclass(frozen=True)
class Column:
    """One series of a joint or force along its axis."""

    of: str
    what: str  # "angle", "way", "distance", "torque", "effort"
    unit: str
    time: Array  # [s], (n,)
    values: Array


def along_axes(run: Run) -> list[Column]:
    """All of it, in the order of the model; what cannot be told of a run is left out."""
    ever = Ever(run)
    moves, acts = _by_name(coordinates(run, ever)), _by_name(efforts(run, ever))
    return [column for name in ever.names for column in (*moves.get(name, ()), *acts.get(name, ()))]


def anything_acts(run: Run) -> bool:
    """Whether there may be efforts: at a glance, without making the model again."""
    return bool(run.forces) or any(form.get("drives", True) for form in run.forms.values())


def coordinates(run: Run, ever: Ever | None = None, names: Sequence[str] | None = None) -> list[Column]:
    """Angles and ways since they were made, and distances; of all, or of some."""
    known = Ever(run) if ever is None else ever
    found = []
    for name in known.names if names is None else names:
        component = known[name].component
        ways = component.coordinates if isinstance(component, Joint) else (component.coordinate,)
        for coordinate in ways:
            if coordinate in TOLD:
                with suppress(ModelError):  # a rod without axes, or a turn about none
                    found.append(
                        Column(name, coordinate, UNITS[coordinate], run.time, TOLD[coordinate](run, name, known))
                    )
    return found


def efforts(run: Run, ever: Ever | None = None) -> list[Column]:
    """What drives, motors and springs do along them."""
    known = Ever(run) if ever is None else ever
    forces = _forces(run, known)
    found = []
    for name in known.names:
        component = known[name].component
        if isinstance(component, Joint) and not (component.drive and len(component.coordinates) == 1):
            continue
        if isinstance(component, Force) and name not in forces:
            continue
        coordinate = component.coordinates[0] if isinstance(component, Joint) else component.coordinate
        wrench = None if isinstance(component, Joint) else forces[name].wrench
        what = "torque" if coordinate == "angle" else "effort"
        with suppress(ModelError):
            found.append(Column(name, what, EFFORTS[coordinate], run.time, effort(run, name, known, wrench)))
    return found


def some_samples(run: Run, most: int) -> Run:
    """The run with no more samples than about so many, evenly spread, and those with which something was made."""
    every = max(1, -(-len(run) // most))
    if every == 1:
        return run

    def some(part: Part, used: int) -> Part:
        return [(names, {key: array[:used:every] for key, array in series.items()}) for names, series in part]

    segments = []
    for segment in run.segments:
        used = segment.used
        ticks = segment.ticks[:used:every]
        bodies, joints, forces = some(segment.bodies, used), some(segment.joints, used), some(segment.forces, used)
        segments.append(Segment(ticks, bodies, joints, forces, segment.closed, len(ticks)))
    return replace(run, segments=segments)


def _by_name(columns: Sequence[Column]) -> dict[str, list[Column]]:
    found: dict[str, list[Column]] = {}
    for column in columns:
        found.setdefault(column.of, []).append(column)
    return found


def _forces(run: Run, ever: Ever) -> dict[str, Exerted]:
    """What forces along one coordinate did."""
    found: dict[str, Exerted] = {}
    names = [n for n in ever.names if isinstance(f := ever[n].component, Force) and f.coordinate is not None]
    try:
        return worked_out(run, names, ever)
    except ModelError:  # of one of them samples do not tell it
        for name in names:
            try:
                found |= worked_out(run, [name], ever)
            except ModelError:
                continue
    return found
