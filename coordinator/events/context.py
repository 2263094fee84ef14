"""What events ask of the simulation that they change."""

from __future__ import annotations

from typing import Any, Protocol

from coordinator.couplings.coupling import Coupling
from coordinator.engine.context import EngineContext
from coordinator.events.breakage import Breakage
from coordinator.events.schedule import Schedule
from coordinator.system import System
from modular.assembly import Assembly
from modular.events import Changeable, Event


class Remembers(Protocol):
    """What a simulation remembers beside its samples."""

    given: Any  # the model and the coupling, as they were given
    project: bool
    grouped: bool

    def by_hand(self, act: Event | None, time: float) -> dict[str, str]:
        """Note a change that no event of the model makes."""


class EventContext(EngineContext, Changeable, Protocol):
    """A simulation, as events see it."""

    @property
    def assembly(self) -> Assembly:
        """The model as it is now."""

    @property
    def local_system(self) -> System:
        """The system as it was when it was last in this process."""

    @property
    def tick(self) -> int:
        """Ticks so far."""

    @property
    def coupling(self) -> Coupling:
        """How components get through a tick together."""

    @property
    def breakage(self) -> Breakage:
        """Joints that may break."""

    @property
    def schedule(self) -> Schedule:
        """Events that wait."""

    @property
    def past(self) -> Remembers:
        """What it remembers."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """What has happened so far."""

    def carry_out(self, event: Event) -> None:
        """Let an event of the model happen."""

    @property
    def has_workers(self) -> bool:
        """Whether there are workers, wherever the mechanism is now."""

    def check_divisible(self) -> None:
        """Refuse what workers, if there are any, could not move."""

    def record(self) -> None:
        """Take a sample, if one is due."""
