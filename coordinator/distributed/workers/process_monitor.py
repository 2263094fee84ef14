"""What can be seen of a process of this machine that says nothing: whether it lives, and whether it only waits for its turn.

A worker that compiles or computes on a busy machine is ready to run most of the time, and runs seldom. What counts of such time is
what it had of the processor. One that sleeps, was stopped, or waits for what never comes is not ready, and all of its time counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Self

import psutil


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
