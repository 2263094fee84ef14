"""Where bodies, joints and free ends of a run are, for drawing."""

from __future__ import annotations

import bisect
from collections.abc import Container, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from components.bodies.subassembly import Subassembly
from coordinator.record.across import port_places
from coordinator.record.run import Run
from modular.body import Body
from modular.elements import Array, Indices
from modular.port import GROUND
from scenarios.report.touching import outlines

Places = Mapping[str, Array]  # of ports
Flags = npt.NDArray[np.bool_]


def dimension(run: Run) -> int:
    """2 in the plane, 3 in space."""
    return len(run.model["gravity"])


def samples(run: Run, most: int) -> Indices:
    """At most so many samples, evenly spread from the first to the last."""
    return np.unique(np.linspace(0, len(run) - 1, min(most, len(run))).round().astype(np.int64))


def outline(run: Run, body: str, at: Indices, places: Places | None = None) -> Array:
    """A body as one stroke through its ports, (samples, points, d), and along the edges of what touches on it.

    Two ports make a line; with one or several the stroke goes out from the mass centre to each, lifted (NaN) in between. Of a
    subassembly all bodies inside are drawn so; what bends has a skeleton, along which the stroke goes.
    """
    return np.concatenate([_bones(run, body, at, places), *outlines(run, body, at)], axis=1)


def _bones(run: Run, body: str, at: Indices, places: Places | None) -> Array:
    """The stroke through its ports."""
    described = run.bodies[body]
    if described.skeleton:
        return _along(described, [array[at] for array in run.state(body)])
    if isinstance(described, Subassembly):
        state = [array[at] for array in run.state(body)]
        return np.concatenate([_piece(described, name, state) for name in described.pieces], axis=1)
    names = [f"{body}.{port}" for port in described.port_names]
    ports = [run.position(name)[at] if places is None else places[name] for name in names]
    if len(ports) == 2:
        return np.stack(ports, axis=1)
    centre = run.mass_centre(body)[at]
    gap = np.full_like(centre, np.nan)
    return np.stack([point for port in ports for point in (centre, port, gap)] or [centre, centre], axis=1)


def _along(body: Body, state: list[Array]) -> Array:
    """Its skeleton as one stroke, lifted (NaN) where it does not go on."""
    points: list[Array] = []
    last = ""
    for one, other in body.skeleton:
        if one != last:
            start = body.port_motion(one, *state)[0]
            points += [np.full_like(start, np.nan), start] if points else [start]
        points.append(body.port_motion(other, *state)[0])
        last = other
    return np.stack(points, axis=1)


def _piece(body: Subassembly, name: str, state: list[Array]) -> Array:
    """A body inside as one stroke, lifted (NaN) at its end."""
    ports = [body.port_motion(f"{name}.{port}", state[0], state[1], state[2])[0] for port in body.pieces[name].ports]
    centre = body.port_motion(f"{name}.", state[0], state[1], state[2])[0]
    gap = np.full_like(centre, np.nan)
    points = [*ports, gap] if len(ports) == 2 else [point for port in ports for point in (centre, port, gap)]
    return np.stack(points or [centre, gap], axis=1)


def stroke(run: Run, bodies: list[str], at: Indices) -> Array:
    """Several bodies as one stroke, lifted (NaN) between them, (samples, points, d)."""
    pieces = []
    places = port_places(run, at)
    for body in bodies:
        piece = outline(run, body, at, places)
        pieces += [piece, np.full_like(piece[:, :1], np.nan)]
    return np.concatenate(pieces, axis=1)


# --- joints ----------------------------------------------------------------------------------------------------------


def joint_spells(run: Run) -> dict[str, list[tuple[int, str, tuple[str, ...]]]]:
    """Per joint, from which tick on it had which class and held which ports; what was not recorded is left out."""
    spells: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {
        name: [(0, data["class"], tuple(data["between"]))] for name, data in run.model["joints"].items()
    }
    planned: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for scheduled in sorted(run.model["events"], key=lambda data: data.get("at", np.inf)):
        for event in scheduled["do"]:
            if event["class"] == "modular:Join":
                planned.setdefault(event["name"], []).append(
                    (event["joint"]["class"], (event["first"], event["second"]))
                )
    for event in run.events:
        if event["kind"] != "join":
            continue
        waiting = planned.get(event["name"], [])
        kind, ports = (waiting.pop(0) if len(waiting) > 1 else waiting[0]) if waiting else ("", ())
        kind, ports = event.get("class", kind), tuple(event.get("between", ports))
        if ports:
            spells.setdefault(event["name"], []).append((event["tick"], kind, ports))
    return spells


