"""A worker process, and a distribution of the mechanism to all of them, as the coordinator knows them.

What can be seen of a process of this machine that says nothing: whether it lives, and whether it only waits for its turn.

A worker that compiles or computes on a busy machine is ready to run most of the time, and runs seldom. What counts of such time is
what it had of the processor. One that sleeps, was stopped, or waits for what never comes is not ready, and all of its time counts.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import psutil

from coordinator.distributed import protocol
from coordinator.distributed.workers.worker_pool import AdvanceResult
from coordinator.record.recorder import Segment


class ProcessMonitor:
    """Of one process, looked at now and then."""

    def __init__(self, process: psutil.Process, clock: Callable[[], float] = time.monotonic) -> None:
        """`process` says of itself: is_running, status, cpu_times."""
        self._process, self._clock = process, clock
        self._looked_at, self._used = clock(), self._processor()

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """Of the process with this number; None where nobody else here has it, as when it belongs to another machine."""
        if pid == os.getpid():
            return None
        try:
            return cls(psutil.Process(pid))
        except (psutil.Error, ValueError, OverflowError):
            return None

    @property
    def running(self) -> bool:
        """Whether it lives: stopped, busy or asleep."""
        try:
            return bool(self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:
            return True

    def starved(self) -> float:
        """For how long since the last question it was ready to run, and did not [s]."""
        try:
            ready, had = self._process.status() == psutil.STATUS_RUNNING, self._processor()
        except psutil.Error:
            return 0.0
        now = self._clock()
        passed, ran = now - self._looked_at, had - self._used
        self._looked_at, self._used = now, had
        return max(0.0, passed - ran) if ready else 0.0

    def _processor(self) -> float:
        """What it has had of processors so far [s]."""
        times = self._process.cpu_times()
        return float(times.user + times.system)


RETRY_INTERVAL = 0.5  # until a worker is told again what it may not have heard, at first [s]


@dataclass
class WorkerHandle:
    """A worker as the coordinator knows it."""

    name: str
    number: int
    launched: int = 0  # how many processes have been started
    alive: bool = False
    died: int = 0  # how many have ended since one of them has last done what it was asked for
    identity: bytes = b""  # of the process that is there
    pid: int | None = None
    monitor: ProcessMonitor | None = None  # where it can be felt
    acting: int = 0  # incarnation in the present run
    has_shard: bool = False
    wanted: bool = False  # whether it has to begin as soon as it is there
    again_at: float = math.inf  # when it is told so again, if it has not heard it [s]
    patience: float = RETRY_INTERVAL  # until then, the next time
    leaves: bool = False  # whether it has said that it has to go
    missed_at: float = math.inf  # when somebody is told that it has not come [s]
    gone_at: float = math.inf  # since when there is no connection to it [s]
    probed_at: float = -math.inf  # when that was last looked at [s]
    halt: AdvanceResult | None = None
    samples: list[Segment] | None = None
    said: int = 0  # bytes of them
    state: bytes = b""
    facts: dict[str, float] = field(default_factory=dict)  # how the worker did, as it last said
    before: dict[str, float] = field(default_factory=dict)  # how it did before bodies changed hands


@dataclass
class ProtocolRun:
    """One distribution of the mechanism to workers."""

    core: protocol.Coordinator
    number: int
    tick: int  # at which it began
    starts: list[bytes] = field(default_factory=list)  # how each worker stood then, where not as in its shard
    blobs: dict[tuple[str, int, int], bytes] = field(default_factory=dict)  # checkpoints by name, step and incarnation

    def store(self, name: str, step: int, incarnation: int, blob: bytes) -> None:
        """Keep a checkpoint of a worker, and no longer those from which it will never start again."""
        oldest = self.core.registry[name].checkpoints[-1].step
        for key in [key for key in self.blobs if key[0] == name and key[1] < oldest]:
            del self.blobs[key]
        self.blobs[name, step, incarnation] = blob
