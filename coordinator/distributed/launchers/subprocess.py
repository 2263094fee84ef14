"""Worker processes on this machine."""

from __future__ import annotations

from coordinator.distributed.launchers.children import UNFIT, Children, reason_of, worker_command, worker_environment
from coordinator.distributed.launchers.launcher import Exited, Order
from coordinator.distributed.transports.addresses import IPC_ANY


class Subprocess:
    """Starts `python -m coordinator.distributed.workers.process`; a process ends when this one does, as its standard input does."""

    def __init__(self) -> None:
        self._children = Children()

    def mailbox(self) -> str:
        """On this machine, in a folder that only this user may enter, where there are such."""
        return IPC_ANY

    def start(self, order: Order) -> None:
        """Start a process."""
        self._children.start(order, worker_command(), worker_environment())

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""
        return [Exited(*key, reason_of(code, words), code == UNFIT) for key, code, words in self._children.ended()]

    def stop(self, name: str, incarnation: int) -> None:
        """End a process at once."""
        self._children.stop(name, incarnation)

    def close(self) -> None:
        """Let all end by themselves, and end those that do not."""
        self._children.close()
