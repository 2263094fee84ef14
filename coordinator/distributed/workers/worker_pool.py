"""Where workers are: a pool moves the shards it was given, in this process or anywhere else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coordinator.distributed.workers.channel import Channel, LocalChannel
from coordinator.distributed.workers.hosted_stack import (
    StackHost,
)
from coordinator.distributed.workers.shard import Shard
from coordinator.distributed.workers.worker import Worker
from coordinator.record.recorder import Recorder, Segment

MIN_SLICE, MAX_SLICE = 0.03, 0.5  # slices of workers in this process [s]
SNAPSHOT_SHARE = 0.01  # of its time that remembering its beginning may take


@dataclass(frozen=True)
class AdvanceResult:
    """Where a worker stands after it was asked to go on."""

    tick: int
    why: str | None  # it did not go further: a joint breaks, a condition came true, a body went wrong, a ledger leaks


@dataclass(frozen=True)
class WorkerInfo:
    """A worker, as those who look at a simulation see it."""

    name: str
    bodies: tuple[str, ...]
    pid: int | None = None  # None: it is in this process
    ticks: int = 0  # that it has moved its bodies by
    working: float = 0.0  # [s]
    talking: float = 0.0  # with neighbours, recording [s]
    waiting: float = 0.0  # for neighbours [s]
    bytes_per_tick: float = 0.0  # to neighbours
    replaced: int = 0  # times


class WorkerPool(Protocol):
    """Workers that move shards of one mechanism in step."""

    slice_seconds: float  # how long they should be left alone [s]

    @property
    def max_ticks(self) -> int:
        """Ticks of a slice, at most."""

    @property
    def message_log(self) -> Sequence[str]:
        """What was said last between coordinator and workers, one line each."""

    def distribute(self, shards: Sequence[Shard]) -> None:
        """Take shards over; from now on only the workers know how they stand."""

    def advance(self, last: int) -> list[AdvanceResult]:
        """Go on to a tick, or as far as it goes."""

    def rollback(self) -> None:
        """Stand as when `collect_samples` was last called, or at the beginning, with nothing recorded since."""

    def collect_samples(self) -> list[list[Segment]]:
        """What each has recorded since it was last asked; there is no way back beyond this."""

    def collect(self) -> None:
        """Let the shards stand as the workers left them."""

    def discard(self) -> None:
        """Forget the shards: nobody wants them back."""

    def worker_info(self) -> list[WorkerInfo]:
        """How the workers did, until shards were last collected; whose bodies are whose others know."""

    def reset_statistics(self) -> None:
        """How they did counts from now: bodies have changed hands."""

    def add_worker(self, name: str) -> None:
        """One more worker, the last in the list; while nothing is distributed."""

    def remove_worker(self, name: str) -> None:
        """A worker goes; while nothing is distributed."""

    def membership_changes(self) -> tuple[list[str], list[str]]:
        """Who has come by himself and wants to take part, and who wants to go."""

    def limit_wait(self, seconds: float) -> None:
        """From now on wait for nobody longer than so long; whoever takes longer is an error."""

    def channel(self, worker: str) -> Channel:
        """To the black boxes of a worker."""

    def close(self) -> None:
        """Let the workers go."""


class InProcessPool:
    """Workers in this process, one after the other; nothing is copied."""

    slice_seconds = MIN_SLICE
    max_ticks = 100_000
    message_log: Sequence[str] = ()  # nobody has to say anything

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.stack_host = StackHost()
        self.workers: list[Worker] = []
        self._done: dict[str, tuple[int, float]] = {}  # ticks, and seconds of work
        self.reset_statistics()

    def distribute(self, shards: Sequence[Shard]) -> None:
        """Take shards over."""
        self.workers = [Worker(shard) for shard in shards]

    def advance(self, last: int) -> list[AdvanceResult]:
        """Stage by stage, each worker in turn."""
        for worker in self.workers:
            worker.recorder.expect(worker.shard.system, last - worker.tick)
        running = [worker.ticks(last) for worker in self.workers]
        while None not in (waiting := [next(ticks, None) for ticks in running]):
            self._carry(waiting[0])
        return [AdvanceResult(worker.tick, worker.stopped) for worker in self.workers]

    def _carry(self, kind: str | None) -> None:
        """Copy the halos of every worker to its neighbours."""
        if kind:
            for me, worker in enumerate(self.workers):
                for other, halo in worker.shard.outgoing.items():
                    self.workers[other].shard.incoming[me].frame(kind)[...] = halo.frame(kind)

    def rollback(self) -> None:
        """Stand as when `collect_samples` was last called."""
        for worker in self.workers:
            worker.rollback()

    def collect_samples(self) -> list[list[Segment]]:
        """What each has recorded since."""
        taken = [taken_by(worker.recorder) for worker in self.workers]
        started = time.perf_counter()
        for worker in self.workers:
            worker.snapshot()
        self.slice_seconds = min(max(MIN_SLICE, (time.perf_counter() - started) / SNAPSHOT_SHARE), MAX_SLICE)
        return taken

    def collect(self) -> None:
        """They worked on the shards themselves."""
        for name, worker in zip(self.names, self.workers, strict=True):
            worker.settle()
            ticks, seconds = self._done[name]
            self._done[name] = ticks + worker.tick - worker.began, seconds + worker.working
        self.workers = []

    def discard(self) -> None:
        """Those who had them go, too."""
        self.workers = []

    def worker_info(self) -> list[WorkerInfo]:
        """Nobody waits for anybody."""
        return [WorkerInfo(name, (), ticks=ticks, working=seconds) for name, (ticks, seconds) in self._done.items()]

    def reset_statistics(self) -> None:
        """How they did counts from now."""
        self._done = dict.fromkeys(self.names, (0, 0.0))

    def add_worker(self, name: str) -> None:
        """One more worker."""
        self.names.append(name)
        self._done[name] = 0, 0.0

    def remove_worker(self, name: str) -> None:
        """A worker goes."""
        self.names.remove(name)
        del self._done[name]

    def membership_changes(self) -> tuple[list[str], list[str]]:
        """Nobody comes or goes by himself."""
        return [], []

    def limit_wait(self, seconds: float) -> None:
        """There is nobody to wait for."""

    def channel(self, worker: str) -> Channel:
        """All live in this process."""
        return LocalChannel(worker, self.stack_host)

    def close(self) -> None:
        """There is nobody to let go."""


def taken_by(recorder: Recorder) -> list[Segment]:
    """Its samples."""
    return [segment.trimmed() for segment in recorder.segments]
