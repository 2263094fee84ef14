"""Where bodies, joints and free ends of a run are, for drawing."""

from __future__ import annotations

import bisect
from collections.abc import Container, Mapping
from functools import reduce

import numpy as np
import numpy.typing as npt

from components.bodies.subassembly.description import Subassembly
from coordinator.record.across import Table, joints_there, once, port_places
from coordinator.record.run import Run
from modular.body import Body
from modular.elements import Array, Indices
from modular.port import GROUND
from scenarios.report.touching import outlines, touching

Places = Mapping[str, Array]  # of ports
Flags = npt.NDArray[np.bool_]
CLOSE = 5e-4  # of the extent: less than a pixel
STAYS = 0.02  # of the extent: a point that goes no farther stays where it is, but for what its joint leaves open


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
        return np.concatenate([_piece(described, name, state) for name in described.inner_bodies], axis=1)
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
    ports = [
        body.port_motion(f"{name}.{port}", state[0], state[1], state[2])[0] for port in body.inner_bodies[name].ports
    ]
    centre = body.port_motion(f"{name}.", state[0], state[1], state[2])[0]
    gap = np.full_like(centre, np.nan)
    points = [*ports, gap] if len(ports) == 2 else [point for port in ports for point in (centre, port, gap)]
    return np.stack(points or [centre, gap], axis=1)


def stroke(run: Run, bodies: list[str], at: Indices) -> Array:
    """Several bodies as one stroke, lifted (NaN) between them, (samples, points, d)."""
    places = port_places(run, at)
    rows = places.rows
    points = np.concatenate([places.whole, np.full_like(places.whole[:1], np.nan)])  # the last lifts the pen
    shaped, inner_bodies, lines = touching(run), [], list[int]()
    for body in bodies:
        described = run.bodies[body]
        ports = described.port_names
        if len(ports) == 2 and not (body in shaped or described.skeleton or isinstance(described, Subassembly)):
            lines += (rows[f"{body}.{ports[0]}"], rows[f"{body}.{ports[1]}"], -1)
            continue
        inner_bodies += [_drawn(points, lines), outline(run, body, at, places)]
        lines = [-1]
    return np.concatenate([*inner_bodies, _drawn(points, lines)], axis=1)


def _drawn(points: Array, lines: list[int]) -> Array:
    """Points by their rows as a stroke, (samples, points, d), which goes on without a lift (-1) where that leads nowhere."""
    rows = np.array(lines, np.int64)
    lifts = np.flatnonzero(rows[1:-1] == -1) + 1
    far = np.abs(points[rows[lifts + 1]] - points[rows[lifts - 1]]).max(axis=(1, 2), initial=0.0)  # NaN where not there
    extent = np.fmax.reduce(np.fmax.reduce(points) - np.fmin.reduce(points), axis=None)
    needless = lifts[far <= CLOSE * extent]
    return np.swapaxes(points[np.delete(rows, [*needless, *(needless + 1)])], 0, 1)


# --- joints ----------------------------------------------------------------------------------------------------------


