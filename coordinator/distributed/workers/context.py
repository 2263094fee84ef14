"""What workers ask of the simulation that they move."""

from __future__ import annotations

from typing import Protocol

from coordinator.couplings.coupling import Coupling
from coordinator.engine.context import EngineContext
from coordinator.events.breakage import Breakage
from coordinator.record.recorder import Recorder
from coordinator.system import System
from modular.assembly import Assembly


class WorkerContext(EngineContext, Protocol):
    """A simulation, as those see it who distribute and collect it."""

    @property
    def assembly(self) -> Assembly:
        """The model as it is now."""

    @property
    def local_system(self) -> System:
        """The system as it was when it was last in this process."""

    @property
    def coupling(self) -> Coupling:
        """How components get through a tick together."""

    @property
    def recorder(self) -> Recorder:
        """Where samples go."""

    @property
    def breakage(self) -> Breakage:
        """Joints that may break."""
