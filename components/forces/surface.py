"""Surfaces: shapes that touch whatever else has one; who may touch whom is found while they move.

Of two surfaces that come near each other the simulation makes a contact, and lets it go when they have parted
(coordinator/events/encounters.py); the pairs are looked for again as soon as one of them has strayed so far from where it was
looked at that somebody new might be near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np

from components.forces.broad_phase import above_plane, meeting, passing
from components.forces.contact import Contact, marks_of_shape
from components.forces.shapes import HALF_SPACE, HalfSpace, Shape, Sphere
from modular.assembly import Assembly
from modular.elements import GAIN_STEP, TIME, Array, Elements, Indices
from modular.force import Force
from modular.forces import ForceStack
from modular.loop import NO_FAILED_ROW, loop
from modular.side import Mark, Side
from modular.views import View

# ticks: so far ahead pairs are looked for, along straight ways, as long as most go no further than a share of their size
LEAST_AHEAD, MOST_AHEAD, SHARE_OF_WAY = 16.0, 1000.0, 0.5
TICKS_AHEAD = 6.0  # what comes within so many ticks is looked for before: a contact looks at three, and back at two
# how far a surface may stray from its way: a share of its size, and as far as one goes in so many ticks that blows have sped up
SHARE_OF_SIZE, TICKS_OF_A_BLOW = 0.2, 4.0


@dataclass(frozen=True)
class Surface(Force):
    """The shape of a body, or of the ground, that touches every other surface that comes near it.

    Not those of the same body, of bodies that a joint connects with it, of bodies named in `through`, and those with which a
    `Contact` between the same ports was declared. Of two surfaces that meet the friction is the geometric mean of both, the
    restitution the larger one. `Surface.all` gives them to many bodies at once.
    """

    shape: Shape
    friction: float = 0.0
    restitution: float | None = None
    through: Sequence[str] = ()

    @classmethod
    def all(
        cls,
        model: Assembly,
        shapes: Mapping[str, Shape | Sequence[Shape]],
        friction: float = 0.0,
        restitution: float | None = None,
        through: Sequence[str] = (),
    ) -> list[str]:
        """Give a model many of them; `shapes`: one or more by the port that carries them, or "ground". Returned are their names.

        They are called after their bodies: "box1-surface", the next one "box1-surface-2".
        """
        names = []
        for port, given in shapes.items():
            for shape in [given] if isinstance(given, Shape) else given:
                stem = name = f"{port.partition('.')[0]}-surface"
                taken, number = {*model.bodies, *model.joints, *model.forces}, 1
                while name in taken:
                    number += 1
                    name = f"{stem}-{number}"
                model.apply(name, cls(shape, friction, restitution, through), port)
                names.append(name)
        return names

    @property
    def sides(self) -> int:
        """One port."""
        return 1

    @property
    def on_ground(self) -> bool:
        """The ground may have surfaces."""
        return True

    @property
    def placed_by(self) -> str:
        """A surface of the ground stands in the world."""
        return "centre=… to the shape"

    @property
    def together(self) -> bool:
        """Those of one stack alone find each other."""
        return True

    def check(self, name: str, dimension: int) -> list[str]:
        """Shapes that are none, and numbers out of range."""
        found = Contact(self.shape, Sphere(), self.friction, self.restitution).check(name, dimension)
        if isinstance(self.through, str) or not all(isinstance(body, str) for body in self.through):
            found.append(
                f"contact '{name}': through = {self.through!r}; give a tuple of names of bodies, such as ('wheel',)."
            )
        return [text.replace(": first", ": shape", 1).replace("contact", "surface", 1) for text in found]

    def meeting(self, other: Force) -> Force | None:
        """The contact of this surface with another one; None where they do not touch in points."""
        if not isinstance(other, Surface) or (isinstance(self.shape, HalfSpace) and isinstance(other.shape, HalfSpace)):
            return None
        given = [each.restitution for each in (self, other) if each.restitution is not None]
        # as in Box2D, b2MixFriction and b2MixRestitution
        return Contact(
            self.shape, other.shape, sqrt(self.friction * other.friction), max(given) if given else None, let_out=True
        )

    def new_stack(self, dimension: int) -> Surfaces:
        """An empty stack of surfaces."""
        return Surfaces(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The middle of its shape, and its axes: those that a contact takes hold of."""
        return [marks_of_shape(name, sides[0], self.shape, "surface")]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(Sphere(0.2), friction=0.3)


