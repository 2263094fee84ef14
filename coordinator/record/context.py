"""What records ask of the simulation that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from coordinator.couplings.coupling import Coupling
from coordinator.record.recorder import Recorder
from coordinator.system import System
from modular.assembly import Assembly

if TYPE_CHECKING:
    from coordinator.record.past import Past


class HasState(Protocol):
    """What waits for events, as far as a record goes."""

    def checkpoint_state(self) -> dict[str, list[Any]]:
        """What a checkpoint keeps of it."""

    def never(self) -> list[str]:
        """What was scheduled and has not happened."""


class RecordContext(Protocol):
    """A simulation, as its record sees it."""

    @property
    def assembly(self) -> Assembly:
        """The model as it is now."""

    @property
    def system(self) -> System:
        """What moves."""

    @property
    def coupling(self) -> Coupling:
        """How components get through a tick together."""

    @property
    def dt(self) -> float:
        """The step [s]."""

    @property
    def tick(self) -> int:
        """Ticks so far."""

    @property
    def bound_for(self) -> int:
        """The tick to which it runs, or has run."""

    @property
    def time(self) -> float:
        """[s]."""

    @property
    def recorder(self) -> Recorder:
        """Where samples go."""

    @property
    def past(self) -> Past:
        """What it remembers beside its samples."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """What has happened so far."""

    @property
    def schedule(self) -> HasState:
        """Events that wait."""

    @property
    def breakage(self) -> Any:
        """Joints that may break: those that are watched, gone, and asked for."""

    @property
    def alarm(self) -> Any:
        """What may leak, and who has rung."""

    @property
    def whole(self) -> bool:
        """Whether all of it is there."""
