"""Where workers are: a team moves the pieces it was given, in this process or anywhere else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coordinator.distributed.workers.lines import Line, LineHere
from coordinator.distributed.workers.piece import Piece
from coordinator.distributed.workers.resident import Residents
from coordinator.distributed.workers.worker import Worker
from coordinator.record.recorder import Recorder, Segment

SHORTEST, LONGEST = 0.03, 0.5  # slices of workers in this process [s]
SHARE = 0.01  # of its time that remembering its beginning may take


@dataclass(frozen=True)
class Stood:
    """Where a worker stands after it was asked to go on."""

    tick: int
    why: str | None  # it did not go further: a joint breaks, a condition came true, a body went wrong, a ledger leaks


@dataclass(frozen=True)
class Member:
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


class Team(Protocol):
    """Workers that move pieces of one mechanism in step."""

    slice: float  # how long they should be left alone [s]

    @property
    def longest(self) -> int:
        """Ticks of a slice, at most."""

    @property
    def trail(self) -> Sequence[str]:
        """What was said last between coordinator and workers, one line each."""

    def begin(self, pieces: Sequence[Piece]) -> None:
        """Take pieces over; from now on only the workers know how they stand."""

    def go(self, last: int) -> list[Stood]:
        """Go on to a tick, or as far as it goes."""

    def go_back(self) -> None:
        """Stand as when `samples` was last called, or at the beginning, with nothing recorded since."""

    def samples(self) -> list[list[Segment]]:
        """What each has recorded since it was last asked; there is no way back beyond this."""

    def give_back(self) -> None:
        """Let the pieces stand as the workers left them."""

    def abandon(self) -> None:
        """Forget the pieces: nobody wants them back."""

    def members(self) -> list[Member]:
        """How the workers did, until pieces were last given back; whose bodies are whose others know."""

    def forget(self) -> None:
        """How they did counts from now: bodies have changed hands."""

    def enlist(self, name: str) -> None:
        """One more worker, the last in the list; while nothing is lent."""

    def dismiss(self, name: str) -> None:
        """A worker goes; while nothing is lent."""

    def comings(self) -> tuple[list[str], list[str]]:
        """Who has come by himself and wants to take part, and who wants to go."""

    def hurry(self, seconds: float) -> None:
        """From now on wait for nobody longer than so long; whoever takes longer is an error."""

    def line(self, worker: str) -> Line:
        """To the black boxes of a worker."""

    def close(self) -> None:
        """Let the workers go."""


class Here:
    """Workers in this process, one after the other; nothing is copied."""

    slice = SHORTEST
    longest = 100_000
    trail: Sequence[str] = ()  # nobody has to say anything

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.residents = Residents()
        self.workers: list[Worker] = []
        self._done: dict[str, tuple[int, float]] = {}  # ticks, and seconds of work
        self.forget()

    def begin(self, pieces: Sequence[Piece]) -> None:
        """Take pieces over."""
        self.workers = [Worker(piece) for piece in pieces]

    def go(self, last: int) -> list[Stood]:
        """Stage by stage, each worker in turn."""
        for worker in self.workers:
            worker.recorder.expect(worker.piece.system, last - worker.tick)
        running = [worker.ticks(last) for worker in self.workers]
        while None not in (waiting := [next(ticks, None) for ticks in running]):
            self._carry(waiting[0])
        return [Stood(worker.tick, worker.stopped) for worker in self.workers]

    def _carry(self, kind: str | None) -> None:
        """What was said across the borders is heard there."""
        if kind:
            for me, worker in enumerate(self.workers):
                for other, border in worker.piece.telling.items():
                    self.workers[other].piece.hearing[me].frame(kind)[...] = border.frame(kind)

    def go_back(self) -> None:
        """Stand as when `samples` was last called."""
        for worker in self.workers:
            worker.go_back()

    def samples(self) -> list[list[Segment]]:
        """What each has recorded since."""
        taken = [taken_by(worker.recorder) for worker in self.workers]
        started = time.perf_counter()
        for worker in self.workers:
            worker.keep()
        self.slice = min(max(SHORTEST, (time.perf_counter() - started) / SHARE), LONGEST)
        return taken

    def give_back(self) -> None:
        """They worked on the pieces themselves."""
        for name, worker in zip(self.names, self.workers, strict=True):
            worker.settle()
            ticks, seconds = self._done[name]
            self._done[name] = ticks + worker.tick - worker.began, seconds + worker.working
        self.workers = []

    def abandon(self) -> None:
        """Those who had them go, too."""
        self.workers = []

    def members(self) -> list[Member]:
        """Nobody waits for anybody."""
        return [Member(name, (), ticks=ticks, working=seconds) for name, (ticks, seconds) in self._done.items()]

    def forget(self) -> None:
        """How they did counts from now."""
        self._done = dict.fromkeys(self.names, (0, 0.0))

    def enlist(self, name: str) -> None:
        """One more worker."""
        self.names.append(name)
        self._done[name] = 0, 0.0

    def dismiss(self, name: str) -> None:
        """A worker goes."""
        self.names.remove(name)
        del self._done[name]

    def comings(self) -> tuple[list[str], list[str]]:
        """Nobody comes or goes by himself."""
        return [], []

    def hurry(self, seconds: float) -> None:
        """There is nobody to wait for."""

    def line(self, worker: str) -> Line:
        """All live in this process."""
        return LineHere(worker, self.residents)

    def close(self) -> None:
        """There is nobody to let go."""


def taken_by(recorder: Recorder) -> list[Segment]:
    """Its samples."""
    return [segment.trimmed() for segment in recorder.segments]
