"""What people do in a laboratory, as data: changes of the model, of the settings, the hand, and the clock.

Acts on the model are the events of `modular.events` (Cut, Join, Add, Remove, Apply, Merge, Unmerge) and those below. All of them
are carried out between two steps, in the order in which they came. Those that decide how the motion goes on are noted in the diary.
An act that was posted has a receipt: whether it has been carried out, and when, or why not.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from coordinator.continuation.reconfigure import with_body, with_names, with_settings
from coordinator.couplings import Centralized, Coupling
from coordinator.couplings.centralized import MinimalCoordinates
from coordinator.simulation import Simulation
from modular.component import Component
from modular.errors import ModelError
from modular.events import Event
from modular.force import Force
from modular.limit import Limit
from modular.names import missing

if TYPE_CHECKING:
    from coordinator.laboratory.session import Session


class Act(Component):
    """Something that somebody does in a laboratory."""

    noted: ClassVar[bool] = True  # in the diary: what comes after depends on it
    undone: ClassVar[bool] = False  # whether it can be undone

    @abstractmethod
    def perform(self, session: Session) -> None:
        """Do it."""


class Change(Act):
    """Of the model or of the settings."""

    undone = True

    def perform(self, session: Session) -> None:
        """Let the simulation change, or another go on in its place."""
        session.simulation = self.changed(session.simulation)

    @abstractmethod
    def changed(self, simulation: Simulation) -> Simulation:
        """The simulation from then on."""


# --- the model -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Adjust(Change):
    """Other numbers of a body (`Body.adjustable`), or other data of a force."""

    name: str
    values: Mapping[str, object]

    def changed(self, simulation: Simulation) -> Simulation:
        """Bodies stand where they stood; a force of other data acts instead."""
        model = simulation.assembly
        if self.name in model.force_edges:
            edge = model.force_edges[self.name]
            force = Component.from_data({**edge.force.to_data(), **self.values})
            problems = force.check(self.name, model.dimension) if isinstance(force, Force) else []
            if problems:
                raise ModelError("\n".join(problems))
            ports = [str(port) for port in edge.ports]
            simulation.remove(self.name)
            simulation.apply(self.name, force, *ports, at=edge.at)
            return simulation
        model.known(self.name, (*model.bodies, *model.forces), "body or force")
        body, numbers = model.bodies[self.name], {}
        known = body.adjustable()
        for name, value in self.values.items():
            if name not in known:
                raise ModelError(missing(f"number of body '{self.name}'", name, known))
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ModelError(f"body '{self.name}': {name} = {value!r}; give a number.")
            numbers[name] = float(value)
        try:
            adjusted = body.adjusted(numbers)
        except ModelError as error:
            raise ModelError(f"body '{self.name}': {error}") from error
        return with_body(simulation, self.name, adjusted)


@dataclass(frozen=True)
class Rename(Change):
    """Another name of a body, joint or force."""

    name: str
    to: str

    def changed(self, simulation: Simulation) -> Simulation:
        """Everything stays as it is but for the name."""
        return with_names(simulation, {self.name: self.to})


@dataclass(frozen=True)
class SetLimit(Change):
    """What a joint can take before it breaks; None: everything."""

    joint: str
    limit: Limit | None

    def changed(self, simulation: Simulation) -> Simulation:
        """The joint is unloaded as far as its limit knows."""
        simulation.limit(self.joint, self.limit)
        return simulation


@dataclass(frozen=True)
class SetGravity(Change):
    """Another gravity [m/s^2]."""

    gravity: Sequence[float]

    def changed(self, simulation: Simulation) -> Simulation:
        """From now on."""
        return with_settings(simulation, gravity=self.gravity)


# --- the settings ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SetStep(Change):
    """Another step [s]."""

    dt: float

    def changed(self, simulation: Simulation) -> Simulation:
        """The clock stands still, and samples come about as long after each other as before [s]."""
        return with_settings(simulation, dt=self.dt, still=True)


@dataclass(frozen=True)
class SetCoupling(Change):
    """Another coupling, or the same with other settings."""

    coupling: Coupling

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.coupling, Coupling):
            raise ModelError(f"coupling = {self.coupling!r} is not a coupling; give one such as Glued(order=4).")

    def changed(self, simulation: Simulation) -> Simulation:
        """From now on."""
        return with_settings(simulation, coupling=self.coupling)


# --- the hand --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grab(Act):
    """Take hold of a body: at a share of the way from one of its ports to another ("" is its mass centre)."""

    body: str
    first: str = ""
    second: str = ""
    share: float = 0.0

    def perform(self, session: Session) -> None:
        """One hand: what it held before it lets go."""
        session.hand.grab(session.simulation, self.body, (self.first, self.second), self.share)


@dataclass(frozen=True)
class Drag(Act):
    """Draw what the hand holds to a point [m]."""

    target: Sequence[float]

    def perform(self, session: Session) -> None:
        """From now on."""
        session.hand.drag(session.simulation, self.target)


@dataclass(frozen=True)
class Release(Act):
    """Let go."""

    def perform(self, session: Session) -> None:
        """Whatever it holds."""
        session.hand.release(session.simulation)


# --- back and forth --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Undo(Act):
    """Back to the instant before the last change: model, settings, motion and clock."""

    def perform(self, session: Session) -> None:
        """Refused where there is none."""
        session.undo()


@dataclass(frozen=True)
class Redo(Act):
    """The change that was undone last, once more."""

    def perform(self, session: Session) -> None:
        """Refused where there is none."""
        session.redo()


@dataclass(frozen=True)
class Reset(Act):
    """Back to the beginning."""

    undone = True

    def perform(self, session: Session) -> None:
        """The model and the settings as they were, too; it can be undone."""
        session.reset()


# --- the clock -------------------------------------------------------------------------------------------------------


class Command(Act):
    """To the clock: when something happens, and not what."""

    noted = False


@dataclass(frozen=True)
class Pause(Command):
    """Stand still."""

    def perform(self, session: Session) -> None:
        """After the present tick."""
        session.pace.pause()


@dataclass(frozen=True)
class Resume(Command):
    """Go on."""

    def perform(self, session: Session) -> None:
        """Unless the motion has come to an end."""
        session.check_going()
        session.pace.resume(session.simulation)


@dataclass(frozen=True)
class Step(Command):
    """So many ticks, and stand still."""

    ticks: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.ticks, bool) or not isinstance(self.ticks, int) or not 1 <= self.ticks <= 1_000_000_000:
            raise ModelError(f"Step: ticks = {self.ticks!r}; give a whole number from 1 on.")

    def perform(self, session: Session) -> None:
        """As fast as they can be computed."""
        session.check_going()
        session.pace.walk(session.simulation, self.ticks)


@dataclass(frozen=True)
class SetSpeed(Command):
    """How fast time goes: 1 as on the clock, 0.1 ten times slower; 0: as fast as can be computed."""

    factor: float

    def __post_init__(self) -> None:
        super().__post_init__()
        value = self.factor
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1e6:
            raise ModelError(
                f"speed = {value!r}; give a factor from 0.001 to 1000 times the clock, or 0 for as fast as possible."
            )

    def perform(self, session: Session) -> None:
        """From now on."""
        session.pace.set_speed(float(self.factor), session.simulation)


@dataclass(frozen=True)
class Follow(Command):
    """Let a reference follow from here on: the same mechanism solved as a whole, as a ghost; None: no more."""

    solver: Centralized | None = field(default_factory=lambda: Centralized(MinimalCoordinates()))

    def perform(self, session: Session) -> None:
        """It begins where the mechanism is."""
        session.call_ghost(self.solver)


@dataclass(frozen=True)
class Collect(Command):
    """Gather what was recorded so far, for whoever wants to keep it (`Session.collected`)."""

    def perform(self, session: Session) -> None:
        """In the thread of the session, where nothing else happens meanwhile."""
        session.collected = session.runs


@dataclass(frozen=True)
class ShowMode(Command):
    """Show how the mechanism swings about where it would come to rest, in a mode counted from 0 on; None: no more."""

    number: int | None = 0

    def perform(self, session: Session) -> None:
        """As a ghost that swings beside it."""
        if self.number is None:
            session.inquiry.forget_swing(session)
        else:
            session.inquiry.swing(session, self.number)


@dataclass(frozen=True)
class AskLoads(Command):
    """Which joints share a load where the mechanism stands, and how many freedoms it has."""

    def perform(self, session: Session) -> None:
        """The answer is a notice, and a colour of joints."""
        session.inquiry.loads(session)


Doing = Act | Event  # what can be posted


def is_undone(act: Doing) -> bool:
    """Whether an act can be undone."""
    return isinstance(act, Event) or act.undone


def is_noted(act: Doing) -> bool:
    """Whether it stands in the diary."""
    return isinstance(act, Event) or act.noted


def describe(act: Doing) -> str:
    """An act in a few words."""
    data = act.to_data()
    name = str(data.pop("class")).partition(":")[2]
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()
    values = [_short(value) for value in data.values()]
    return " ".join([words, *values])


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        if "class" in value:
            name = str(value["class"]).partition(":")[2].lower()
            given = {key: item for key, item in value.items() if isinstance(item, int | float)}
            return f"{name}({_short(given)})" if given else name
        return ", ".join(f"{key} = {_short(item)}" for key, item in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_short, value)) + ")"
    return str(value)


class Receipt:
    """What becomes of an act that was posted."""

    def __init__(self, act: Doing) -> None:
        self.act = act
        self.error = ""  # why it was refused
        self.tick = -1  # at which it was carried out
        self._over = threading.Event()

    @property
    def over(self) -> bool:
        """Whether it was carried out or refused."""
        return self._over.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Until it was carried out or refused."""
        return self._over.wait(timeout)

    def settle(self, error: str = "", tick: int = -1) -> None:
        """What became of it; whoever waits is told when it can be seen (`close`)."""
        self.error, self.tick = error, tick

    def close(self, error: str = "") -> None:
        """It is over."""
        self.error = self.error or error
        self._over.set()
