"""Workers that somebody starts by hand, under srun, or in any other way, with `modular worker`."""

from __future__ import annotations

from collections.abc import Callable

from coordinator.launchers.launcher import Exited, Order
from coordinator.transports.addresses import HERE


class ByHand:
    """Says what to type, and waits; of a worker that is gone it knows nothing, but those who speak with it do."""

    def __init__(self, say: Callable[[str], None] = print) -> None:
        self._say = say
        self._asked: set[tuple[str, int]] = set()

    def mailbox(self) -> str:
        """On this machine, for want of knowing better: in a folder that only this user may enter, where there are such."""
        return HERE

    def start(self, order: Order) -> None:
        """Ask for a worker, once."""
        key = (order.name, order.incarnation)
        if key not in self._asked:
            self._asked.add(key)
            again = "" if order.incarnation == 1 else "again "
            self._say(f"waiting for {again}modular worker --connect {order.told['hub']} --name {order.name}")

    def exits(self) -> list[Exited]:
        """No news."""
        return []

    def stop(self, name: str, incarnation: int) -> None:
        """It is told to quit when it speaks."""

    def close(self) -> None:
        """Workers are told to quit by those who speak with them."""
