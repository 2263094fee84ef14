"""An assembly: bodies, joints and forces by name, the joint graph, gravity, and the events that are part of the model."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Collection, Container, Mapping, MutableMapping, Sequence
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from modular.along_joint import on_joint
from modular.body import Body
from modular.component import Component
from modular.edges import ForceEdge as ForceEdge
from modular.edges import JointEdge as JointEdge
from modular.edges import edge_data
from modular.elements import Array
from modular.errors import ModelError
from modular.events import Condition, Event, Scheduled
from modular.files import put_in_place
from modular.force import Force
from modular.joint import Joint
from modular.joint_values import JointNames
from modular.keywords import Spelt, spelt
from modular.limit import Limit
from modular.names import MAX_NAME_LENGTH, hidden_in, missing, unfit
from modular.numbers import LARGEST_MAGNITUDE, SMALLEST_MAGNITUDE, beyond_reach, misfits, number
from modular.picture import Picture
from modular.port import GROUND, PortName

if TYPE_CHECKING:
    import networkx as nx

UNSAFE = re.compile(r"[./\\ \t\n]").search  # what a name cannot hold: names stand in port names and in paths


Parted = Callable[[str], tuple[str, int]]


REQUIRED = ("gravity", "bodies", "joints", "forces", "events")  # parts of a model as data
PARTS = ("title", *REQUIRED, "begin", "counted", "suggested")


class Beginning(NamedTuple):
    """Coordinates and velocities with which a body begins that stands elsewhere than it is described, as its kind has them."""

    q: Array
    v: Array


class Assembly(Spelt):
    """A model. `gravity` has two numbers in the plane, three in space [m/s^2]."""

    def __init__(self, gravity: Sequence[float] = (0.0, 0.0, -9.81), *, title: str = "") -> None:
        try:
            self.gravity: Array = np.array(gravity, float)
        except (TypeError, ValueError):
            self.gravity = np.array(np.nan)
        if self.gravity.shape not in ((2,), (3,)) or not np.all(np.isfinite(self.gravity)):
            raise ModelError(f"Assembly: gravity = {gravity}; give two finite numbers in the plane, three in space.")
        if np.abs(self.gravity).max() > LARGEST_MAGNITUDE:
            raise ModelError(
                f"Assembly: gravity = {gravity} is too large; give numbers below {LARGEST_MAGNITUDE:g} [m/s^2]."
            )
        if hidden := hidden_in(str(title)):
            raise ModelError(
                f"Assembly: the title {str(title)!r} holds the invisible character {hidden}; leave it out."
            )
        self.title = title
        self.bodies: MutableMapping[str, Body] = {}
        self.joint_edges: MutableMapping[str, JointEdge] = {}
        self.force_edges: MutableMapping[str, ForceEdge] = {}
        self.begin: dict[
            str, Beginning
        ] = {}  # where bodies are, once joints have taken hold of them as they are described
        self.counted: dict[str, float] = {}  # values of joints where they are made, as files of others count them
        self.schedule: list[Scheduled] = []
        self.suggested: dict[
            str, Any
        ] = {}  # dt and until [s], record_every [ticks], a coupling as typed: what suits it
        self.pictures: tuple[Picture, ...] = ()  # what bodies look like; no part of the model's data
        self.origin: Callable[[], Assembly] | None = None  # of the model of a running simulation: how it came about
        self.parted: Parted | None = (
            None  # of several models side by side: what a name is called in its own, and in which
        )
        self.gravities: dict[int, Array] = {}  # of each of these, where they differ [m/s^2]
        self.shared: dict[str, Any] | None = None  # what these have in common with others that run after them

    def gravity_of(self, name: str) -> Array:
        """What pulls at a body: of several models side by side each has its own."""
        return self.gravity if self.parted is None else self.gravities.get(self.parted(name)[1], self.gravity)

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.gravity)

    @property
    def joints(self) -> JointNames:
        """Names of the joints, in order; `joints["elbow"]` is that joint, with its `angle` or `way`."""
        return JointNames.of(self)

    @property
    def forces(self) -> tuple[str, ...]:
        """Names of the forces, in order."""
        return tuple(self.force_edges)

    @property
    def graph(self) -> nx.MultiGraph:
        """The joint graph: bodies and the ground are nodes, joints and forces edges; an external force comes from the ground."""
        import networkx as nx  # a sixth of a second, for those who look at the graph

        graph = nx.MultiGraph()
        graph.add_node(GROUND)
        graph.add_nodes_from(self.bodies)
        for name, edge in self.joint_edges.items():
            graph.add_edge(edge.first.body, edge.second.body, key=name, joint=edge.joint)
        for name, force in self.force_edges.items():
            first = force.ports[0].body if len(force.ports) == 2 else GROUND
            graph.add_edge(first, force.ports[-1].body, key=name, force=force.force)
        return graph

    # --- building --------------------------------------------------------------------------------------------------

    @spelt
    def add(self, name: str, body: Body) -> None:
        """Add a body."""
        self._check_name(name, "body", self.bodies, self.force_edges)
        if not isinstance(body, Body):
            raise ModelError(f"body '{name}': {body!r} is not a body; give one such as Rod(…) or RigidBody(…).")
        try:
            problems = body.problems(name)
        except (TypeError, ValueError, AttributeError) as error:
            wrong = (
                "; ".join(misfits(body)) or f"{body!r} has data of the wrong kind ({error}); give numbers and points"
            )
            raise ModelError(f"body '{name}': {wrong}.") from error
        problems += [f"body '{name}', port {port!a}: {wrong}." for port in body.port_names if (wrong := unfit(port))]
        if not problems and body.dimension != self.dimension:
            problems = [
                f"body '{name}' has {body.dimension} coordinates per point, but gravity = {self.gravity.tolist()} has "
                f"{self.dimension}; build both in the plane or both in space."
            ]
        problems = problems or [f"body '{name}': {wrong}." for wrong in beyond_reach(body, least=SMALLEST_MAGNITUDE)]
        if problems:
            raise ModelError("\n".join(problems))
        self.bodies[intern(str(name))] = body

    @spelt
    def join(
        self,
        name: str,
        joint: Joint,
        first: str,
        second: str,
        *,
        at: Sequence[float] | None = None,
        breaks_at: Limit | None = None,
    ) -> None:
        """Connect two ports ("body.port" or "ground").

        `at` places the joint where the ports do not coincide [m]; `breaks_at` is what it can take, as Limit(force=…).
        """
        self._check_name(name, "joint", self.joint_edges, self.force_edges)
        if not isinstance(joint, Joint):
            raise ModelError(f"joint '{name}': {joint!r} is not a joint; give one such as Revolute().")
        owner = f"joint '{name}'"
        one, other = self.port(first, owner), self.port(second, owner)
        if one.body == other.body:
            raise ModelError(
                f"joint '{name}' connects '{one.body}' with itself ({first}, {second}); connect two different bodies."
            )
        if all(port.body == GROUND or self.bodies[port.body].led for port in (one, other)):
            raise ModelError(
                f"joint '{name}': '{first}' and '{second}' both follow a prescribed motion; connect a body that "
                "moves under forces."
            )
        if breaks_at is not None and not isinstance(breaks_at, Limit):
            raise ModelError(f"joint '{name}': breaks_at = {breaks_at!r}; give a Limit, such as Limit(force=500.0).")
        if self.dimension not in joint.dimensions:
            raise ModelError(
                f"joint '{name}': {type(joint).__name__} exists in {' and '.join(map(str, joint.dimensions))} "
                f"dimensions, not in {self.dimension}; take {joint.otherwise or 'another'}."
            )
        for part in (joint, breaks_at):
            if part is not None and (wrong := next(beyond_reach(part), None)) is not None:
                raise ModelError(f"joint '{name}': {wrong}.")
        place = None if at is None else self._place(owner, at)
        self.joint_edges[name] = JointEdge(joint, *one, *other, place, breaks_at)

    @spelt
    def apply(
        self, name: str, force: Force, *ports: str, at: Sequence[float] | None = None, joint: str | None = None
    ) -> None:
        """Let a force act on one or two ports, or along a `joint`; `at` places the end of a spring on the ground [m]."""
        self._check_name(name, "force", self.joint_edges, self.force_edges, self.bodies)
        if not isinstance(force, Force):
            raise ModelError(f"force '{name}': {force!r} is not a force; give one such as Load(force=(1, 0)).")
        if joint is not None:
            if ports or at is not None:
                raise ModelError(f"force '{name}': joint = {joint!r} says where it acts; leave ports and at out.")
            force, ports, at = on_joint(self, name, force, joint)
        problems = force.check(name, self.dimension) or [f"force '{name}': {wrong}." for wrong in beyond_reach(force)]
        if len(ports) != force.sides:
            along = [port for port in ports if port in self.joint_edges]
            remedy = f" '{along[0]}' is a joint: along it acts apply('{name}', …, joint='{along[0]}')." if along else ""
            problems.append(
                f"force '{name}' acts on {force.sides} port{'s' * (force.sides > 1)}, got {list(ports)}.{remedy}"
            )
        if problems:
            raise ModelError("\n".join(problems))
        named = tuple(self.port(text, f"force '{name}'") for text in ports)
        bodies = [port.body for port in named]
        driven, read = bodies[: force.driven], bodies[force.driven :]
        if len(set(driven)) < len(driven) or bodies[0] in read or (bodies == [GROUND] and not force.on_ground):
            raise ModelError(
                f"force '{name}' acts on {list(ports)}; let it act on ports of different bodies, not the ground alone"
                + (", and read one on another body than the first." if read else ".")
            )
        place = None if at is None else self._place(f"force '{name}'", at)
        if place is not None and GROUND not in bodies:
            raise ModelError(
                f"force '{name}': at = {at} says where on the ground it takes hold, and {', '.join(map(repr, ports))} "
                f"{'are' if len(ports) > 1 else 'is'} no ground; leave it out, or give the body a port there."
            )
        if place is not None and force.placed_by:
            raise ModelError(
                f"force '{name}': at = {at} has no meaning for a {type(force).__name__}; give {force.placed_by}."
            )
        self.force_edges[name] = ForceEdge(force, named, place)

    def _place(self, owner: str, at: Sequence[float]) -> tuple[float, ...]:
        try:
            place = tuple(float(x) for x in at)
        except (TypeError, ValueError):
            place = ()
        if len(place) != self.dimension or not np.all(np.isfinite(place)):
            raise ModelError(f"{owner}: at = {at!r}; give {self.dimension} finite numbers [m].")
        return place

    def remove(self, name: str) -> list[str]:
        """Remove a body with the joints and forces on it, or a force; the names of what went with it."""
        if name in self.force_edges:
            del self.force_edges[name]
            return []
        self.known(name, self.bodies, "body or force")
        gone = [n for n, e in self.joint_edges.items() if name in (e.first.body, e.second.body)]
        gone += [n for n, f in self.force_edges.items() if any(port.body == name for port in f.ports)]
        for edge in gone:
            for known in (self.joint_edges, self.force_edges, self.counted):
                known.pop(edge, None)
        del self.bodies[name]
        self.begin.pop(name, None)
        return gone

    def cut(self, name: str) -> None:
        """Remove a joint."""
        if name in self.force_edges:
            raise ModelError(f"cut: '{name}' is a force, not a joint; take it off with remove({name!r}).")
        self.known(name, self.joint_edges, "joint")
        del self.joint_edges[name]
        self.counted.pop(name, None)

    def count(self, name: str, value: float) -> None:
        """Say what a joint counts where it is made [rad], [m]; left out it counts from 0 there."""
        self.known(name, self.joint_edges, "joint", "counted")
        self.counted[intern(str(name))] = number(value, f"joint '{name}': counted", self.joints[name].unit)

    @spelt
    def at(self, time: float, *events: Event) -> None:
        """Let events happen at a time [s], at the nearest tick."""
        if number(time, "Assembly.at: time", "s") < 0:
            raise ModelError(f"Assembly.at: time = {time} s; give a finite time from 0 on.")
        self.schedule.append(Scheduled(_events(events, "at"), time=float(time)))

    @spelt
    def when(self, condition: Condition, *events: Event, repeats: bool = False) -> None:
        """Let events happen at the first tick at which a condition has come true; `repeats` keeps it armed."""
        if not isinstance(condition, Condition):
            raise ModelError(
                f"Assembly.when: {condition!r} is not a condition; give one such as Crossing('rod.end', 'y')."
            )
        self.schedule.append(Scheduled(_events(events, "when"), condition=condition, repeats=repeats))

    # --- looking up ------------------------------------------------------------------------------------------------

    def port(self, text: str, owner: str) -> PortName:
        """A port by name, refused with the nearest known one."""
        port = PortName.parse(text, owner)
        if port.body == GROUND:
            return port
        body = self.bodies.get(port.body)
        if body is None:
            raise ModelError(missing("body", port.body, self.bodies, owner))
        if port.port not in body.port_names:
            raise ModelError(missing(f"port of body '{port.body}'", port.port, body.port_names, owner))
        return port

    def known(self, name: str, names: Collection[str], what: str, owner: str = "") -> None:
        """Refuse an unknown name and propose the nearest."""
        if name in names:
            return
        raise ModelError(missing(what, name, names, owner))

    def _check_name(self, name: str, what: str, *taken: Container[str]) -> None:
        if not isinstance(name, str) or name == GROUND or not name or (UNSAFE(name) and not unfit(name)):
            raise ModelError(
                f"{what} {name!r}: a name needs at least one character, no dot, slash or space, and is not 'ground'."
            )
        if wrong := unfit(name):
            raise ModelError(f"{what} {name[:MAX_NAME_LENGTH]!a}: {wrong}; choose a short name of visible characters.")
        for names in taken:
            if name in names:
                raise ModelError(f"{what} '{name}' exists already; choose another name.")

    # --- as data -----------------------------------------------------------------------------------------------------

    def given(self) -> Assembly:
        """The model to begin with: this one; that of a running simulation as it was given, with what was done to it since."""
        return self if self.origin is None else self.origin()

    def with_acts(self, acts: Sequence[Mapping[str, Any]]) -> Assembly:
        """This model with what was done to it by hand, told as scheduled events; at each tick that comes before its own."""
        found = self.copy()
        found.schedule[:0] = [Scheduled.from_data(dict(act)) for act in acts]
        return found

    def copy(self) -> Assembly:
        """An independent copy (descriptions are immutable and shared)."""
        other = copy.copy(self)
        other.origin = None
        other.gravity = self.gravity.copy()
        for name in ("bodies", "joint_edges", "force_edges", "begin", "counted", "schedule", "suggested"):
            setattr(other, name, copy.copy(getattr(self, name)))
        return other

    def to_data(self) -> dict[str, Any]:
        """The whole model as JSON-ready data."""
        return {
            "title": self.title,
            "gravity": self.gravity.tolist(),
            "bodies": {name: body.to_data() for name, body in self.bodies.items()},
            "joints": {
                name: edge_data(e.joint, "between", (e.first, e.second), e.at, e.breaks_at)
                for name, e in self.joint_edges.items()
            },
            "forces": {name: edge_data(e.force, "on", e.ports, e.at) for name, e in self.force_edges.items()},
            "events": [scheduled.to_data() for scheduled in self.schedule],
            **(
                {"begin": {name: [x.tolist() for x in state] for name, state in self.begin.items()}}
                if self.begin
                else {}
            ),
            **({"counted": dict(self.counted)} if self.counted else {}),
            "suggested": dict(self.suggested),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Assembly:
        """The model that `to_data` described."""
        if unknown := [key for key in data if key not in PARTS]:
            raise ModelError(missing("part of a model", unknown[0], PARTS))
        if lacking := [key for key in REQUIRED if key not in data]:
            raise ModelError(
                f"the model has no '{lacking[0]}'; it needs {', '.join(REQUIRED)}, empty where there are none."
            )
        assembly = cls(data["gravity"], title=data.get("title", ""))
        for name, body in data["bodies"].items():
            assembly.add(name, Component.from_data(body))
        for name, joint in data["joints"].items():
            fields = {key: value for key, value in joint.items() if key not in ("between", "at", "breaks_at")}
            limit = Component.from_data(joint["breaks_at"]) if "breaks_at" in joint else None
            assembly.join(name, Component.from_data(fields), *joint["between"], at=joint.get("at"), breaks_at=limit)
        for name, force in data["forces"].items():
            fields = {key: value for key, value in force.items() if key not in ("on", "at")}
            made = Component.from_data(fields)
            # older files gave a contact one, without effect
            at = None if getattr(made, "placed_by", "") else force.get("at")
            assembly.apply(name, made, *force["on"], at=at)
        for name, state in data.get("begin", {}).items():
            assembly.known(name, assembly.bodies, "body", "begin")
            assembly.begin[intern(str(name))] = Beginning(*(np.array(x, float) for x in state))
        for name, value in data.get("counted", {}).items():
            assembly.count(name, value)
        assembly.schedule = [Scheduled.from_data(scheduled) for scheduled in data["events"]]
        assembly.suggested = dict(data.get("suggested", {}))
        return assembly

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; what stood there is there until it is whole on disk.

        That of a running simulation is written as it was given, with what was done to it since as events at their times: who
        runs it comes to where the simulation stands.
        """
        if Path(path).suffix == ".toml":
            raise ModelError(
                f"'{path}': save writes JSON; give a name that ends in .json. modular import FILE.json -o {path} writes it as TOML."
            )
        put_in_place(Path(path), json.dumps(self.given().to_data(), indent=2).encode())

    @classmethod
    def load(cls, path: str | Path) -> Assembly:
        """Read a model from a JSON file."""
        try:
            return cls.from_data(json.loads(Path(path).read_bytes().decode("utf-8")))
        except ModelError as error:
            raise ModelError(f"'{path}': {error}") from error
        except OSError as error:
            raise ModelError(f"'{path}' cannot be read ({error.strerror}).") from error
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(
                f"'{path}' is not a model; Assembly.save writes them ({type(error).__name__}: {error})."
            ) from error

    def __repr__(self) -> str:
        return (
            f"<Assembly {self.title or 'without title'}: {len(self.bodies)} bodies, {len(self.joint_edges)} joints, "
            f"{len(self.force_edges)} forces, {'plane' if self.dimension == 2 else 'space'}>"
        )


def _events(events: Sequence[Event], method: str) -> tuple[Event, ...]:
    if not events:
        raise ModelError(f"Assembly.{method}: say what is to happen, such as Cut('elbow'), after the others.")
    for event in events:
        if not isinstance(event, Event):
            raise ModelError(f"{event!r} is not an event; give one such as Cut('elbow').")
    return tuple(events)
