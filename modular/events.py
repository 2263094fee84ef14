"""Events: changes of topology as data, scheduled in an assembly or applied at once.

An event is carried out at a tick, between two steps: `apply(target)`, where the target is the running simulation.
Conditions say when: at a time, or whenever something crosses a value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, Protocol

import numpy as np

from modular.body import Body
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.joint import Joint
from modular.limit import Limit
from modular.numbers import number


class Changeable(Protocol):
    """What events act on: a running simulation."""

    def add(self, name: str, body: Body) -> None:
        """Add a body."""

    def remove(self, name: str) -> None:
        """Remove a body or a force."""

    def join(
        self,
        name: str,
        joint: Joint,
        first: str,
        second: str,
        *,
        at: Sequence[float] | None = None,
        law: str = "momentum",
        breaks_at: Limit | None = None,
    ) -> None:
        """Make a joint."""

    def cut(self, name: str) -> None:
        """Cut a joint."""

    def apply(self, name: str, force: Force, *ports: str, at: Sequence[float] | None = None) -> None:
        """Apply a force."""

    def merge(self, *bodies: str) -> None:
        """Let bodies be one component."""

    def unmerge(self, *bodies: str) -> None:
        """Let components fall apart."""


class Readable(Protocol):
    """What conditions read."""

    def has_port(self, port: str) -> bool:
        """Whether the body of a port is there now."""

    def has_joint(self, joint: str) -> bool:
        """Whether a joint holds now."""

    def port_motion(self, port: str) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port now."""


class Event(Component):
    """A change of the model."""

    @abstractmethod
    def apply(self, target: Changeable) -> None:
        """Carry it out."""


@dataclass(frozen=True)
class Cut(Event):
    """Cut a joint."""

    joint: str

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        target.cut(self.joint)


@dataclass(frozen=True)
class Merge(Event):
    """Let neighbours be one component, solved inside: joints between them have no play from then on."""

    bodies: Sequence[str]

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        target.merge(*self.bodies)


@dataclass(frozen=True)
class Unmerge(Event):
    """Let the components fall apart to which bodies belong."""

    bodies: Sequence[str]

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        target.unmerge(*self.bodies)


LAWS = ("momentum", "kinematic")  # how the motion of a joint's points stops when it is made


def check_law(joint: str, law: str) -> None:
    """Refuse an unknown law."""
    if law not in LAWS:
        raise ModelError(f"joint '{joint}': law = {law!r}; give one of {', '.join(LAWS)}.")


@dataclass(frozen=True)
class Join(Event):
    """Make a joint between two ports as they stand then."""

    name: str
    joint: Joint
    first: str
    second: str
    at: Sequence[float] | None = None
    law: str = "momentum"
    breaks_at: Limit | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_law(self.name, self.law)

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        target.join(self.name, self.joint, self.first, self.second, at=self.at, law=self.law, breaks_at=self.breaks_at)


@dataclass(frozen=True)
class Add(Event):
    """Add a body, in the state that its description gives."""

    name: str
    body: Body

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        target.add(self.name, self.body)


@dataclass(frozen=True)
class Remove(Event):
    """Remove a body, with the joints and forces on it, or a force."""

    name: str

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        target.remove(self.name)


@dataclass(frozen=True)
class Apply(Event):
    """Apply a force."""

    name: str
    force: Force
    ports: Sequence[str]
    at: Sequence[float] | None = None

    def apply(self, target: Changeable) -> None:
        """Carry it out."""
        at = None if getattr(self.force, "placed_by", "") else self.at  # as in older files, without effect
        target.apply(self.name, self.force, *self.ports, at=at)


class Condition(Component):
    """When something is to happen; asked at every tick."""

    band: float  # how far from zero its margin must have been before it can come true (again)

    @property
    def ports(self) -> tuple[str, ...]:
        """Ports that it reads."""
        return ()

    @property
    def crossing(self) -> Crossing | None:
        """Itself, where a coordinate of a port crosses a value and nothing else matters."""
        return None

    @abstractmethod
    def margin(self, state: Readable) -> float:
        """A smooth number that changes sign where the condition comes true; NaN while it is not to be asked."""

    @abstractmethod
    def fires(self, before: float, now: float) -> bool:
        """Whether it has come true between two ticks."""


@dataclass(frozen=True)
class Crossing(Condition):
    """A coordinate ("x", "y" or "z") of a port crosses a value [m]: rising (+1), falling (-1) or either way (0).

    The port must have been farther than `band` [m] from the value before. While the joint `unless` holds, the condition
    is not asked.
    """

    port: str
    coordinate: str
    value: float = 0.0
    direction: int = 0
    band: float = 0.0
    unless: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.coordinate not in ("x", "y", "z") or self.direction not in (-1, 0, 1):
            raise ModelError(
                f"Crossing of '{self.port}': coordinate = {self.coordinate!r}, direction = {self.direction!r}; "
                "give 'x', 'y' or 'z' and -1, 0 or 1."
            )
        number(self.value, f"Crossing of '{self.port}': value", "m")
        if number(self.band, f"Crossing of '{self.port}': band", "m") < 0.0:
            raise ModelError(f"Crossing of '{self.port}': band = {self.band} m; give a distance from 0 on.")

    @property
    def ports(self) -> tuple[str, ...]:
        """Its port."""
        return (self.port,)

    @property
    def axis(self) -> int:
        """The coordinate by number."""
        return "xyz".index(self.coordinate)

    @property
    def crossing(self) -> Crossing:
        """That is what it is."""
        return self

    def margin(self, state: Readable) -> float:
        """How far beyond the value the coordinate is."""
        if not state.has_port(self.port) or (self.unless is not None and state.has_joint(self.unless)):
            return nan
        position = state.port_motion(self.port)[0]
        index = self.axis
        if index >= len(position):
            raise ModelError(f"Crossing of '{self.port}': there is no {self.coordinate} in the plane; use 'x' or 'y'.")
        return float(position[index] - self.value)

    def fires(self, before: float, now: float) -> bool:
        """A change of sign in the right direction; standing on the value is not crossing it."""
        if not np.isfinite(before) or before == 0.0:
            return False
        rising, falling = before < 0.0 <= now, before > 0.0 >= now
        return (rising and self.direction >= 0) or (falling and self.direction <= 0)


@dataclass(frozen=True)
class Scheduled:
    """Events waiting for a time [s] or a condition."""

    events: tuple[Event, ...]
    time: float | None = None
    condition: Condition | None = None
    repeats: bool = False  # a condition that stays armed after it fired

    def to_data(self) -> dict[str, Any]:
        """As JSON-ready data."""
        when = (
            {"at": self.time} if self.condition is None else {"when": self.condition.to_data(), "repeats": self.repeats}
        )
        return {**when, "do": [event.to_data() for event in self.events]}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Scheduled:
        """Read back what `to_data` wrote."""
        events = tuple(Component.from_data(event) for event in data["do"])
        if "at" in data:
            return cls(events, time=data["at"])
        return cls(events, condition=Component.from_data(data["when"]), repeats=data["repeats"])
