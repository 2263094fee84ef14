"""Contact of two shapes that are on ports: they push each other apart, rub, and bounce.

How is in contact_law.py, where they touch in touching.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from components.forces.contact_answers import compute_margin_loop, compute_mobility_loop, request_demand_loop
from components.forces.contact_held import note_free_loop
from components.forces.contact_law import (
    contact_loop,
    end_strikes_loop,
    strike_together_loop,
)
from components.forces.contact_load import CARRYING_SIZE
from components.forces.contact_meetings import MEETING_SIZE
from components.forces.contact_packed import PACKED, POINTS
from components.forces.contact_pair import FIRST, MEMORY
from components.forces.contact_tried import apply_recorded_loop, propose_load_loop
from components.forces.shapes import Box, Capsule, HalfSpace, Shape, Sphere
from modular.elements import Array, Elements, Indices
from modular.errors import ModelError
from modular.force import NOBODY, Force, Overlap
from modular.forces import ForceStack
from modular.ledger import account_loop
from modular.port import GROUND
from modular.side import Mark, Side


@dataclass(frozen=True)
class Contact(Force):
    """Unilateral contact of a shape on one port with a shape on another; on the ground a shape is placed in the world.

    `friction` is Coulomb's coefficient. Impacts part with `restitution` times the velocity with which they met; left out, 0.
    Bodies that rest on each other do not go into each other, nor do those in glued joints; where springs or dampers act on them,
    joints are springs, or they are flexible, springs hold them, as stiff as the step allows. `stiffness` [N/m] and `damping`
    [N s/m] are those of springs at each point, if given; then there are impacts in one instant only if `restitution` is given too.
    Shapes that begin in each other are thrown apart, and that is told; with `let_out` they only go no deeper, and come out by
    themselves: gaps count from how deep they are, at most from how deep they have been since.
    """

    first: Shape
    second: Shape
    friction: float = 0.0
    restitution: float | None = None
    stiffness: float | None = None
    damping: float | None = None
    let_out: bool = False

    @property
    def sides(self) -> int:
        """Two ports."""
        return 2

    @property
    def order(self) -> int:
        """Two; one with a stiffness of its own, whose damper acts at once and from a whole tick on."""
        return 2 if self.stiffness is None else 1

    @property
    def bounces(self) -> bool:
        """With a restitution above 0."""
        return self.restitution is not None and self.restitution > 0.0

    @property
    def together(self) -> bool:
        """Blows at bodies that others touch are found together with theirs."""
        return True

    @property
    def placed_by(self) -> str:
        """A shape on the ground stands in the world."""
        return "centre=… to the shape on the ground"

    @property
    def follows_step(self) -> bool:
        """Without a stiffness of its own."""
        return self.stiffness is None

    def check(self, name: str, dimension: int) -> list[str]:
        """Shapes that are none, pairs that cannot touch, and numbers out of range."""
        problems = []
        shapes: tuple[tuple[str, object], ...] = (("first", self.first), ("second", self.second))
        for label, shape in shapes:
            if not isinstance(shape, Shape):
                problems.append(
                    f"contact '{name}': {label} = {shape!r} is not a shape; give a HalfSpace, Sphere, Capsule or Box."
                )
            else:
                problems += [f"contact '{name}': {label}: {problem}." for problem in shape.problems(dimension)]
        if isinstance(self.first, HalfSpace) and isinstance(self.second, HalfSpace):
            problems.append(f"contact '{name}': two half spaces do not touch in points; give one side another shape.")
        for label, value, most, range_ in (
            ("friction", self.friction, np.inf, "a finite number from 0 on"),
            ("restitution", self.restitution, 1.0, "a number from 0 to 1"),
            ("stiffness", self.stiffness, np.inf, "a finite number from 0 on [N/m]"),
            ("damping", self.damping, np.inf, "a finite number from 0 on [N s/m]"),
        ):
            if (value is not None or label == "friction") and not _is_between(value, most):
                problems.append(f"contact '{name}': {label} = {value!r}; give {range_}.")
        let_out: object = self.let_out
        if not isinstance(let_out, bool | np.bool_):
            problems.append(f"contact '{name}': let_out = {self.let_out!r}; give True or False.")
        if self.damping is not None and self.stiffness is None:
            problems.append(f"contact '{name}': damping = {self.damping!r} without a stiffness; give both, or neither.")
        return problems

    def new_stack(self, dimension: int) -> Contacts:
        """An empty stack of contacts."""
        return Contacts(dimension)

    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The middle of each shape, and its axes as far as the body carries them."""
        return [marks_of_shape(name, side, shape) for side, shape in zip(sides, (self.first, self.second), strict=True)]

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""
        return cls(Sphere(0.45), Box((0.9, 0.7, 0.8)[:dimension]), friction=0.3, stiffness=300.0, damping=2.0)


