"""What a launcher does: start worker processes, say which have ended, stop them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Order:
    """A worker process to be started; `told` is what it reads from its standard input, so that secrets stay secret."""

    name: str
    incarnation: int
    told: Mapping[str, str]


@dataclass(frozen=True)
class Exited:
    """A process has ended."""

    name: str
    incarnation: int
    reason: str


class Launcher(Protocol):
    """The seam behind which processes come from anywhere."""

    def start(self, order: Order) -> None:
        """Start a process, once per name and incarnation, however often it is asked for; does not wait."""

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""

    def stop(self, name: str, incarnation: int) -> None:
        """End a process at once."""

    def close(self) -> None:
        """End all of them, and see that they are gone."""