def joint_classes(run: Run) -> dict[str, str]:
    """The last known class of each joint, such as "components:Revolute"; empty where it was not recorded."""
    return {name: spells[-1][1] for name, spells in joint_spells(run).items()}


def exists(run: Run, joint: str) -> Flags:
    """At which samples a joint is there, (n,)."""
    return ~np.isnan(run.violation(joint)[:, 0])


def joint_points(run: Run, at: Indices, only: Container[str] | None = None) -> dict[str, Array]:
    """Where joints are at some samples, NaN while they do not exist, (samples, d); all, or those that are named."""
    points: dict[str, Array] = {}
    recorded, places = set(run.joints), port_places(run, at)
    for name, spells in joint_spells(run).items():
        if name not in recorded or (only is not None and name not in only):
            continue
        there = exists(run, name)[at]
        place = np.full((len(at), dimension(run)), np.nan)
        for rows, ports in _rows_of(spells, run.ticks[at]):
            port = next((p for p in reversed(ports) if p != GROUND), None)
            if port is not None:
                place[rows] = places[port][rows]
        place[~there] = np.nan
        points[name] = place
    return points


def on_ground(run: Run) -> set[str]:
    """Joints that hold something to the ground."""
    return {name for name, spells in joint_spells(run).items() if any(GROUND in ports for _, _, ports in spells)}


def free_ports(run: Run, at: Indices) -> dict[str, Flags]:
    """Ports that are held by no joint at some of these samples, and at which, (samples,)."""
    held: dict[str, Any] = {}
    recorded = set(run.joints)
    for name, spells in joint_spells(run).items():
        if name not in recorded:
            continue
        there = exists(run, name)[at]
        for rows, ports in _rows_of(spells, run.ticks[at]):
            for port in ports:
                held.setdefault(port, np.zeros(len(at), bool))[rows] |= there[rows]
    free = {}
    for body, description in run.bodies.items():
        for port in description.port_names:
            loose = ~held.get(f"{body}.{port}", np.zeros(len(at), bool))
            if loose.any():
                free[f"{body}.{port}"] = loose
    return free


def _rows_of(spells: list[tuple[int, str, tuple[str, ...]]], ticks: Indices) -> list[tuple[slice, tuple[str, ...]]]:
    """Which samples fall into which spell."""
    starts = [bisect.bisect_left(ticks.tolist(), tick) for tick, _, _ in spells] + [len(ticks)]
    return [(slice(starts[k], starts[k + 1]), ports) for k, (_, _, ports) in enumerate(spells)]


# --- paths -----------------------------------------------------------------------------------------------------------


def paths(run: Run, most: int) -> tuple[dict[str, Array], int]:
    """Paths of the ports one looks at, (n, d) each, and how many moving points there are in all.

    Ports that stay where they are are left out, and of two that a joint keeps together all the time one stands for both.
    Free ends come first; the others are taken evenly along the model.
    """
    few = samples(run, 200)
    places = port_places(run, few)
    ranges = {port: travel(place) for port, place in places.items()}
    most_travelled = max(ranges.values(), default=0.0)
    doubles = set()
    for spells in joint_spells(run).values():
        for _, _, ports in spells:
            if GROUND not in ports and ports[0] not in doubles:
                apart = np.abs(places[ports[0]] - places[ports[1]])
                if not np.isnan(apart).any() and apart.max() <= 1e-2 * most_travelled + 1e-12:
                    doubles.add(ports[1])
    single = [port for port in places if port not in doubles]
    moving = [port for port in single if ranges[port] > 1e-3 * most_travelled] or single
    chosen = [port for port in free_ports(run, few) if port in moving][:most]
    rest = [port for port in moving if port not in chosen]
    left = min(most - len(chosen), len(rest))
    chosen += [rest[k] for k in np.linspace(0, len(rest) - 1, left).round().astype(int)]
    return {port: run.position(port) for port in moving if port in chosen}, len(moving)


def travel(place: Array) -> float:
    """Largest side of the box that a point stays in while it is there [m]."""
    there = place[np.isfinite(place).all(axis=1)]
    return float(np.ptp(there, axis=0).max()) if len(there) else 0.0
