"""Looking after processes while they work: messages, connections that are lost, deaths, deadlines."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Protocol

from coordinator.distributed.launchers import Exited, Launcher
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers.capped_clock import CappedClock
from coordinator.distributed.workers.direct_calls import Lines
from coordinator.distributed.workers.messages import MAX_BRIEF_LENGTH, Message, decode_message, encode_message
from coordinator.distributed.workers.worker_handle import ProtocolRun, WorkerHandle
from coordinator.engine.interrupt import obey_late
from modular.errors import ModelError

_log = logging.getLogger("modular")
MAX_NAP_SECONDS = 0.02  # longest wait before others are looked after [s]
PING_SECONDS = 1.0  # [s]
MAX_DEATHS_AT_ONCE = 20  # of processes in one place, none of which did anything, until it is given up
EXIT_GRACE = 0.5  # seconds in which a launcher may say how a process has ended that is gone
MAX_BATCH = 1000  # messages that are heard before others are looked after again
CONNECT_NOTICE_SECONDS = 20.0  # seconds without a worker that was started, until somebody may want to know
STALL_NOTICE_SECONDS = 10.0  # seconds in which nobody got on, until it is said who waits for whom


class Supervised(Protocol):
    """A pool whose processes are looked after."""

    launcher: Launcher
    deadlines: Deadlines
    mailbox: Mailbox
    handles: dict[str, WorkerHandle]
    deaths: list[str]
    _clock: CappedClock
    _run: ProtocolRun | None
    _moved: tuple[int, float]
    _reached: int
    _failure: str
    _ping_at: float
    _deadline: float
    _lines: Lines

    def _look_after(self, now: float) -> None:
        """Messages, deaths, deadlines."""

    def _probe(self, handle: WorkerHandle, now: float) -> None:
        """Look whether a worker is there."""

    def _give_up_on(self, handle: WorkerHandle, now: float) -> None:
        """Whether its connection is gone for good."""

    def _say_who_is_slow(self, run: ProtocolRun, now: float) -> None:
        """Who waits for whom."""

    def _process_exited(self, gone: Exited, now: float) -> None:
        """A process has ended."""

    def _worker_died(self, handle: WorkerHandle, launched: int, reason: str, now: float) -> None:
        """A worker is gone."""

    def _hear(self, identity: bytes, message: Message, key_owner: str, now: float) -> None:
        """A message of a process."""

    def _perform(self) -> None:
        """What the protocol asks for."""

    def _note(self, what: str) -> None:
        """For those who look into what went wrong."""

    def _launch(self, handle: WorkerHandle) -> None:
        """Start a process."""


class Supervision:
    """Whether all are there."""

    def _pump(self: Supervised, done: Callable[[], bool]) -> None:
        while not done():
            self._look_after(self._clock.now())
            if not done():
                self.mailbox.wait(MAX_NAP_SECONDS)

    def _look_after(self: Supervised, now: float) -> None:
        """Messages, deaths, deadlines."""
        obey_late()
        heard = 0
        while heard < MAX_BATCH and self.mailbox.wait(0.0):
            for identity, parts, key_owner in self.mailbox.mail():
                heard += 1
                message = decode_message(parts)
                if message is not None:
                    self._hear(identity, message, key_owner, now)
        if now >= self._ping_at:
            self._ping_at = now + PING_SECONDS
            for handle in self.handles.values():
                self._probe(handle, now)
        for gone in self.launcher.exits():
            if gone.name in self.handles:
                self._process_exited(gone, now)
        for handle in self.handles.values():
            self._give_up_on(handle, now)
        if self._run is not None:
            if now >= self._run.core.next_wake():
                self._run.core.wake(now)
            self._perform()
            self._say_who_is_slow(self._run, now)
        if self._failure:
            raise ModelError(f"workers: {self._failure}")
        if time.monotonic() > self._deadline:
            raise ModelError("workers: not all of them returned their bodies in time.")

    def _probe(self: Supervised, handle: WorkerHandle, now: float) -> None:
        """Look whether a worker is there, and what held it up if it only waited for its turn."""
        handle.probed_at = now
        if handle.identity:
            if self.mailbox.answer(handle.identity, *encode_message("ping")):
                handle.gone_at = math.inf
            else:
                handle.gone_at = min(handle.gone_at, now)
            if (held_up := handle.monitor.starved() if handle.monitor is not None else 0.0) > 0.0:
                handle.gone_at += held_up
                if self._run is not None:
                    self._run.core.extend_deadline(handle.name, held_up, now)
        elif now > handle.missed_at:
            handle.missed_at = math.inf
            _log.warning(
                "worker '%s' has not connected for %g s; it should connect to %s",
                handle.name,
                CONNECT_NOTICE_SECONDS,
                self.mailbox.address,
            )

    def _give_up_on(self: Supervised, handle: WorkerHandle, now: float) -> None:
        """A connection that is gone comes back, unless the process is gone too; where that cannot be seen only silence tells."""
        gone_for = now - handle.gone_at
        if gone_for > self.deadlines.silence:
            self.launcher.stop(handle.name, handle.launched)
            self._worker_died(handle, handle.launched, "its connection was lost", now)
        elif gone_for > EXIT_GRACE and handle.monitor is not None and not handle.monitor.running:
            self._worker_died(handle, handle.launched, "its process has ended", now)  # its launcher knows nothing of it

    def _say_who_is_slow(self: Supervised, run: ProtocolRun, now: float) -> None:
        """Who waits for whom, where nobody has got on for long; slow is not dead."""
        step, since = self._moved
        if run.core.slowest != step or self._reached:
            self._moved = run.core.slowest, now
        elif now - since > STALL_NOTICE_SECONDS:
            self._moved = step, now
            slowest = "; ".join(run.core.status_lines(now)[:4])
            _log.warning("workers: no progress for %.0f s: %s", STALL_NOTICE_SECONDS, slowest)

    def _process_exited(self: Supervised, gone: Exited, now: float) -> None:
        """A process has ended, says the launcher."""
        handle = self.handles[gone.name]
        if gone.hopeless and gone.incarnation == handle.launched:
            self._failure = f"'{gone.name}' cannot be started: {gone.reason}"
        else:
            self._worker_died(handle, gone.incarnation, gone.reason, now)

    def _worker_died(self: Supervised, handle: WorkerHandle, launched: int, reason: str, now: float) -> None:
        if launched != handle.launched or not handle.alive:
            return  # another is there already, or it was heard of before
        self.deaths.append(f"'{handle.name}': {reason}")
        self._note(f"{handle.name} is gone: {reason[:MAX_BRIEF_LENGTH]}")
        self._lines.hang_up(handle.identity)
        handle.alive, handle.identity, handle.has_shard, handle.pid, handle.leaves = False, b"", False, None, False
        handle.monitor = None
        handle.died += 1
        handle.state, handle.halt, handle.facts, handle.before = b"", None, {}, {}
        handle.gone_at = math.inf
        if self._run is not None and handle.acting:
            self._run.core.exited(handle.name, handle.acting, reason, now)
        elif handle.died > MAX_DEATHS_AT_ONCE:
            self._failure = f"worker '{handle.name}' keeps dying: {reason}"
        else:
            self._launch(handle)
