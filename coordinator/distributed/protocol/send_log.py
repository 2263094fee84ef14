"""What one worker has sent to one neighbour, kept until the neighbour can never ask for it again.

Sender-based message logging: see E. N. Elnozahy, L. Alvisi, Y.-M. Wang, D. B. Johnson, "A survey of rollback-recovery
protocols in message-passing systems", ACM Computing Surveys 34 (2002). The log is part of the worker's checkpoint: a
worker that comes back can still answer for what it sent before it died.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from coordinator.distributed.protocol.frames import key_of, stamped


class SendLog:
    """Frames in program order, each under its key."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._frames: list[bytes] = []

    def append(self, key: int, frame: bytes) -> None:
        """Keep a frame; keys grow."""
        self._keys.append(key)
        self._frames.append(frame)

    def extend(self, keys: Sequence[int], frames: Sequence[bytes]) -> None:
        """Keep several."""
        self._keys.extend(keys)
        self._frames.extend(frames)

    def since(self, key: int, most: int) -> list[bytes]:
        """Up to `most` frames from a key on."""
        first = bisect_left(self._keys, key)
        return self._frames[first : first + most]

    def trim(self, step: int) -> None:
        """Forget what is before a step."""
        first = bisect_left(self._keys, key_of(step, 0))
        if first:
            del self._keys[:first], self._frames[:first]

    def save(self) -> tuple[list[tuple[int, int]], bytes]:
        """Key and length of every frame, and the frames one after the other."""
        return [(key, len(frame)) for key, frame in zip(self._keys, self._frames)], b"".join(self._frames)

    def restore(self, index: list[tuple[int, int]], frames: bytes, incarnation: int) -> None:
        """Take over what a predecessor had sent; the frames are stamped with the new incarnation."""
        self._keys, self._frames = [], []
        place = 0
        for key, length in index:
            self.append(key, stamped(frames[place : place + length], incarnation))
            place += length
