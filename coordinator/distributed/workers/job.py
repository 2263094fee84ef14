"""What a worker process does in one run: its shard, its protocol, and where it waits.

run  = one distribution of a mechanism to workers; its steps count from the tick at which it was distributed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from coordinator.distributed import protocol
from coordinator.distributed.transports.by_address import Wire
from coordinator.distributed.workers import driver
from coordinator.distributed.workers.compiled_ticks import CompiledTicks
from coordinator.distributed.workers.halo import NO_CONTENT
from coordinator.distributed.workers.shard import Shard
from coordinator.distributed.workers.worker import Worker
from modular.payload import packed, unpacked

Send = Callable[[str, bytes], object]
SocketOf = Callable[[str], int]
TICKS_DONE = "end"
READY, NEIGHBOUR, COORDINATOR = "nobody", "neighbour", "coordinator"  # who has to be heard before it can go on
STOPPED = {driver.BREAKS: "breaks", driver.TRUE: "condition", driver.LEAK: "leak"}


class Job:
    """One worker in one run."""

    def __init__(
        self,
        data: Mapping[str, Any],
        shard: Shard,
        core: protocol.Worker,
        send: Send,
        wire: Wire | None = None,
        socket_of: SocketOf = lambda name: 0,
    ) -> None:
        """`data`: names of all workers, the tick at which the run begins and the one from which samples are wanted.

        With a `wire`, on which each name has its socket, ticks are played in compiled code where all that takes part is compiled.
        """
        self.shard, self.worker, self._send = shard, Worker(shard), send
        self.names: list[str] = data["names"]
        self.base: int = data["tick"]
        self.committed_at: int = data["committed"]  # samples up to here have arrived at the coordinator
        self.run: int = data["run"]
        self.incarnation: int = data["incarnation"]
        self.core = core
        self.tell_at = 0.0  # when it is said, or said again, that it cannot go further
        self._gone_back = False  # then this run is over
        self._ticking: Iterator[str] | None = None
        self._sending = True  # or hearing, at the next exchange
        self._kind, self._stage = NO_CONTENT, 0
        self._missing: set[int] = set()  # neighbours that have to be heard first
        self.sent, self.waiting = 0, 0.0  # bytes to neighbours; [s] for them, where it waited itself
        self._compiled = None
        if wire is not None and CompiledTicks.possible(self.worker):
            self._compiled = CompiledTicks(self.worker, wire, self.names)
        self._socket_of = socket_of

    @property
    def tick(self) -> int:
        """Where it stands, all being said and recorded."""
        return self.base + self.core.step

    @property
    def fast(self) -> bool:
        """Whether its ticks are played in compiled code, which also takes in the frames of neighbours."""
        return self._compiled is not None and self._may_go_on

    @property
    def _may_go_on(self) -> bool:
        return self.core.may_step and self.worker.stopped is None and not self._gone_back

    def go_on(self, now: float) -> str:
        """Go on to the end of a tick or of several, or until somebody has to be heard first."""
        if self._compiled is not None:
            return self._go_fast(self._compiled, now)
        while True:
            if self._missing:
                self._hear(now)
                if self._missing:
                    return NEIGHBOUR
                self._stage += 1
            if self._ticking is None:
                if not self._may_go_on:
                    return COORDINATOR
                self._ticking = self.worker.ticks(self.base + self.core.horizon)
            item = next(self._ticking, TICKS_DONE)
            if item == TICKS_DONE:
                self._ticking = None
            elif item == NO_CONTENT:
                self._finish(now)
                return READY
            elif self._sending:
                self._say(item)
            else:
                self._missing, self._sending = set(self.shard.incoming), True

    def _go_fast(self, compiled: CompiledTicks, now: float) -> str:
        """The same in compiled code."""
        core, worker = self.core, self.worker
        if not self._may_go_on:
            return COORDINATOR
        limit = core.next_due()
        if self.committed_at > self.tick:
            limit = min(limit, self.committed_at - self.base)
        compiled.begin(core, list(map(self._socket_of, compiled.names)), limit)
        why = compiled.go()
        self.sent += compiled.tell(core, now)
        self.waiting += 1e-6 * float(compiled.state[driver.WAITING])
        done = int(compiled.state[driver.STEP]) - core.step
        if done:
            core.pass_over(done - 1)
            self._finish(now)
        if why == driver.FAILED:
            worker.stopped = compiled.wrong
        elif why in STOPPED:
            worker.stopped = STOPPED[why]
        elif why in (driver.WAITS, driver.HELD, driver.MAIL):
            if why == driver.MAIL:
                core.receive(compiled.mail(), now)
            for j, frame in compiled.missing():
                if self._hear_one(compiled.names[j], frame, int(compiled.state[driver.STAGE]), now):
                    compiled.near[j, driver.MISSING] = 0
        return READY

    def _say(self, kind: str) -> None:
        """What the neighbours have to hear."""
        self._kind, self._sending = kind, False
        for other, halo in self.shard.outgoing.items():
            name = self.names[other]
            numbers = halo.frame(kind).reshape(-1).view(np.uint8).data
            frame = self.core.links[name].post(self.core.step, self._stage, numbers)
            self.sent += len(frame)
            self._send(name, frame)

    def _hear(self, now: float) -> None:
        """What the neighbours have said, where it has come."""
        for other in sorted(self._missing):
            if self._hear_one(self.names[other], self.shard.incoming[other].frame(self._kind), self._stage, now):
                self._missing.discard(other)

    def _hear_one(self, name: str, frame: Any, stage: int, now: float) -> bool:
        """What a neighbour has said, where it has come."""
        numbers = self.core.links[name].take(self.core.step, stage, frame.nbytes, now)
        if numbers is None:
            return False
        frame[...] = np.frombuffer(numbers, "<f8").reshape(frame.shape)
        return True

    def _finish(self, now: float) -> None:
        """A tick is over."""
        self._stage = 0
        due = self.core.finish(now)
        if self.tick == self.committed_at:
            self.worker.snapshot()
        if due:
            self.core.checkpoint(self.state())

    @property
    def stands(self) -> bool:
        """Whether it cannot go further, and all others have to come back to before that."""
        return self.worker.stopped is not None and not self._gone_back

    def commit_at(self, tick: int) -> None:
        """Samples up to a tick have arrived at the coordinator; one that took another's place may still have to come there."""
        if tick > self.committed_at:  # what is late says nothing new
            self.committed_at = tick
            if self.tick == tick:
                self.worker.snapshot()

    def rollback(self, tick: int) -> bool:
        """Stand as at a tick up to which samples have arrived; this run is over then. False where it has not come there yet."""
        self.commit_at(tick)
        if self.worker.snapshot_tick != tick:
            return False
        self._ticking, self._missing, self._gone_back = None, set(), True
        if self._compiled is not None:
            self._compiled.forget()
        self.worker.rollback()
        return True

    def close(self) -> None:
        """Nobody needs it any more."""
        self._ticking = None
        if self._compiled is not None:
            self._compiled.close()

    # --- how it stands ---------------------------------------------------------------------------------------------------

    def state(self) -> bytes:
        """Everything that decides its future."""
        return packed({"tick": self.worker.tick, "open": self.worker.open}, self.shard.state())

    def take_state(self, payload: bytes) -> None:
        """Stand so."""
        data, arrays = unpacked(payload, "state of a worker")
        self.shard.take_state(arrays)
        self.shard.system.tick, self.worker.open = data["tick"], data["open"]
        self.worker.snapshot()
