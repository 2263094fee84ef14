"""What can be followed over time in a laboratory, and how it is worked out of samples: many at once, and only those asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from components.bodies.natural.description import NaturalBody
from components.bodies.natural.many import rows_of
from coordinator.laboratory.hand import NAME as HAND
from coordinator.laboratory.snapshot import Plan
from coordinator.record.recorder import Segment
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.ledger import LEDGER, STORED, WORK_FIRST, WORK_SECOND
from modular.port import GROUND

ALL = ""  # of all components together
ENERGIES = ("kinetic", "potential", "total", "stored", "whole")
LINES = ("work", *LEDGER)  # work: on both sides together
COORDINATES = "xyz"
BODIES_PER_BATCH = 64  # bodies whose energies are worked out at a time
UNITS = {
    "energy": "J", "ledger": "J", "violation": "m or -", "log violation": "log10", "force": "N", "moment": "N m",
    "position": "m", "velocity": "m/s", "acceleration": "m/s²",
}  # fmt: skip


class Quantity(NamedTuple):
    """One number over time: what it is, of whom, and which part of it.

    energy: of a body or of all; kinetic, potential, total (of both), stored (in joints and springs), whole (with what is stored).
    ledger: of a joint or force; work (on both its sides) or a line of its ledger. violation, log violation: of a joint, its largest
    row, or of the joint where it is largest; the logarithm to base 10. force, moment: how large the reaction of a joint is.
    position, velocity, acceleration: of a port; x, y or z.
    """

    what: str
    of: str = ALL
    part: str = ""

    @property
    def label(self) -> str:
        """In a few words."""
        if self.what == "energy":
            return f"{self.part} energy" + (f" of {self.of}" if self.of else "")
        if self.what == "ledger":
            whose = "the hand" if self.of == HAND else self.of
            return f"{self.part.replace('_', ' on ')} of {whose}"
        if self.what in ("violation", "log violation"):
            return f"violation of {self.of}" if self.of else "largest violation"
        if self.what in ("force", "moment"):
            return f"{self.what} in {self.of}"
        return f"{self.part} of {self.of}" if self.what == "position" else f"{self.part}-{self.what} of {self.of}"

    @property
    def unit(self) -> str:
        """What it is measured in."""
        return UNITS[self.what]


def choices(plan: Plan) -> dict[str, tuple[Sequence[str], Sequence[str]]]:
    """Everything that can be followed: by what it is, of whom it may be, and the parts that it has."""
    ports = [f"{name}.{port}" for name, body in plan.bodies.items() for port in body.port_names]
    joints, axes = list(plan.joints), list(COORDINATES[: plan.dimension])
    booked = dict.fromkeys([*joints, *plan.forces, HAND])
    return {
        "energy": ([ALL, *plan.bodies], ENERGIES),
        "ledger": (list(booked), LINES),
        "violation": ([ALL, *joints], ("",)),
        "log violation": ([ALL, *joints], ("",)),
        "force": (joints, ("",)),
        "moment": (joints, ("",)),
        "position": (ports, axes),
        "velocity": (ports, axes),
        "acceleration": (ports, axes),
    }


class Inertia(NamedTuple):
    """What the energies of some bodies in natural coordinates are worked out of, a row each."""

    mass: Array  # (r, e, e)
    weight: Array  # minus the force of gravity on each coordinate, (r, e, d)


class Constants:
    """What stays the same from sample to sample: bodies as they are described, and their inertia by the names of a stack."""

    def __init__(self, gravity: Sequence[float], bodies: Mapping[str, Body], before: Constants | None = None) -> None:
        self.gravity = np.array(gravity, float)
        self.dimension = len(gravity)
        self.bodies = dict(bodies)
        self._inertias: dict[tuple[str, ...], Inertia | None] = {}  # by the names of a stack
        self._alone: dict[int, tuple[NaturalBody, Array, Array]] = {}  # mass matrix, and mass times centre weights
        self._places: dict[tuple[int, str], tuple[NaturalBody, Array]] = {}  # of ports
        if before is not None:
            described = {id(body) for body in bodies.values()}
            self._alone = {key: known for key, known in before._alone.items() if key in described}

    def learn(self, bodies: Mapping[str, Body]) -> None:
        """Bodies that have come; those that have gone stay known."""
        if any(self.bodies.get(name) is not body for name, body in bodies.items()):
            self.bodies.update(bodies)
            self._inertias.clear()

    def inertia(self, names: Sequence[str]) -> Inertia | None:
        """Of the bodies of a stack; None where one of them is of another make, or is not known."""
        key = tuple(names)
        if key not in self._inertias:
            if len(self._inertias) > 64:
                self._inertias.clear()
            self._inertias[key] = self._look(key)
        return self._inertias[key]

    def place(self, body: NaturalBody, port: str) -> Array:
        """How a port is put together from the elements of its body, (e,)."""
        known = self._places.get((id(body), port))
        if known is None:
            known = self._places[id(body), port] = body, body.port_weights[port]
        return known[1]

    def _look(self, names: Sequence[str]) -> Inertia | None:
        bodies = [self.bodies.get(name) for name in names]
        natural = [body for body in bodies if isinstance(body, NaturalBody)]
        if not natural or len(natural) < len(bodies):
            return None
        new = [body for body in natural if id(body) not in self._alone]
        if new:
            rows = rows_of(new)
            for k, body in enumerate(new):
                self._alone[id(body)] = body, rows.mass_matrix[k], rows.mass[k] * rows.centre_weights[k]
        known = [self._alone[id(body)] for body in natural]
        centres = np.array([centre for _, _, centre in known])
        return Inertia(np.array([mass for _, mass, _ in known]), -centres[:, :, None] * self.gravity)


class Piece:
    """Some samples of a segment, from one to another, in steps."""

    def __init__(self, segment: Segment, constants: Constants, first: int, last: int, step: int = 1) -> None:
        self.segment, self.constants = segment, constants
        self.samples = slice(first, last, step)
        self.count = len(range(first, last, step))

    def value(self, quantity: Quantity) -> Array:
        """A quantity at each of the samples, (n,); NaN where nothing is there."""
        return FOUND[quantity.what](self, quantity.of, quantity.part)

    # --- of bodies ---------------------------------------------------------------------------------------------------

    @cached_property
    def _kinetic(self) -> Array:
        return self._sum_over_bodies("v", lambda body, q, v: body.kinetic_energy(q, v), kinetic_energies)

    @cached_property
    def _potential(self) -> Array:
        gravity = self.constants.gravity
        return self._sum_over_bodies("q", lambda body, q, v: body.potential_energy(q, gravity), potential_energies)

    def _sum_over_bodies(
        self, key: str, one: Callable[[Body, Array, Array], Array], many: Callable[[Inertia, Array], Array]
    ) -> Array:
        total = np.zeros(self.count)
        for names, series in self.segment.bodies:
            inertia = self.constants.inertia(names)
            if inertia is not None:
                total += many(inertia, series[key][self.samples])
            else:
                for name in names:
                    total += self._of_body(name, one)
        return total

    def _of_body(self, name: str, one: Callable[[Body, Array, Array], Array]) -> Array:
        body, state = self.constants.bodies.get(name), self._row("bodies", name)
        if body is None or state is None:
            return self._nothing
        q, v = state("q"), state("v")
        try:
            return np.asarray(one(body, q, v))
        except ModelError:  # a black box that nobody can ask
            return self._nothing

    def energy(self, of: str, part: str) -> Array:
        """[J]."""
        if part == "stored":
            return self.stored
        if part == "whole":
            return self.energy(of, "total") + (self.stored if of == ALL else 0.0)
        kinetic, potential = part in ("kinetic", "total"), part in ("potential", "total")
        found = np.zeros(self.count)
        if kinetic:
            found = found + (self._kinetic if of == ALL else self._of_body(of, lambda b, q, v: b.kinetic_energy(q, v)))
        if potential:
            gravity = self.constants.gravity
            found = found + (
                self._potential if of == ALL else self._of_body(of, lambda b, q, v: b.potential_energy(q, gravity))
            )
        return found

    @cached_property
    def stored(self) -> Array:
        """In all joints and springs together [J]."""
        total = np.zeros(self.count)
        for _, series in (*self.segment.joints, *self.segment.forces):
            total += series["ledger"][self.samples, :, STORED].sum(axis=1)
        return total

    def motion(self, which: int) -> Callable[[str, str], Array]:
        """Position, velocity or acceleration of a port."""

        def found(port: str, part: str) -> Array:
            body, _, point = port.partition(".")
            described, state = self.constants.bodies.get(body), self._row("bodies", body)
            if described is None or state is None or point not in described.port_names:
                return self._nothing
            axis = COORDINATES.index(part)
            if isinstance(described, NaturalBody):
                return np.asarray(state("qva"[which])[:, :, axis] @ self.constants.place(described, point))
            moved = described.port_motion(point, state("q"), state("v"), state("a"))[which]
            return np.asarray(moved[:, axis])

        return found

    # --- of joints and forces ----------------------------------------------------------------------------------------

    def ledger(self, of: str, line: str) -> Array:
        """A line of a ledger [J]; that of who has gone stays as it was closed."""
        row = self._row("joints", of) or self._row("forces", of)
        ledger = row("ledger") if row is not None else self.segment.closed.get(of)
        if ledger is None:
            return self._nothing
        found = (
            ledger[..., WORK_FIRST] + ledger[..., WORK_SECOND] if line == "work" else ledger[..., LEDGER.index(line)]
        )
        return np.broadcast_to(found, (self.count,))

    def violation(self, of: str, part: str) -> Array:
        """The largest row of a joint, or of all joints."""
        if of != ALL:
            row = self._row("joints", of)
            return self._nothing if row is None else np.abs(row("violation")).max(axis=1)
        largest = self._nothing
        for _, series in self.segment.joints:
            largest = np.fmax(largest, np.abs(series["violation"][self.samples]).max(axis=(1, 2)))
        return largest

    def log_violation(self, of: str, part: str) -> Array:
        """Its logarithm to base 10; there is none where the joint is closed to the last bit."""
        found = self.violation(of, part)
        return np.log10(np.where(found > 0.0, found, np.nan))

    def force(self, of: str, part: str) -> Array:
        """How large the force of a joint is [N]."""
        row = self._row("joints", of)
        return self._nothing if row is None else length(row("reaction")[:, : self.constants.dimension])

    def moment(self, of: str, part: str) -> Array:
        """How large its moment is [N m]."""
        row = self._row("joints", of)
        return self._nothing if row is None else length(row("reaction")[:, self.constants.dimension :])

    # --- shared ------------------------------------------------------------------------------------------------------

    @property
    def _nothing(self) -> Array:
        return np.full(self.count, np.nan)

    def _row(self, part: str, name: str) -> Callable[[str], Array] | None:
        """The series of a component by their keys; None where it is not there."""
        for names, series in getattr(self.segment, part):
            if name in names:
                row = names.index(name)
                return lambda key: np.asarray(series[key][self.samples, row])
        return None


FOUND: dict[str, Callable[[Piece, str, str], Array]] = {
    "energy": Piece.energy,
    "ledger": Piece.ledger,
    "violation": Piece.violation,
    "log violation": Piece.log_violation,
    "force": Piece.force,
    "moment": Piece.moment,
    "position": lambda piece, of, part: piece.motion(0)(of, part),
    "velocity": lambda piece, of, part: piece.motion(1)(of, part),
    "acceleration": lambda piece, of, part: piece.motion(2)(of, part),
}


def kinetic_energies(inertia: Inertia, v: Array) -> Array:
    """1/2 v^T M v of all bodies together, (n,): the samples of a body side by side, so that one product serves them all."""
    n, bodies, e, d = v.shape
    total = np.zeros(n)
    for first in range(0, bodies, BODIES_PER_BATCH):  # so many that they stay in the cache
        some = slice(first, first + BODIES_PER_BATCH)
        rates = np.ascontiguousarray(v[:, some].transpose(1, 2, 3, 0)).reshape(-1, e, d * n)
        pushed = inertia.mass[some] @ rates
        pushed *= rates
        total += 0.5 * pushed.reshape(-1, n).sum(axis=0)
    return total


def potential_energies(inertia: Inertia, q: Array) -> Array:
    """In uniform gravity, zero at the origin of the world, of all bodies together, (n,); no sum hangs on n."""
    return np.asarray(np.add.reduce(q.reshape(len(q), -1) * inertia.weight.ravel(), axis=1))


def length(vectors: Array) -> Array:
    """Of each row."""
    return np.asarray(np.sqrt(np.einsum("nc,nc->n", vectors, vectors)))


def ports_of(plan: Plan) -> Iterator[str]:
    """All ports there are, the ground first."""
    yield GROUND
    for name, body in plan.bodies.items():
        for port in body.port_names:
            yield f"{name}.{port}"
