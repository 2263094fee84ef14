"""How a mechanism looks: every body as sticks and balls, put together from points that move with it. Knows no viewer.

A body with two ports is a stick between them; any other is a star of sticks from its mass centre to its ports. Balls stand at mass
centres, or at the two masses of a rod that has them at its ends. Of a subassembly all bodies inside are drawn. In the plane
everything lies in the plane z = 0 of the page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from components.bodies.natural.description import NaturalBody
from components.bodies.natural.point_mass_rod import PointMassRod
from components.bodies.natural.rod import Rod
from components.bodies.subassembly.description import Subassembly
from coordinator.laboratory.ghost import GhostView
from coordinator.laboratory.snapshot import BodyStates, Plan, Snapshot
from modular.body import Body
from modular.elements import Array, Indices

THIN_RADIUS_SHARE, THICK_RADIUS_SHARE = 0.011, 0.03  # radii of sticks as shares of the size of the mechanism
BALL_RADIUS_SHARE = 0.045  # radius of the ball of a body of mean density, as a share of that size
Point = tuple[str, str]  # a body and its port; "" is its mass centre


@dataclass(frozen=True)
class Part:
    """A stick between two points, or a ball at one."""

    body: str
    first: str  # ports, or "body.port" inside; "" is the mass centre
    second: str | None  # None: a ball
    radius: float  # [m]


class Figure:
    """The parts of a plan, and where their points are in any snapshot of it."""

    def __init__(self, plan: Plan, snapshot: Snapshot | GhostView, size: float | None = None) -> None:
        self.plan = plan
        # [m]; given where a picture goes on: rods stay as thick
        self.size = size_of(snapshot) if size is None else size
        self.parts = [part for name, body in plan.bodies.items() for part in parts_of(name, body, self.size)]
        self.points: list[Point] = list(
            dict.fromkeys(
                (part.body, port) for part in self.parts for port in (part.first, part.second) if port is not None
            )
        )
        self._place = {point: k for k, point in enumerate(self.points)}
        self._own: dict[str, list[str]] = {}
        for owner, point in self.points:
            self._own.setdefault(owner, []).append(point)
        self._thickness: dict[Point, float] = {}
        for part in self.parts:
            for port in (part.first, part.second):
                if port is not None:
                    self._thickness[part.body, port] = max(part.radius, self._thickness.get((part.body, port), 0.0))
        self.sticks = [part for part in self.parts if part.second is not None]
        self.balls = [part for part in self.parts if part.second is None]
        self._ends = np.array(
            [[self._at(p.body, p.first), self._at(p.body, p.second or "")] for p in self.sticks], np.int64
        )
        self._ends = self._ends.reshape(-1, 2)
        self._centres = np.array([self._at(p.body, p.first) for p in self.balls], np.int64)
        self._maps: dict[tuple[str, ...], list[tuple[Indices, Indices, Array]]] = {}

    def _at(self, body: str, port: str) -> int:
        return self._place[(body, port)]

    def places(self, snapshot: Snapshot | GhostView) -> Array:
        """Where all points are, (points, 3)."""
        found = np.zeros((len(self.points), 3))
        for states in snapshot.bodies:
            q = states.q
            if q.ndim == 3 and all(isinstance(self.plan.bodies.get(name), NaturalBody) for name in states.names):
                numbers, rows, weights = self._map(states)
                if len(numbers):
                    found[numbers, : q.shape[2]] = np.einsum("ke,ked->kd", weights, q[rows])
            else:
                self._one_by_one(states, found)
        return found

    def ends(self, places: Array) -> tuple[Array, Array]:
        """Both ends of all sticks, (sticks, 3)."""
        return places[self._ends[:, 0]], places[self._ends[:, 1]]

    def centres(self, places: Array) -> Array:
        """Of all balls, (balls, 3)."""
        return places[self._centres]

    def of(self, places: Array, body: str) -> dict[str, Array]:
        """The points of one body by their ports."""
        return {port: places[k] for (owner, port), k in self._place.items() if owner == body}

    def is_port(self, body: str, port: str) -> bool:
        """Whether a point of a body is one that joints and forces can take hold of."""
        return port in self.plan.bodies[body].port_names

    def thickness(self, body: str, port: str) -> float:
        """Radius of the thickest part of a body at one of its ports [m]; 0 where nothing is drawn."""
        return self._thickness.get((body, port), 0.0)

    def _map(self, states: BodyStates) -> tuple[Indices, Indices, Array]:
        """Points of a stack: their numbers, rows of their bodies, and how they are put together."""
        key = tuple(states.names)
        known = self._maps.get(key)
        if known is None:
            row = {name: k for k, name in enumerate(states.names)}
            numbers, rows, weights = [], [], []
            for (body, port), number in self._place.items():
                if body in row:
                    described = self.plan.bodies[body]
                    assert isinstance(described, NaturalBody)
                    numbers.append(number)
                    rows.append(row[body])
                    weights.append(described.port_weights[port] if port else described.centre_weights)
            width = states.q.shape[1]
            known = [(np.array(numbers, np.int64), np.array(rows, np.int64), np.array(weights).reshape(-1, width))]
            self._maps = {key: known, **self._maps}
        return known[0]

    def _one_by_one(self, states: BodyStates, found: Array) -> None:
        """Of bodies that only say where one port is."""
        for row, name in enumerate(states.names):
            body = self.plan.bodies.get(name)
            if body is None:
                continue
            q, v = states.q[row], states.v[row]
            for port in self._own.get(name, ()):
                place = body.port_motion(port, q, v, v)[0] if port else body.mass_centre(q)
                found[self._place[(name, port)], : len(place)] = place


def parts_of(name: str, body: Body, size: float) -> list[Part]:
    """Sticks and balls of one body."""
    if isinstance(body, Subassembly):
        return parts_inside(name, body, size)
    ports, volume = body.port_names, 1.0 if body.led else max(body.total_mass, 1e-300)
    if isinstance(body, PointMassRod):
        first, second = body.masses
        return [
            Part(name, "start", "end", THIN_RADIUS_SHARE * size),
            *(Part(name, port, None, ball(mass / volume, size)) for port, mass in (("start", first), ("end", second))),
        ]
    radius = THIN_RADIUS_SHARE * size
    if isinstance(body, Rod) and len(body.start) == 3 and body.radius > 0:
        radius = float(np.clip(body.radius, THIN_RADIUS_SHARE * size, 0.2 * size))
    elif isinstance(body, Rod):
        radius = 0.5 * (THIN_RADIUS_SHARE + THICK_RADIUS_SHARE) * size
    if body.skeleton:
        return [Part(name, one, other, radius) for one, other in body.skeleton]
    if len(ports) == 2 and isinstance(body, Rod):
        return [Part(name, ports[0], ports[1], radius)]
    return [Part(name, "", None, ball(1.0, size)), *(Part(name, "", port, radius) for port in ports)]


def parts_inside(name: str, body: Subassembly, size: float) -> list[Part]:
    """Sticks and balls of all bodies inside."""
    outer = {place: port for port, place in body.parts.ports.items()}
    found = []
    for inner, piece in body.parts.bodies.items():
        for part in parts_of(inner, piece, size):
            first, second = (
                None if port is None else outer.get((inner, port), f"{inner}.{port}")
                for port in (part.first, part.second)
            )
            found.append(replace(part, body=name, first=first or "", second=second))
    return found


def ball(share: float, size: float) -> float:
    """Radius of a ball that holds a share of the mass of its body [m]."""
    return float(BALL_RADIUS_SHARE * size * max(share, 0.05) ** (1 / 3))


def size_of(snapshot: Snapshot | GhostView) -> float:
    """How large the mechanism is: the typical distance between the ports of a body, or of its bodies [m]."""
    places, spans = [], []
    for states in snapshot.bodies:
        for row, name in enumerate(states.names):
            body = snapshot.plan.bodies[name]
            q, v = states.q[row], states.v[row]
            own = [body.port_motion(port, q, v, v)[0] for port in body.port_names] or [body.mass_centre(q)]
            places += own
            spans.append(float(np.ptp(np.array(own), axis=0).max()))
            if len(spans) >= 200:  # enough to know
                break
    if not places:
        return 1.0
    extent = float(np.ptp(np.array(places), axis=0).max())
    longest = max(spans)
    if extent == 0.0:
        return 1.0  # one point, which says nothing of its size
    return max(min(extent, 4.0 * longest) if longest > 0 else extent, 1e-6)


def extent_of(places: Array) -> tuple[Array, float]:
    """Middle and largest side of the box around points [m]."""
    if not len(places):
        return np.zeros(3), 1.0
    low, high = places.min(axis=0), places.max(axis=0)
    return 0.5 * (low + high), max(float((high - low).max()), 1e-6)


def broadside(places: Array, up: Array) -> Array:
    """The level direction from which points are seen at their widest, turned a little so that depth is seen too."""
    across = np.linalg.svd(up[None])[2][1:]  # two level directions
    if np.linalg.det(np.vstack([across, up])) < 0:
        across = across[::-1]
    level = (places - places.mean(axis=0)) @ across.T if len(places) else np.zeros((1, 2))
    _, widths, axes = np.linalg.svd(level, full_matrices=False) if len(level) > 1 else (None, np.zeros(2), np.eye(2))
    wide = axes[0] if widths[0] > 0.0 else np.array([0.37, 0.93])
    angle = np.arctan2(wide[1], wide[0]) % np.pi - np.radians(65)
    return np.asarray(np.cos(angle) * across[0] + np.sin(angle) * across[1])


# --- poses of meshes -------------------------------------------------------------------------------------------------


def along(directions: Array) -> Array:
    """Unit quaternions (w, x, y, z) by the shortest turn from z to each direction, (n, 4)."""
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    d = np.divide(directions, length, out=np.tile([0.0, 0.0, 1.0], (len(directions), 1)), where=length > 0)
    found = np.column_stack([1.0 + d[:, 2], -d[:, 1], d[:, 0], np.zeros(len(d))])
    back = found[:, 0] < 1e-9
    found[back] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def in_space(points: Array) -> Array:
    """Points of the plane or of space as points of the page, (..., 3)."""
    if points.shape[-1] == 3:
        return points
    return np.concatenate([points, np.zeros((*points.shape[:-1], 3 - points.shape[-1]))], axis=-1)