class Surfaces(ForceStack):
    """Surfaces, one row each: they exert nothing, and say when one has strayed from the way on which it was seen."""

    remembered = ("last", "strayed")
    requests_demand: ClassVar[bool] = False
    forward_only = True
    reads_end_velocity = False
    shape: Array  # half extents along three axes and a radius [m], (n, 4)
    kinds: Indices
    reach: Array  # how far its points go at most, as each of its marks goes by a metre
    anchor: Array  # where its marks were when it was last looked at
    rates: Array  # and how fast they went
    looked: Array  # when that was, and until when it holds [s]
    last: Array  # where its marks were in the last evaluation, seen from that way
    leeway: Array  # how far it may go from there before it is looked at again [m]
    strayed: Indices  # 1 where it has

    def __init__(self, dimension: int) -> None:
        count = 2 if dimension == 2 else 4
        super().__init__(count, 0, dimension)
        self.column("shape", 4)
        self.column("reach", count)
        self.column("looked", 2)
        for name in ("anchor", "rates", "last"):
            self.column(name, count, dimension)
        self.column("leeway")
        for name in ("kinds", "strayed"):
            self.column(name, dtype=np.int64)
        self.loops = {"exert": watch_straying_loop, "account": nothing_loop, "stray": stray_loop}

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """What is marked is so or not."""
        yield from super().limits(elements)
        yield "strayed", 1

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a surface in."""
        assert isinstance(force, Surface)
        row = self.add_row(name)
        self.first[row] = self.second[row] = first[0]
        half = self.shape[row] = force.shape.sizes(self.first_side.shape[1])
        self.kinds[row], self.strayed[row] = force.shape.number, 1
        turning = [half[0] + half[1]] if len(self.first_side) == 2 else half[:3]
        self.reach[row] = 1.0, *turning

    @property
    def turns(self) -> bool:
        """It asks nothing."""
        return False

    @property
    def read_velocity(self) -> list[str]:
        """None."""
        return []

    def look(self, elements: Elements, dt: float) -> None:
        """From here on they are watched on their way: how far each may go from it until somebody is to look again."""
        n, marks, plane = self.count, self._marks(), self.kinds[: self.count] == HALF_SPACE
        places, rates = elements.position[marks], elements.velocity[marks]
        self.anchor[:n], self.rates[:n], self.last[:n] = places, rates, 0.0
        size = self.shape[:n, :3].max(axis=1, initial=0.0) + self.shape[:n, 3]
        size[plane] = size[size > 0.0].min(initial=np.inf) if (size > 0.0).any() else 0.0
        for row in np.flatnonzero(plane):  # as it turns it goes furthest where the furthest surface is
            self.reach[row, 1] = np.sqrt(((places[:, 0] - places[row, 0]) ** 2).sum(axis=1)).max() + size.max()
        speeds = self._far(rates - self._drift())[~plane]
        blow, usual = float(speeds.max(initial=0.0)), float(np.sqrt(np.mean(speeds**2))) if len(speeds) else 0.0
        ahead = SHARE_OF_WAY * float(np.median(size[~plane])) / (usual * dt) if usual > 0.0 else MOST_AHEAD
        now = float(elements.clock[TIME])
        self.looked[:n] = now, now + min(max(ahead, LEAST_AHEAD), MOST_AHEAD) * dt
        self.leeway[:n] = np.maximum(SHARE_OF_SIZE * size, TICKS_OF_A_BLOW * dt * blow)
        self.strayed[:n] = 0

    def near(self, times: float = 1.0, among: Indices | None = None) -> Indices:
        """Of all as they were last looked at: pairs of rows that may touch before one strays or the time is over; or those that
        come so many times as near, with 0 those whose boxes along the axes overlap at that instant. `among`: of these pairs."""
        n = self.count
        span = (self.looked[:n, 1] - self.looked[:n, 0]).max(initial=0.0) if times > 0.0 else 0.0
        leeway, now, later = times * self.leeway[:n], self.anchor[:n], self.anchor[:n] + span * self.rates[:n]
        flat = self.kinds[:n] == HALF_SPACE
        moves = ~flat & np.isfinite(later).all(axis=(1, 2))
        if among is None:
            solid, between = np.flatnonzero(moves), None
        else:
            between = among[moves[among].all(axis=1)]
            solid, between = np.unique(between, return_inverse=True)
        found = [self._near_solids(solid, span, leeway, now, later, between).reshape(-1, 2)]
        for plane in np.flatnonzero(flat):
            others = np.flatnonzero(moves)
            if among is not None:
                others = others[np.isin(others, among[(among == plane).any(axis=1)])]
            others = self._near_plane(int(plane), others, leeway, now, later)
            found.append(np.stack([np.full(len(others), plane), others], axis=1))
        return np.concatenate(found)

    def _near_solids(
        self, solid: Indices, span: float, leeway: Array, now: Array, later: Array, between: Indices | None
    ) -> Indices:
        """Pairs whose boxes, and the balls around them, meet on their ways; `between`: places in `solid` of those asked about."""
        shape = self.shape[solid]
        axes = [self._axes(places[solid]) for places in (now, later)]
        half = np.maximum(*(np.einsum("nk,nkc->nc", shape[:, : each.shape[1]], np.abs(each)) for each in axes))
        half += shape[:, 3:] + leeway[solid, None]
        middles, ways = now[solid, 0], span * (self.rates[solid, 0] - self._drift()[0])
        pairs = meeting(middles, ways, half, between if between is None else between.reshape(-1, 2))
        first, second = pairs[:, 0], pairs[:, 1]
        balls = np.sqrt((shape[:, :3] ** 2).sum(axis=1)) + shape[:, 3] + leeway[solid]
        close = passing(middles[first] - middles[second], ways[first] - ways[second]) <= balls[first] + balls[second]
        return np.asarray(solid[pairs[close]])

    def _near_plane(self, plane: int, solid: Indices, leeway: Array, now: Array, later: Array) -> Indices:
        """Solids that come as low as a plane; as it turns, their ways are bent as it sees them."""
        axes = self._axes(now), self._axes(later)
        turned = np.linalg.norm(axes[1][plane, 0] - axes[0][plane, 0])
        way = later[solid, 0] - now[solid, 0] - later[plane, 0] + now[plane, 0]
        bent = 0.25 * turned * np.linalg.norm(way, axis=1)
        below = [
            above_plane(places[plane, 0], each[plane, 0], places[solid, 0], each[solid], self.shape[solid])
            for places, each in zip((now, later), axes, strict=True)
        ]
        return np.asarray(solid[np.minimum(*below) <= leeway[solid] + leeway[plane] + bent])

    def _drift(self) -> Array:
        """How fast all go along together, (marks, d): the axes of a body do not."""
        drift: Array = np.zeros(self.rates.shape[1:])
        solid = self.kinds[: self.count] != HALF_SPACE
        if solid.any():
            drift[0] = np.median(self.rates[: self.count][solid, 0], axis=0)
        return drift

    def _marks(self) -> Indices:
        return np.asarray(self.first[: self.count, None] + np.arange(len(self.first_side)))

    def _far(self, moved: Array) -> Array:
        """How far the points of each go at most, where its marks go like this."""
        return np.asarray((np.sqrt((moved * moved).sum(axis=2)) * self.reach[: self.count]).sum(axis=1))

    def _axes(self, places: Array) -> Array:
        """Axes of all, (n, axes, d)."""
        if places.shape[2] == 3:
            return places[:, 1:]
        along = places[:, 1]
        return np.stack([along, np.stack([-along[:, 1], along[:, 0]], axis=1)], axis=1)


@loop
def watch_straying_loop(start: int, stop: int, surfaces: View, elements: View) -> int:
    """Whether a surface has gone, or is about to go, further from its way than it may; marked it stays until it is looked at."""
    for n in range(start, stop):
        gone, went, since = 0.0, 0.0, elements.clock[TIME] - surfaces.looked[n, 0]
        for k in range(surfaces.last.shape[0]):
            far, ago = 0.0, 0.0
            for c in range(surfaces.last.shape[1]):
                off = (
                    elements.position[surfaces.first[n] + k, c]
                    - surfaces.anchor[n, k, c]
                    - since * surfaces.rates[n, k, c]
                )
                far += off**2
                ago += (off - surfaces.last[n, k, c]) ** 2
                surfaces.last[n, k, c] = off
            gone += surfaces.reach[n, k] * sqrt(far)
            went += surfaces.reach[n, k] * sqrt(ago)
        late = elements.clock[TIME] + TICKS_AHEAD * elements.clock[GAIN_STEP] > surfaces.looked[n, 1]
        if gone + TICKS_AHEAD * went > surfaces.leeway[n] or late:
            surfaces.strayed[n] = 1
    return NO_FAILED_ROW


@loop
def stray_loop(start: int, stop: int, surfaces: View, elements: View) -> int:
    """The first surface that has strayed, or -1."""
    for n in range(start, stop):
        if surfaces.strayed[n] == 1:
            return n
    return NO_FAILED_ROW


@loop
def nothing_loop(start: int, stop: int, surfaces: View, elements: View) -> int:
    """A surface does no work: contacts do."""
    return NO_FAILED_ROW
