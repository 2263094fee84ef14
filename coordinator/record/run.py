"""A run: everything that was recorded, by name and over time; saved as a folder of plain data, loaded back equal."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.record.archive import legible, read, write
from coordinator.record.at_a_glance import as_html, summary, worst_violation
from coordinator.record.recorder import Listed, Segment
from coordinator.record.series import digest_of, parts_of
from modular.assembly import Assembly
from modular.body import Body, StackMembers
from modular.component import Component
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.ledger import LEDGER, brought
from modular.names import missing

if TYPE_CHECKING:
    import pandas
    import xarray

PLAIN = (
    "dt", "model", "events", "acts", "settings", "margins", "forms", "versions", "machine", "obstacles", "estimate",
    "verified", "never",
)  # fmt: skip
FOR_PEOPLE = ("timings",)


@dataclass
class Run:
    """Corrected states at `time = tick dt`; at the tick of an event, the state from which the run goes on.

    Series of a component that was not there at some time hold NaN there.
    """

    dt: float
    model: dict[str, Any]  # the assembly as it was given, as data
    segments: Sequence[Segment]
    bodies: dict[str, Body]  # every body that ever took part
    events: Listed[dict[str, Any]] = Listed()  # noqa: RUF009 (a descriptor)
    acts: Listed[dict[str, Any]] = Listed()  # noqa: RUF009 (what was done by hand, as the model would have it)
    settings: dict[str, Any] = field(default_factory=dict)
    margins: Listed[dict[str, Any]] = Listed()  # noqa: RUF009 (stability margins at the start and after each event)
    forms: dict[str, dict[str, Any]] = field(default_factory=dict)  # how the equations of each joint are written
    versions: dict[str, str] = field(default_factory=dict)  # of what computed it, and a digest of the sources
    machine: dict[str, str] = field(default_factory=dict)  # what else decides the bits
    obstacles: list[str] = field(default_factory=list)  # why it cannot be repeated from its folder, a sentence each
    estimate: dict[str, Any] = field(default_factory=dict)  # about how far it is off (coordinator/record/verdict.py)
    # what was measured of that (coordinator/checks/verification.py)
    verified: dict[str, Any] = field(default_factory=dict)
    never: list[str] = field(default_factory=list)  # what the model had scheduled and did not come to pass
    timings: dict[str, float] = field(default_factory=dict)
    written_digest: str | None = None  # as the folder has it from which the run was read, or into which it was saved

    # --- time --------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def ticks(self) -> Indices:
        """Ticks of the samples, (n,)."""
        return np.concatenate([s.ticks for s in self.segments]) if self.segments else np.empty(0, np.int64)

    @property
    def time(self) -> Array:
        """Times of the samples [s], (n,)."""
        return np.asarray(self.ticks * self.dt)

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def happenings(self) -> list[dict[str, Any]]:
        """What happened to the model: all events but the verdict on the run."""
        return [event for event in self.events if event["kind"] != "verdict"]

    # --- bodies ------------------------------------------------------------------------------------------------------

    def position(self, port: str) -> Array:
        """Position of a port [m], (n, d)."""
        return self._port(port)[0]

    def velocity(self, port: str) -> Array:
        """Velocity of a port [m/s], (n, d)."""
        return self._port(port)[1]

    def acceleration(self, port: str) -> Array:
        """Acceleration of a port [m/s^2], (n, d)."""
        return self._port(port)[2]

    def axes(self, port: str) -> Array:
        """Axes of a port in the world as rows, (n, d, d); NaN while its body was not there. See coordinator/record/sensors.py."""
        body, name = self._owner(port)
        return self._body(body).port_axes(name, self._series("bodies", body, "q"))

    def mass_centre(self, body: str) -> Array:
        """Position of the mass centre of a body [m], (n, d)."""
        return self._body(body).mass_centre(self.state(body)[0])

    def state(self, body: str) -> tuple[Array, Array, Array]:
        """Coordinates of a body, their velocities and accelerations, (n, elements, d) each."""
        self._body(body)
        return (
            self._series("bodies", body, "q"),
            self._series("bodies", body, "v"),
            self._series("bodies", body, "a"),
        )

    def internal_violation(self, body: str) -> Array:
        """Error of the internal constraints of a body (III.8), (n, m)."""
        return self._body(body).internal_violation(self.state(body)[0])

    def internal_violation_rate(self, body: str) -> Array:
        """Its time derivative, (n, m)."""
        q, v, _ = self.state(body)
        return self._body(body).internal_violation_rate(q, v)

    # --- along one axis ------------------------------------------------------------------------------------------------

    def angle(self, name: str) -> Array:
        """By how much a hinge, a drive or a motor has turned about its axis [rad], (n,). See coordinator/record/turning.py."""
        from coordinator.record.turning import angle

        return angle(self, name)

    def way(self, name: str) -> Array:
        """How far a slide, a drive or a motor has gone along its axis [m], (n,)."""
        from coordinator.record.turning import way

        return way(self, name)

    def effort(self, name: str) -> Array:
        """What a drive, a motor or a spring does along its coordinate [N m], [N], (n,): positive where it makes that larger.

        So a spring that is pressed together pushes, and has a positive one; a spring that pulls has a negative one.
        """
        from coordinator.record.turning import effort

        return effort(self, name)

    def angular_velocity(self, of: str) -> Array:
        """How fast a body or a port turns [rad/s], (n,) in the plane, else (n, 3)."""
        from coordinator.record.turning import angular_velocity

        return angular_velocity(self, of)

    def members(self, names: Sequence[str]) -> StackMembers:
        """Bodies of one stack, by their names; while the run is read (coordinator/record/across.py) the same list for the same."""
        known: dict[Any, Any] = self.__dict__.get("_read", {})
        key = tuple(names)
        found: StackMembers | None = known.get(key)
        if found is None:
            found = known[key] = StackMembers(self.bodies[name] for name in names)
        return found

    def momentum(self, body: str | None = None) -> Array:
        """Linear momentum of a body or of all that are there [kg m/s], (n, d)."""
        from coordinator.record.momenta import momentum

        return momentum(self, body)

    def angular_momentum(self, body: str | None = None, about: Sequence[float] | None = None) -> Array:
        """The same about a place of the world, its origin unless said [kg m^2/s], (n,) in the plane, else (n, 3)."""
        from coordinator.record.momenta import angular_momentum

        return angular_momentum(self, body, about)

    # --- energy --------------------------------------------------------------------------------------------------------

    def kinetic_energy(self, body: str | None = None) -> Array:
        """Of a body or of all [J], (n,)."""
        if body is None:
            return np.array(self._energies[0])
        q, v, _ = self.state(body)
        return self._body(body).kinetic_energy(q, v)

    def potential_energy(self, body: str | None = None) -> Array:
        """In gravity, of a body or of all [J], (n,)."""
        if body is None:
            return np.array(self._energies[1])
        return self._body(body).potential_energy(self.state(body)[0], self._gravity)

    def energy_of(self, body: str) -> Array:
        """Kinetic and potential energy of a body [J], (n,)."""
        return self.kinetic_energy(body) + self.potential_energy(body)

    @functools.cached_property
    def energy(self) -> Array:
        """Kinetic and potential energy of all bodies present [J], (n,); what joints store is in their ledgers."""
        return self.kinetic_energy() + self.potential_energy()

    # --- joints ----------------------------------------------------------------------------------------------------------

    @functools.cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of all joints that ever were there, in order of appearance."""
        return tuple(dict.fromkeys(n for s in self.segments for names, _ in s.joints for n in names))

    @functools.cached_property
    def forces(self) -> tuple[str, ...]:
        """Names of all forces that ever acted, in order of appearance."""
        return tuple(dict.fromkeys(n for s in self.segments for names, _ in s.forces for n in names))

    def violation(self, joint: str) -> Array:
        """Error of the equations of a joint [m], then [-], (n, m)."""
        return self._series("joints", joint, "violation")

    def translations(self, joint: str) -> int:
        """How many leading rows of a joint are gaps in metres; the others are angles."""
        if joint not in self.forms:
            raise ModelError(_unknown("joint", joint, self.joints))
        return int(self.forms[joint]["translations"])

    def violation_rate(self, joint: str) -> Array:
        """Its time derivative, (n, m)."""
        return self._series("joints", joint, "violation_rate")

    def reaction(self, joint: str) -> Array:
        """What a joint exerts on its second side, in the world, at its point: force [N] and, where it locks rotations,
        moment [N m], (n, d) or more columns."""
        return self._series("joints", joint, "reaction")

    def ledger(self, name: str) -> dict[str, Array]:
        """energy ledger of a joint or force over time [J], (n,) each; the lines sum to zero.

        work_first and work_second: done on the bodies at its sides; stored: elastic, now; dissipated: by its damper;
        supplied: minus what came from outside; released: elastic energy that went with a cut (negative: came when it was
        made); impact: lost when it was made between moving points; leaked: what is left.
        """
        table = np.full((len(self), len(LEDGER)), np.nan)
        found = False
        start = 0
        for segment in self.segments:
            part = slice(start, start + segment.used)
            start += segment.used
            if name in segment.closed:
                table[part] = segment.closed[name]
                found = True
            for group in ("joints", "forces"):
                place = segment.series(group, name)
                if place is not None:
                    table[part] = place[0]["ledger"][: segment.used, place[1]]
                    found = True
        if not found:
            raise ModelError(_unknown("joint or force", name, (*self.joints, *self.forces)))
        table = brought(table, self.led_sides(name))
        return {line: table[:, k] for k, line in enumerate(LEDGER)}

    def kept_in_mind(self, force: str, column: str) -> Array | None:
        """What a force kept in mind at the samples, (n, ...); None where nobody recorded that."""
        known = any(column in series for s in self.segments for names, series in s.forces if force in names)
        return self._series("forces", force, column) if known else None

    def led_sides(self, name: str) -> list[bool]:
        """Which sides of a joint or force are on bodies that move as they are told."""
        if not self._leads:
            return []
        model = self.model.get("joints", {}).get(name, {}).get("between") or self.model.get("forces", {}).get(
            name, {}
        ).get("on")
        made = [
            ports
            for event in self.events
            if event["name"] == name and (ports := event.get("between") or event.get("on"))
        ]
        ports = made[-1] if made else model or []
        owners = [str(port).partition(".")[0] for port in ports]
        return [owner in self.bodies and self.bodies[owner].led for owner in owners]

    def balance(self) -> dict[str, Array]:
        """Where the energy went, over time [J], (n,) each; the lines sum to zero.

        change: of kinetic and potential energy since the start (bodies that come bring theirs along); then the lines of all
        ledgers together; internal: minus the work of the internal constraints of the bodies, a leak of second order.
        """
        lines = {line: np.zeros(len(self)) for line in LEDGER}
        for name in (*self.joints, *self.forces):
            for line, series in self.ledger(name).items():
                lines[line] += np.nan_to_num(series)
        change = self.energy - self.energy[:1]
        works = lines.pop("work_first") + lines.pop("work_second")
        return {"change": change, **lines, "internal": works - change}

    def work(self, name: str) -> Array:
        """Work done by a joint or force on the bodies so far [J], (n,)."""
        ledger = self.ledger(name)
        return ledger["work_first"] + ledger["work_second"]

    # --- putting segments together ----------------------------------------------------------------------------------------

    def _series(self, part: str, name: str, key: str) -> Array:
        pieces: list[tuple[int, Array | None]] = []
        for segment in self.segments:
            place = segment.series(part, name)
            pieces.append((segment.used, None if place is None else place[0][key][: segment.used, place[1]]))
        shapes = {piece.shape[1:] for _, piece in pieces if piece is not None}
        if not shapes:
            known = dict.fromkeys(n for s in self.segments for names, _ in getattr(s, part) for n in names)
            if part == "joints" and name in self.forces:
                raise ModelError(f"'{name}' is a force, not a joint; use run.effort('{name}') and run.work('{name}').")
            raise ModelError(_unknown("joint" if part == "joints" else "body", name, known))
        width = max(shapes)
        arrays = [np.full((n, *width), np.nan) if a is None else _widened(a, width) for n, a in pieces]
        return np.concatenate(arrays)

    def _port(self, port: str) -> tuple[Array, Array, Array]:
        body, name = self._owner(port)
        return self._body(body).port_motion(name, *self.state(body))

    def _owner(self, port: str) -> tuple[str, str]:
        body, dot, name = port.partition(".")
        known = self._body(body).port_names
        if not dot and len(known):
            raise ModelError(f"'{port}' is a body; give one of its ports, such as '{body}.{next(iter(known))}'.")
        if name not in known:
            raise ModelError(_unknown(f"port of body '{body}'", name, known))
        return body, name

    def _body(self, name: str) -> Body:
        if name not in self.bodies:
            raise ModelError(_unknown("body", name, self.bodies))
        return self.bodies[name]

    @functools.cached_property
    def _energies(self) -> Array:
        """Kinetic and potential, of all bodies, (2, n)."""
        total = np.zeros((2, len(self)))
        for part, names, series in parts_of(self.segments, "bodies"):
            bodies = self.members(names)
            if bodies:
                total[:, part] += type(bodies[0]).energies(bodies, series["q"], series["v"], self._gravity)
        return total

    @property
    def _gravity(self) -> Array:
        return np.asarray(self.model["gravity"], float)

    @functools.cached_property
    def _leads(self) -> bool:
        """Whether a body moves as it is told."""
        return any(body.led for body in self.bodies.values())

    # --- files ---------------------------------------------------------------------------------------------------------------

    @property
    def digest(self) -> str:
        """SHA-256 of the bits of everything recorded: equal digests, equal motion. See coordinator/record/series.py."""
        return digest_of(self.segments)

    def save(self, folder: str | Path) -> Path:
        """Write `run.json` (model, settings, events, versions, machine, digest and more) and `arrays.npz` into a folder.

        What the folder held before is there until both are whole on disk, and stays where they cannot be written.
        """
        stored = any(segment.stored is not None for segment in self.segments)
        digest = None if stored else self.digest  # series by series it would read all of a disk many times over
        place = write(folder, {**self.about, "digest": digest}, self.segments)
        self.written_digest = digest
        return place

    @property
    def about(self) -> dict[str, Any]:
        """Everything but the samples, as data."""
        bodies = {name: body.to_data() for name, body in self.bodies.items()}
        return {**{name: getattr(self, name) for name in (*PLAIN, *FOR_PEOPLE)}, "bodies": bodies}

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Read a run folder: whole and as it was written, or refused with a sentence."""
        about, segments = read(folder)
        with legible(Path(folder)):
            bodies = {name: Component.from_data(body) for name, body in about["bodies"].items()}
            known = {name: about[name] for name in (*PLAIN, *FOR_PEOPLE) if name in about}
            return cls(**known, bodies=bodies, segments=segments, written_digest=about.get("digest"))

    def to_xarray(self) -> xarray.Dataset:
        """Everything over time as one Dataset, units in `attrs`; needs the extra `data`."""
        from coordinator.record.export import to_xarray

        return to_xarray(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Everything over time as a wide table, one row per sample; needs the extra `data`."""
        from coordinator.record.export import to_pandas

        return to_pandas(self)

    def assembly(self) -> Assembly:
        """The model as it was given; what was done to it by hand are events of it, each at its time."""
        return self.described.with_acts(self.acts)

    @functools.cached_property
    def described(self) -> Assembly:
        """What its data describe, made once: to be read and not to be changed."""
        return Assembly.from_data(self.model)

    def __eq__(self, other: object) -> bool:
        """Equal data, bit for bit, however long they took to compute."""
        if not isinstance(other, Run):
            return NotImplemented
        if any(getattr(self, name) != getattr(other, name) for name in PLAIN):
            return False
        if {n: b.to_data() for n, b in self.bodies.items()} != {n: b.to_data() for n, b in other.bodies.items()}:
            return False
        return self.digest == other.digest

    __hash__ = None  # type: ignore[assignment]

    # --- at a glance ------------------------------------------------------------------------------------------------------------

    def summary(self) -> dict[str, str]:
        """The figures one looks at first."""
        return summary(self)

    def worst_violation(self) -> tuple[str, float] | None:
        """The joint with the largest error of position, and that error."""
        return worst_violation(self)

    def __repr__(self) -> str:
        return "<Run: " + "; ".join(f"{key}: {value}" for key, value in self.summary().items()) + ">"

    def _repr_html_(self) -> str:
        return as_html(self.summary())


def _widened(array: Array, width: tuple[int, ...]) -> Array:
    """A joint re-made in another form has fewer rows for a while."""
    if array.shape[1:] == width:
        return array
    wide = np.full((len(array), *width), np.nan)
    wide[tuple(slice(n) for n in array.shape)] = array
    return wide


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    return f"this run: {missing(what, name, known)}"
