"""A receipt for an act that was posted: whether it has been carried out, and when, or why not."""

from __future__ import annotations

import threading

from coordinator.laboratory.acts import Doing


class Receipt:
    """What becomes of an act that was posted."""

    def __init__(self, act: Doing) -> None:
        self.act = act
        self.error = ""  # why it was refused
        self.tick = -1  # at which it was carried out
        self._over = threading.Event()

    @property
    def over(self) -> bool:
        """Whether it was carried out or refused."""
        return self._over.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Until it was carried out or refused."""
        return self._over.wait(timeout)

    def settle(self, error: str = "", tick: int = -1) -> None:
        """What became of it; whoever waits is told when it can be seen (`close`)."""
        self.error, self.tick = error, tick

    def close(self, error: str = "") -> None:
        """It is over."""
        self.error = self.error or error
        self._over.set()
