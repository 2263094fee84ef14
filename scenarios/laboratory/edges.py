"""Joints and forces of a run as edges of a model, each from the tick on at which it was made: what a film is drawn from.

A run tells the model as it was given, what was planned, what was done by hand and when it came to pass; samples tell who was
there. What no file can tell, such as where a hand drew to, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from coordinator.record.run import Run
from modular.assembly import ForceEdge, JointEdge
from modular.component import Component, find_class
from modular.errors import ModelError
from modular.joint import Joint
from modular.port import PortName

Edge = TypeVar("Edge", JointEdge, ForceEdge)
Lifetimes = dict[str, list[tuple[int, Edge]]]  # by name, from which tick on it was so


class _Recorded(NamedTuple):
    """A joint or force as data."""

    part: Mapping[str, Any]
    ports: tuple[str, ...]
    at: Sequence[float] | None


def joints_of(run: Run) -> Lifetimes[JointEdge]:
    """Every joint that the run can tell."""

    def planned(data: Mapping[str, Any]) -> _Recorded:
        return _Recorded(data["joint"], (data["first"], data["second"]), data.get("at"))

    recorded = _recorded(run, ("joints", "between", "join"), "modular:Join", planned)
    return _edges(recorded, lambda name, data: _joint_edge(name, data, len(run.model["gravity"])))


def forces_of(run: Run) -> Lifetimes[ForceEdge]:
    """Every force that the run can tell."""

    def planned(data: Mapping[str, Any]) -> _Recorded:
        return _Recorded(data["force"], tuple(data["ports"]), data.get("at"))

    return _edges(_recorded(run, ("forces", "on", "apply"), "modular:Apply", planned), _force_edge)


def edge_at(lifetimes: Sequence[tuple[int, Edge]], tick: int) -> tuple[int, Edge]:
    """As it was at a tick, and from which tick on."""
    return next((lifetime for lifetime in reversed(lifetimes) if lifetime[0] <= tick), lifetimes[0])


# --- what a run tells ------------------------------------------------------------------------------------------------


def _recorded(
    run: Run, words: tuple[str, str, str], kind: str, planned: Callable[[Mapping[str, Any]], _Recorded]
) -> Iterator[tuple[str, int, _Recorded]]:
    """Names, ticks and data; `words`: of the part of the model, of its ports, and of what happens when one is made."""
    part, ports, happens = words
    for name, data in run.model.get(part, {}).items():
        fields = {key: value for key, value in data.items() if key not in (ports, "at", "breaks_at")}
        yield name, 0, _Recorded(fields, tuple(data[ports]), data.get("at"))
    scheduled = sorted(run.model.get("events", ()), key=lambda data: float(data.get("at", np.inf)))
    waiting = {True: _by_name(run.acts, kind, planned), False: _by_name(scheduled, kind, planned)}
    for event in run.events:
        if event["kind"] == happens:
            by_hand = event.get("by") == "hand"
            found = None
            if event.get("repeats") is not False:
                found = _next(waiting[by_hand].get(event["name"], []), tuple(event.get(ports, ())))
            if found is None and "class" in event and ports in event:
                found = _Recorded({"class": event["class"]}, tuple(event[ports]), None)
            if found is not None:
                yield event["name"], event["tick"], found


def _by_name(
    scheduled: Sequence[Mapping[str, Any]], kind: str, planned: Callable[[Mapping[str, Any]], _Recorded]
) -> dict[str, list[_Recorded]]:
    found: dict[str, list[_Recorded]] = {}
    for entry in scheduled:
        for event in entry["do"]:
            if event["class"] == kind:
                found.setdefault(event["name"], []).append(planned(event))
    return found


def _next(waiting: list[_Recorded], ports: tuple[str, ...]) -> _Recorded | None:
    """The first that fits the ports; it is used up where another one fits too, as what repeats stays."""
    fitting = [recorded for recorded in waiting if not ports or recorded.ports == ports]
    if len(fitting) > 1:
        waiting.remove(fitting[0])
    return fitting[0] if fitting else None


def _edges(
    recorded: Iterator[tuple[str, int, _Recorded]], edge: Callable[[str, _Recorded], Edge | None]
) -> Lifetimes[Edge]:
    found: Lifetimes[Edge] = {}
    for name, tick, data in recorded:
        made = edge(name, data)
        if made is not None:
            found.setdefault(name, []).append((tick, made))
    return found


def _joint_edge(name: str, recorded: _Recorded, dimension: int) -> JointEdge | None:
    """One whose data nobody here can read is drawn as an example of its class."""
    try:
        joint = Component.from_data(recorded.part)
    except ModelError:
        try:
            joint = find_class(recorded.part["class"]).example(dimension)  # type: ignore[attr-defined]
        except ModelError:
            return None
    if not isinstance(joint, Joint):
        return None
    first, second = (PortName.parse(port, name) for port in recorded.ports)
    return JointEdge(joint, *first, *second, None if recorded.at is None else tuple(recorded.at))


def _force_edge(name: str, recorded: _Recorded) -> ForceEdge | None:
    """One whose data nobody here can read, a law that cannot be imported, is not drawn."""
    try:
        force = Component.from_data(recorded.part)
    except ModelError:
        return None
    ports = tuple(PortName.parse(port, name) for port in recorded.ports)
    return ForceEdge(force, ports, None if recorded.at is None else tuple(recorded.at))
