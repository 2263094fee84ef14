"""Everything along one axis of a run: angles, ways and distances of hinges, slides, drives and springs, and efforts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from coordinator.record.ever import Ever
from coordinator.record.recorder import Segment
from coordinator.record.run import Run
from coordinator.record.sensors import Exerted, worked_out
from coordinator.record.turning import angle, distance, effort, way
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.joint import Joint

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
