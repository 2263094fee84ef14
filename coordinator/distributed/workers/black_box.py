"""A black box: a body whose class is installed at one worker only; all others know its name, its ports and its data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from coordinator.distributed.workers.black_boxes import BlackBoxes
from coordinator.distributed.workers.channel import MAX_ATTEMPTS, Channel, ProcessLost, Unreachable
from coordinator.distributed.workers.hosted_stack import (
    Refusal,
    body_from,
)
from modular.body import Body
from modular.component import plain
from modular.elements import Array
from modular.errors import ModelError
from modular.integrator import GAINS, SCHEME, SOLVER, Integrator

CLASS, THEIRS = "class", "class there"  # in data: a class that only the worker can look up


@dataclass(frozen=True)
class BlackBox(Body):
    """A body of the class `what`, "package:Class", which is installed where the worker named `worker` runs.

    `ports` are their names, `data` what the class is made with. Ports and dimension are said here, so that a model can be built,
    checked and saved where nobody knows the class; the worker is asked whether they are right before anything moves.
    """

    hosted: ClassVar[bool] = True
    what: str
    worker: str = field(kw_only=True)
    ports: Sequence[str] = field(kw_only=True)
    dimension: int = field(kw_only=True, default=3)
    data: Mapping[str, Any] = field(kw_only=True, default_factory=dict)
    integrator: Integrator | None = field(kw_only=True, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.data, Mapping):
            object.__setattr__(self, "data", _renamed(plain(self.data), CLASS, THEIRS))

    # --- where it lives ----------------------------------------------------------------------------------------------

    @property
    def description(self) -> dict[str, Any]:
        """The body as its own package knows it, as data."""
        data: dict[str, Any] = _renamed(self.data, THEIRS, CLASS)
        return {CLASS: self.what, **data}

    def reached(self, name: str, channel: Channel) -> Self:
        """The same, at the end of a channel; refused where it is another than it was said to be."""
        there = f"at worker '{channel.worker}'" if channel.worker == self.worker else f"in {channel.worker}"
        owner = f"body '{name}' ({self.what}, a black box of worker '{self.worker}') cannot be made {there}"
        try:
            facts = _called(channel, "facts", name=name, description=self.description)
        except Refusal as error:
            raise ModelError(f"{owner}: {error}") from error
        if facts["missing"] is not None:
            remedy = "" if channel.worker == self.worker else f"give workers=…, one of which is '{self.worker}', or "
            raise ModelError(
                f"{owner}: {facts['missing']} Remedy: {remedy}install the package '{self.what.partition(':')[0]}' "
                "there, and declare the entry point 'modular.components'."
            )
        problems = list(facts["problems"])
        if not problems and facts["dimension"] != self.dimension:
            problems.append(f"body '{name}': dimension = {self.dimension}; {self.what} has {facts['dimension']}.")
        if not problems and set(facts["ports"]) != set(self.ports):
            problems.append(f"body '{name}': ports = {list(self.ports)}; {self.what} has {facts['ports']}.")
        if problems:
            raise ModelError("\n".join(problems))
        other = copy(self)
        object.__setattr__(other, "_channel", channel)
        object.__setattr__(other, "_facts", facts)
        return other

    @property
    def sources(self) -> dict[str, str]:
        """A digest of the file that defines its class, where the worker was asked."""
        facts = self.__dict__.get("_facts")
        return {} if facts is None else dict(facts["sources"])

    @property
    def _here(self) -> Body:
        """The body itself, where its package is installed in this process."""
        return body_from(self.description)

    def _fact(self, name: str) -> Any:
        facts = self.__dict__.get("_facts")
        return getattr(self._known_here(name), name) if facts is None else facts[name]

    def _known_here(self, question: str) -> Body:
        try:
            return self._here
        except ModelError as error:
            raise ModelError(
                f"{question} of a black box: worker '{self.worker}' can no longer be asked, and '{self.what}' is "
                "not installed here. Ask while the simulation is open, or where the package "
                f"'{self.what.partition(':')[0]}' is installed."
            ) from error

    def _describe(self, question: str, **about: Any) -> Any:
        channel = self.__dict__.get("_channel")
        if channel is not None:
            try:
                return _called(channel, "describe", description=self.description, question=question, about=about)
            except Unreachable:
                pass
        return getattr(self._known_here(question), question)(**about)

    # --- a body ------------------------------------------------------------------------------------------------------

    @property
    def port_names(self) -> tuple[str, ...]:
        """As they were given."""
        return tuple(self.ports)

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return float(self._fact("total_mass"))

    @property
    def freedoms(self) -> int:
        """How many independent motions it has when free."""
        return int(self._fact("freedoms"))

    @property
    def straight(self) -> bool:
        """Whether its ports are linear in its coordinates."""
        return bool(self._fact("straight"))

    @property
    def rigid(self) -> bool:
        """Whether its ports move as those of one rigid piece."""
        return bool(self._fact("rigid"))

    @property
    def steps(self) -> int:
        """In a tick, as said to the box or to the class itself."""
        return int(self._fact("steps")) if self.integrator is None else self.integrator.steps

    @property
    def motions(self) -> int:
        """In how many ways its ports can move."""
        return int(self._fact("motions"))

    def check(self, name: str) -> list[str]:
        """What can be seen without its class."""
        found = []
        package, colon, cls = self.what.partition(":") if isinstance(self.what, str) else ("", "", "")
        if not (package and colon and cls):
            found.append(f"body '{name}': {self.what!r} names no class; write 'package:Class', such as 'plant:Motor'.")
        if not isinstance(self.worker, str) or not self.worker:
            found.append(f"body '{name}': worker = {self.worker!r}; give the name of the worker where it is installed.")
        if isinstance(self.ports, str) or not all(isinstance(port, str) and port for port in self.ports):
            found.append(f"body '{name}': ports = {self.ports!r}; give the names of its ports, such as ['shaft'].")
        if self.dimension not in (2, 3):
            found.append(f"body '{name}': dimension = {self.dimension!r}; give 2 or 3.")
        if not isinstance(self.data, Mapping) or CLASS in self.data or THEIRS in self.data:
            found.append(f"body '{name}': data = {self.data!r}; give the fields of {self.what} by name.")
        return found

    @property
    def integrates(self) -> frozenset[str]:
        """What a stack is told (`configure`); steps in a tick are for the class itself to take, and to be told of in `data`."""
        return SCHEME | GAINS | SOLVER

    def kind(self) -> Hashable:
        """Those that share a stack at one worker share one here."""
        return ("black box", self.worker, self._facts_there()["kind"])

    def new_stack(self) -> BlackBoxes:
        """One that asks the worker."""
        facts = self._facts_there()
        return BlackBoxes(self.__dict__["_channel"], self.what, self.description, facts["offers"])

    def _facts_there(self) -> Any:
        if "_facts" not in self.__dict__:
            raise ModelError(f"a black box ({self.what}) works only in a Simulation, which finds its worker.")
        return self.__dict__["_facts"]

    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""
        position, velocity, acceleration = self._describe("port_motion", port=port, q=q, v=v, a=a)
        return position, velocity, acceleration

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """[J], shape (...)."""
        found: Array = self._describe("kinetic_energy", q=q, v=v)
        return found

    def leaked(self, q: Array) -> Array | None:
        """As its own class reckons, where it does [J]."""
        try:
            found: Array | None = self._describe("leaked", q=q)
        except (AttributeError, Refusal):
            return None
        return found

    @property
    def outputs(self) -> Sequence[str]:
        """Variables that it shows beside its motion, as they were given."""
        return tuple(self.description.get("outputs", ()))

    def output(self, name: str, q: Array) -> Array:
        """One of them, of its coordinates."""
        found: Array = self._describe("output", name=name, q=q)
        return found

    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """In uniform gravity [J], shape (...)."""
        found: Array = self._describe("potential_energy", q=q, gravity=gravity)
        return found

    def momentum(self, q: Array, v: Array) -> Array:
        """Linear momentum [kg m/s], shape (..., dimension)."""
        found: Array = self._describe("momentum", q=q, v=v)
        return found

    def mass_centre(self, q: Array) -> Array:
        """Position of the mass centre [m], shape (..., dimension)."""
        found: Array = self._describe("mass_centre", q=q)
        return found

    def internal_violation(self, q: Array) -> Array:
        """Error of each internal constraint, shape (..., m)."""
        found: Array = self._describe("internal_violation", q=q)
        return found

    def internal_violation_rate(self, q: Array, v: Array) -> Array:
        """Its time derivative, shape (..., m)."""
        found: Array = self._describe("internal_violation_rate", q=q, v=v)
        return found

    @classmethod
    def example(cls, dimension: int = 3) -> Self:
        """A description; what it describes only its worker knows."""
        return cls("plant:Motor", worker="plant", ports=("shaft", "foot"), dimension=dimension, data={"power": 3.0})


def _called(channel: Channel, method: str, **said: Any) -> Any:
    """What needs no memory is asked of whoever is there."""
    last = ""
    for _ in range(MAX_ATTEMPTS):
        try:
            return channel.call(channel.process(), method, said)
        except ProcessLost as error:
            last = str(error)
    raise ModelError(
        f"worker '{channel.worker}' has died {MAX_ATTEMPTS} times over {method} of {said['description'][CLASS]}; "
        f"the last time {last}."
    )


def _renamed(value: Any, old: str, new: str) -> Any:
    """Nested data with a key called otherwise."""
    if isinstance(value, Mapping):
        return {new if key == old else key: _renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_renamed(item, old, new) for item in value)
    return value
