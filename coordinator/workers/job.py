"""What a worker process does in one run: its piece, its protocol, and where it waits.

run  = one loan of a mechanism to workers; its steps count from the tick at which it was lent
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from coordinator import protocol
from coordinator.workers.border import NOTHING
from coordinator.workers.piece import Piece
from coordinator.workers.worker import Worker
from modular.parcel import packed, unpacked

Send = Callable[[str, bytes], None]
END = "end"
NOBODY, NEIGHBOUR, COORDINATOR = "nobody", "neighbour", "coordinator"  # who has to be heard before it can go on


class Job:
    """One worker in one run."""

    def __init__(self, data: Mapping[str, Any], piece: Piece, hello: protocol.Hello, send: Send, now: float) -> None:
        """`data`: names of all workers, the tick at which the run begins and the one from which samples are wanted."""
        self.piece, self.worker, self._send = piece, Worker(piece), send
        self.names: list[str] = data["names"]
        self.base: int = data["tick"]
        self.kept_at: int = data["kept"]  # samples up to here have arrived at the coordinator
        self.run: int = data["run"]
        self.core = protocol.Worker(hello, protocol.Deadlines(), now)
        self.told = False  # whether it has been said that it cannot go further
        self._ticking: Iterator[str] | None = None
        self._saying = True  # or hearing, at the next exchange
        self._kind, self._stage = NOTHING, 0
        self._missing: set[int] = set()  # neighbours that have to be heard first

    @property
    def tick(self) -> int:
        """Where it stands, all being said and recorded."""
        return self.base + self.core.step

    def go_on(self, now: float) -> str:
        """Go on to the end of a tick, or until somebody has to be heard first."""
        while True:
            if self._missing:
                self._hear(now)
                if self._missing:
                    return NEIGHBOUR
                self._stage += 1
            if self._ticking is None:
                if not self.core.may_step or self.worker.stopped is not None:
                    return COORDINATOR
                self._ticking = self.worker.ticks(self.base + self.core.horizon)
            item = next(self._ticking, END)
            if item == END:
                self._ticking = None
            elif item == NOTHING:
                self._finish(now)
                return NOBODY
            elif self._saying:
                self._say(item)
            else:
                self._missing, self._saying = set(self.piece.hearing), True

    def _say(self, kind: str) -> None:
        """What the neighbours have to hear."""
        self._kind, self._saying = kind, False
        for other, border in self.piece.telling.items():
            name = self.names[other]
            numbers = border.frame(kind).reshape(-1).view(np.uint8).data
            self._send(name, self.core.links[name].post(self.core.step, self._stage, numbers))

    def _hear(self, now: float) -> None:
        """What the neighbours have said, where it has come."""
        for other in sorted(self._missing):
            frame = self.piece.hearing[other].frame(self._kind)
            link = self.core.links[self.names[other]]
            numbers = link.take(self.core.step, self._stage, frame.nbytes, now)
            if numbers is not None:
                frame[...] = np.frombuffer(numbers, "<f8").reshape(frame.shape)
                self._missing.discard(other)

    def _finish(self, now: float) -> None:
        """A tick is over."""
        self._stage = 0
        due = self.core.finish(now)
        if self.tick == self.kept_at:
            self.worker.keep()
        if due:
            self.core.checkpoint(self.state())

    def keep_at(self, tick: int) -> None:
        """Samples up to a tick have arrived at the coordinator; one that took another's place may still have to come there."""
        self.kept_at = tick
        if self.tick == tick:
            self.worker.keep()

    def go_back(self) -> None:
        """Stand as at the last `keep`; this run is over then."""
        self._ticking, self._missing = iter(()), set()
        self.worker.go_back()

    # --- how it stands ---------------------------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Everything that decides its future."""
        return packed({"tick": self.worker.tick, "open": self.worker.open}, self.piece.state())

    def take_state(self, parcel: bytes) -> None:
        """Stand so."""
        data, arrays = unpacked(parcel, "state of a worker")
        self.piece.take_state(arrays)
        self.piece.system.tick, self.worker.open = data["tick"], data["open"]
        self.worker.keep()
