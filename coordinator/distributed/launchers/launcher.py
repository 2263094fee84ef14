"""What a launcher does: start worker processes, say which have ended, stop them.

Workers that somebody starts by hand, under srun, or in any other way, with `modular worker`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coordinator.distributed.transports.addresses import (
    IPC_ANY,
    host_of,
    is_everywhere,
    is_local,
    outbound_address,
    with_host,
)


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


class ByHand:
    """Says what to type, and waits; of a worker that is gone it knows nothing, but those who speak with it do.

    `pairs`: a folder in which pairs of workers may lie, where that is on this machine.
    """

    def __init__(self, say: Callable[[str], None] = print, pairs: Path | None = None) -> None:
        self._say, self._pairs = say, pairs
        self._asked: set[tuple[str, int]] = set()

    def mailbox(self) -> str:
        """On this machine, for want of knowing better: in a folder that only this user may enter, where there are such."""
        return IPC_ANY

    def start(self, order: Order) -> None:
        """Ask for a worker, once: who is waited for, and on a line of its own what to type where it is to run."""
        key = (order.name, order.incarnation)
        if key not in self._asked:
            self._asked.add(key)
            again = "" if order.incarnation == 1 else "again "
            self._say(f"waiting {again}for {order.name}:\n{command(order, self._pairs)}")

    def exits(self) -> list[Exited]:
        """No news."""
        return []

    def stop(self, name: str, incarnation: int) -> None:
        """It is told to quit when it speaks."""

    def close(self) -> None:
        """Workers are told to quit by those who speak with them."""


def command(order: Order, pairs: Path | None = None) -> str:
    """What starts a worker, to be pasted as it stands; its pair is called as it is itself, and the key of the run is no secret.

    A pair that lies in `pairs` is told with its place; any other is looked for among the keys of the user who starts the worker.
    """
    hub, key = order.settings["hub"], order.settings.get("hub key", "")
    if is_everywhere(hub):
        hub = with_host(hub, outbound_address())
    words = ["modular", "worker", "--connect", hub, "--name", order.name]
    if key and not _finds_by_itself(hub, key):
        here = pairs is not None and (pairs / f"{order.name}.key").exists()
        words += ["--keys", str(pairs.resolve() / order.name) if pairs and here else order.name, "--coordinator", key]
    return shlex.join(words)


def _finds_by_itself(hub: str, key: str) -> bool:
    """Whether a worker of this user knows the run without keys of its own: at an address that all users of this machine reach."""
    from coordinator.distributed.transports.zeromq import keys_of_this_user  # sockets, for those who want them

    return bool(host_of(hub)) and is_local(hub) and key == keys_of_this_user().public.decode()
