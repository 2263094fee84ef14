"""What the engine asks of a simulation that runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from coordinator.engine.program import Operation, TickProgram
from coordinator.system import System
from modular.events import Readable


class HasTickProgram(Protocol):
    """A coupling, as far as the engine goes."""

    def program(self, system: System) -> TickProgram | None:
        """Whole ticks as operations in order; None where a tick is more than that."""


class HasProgram(Protocol):
    """Who adds operations to a tick."""

    def program(self, system: System) -> list[Operation]:
        """What it plays after a tick."""


class Breaks(Protocol):
    """Joints that may break."""

    asked: int

    def program(self) -> list[Operation]:
        """What looks before a tick whether one does."""


class Records(HasProgram, Protocol):
    """Where samples go."""

    every: int

    def prepare(self, system: System) -> Any:
        """The segment that takes the next samples."""

    def copies(self, system: System) -> list[tuple[int, int, int, int]] | None:
        """How they are copied there; None where somebody has to be asked in Python."""

    def took(self, samples: int) -> None:
        """So many were taken."""


class Waits(Protocol):
    """Conditions that wait to come true."""

    @property
    def watches(self) -> bool:
        """Whether there are any."""

    @property
    def armed(self) -> Sequence[Any]:
        """Those, each with its condition and the side on which it stood last."""

    def look(self, state: Readable) -> None:
        """See on which side things stand."""


class EngineContext(Readable, Protocol):
    """A simulation, as the engine sees it."""

    @property
    def system(self) -> System:
        """What moves."""

    @property
    def dt(self) -> float:
        """The step [s]."""

    @property
    def coupling(self) -> HasTickProgram:
        """How components get through a tick together."""

    @property
    def recorder(self) -> Records:
        """Where samples go."""

    @property
    def breakage(self) -> Breaks:
        """Joints that may break."""

    @property
    def alarm(self) -> HasProgram:
        """Who rings where a ledger leaks."""

    @property
    def schedule(self) -> Waits:
        """Conditions that wait."""
