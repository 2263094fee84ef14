"""Lines to black boxes: how a simulation asks for what is done where their package is installed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from coordinator.distributed.workers.resident import Resident, Residents
from modular.errors import ModelError

DEATHS = 3  # of workers, over one and the same question


class Lost(Exception):
    """The process in which a black box lived is gone; another has taken its place, or will."""


class Unreachable(ModelError):
    """Nobody is at the end of a line any more."""


class Line(Protocol):
    """Leads to the black boxes of one worker."""

    worker: str
    lasting: bool  # whether nobody can be lost at its end

    def process(self) -> Hashable:
        """The process that is there now; waits until one is."""

    def ask(self, process: Hashable, method: str, said: Mapping[str, Any]) -> Any:
        """One of the few things that can be asked (resident.py); raises Lost where that process is gone."""

    def resident(self, key: str) -> Resident | None:
        """The resident itself, where it lives in this process."""


class LineHere:
    """To residents of this process."""

    lasting = True

    def __init__(self, worker: str, residents: Residents) -> None:
        self.worker, self.residents = worker, residents

    def process(self) -> Hashable:
        """This one."""
        return self.worker

    def ask(self, process: Hashable, method: str, said: Mapping[str, Any]) -> Any:
        """At once."""
        return self.residents.obey(method, said)

    def resident(self, key: str) -> Resident | None:
        """Itself."""
        return self.residents.known.get(key)
