"""What a launcher does: start worker processes, say which have ended, stop them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Order:
    """A worker process to be started; `settings` are what it reads from its standard input, so that secrets stay secret.

    `silence`: how long the way to it may be dead before it counts as gone [s].
    """

    name: str
    incarnation: int
    settings: Mapping[str, str]
    silence: float = 60.0


@dataclass(frozen=True)
class Exited:
    """A process has ended; `hopeless`: another one like it would do the same, so nobody need try."""

    name: str
    incarnation: int
    reason: str
    hopeless: bool = False


class Launcher(Protocol):
    """The seam behind which processes come from anywhere."""

    def mailbox(self) -> str:
        """Where the mailbox that its workers turn to is best bound, if nobody has said so."""

    def start(self, order: Order) -> None:
        """Start a process, once per name and incarnation, however often it is asked for; does not wait.

        An older process of the same name is not wanted any more.
        """

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""

    def stop(self, name: str, incarnation: int) -> None:
        """End a process at once."""

    def close(self) -> None:
        """End all of them, and see that they are gone."""