def _law_of(contact: Contact) -> list[float]:
    """Friction, restitution, stiffness, damping, below 0 where they are not given; 1 where shapes are let out."""
    given = (contact.restitution, contact.stiffness, contact.damping)
    return [contact.friction, *(-1.0 if value is None else value for value in given), float(contact.let_out)]


def _is_between(value: object, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return False
    return bool(np.isfinite(value) and 0 <= value <= most)


def marks_of_shape(name: str, side: Side, shape: Shape, what: str = "contact") -> list[Mark]:
    """A point, and one direction in the plane or three in space; a rod repeats its one, a point mass its point."""
    dimension = len(side.position)
    lines = 1 if dimension == 2 else 3
    origin, frame = (np.zeros(dimension), np.eye(dimension)) if side.owner == GROUND else (side.position, side.frame)
    place = origin + shape.place(dimension) @ frame
    middle = side.point(place)
    if middle is None:
        raise ModelError(
            f"{what} '{name}': body '{side.owner}' cannot follow the middle {tuple(np.round(place, 9).tolist())} of its "
            f"{type(shape).__name__}, which lies off its line; put it on the line, or give the body inertia across it."
        )
    own = shape.axes(dimension) @ frame
    if isinstance(shape, Sphere):
        if len(side.directions) >= dimension:
            found = [side.direction(u) for u in own[:lines]]
        else:
            found = [side.direction(u) for u in side.directions[:1]] * lines or [middle] * lines
    elif len(side.directions) >= dimension:
        found = [side.direction(u) for u in own[:lines]]
    else:
        found = [side.direction(own[0])] * lines
        if dimension == 3 and not isinstance(shape, Capsule):
            found = [None]
    if None in found:
        raise ModelError(
            f"{what} '{name}': body '{side.owner}' does not turn in all directions, and cannot carry a {type(shape).__name__}; "
            "give it a Sphere, a Capsule along its line, or inertia (RigidBody: inertia=…)."
        )
    return [middle, *[mark for mark in found if mark is not None]]


class Contacts(ForceStack):
    """Contacts, one row each."""

    remembered = ("now", "before", "did", "rests", "contacts_of_body", "sunk", "nearing", "close")
    most_fields = 64
    constant = ("island", "seat", "seats", "first_seat", "first_block")  # a part of a system seats bodies by itself
    recorded = ("did",)
    error_columns = ("sunk",)
    forward_only = True
    reads_end_velocity = False
    shape: Array  # of both sides: half extents along three axes and a radius [m], (n, 2, 4)
    kinds: Indices  # of both sides, (n, 2)
    swapped: Indices  # 1 where kernels take the second side first
    law: (
        Array  # friction, restitution, stiffness, damping, below 0 where they are not given; 1 where shapes are let out
    )
    carry: Array  # on either side, the share with which a force on each direction makes a moment; -1 until looked at
    mobility: Array  # on either side: velocity per force, velocity per moment, turning per moment, in the world
    now: Array  # what the tick leaves to the next, and what the one before has left
    before: Array
    stiff: Array  # what it asks of the step, dt^2 K + 2 dt C over velocity and turning at a point, and that point
    centre: Array
    asked: Array  # its shares of springs and dampers
    margin: Array
    did: Array  # force on the second shape that kernels take, moments on the first and on the second
    rests: Array  # see modular.force.BeginsAtRest
    contacts_of_body: Array
    begins: Array
    starts: Array
    inside: Array  # how deep shapes are in each other at the first look [m], which way the second goes out, how fast that is [m/s]
    body: Indices  # on either side: the number of the body whose contacts feel its blows, NOBODY where nothing moves it
    number: Indices  # of the contact: whatever rows they have, blows are found in the same order
    struck: Indices  # 1 where there were impulses in this tick, 2 where they were found together with others
    again: Indices  # above 0 while those act
    slow: Array  # slower blows do not bounce [m/s]
    coming: Array  # how fast shapes come together and how near they are, at most [m/s], [m]
    nearing: Array  # how fast those come to which a blow may reach, 0 where it does not
    paid: Array  # what of its impulses the tick before has owed [N s]
    rubbed: Array  # and of those of friction, where they were found together
    free: Indices  # see modular.force.BeginsAtRest: such contacts carry what rests together
    carrying: Array  # see contact_load.py, also for those that follow
    packed: Array  # see contact_packed.py
    home: Indices
    moved: Array
    swept: Array
    meeting: Array  # see contact_meetings.py, also for those that follow
    ring: Indices
    first_on: Indices
    order: Indices
    cluster: Indices
    when: Array  # the next point of it meets, -1 where that is to be found anew [s]
    group: Indices
    island: Indices  # see modular.force.HeldTogether, also for those that follow
    seat: Indices
    seats: Indices
    first_seat: Indices
    first_block: Indices
    close: Array
    told: Indices
    through: Array
    freely: Array  # on either side in joints: how velocity and turning answer motions, if nothing held the body
    cross: Array  # velocity and turning of the first side per force and moment on the second, where both hang together
    shown_at: Indices  # of seats: an element of who sits there
    sitting: Indices  # of seats: the side at which the motion of who sits there is told, 2 n + side
    sunk: Array  # how deep what rests has been in each other, and dt times jumps of velocity [m]

    def __init__(self, dimension: int) -> None:
        count = 2 if dimension == 2 else 4
        super().__init__(count, count, dimension)
        self.column("shape", 2, 4)
        self.column("kinds", 2, dtype=np.int64)
        self.column("swapped", dtype=np.int64)
        self.column("law", 5)
        self.column("carry", 2)
        self.column("mobility", 2, 3, 3, 3)
        for name in ("now", "before"):
            self.column(name, MEMORY)
        self.column("stiff", 6, 6)
        self.column("centre", 3)
        self.column("asked", 2)
        self.column("margin")
        self.column("did", 3, 3)
        self.column("rests")
        self.column("contacts_of_body")
        self.column("begins")
        self.column("starts", 3, 3)
        self.column("sunk", 2)
        self.column("inside", 5)
        for name in ("body", "ring", "first_on", "island", "seat", "seats", "first_seat", "first_block"):
            self.column(name, 2, dtype=np.int64)
        self.column("close")
        self.column("freely", 2, 6, 6)
        self.column("cross", 6, 6)
        self.common("through", 6, 6)
        for name in ("told", "sitting", "shown_at"):
            self.common(name, dtype=np.int64)
        for name in ("number", "struck", "order", "cluster", "group"):
            self.column(name, dtype=np.int64)
        self.fixed("again", 1, dtype=np.int64)
        self.column("slow")
        self.column("coming", 2)
        for name in ("nearing", "when"):
            self.column(name)
        self.column("paid", 8)
        self.column("rubbed", 8, 3)
        self.column("meeting", MEETING_SIZE)
        self.column("free", dtype=np.int64)
        self.column("carrying", CARRYING_SIZE)
        self.column("packed", POINTS, PACKED)
        self.column("home", 2, dtype=np.int64)
        self.column("moved", 2, 6)
        self.column("swept", 2, 6)
        self.loops = {
            "exert": contact_loop, "strike_together": strike_together_loop, "exert_struck": contact_loop,
            "end_strikes": end_strikes_loop, "account": account_loop,
            "request_demand": request_demand_loop,
            "compute_margin": compute_margin_loop, "compute_mobility": compute_mobility_loop, "note_free": note_free_loop,
            "propose_load": propose_load_loop, "apply_recorded": apply_recorded_loop,
        }  # fmt: skip

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """There are two sides."""
        yield from super().limits(elements)
        yield "swapped", 1

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a contact in."""
        self.add_many([name], [force], [first])

    def add_many(self, names: Sequence[str], forces: Sequence[Force], first: Sequence[Sequence[int]]) -> None:
        """Take several in, in their order."""
        rows = self.add_rows(names)
        self.first[rows], self.second[rows] = np.array(first).T
        dimension = self.first_side.shape[1]
        pairs = [(force.first, force.second) for force in forces if isinstance(force, Contact)]
        sizes = {id(shape): shape.sizes(dimension) for pair in pairs for shape in pair}
        self.shape[rows] = [[sizes[id(shape)] for shape in pair] for pair in pairs]
        self.kinds[rows] = [[shape.number for shape in pair] for pair in pairs]
        self.swapped[rows] = self.kinds[rows, 1] < self.kinds[rows, 0]
        self.law[rows] = [_law_of(force) for force in forces if isinstance(force, Contact)]
        self.carry[rows], self.contacts_of_body[rows], self.body[rows], self.island[rows] = -1.0, 1.0, NOBODY, NOBODY
        self.close[rows] = 1.0
        self.free[rows] = 0

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements, blows as they were found together."""
        super().exert(elements, time)
        for verb in ("strike_together", "exert_struck", "end_strikes"):
            self.play(verb, elements)

    @property
    def read_velocity(self) -> list[str]:
        """None: how fast shapes meet it takes from where they were a tick ago."""
        return []

    @property
    def follows_step(self) -> npt.NDArray[np.bool_]:
        """Without a stiffness of their own."""
        return np.asarray(self.law[: self.count, 2] < 0.0)

    @property
    def loads(self) -> Array:
        """What they do until the first tick, (n, 3, 3); written to as well."""
        return self.now[: self.count, FIRST : FIRST + 9].reshape(self.count, 3, 3)

    def overlaps(self) -> Iterator[Overlap]:
        """Those that were in each other when they were first looked at; each is told once."""
        for row in np.flatnonzero(self.inside[: self.count, 0] > 0.0):
            depth, *way, speed = self.inside[row].tolist()
            self.inside[row] = 0.0
            second, dimension = 1 - int(self.swapped[row]), self.first_side.shape[1]
            yield Overlap(self.names[row], depth, second, tuple(way[:dimension]), speed)

    def propose_load(self, elements: Elements) -> None:
        """Write into `starts` what those that begin at rest would do."""
        self.play("propose_load", elements)

    def apply_recorded(self, elements: Elements) -> None:
        """What a recorded tick did."""
        self.play("apply_recorded", elements)

    def lay_seats(self, elements: Sequence[int], blocks: int) -> None:
        """Bodies in joints, of which these are elements, are told how they answer each other, in so many blocks."""
        self._place("told", np.zeros(len(elements), np.int64))
        self._place("sitting", np.full(len(elements), NOBODY, np.int64))
        self._place("shown_at", np.array(elements, np.int64))
        self._place("through", np.zeros((blocks, 6, 6)))

    def compute_mobility(self, elements: Elements) -> None:
        """How the bodies answer forces now."""
        self.play("compute_mobility", elements)
