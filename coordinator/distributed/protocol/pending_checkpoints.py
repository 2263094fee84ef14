"""Checkpoints on their way: being stored, stored, known to the coordinator.

being stored --stored--> reported --durable--> known, logs are trimmed
"""

from __future__ import annotations


class PendingCheckpoints:
    """The newest checkpoint counts; the hash of each state is kept until it is stored."""

    def __init__(self, oldest: int = 0) -> None:
        self.oldest = oldest  # step of the oldest checkpoint that a successor may start from
        self.reported: tuple[int, str] | None = None  # step and hash of the newest, not yet known to be
        self._written: dict[int, str] = {}

    def begin(self, step: int, digest: str) -> None:
        """A checkpoint is on its way."""
        self._written[step] = digest

    def stored(self, step: int) -> bool:
        """A checkpoint is kept. True where it is the newest, and news."""
        digest = self._written.pop(step, None)
        if digest is None or step <= (self.reported[0] if self.reported else 0):
            return False
        self.reported = (step, digest)
        return True

    def confirmed(self, step: int, forget: int) -> bool:
        """The coordinator knows of the checkpoint at `step`. True where neighbours may forget more than before."""
        if self.reported is not None and step >= self.reported[0]:
            self.reported = None
        if forget <= self.oldest:
            return False
        self.oldest = forget
        return True