@once
def joint_lifetimes(run: Run) -> dict[str, list[tuple[int, str, tuple[str, ...]]]]:
    """Per joint, from which tick on it had which class and held which ports; what was not recorded is left out."""
    lifetimes: dict[str, list[tuple[int, str, tuple[str, ...]]]] = {
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
            lifetimes.setdefault(event["name"], []).append((event["tick"], kind, ports))
    return lifetimes


def joint_classes(run: Run) -> dict[str, str]:
    """The last known class of each joint, such as "components:Revolute"; empty where it was not recorded."""
    return {name: lifetimes[-1][1] for name, lifetimes in joint_lifetimes(run).items()}


def exists(run: Run, joint: str) -> Flags:
    """At which samples a joint is there, (n,)."""
    return ~np.isnan(run.violation(joint)[:, 0])


def joint_points(run: Run, at: Indices, only: Container[str] | None = None) -> dict[str, Array]:
    """Where joints are at some samples, NaN while they do not exist, (samples, d); all, or those that are named."""
    points: dict[str, Array] = {}
    present, places = joints_there(run), port_places(run, at)
    for name, lifetimes in joint_lifetimes(run).items():
        if name not in present or (only is not None and name not in only):
            continue
        there = np.isfinite(present[name][at])
        place = np.full((len(at), dimension(run)), np.nan)
        for rows, ports in _rows_of(lifetimes, run.ticks[at]):
            port = next((p for p in reversed(ports) if p != GROUND), None)
            if port is not None:
                place[rows] = places[port][rows]
        place[~there] = np.nan
        points[name] = place
    return points


def on_ground(run: Run) -> set[str]:
    """Joints that hold something to the ground."""
    return {
        name for name, lifetimes in joint_lifetimes(run).items() if any(GROUND in ports for _, _, ports in lifetimes)
    }


def stay(points: Array, extent: float) -> bool:
    """Whether a point, (samples, d), is at one place as long as it is there."""
    there = points[np.isfinite(points).all(axis=1)]
    return bool(len(there)) and float(np.ptp(there, axis=0).max()) <= STAYS * extent


def free_ports(run: Run, at: Indices) -> dict[str, Flags]:
    """Ports that are held by no joint at some of these samples, and at which, (samples,)."""
    number = port_places(run, at).rows
    names = list(number)
    held = np.zeros((len(names) + 1, len(at)), bool)  # the last row is for the ground
    there = joints_there(run)
    present, ticks = np.isfinite(there.whole[:, at]), run.ticks[at]
    always: list[tuple[tuple[str, ...], int]] = []  # ports, and joints that hold them from the start on
    lifetimes_of = joint_lifetimes(run)
    for k, name in enumerate(there):
        lifetimes = lifetimes_of.get(name, [])
        if len(lifetimes) == 1 and lifetimes[0][0] == 0:
            always.append((lifetimes[0][2], k))
            continue
        for rows, ports in _rows_of(lifetimes, ticks):
            for port in ports:
                held[number.get(port, -1), rows] |= present[k, rows]
    if always:
        ports_held = [number.get(port, -1) for ports, _ in always for port in ports]
        by = np.repeat([k for _, k in always], [len(ports) for ports, _ in always])
        np.logical_or.at(held, ports_held, present[by])
    loose = ~held[:-1]
    return {names[k]: loose[k] for k in np.flatnonzero(loose.any(axis=1))}


def _rows_of(lifetimes: list[tuple[int, str, tuple[str, ...]]], ticks: Indices) -> list[tuple[slice, tuple[str, ...]]]:
    """Which samples fall into which lifetime."""
    starts = [bisect.bisect_left(ticks.tolist(), tick) for tick, _, _ in lifetimes] + [len(ticks)]
    return [(slice(starts[k], starts[k + 1]), ports) for k, (_, _, ports) in enumerate(lifetimes)]


# --- paths -----------------------------------------------------------------------------------------------------------


def paths(run: Run, most: int) -> tuple[dict[str, Array], int]:
    """Paths of the ports one looks at, (n, d) each, and how many moving points there are in all.

    Ports that stay where they are are left out, and of two that a joint keeps together all the time one stands for both.
    Free ends come first; the others are taken evenly along the model.
    """
    few = samples(run, 200)
    places = port_places(run, few)
    ranges = travels(places)
    most_travelled = max(ranges.values(), default=0.0)
    rows = places.rows
    pairs = [ports for lifetimes in joint_lifetimes(run).values() for _, _, ports in lifetimes if GROUND not in ports]
    first, second = (places.whole[[rows[ports[side]] for ports in pairs]] for side in (0, 1))
    apart = np.abs(first - second).max(axis=(1, 2), initial=0.0)  # NaN where one was not there
    doubles: set[str] = set()
    for (one, other, *_), close in zip(pairs, (apart <= 1e-2 * most_travelled + 1e-12).tolist(), strict=True):
        if close and one not in doubles:
            doubles.add(other)
    single = [port for port in places if port not in doubles]
    moving = [port for port in single if ranges[port] > 1e-3 * most_travelled] or single
    eligible = set(moving)
    chosen = [port for port in free_ports(run, few) if port in eligible][:most]
    rest = [port for port in moving if port not in chosen]
    left = min(most - len(chosen), len(rest))
    chosen += [rest[k] for k in np.linspace(0, len(rest) - 1, left).round().astype(int)]
    return {port: run.position(port) for port in moving if port in chosen}, len(moving)


def travels(places: Table) -> dict[str, float]:
    """Largest side of the box that each point stays in while it is there [m]."""
    sides = np.zeros(len(places))
    for axis in range(places.whole.shape[-1]):
        one_by_one = places.whole[
            ..., axis
        ].T  # all places at a sample: along the samples of each it takes ten times as long
        sides = np.fmax(sides, reduce(np.fmax, one_by_one) - reduce(np.fmin, one_by_one))  # NaN: not there
    return dict(zip(places, sides.tolist(), strict=True))
