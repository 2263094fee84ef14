"""Black boxes in other processes: remote procedure calls over the connection between a worker and its coordinator.

A question has a number. Whoever has asked asks again until the answer with its number comes; a worker that is asked the same once
more has done it, and only says again what came of it. On one machine questions go along a direct line where there is one; what does
not get through there goes the other way.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol

from coordinator.distributed.transports.direct_line import LineLost
from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers.capped_clock import CappedClock
from coordinator.distributed.workers.channel import Channel, ProcessLost, Unreachable
from coordinator.distributed.workers.direct_calls import ELSEWHERE, REFUSED, CallClient, CallServer, Lines
from coordinator.distributed.workers.hosted_stack import (
    GONE,
    HostedStack,
    Refusal,
    StackHost,
)
from coordinator.distributed.workers.messages import Message, encode_message, oversized
from coordinator.distributed.workers.process_supervision import MAX_NAP_SECONDS, STALL_NOTICE_SECONDS
from coordinator.distributed.workers.worker_handle import RETRY_INTERVAL, WorkerHandle
from coordinator.record.checkpoints.notes import Notes
from modular.errors import ModelError
from modular.payload import packed, unpacked

_log = logging.getLogger("modular")
MAX_ERROR_LENGTH = 8192  # letters of what a component has raised
NO_CALL = -1
LOOK_INTERVAL = 0.002  # how often others are looked after while answers come along a line [s]
SERVING_SECONDS = 0.05  # in which a worker that is asked again and again looks after nobody else


class Calling(Protocol):
    """A pool whose processes are asked about black boxes."""

    mailbox: Mailbox
    handles: dict[str, WorkerHandle]
    deaths: list[str]
    _clock: CappedClock
    _closed: bool
    _number: int
    _answers: dict[int, Message]
    _max_message_bytes: int
    _lines: Lines

    def process_of(self, name: str) -> Hashable:
        """The process that has the place of a worker."""

    def call(self, name: str, process: Hashable, method: str, said: Mapping[str, Any]) -> tuple[str, Any]:
        """Ask a process about a black box."""

    def _along(
        self, line: CallClient, handle: WorkerHandle, process: Hashable, method: str, said: Mapping[str, Any]
    ) -> tuple[str, Any] | None:
        """What is answered along a line."""

    def _checked(self, name: str, process: Hashable) -> WorkerHandle:
        """The worker, as long as it is the process that was asked."""

    def _pump(self, done: Callable[[], bool]) -> None:
        """Look after all until something is done."""

    def _look_after(self, now: float) -> None:
        """Messages, deaths, deadlines."""


class Calls:
    """Questions of a pool to its processes."""

    def channel(self: Calling, worker: str) -> Channel:
        """To the black boxes of a worker."""
        return RemoteChannel(self, worker)

    def process_of(self: Calling, name: str) -> Hashable:
        """The process that has the place of a worker; waits until one is there."""
        if self._closed or name not in self.handles:
            raise Unreachable(f"worker '{name}' has gone.")
        handle = self.handles[name]
        self._pump(lambda: bool(handle.identity))
        return handle.launched, handle.identity

    def _checked(self: Calling, name: str, process: Hashable) -> WorkerHandle:
        handle = self.handles.get(name)
        if self._closed or handle is None or (handle.launched, handle.identity) != process:
            raise ProcessLost(self.deaths[-1] if self.deaths else f"'{name}' has gone")
        return handle

    def call(self: Calling, name: str, process: Hashable, method: str, said: Mapping[str, Any]) -> tuple[str, Any]:
        """Ask a process about a black box, until it answers: why it refuses, and what comes of it.

        Raises ProcessLost when it is gone.
        """
        handle = self._checked(name, process)
        self._number += 1
        line = self._lines.to(handle.identity)
        if line is not None and (found := self._along(line, handle, process, method, said)) is not None:
            return found
        self._answers.clear()
        about = {"number": self._number, "method": method, "most": self._max_message_bytes}
        question = encode_message("call", about, _as_payload(said))
        now = self._clock.now()
        ask_at, patience, slow_at = now, RETRY_INTERVAL, now + STALL_NOTICE_SECONDS
        while self._number not in self._answers:
            handle = self._checked(name, process)
            if now >= ask_at:
                self.mailbox.answer(handle.identity, *question)
                ask_at, patience = now + patience, 2.0 * patience
            slow_at = _say_if_slow(name, method, now, slow_at)
            self.mailbox.wait(MAX_NAP_SECONDS)
            now = self._clock.now()
            self._look_after(now)
        answer, handle.died = self._answers[self._number], 0
        return answer.data["refused"], _from_payload(answer.payload) if answer.payload else None

    def _along(
        self: Calling, line: CallClient, handle: WorkerHandle, process: Hashable, method: str, said: Mapping[str, Any]
    ) -> tuple[str, Any] | None:
        """What is answered along a line; None where that says to ask through the mailbox, or breaks."""
        name, identity = handle.name, handle.identity
        try:
            if not line.ask(self._number, method, said):
                return None
            now = self._clock.now()
            slow_at = now + STALL_NOTICE_SECONDS
            while (answer := line.answer(self._number)) is None:
                now = self._clock.now()
                self._look_after(now)
                self._lines.looked_at = now
                self._checked(name, process)
                slow_at = _say_if_slow(name, method, now, slow_at)
            if now - self._lines.looked_at > LOOK_INTERVAL:
                self._look_after(now)
                self._lines.looked_at = now
        except LineLost:
            self._lines.hang_up(identity)
            return None
        how, found = answer
        handle.died = 0
        return None if how == ELSEWHERE else (found, None) if how == REFUSED else ("", found)


def _say_if_slow(name: str, method: str, now: float, slow_at: float) -> float:
    """Who takes long; when it is said again."""
    if now < slow_at:
        return slow_at
    _log.warning("workers: '%s' has been busy with '%s' of a black box for %.0f s", name, method, STALL_NOTICE_SECONDS)
    return now + STALL_NOTICE_SECONDS


class RemoteChannel:
    """To the black boxes of a worker process."""

    persistent = False

    def __init__(self, pool: Calling, worker: str) -> None:
        self.pool, self.worker = pool, worker

    def process(self) -> Hashable:
        """The process that is there now; waits until one is."""
        return self.pool.process_of(self.worker)

    def call(self, process: Hashable, method: str, said: Mapping[str, Any]) -> Any:
        """A question, and the answer to it."""
        refused, answer = self.pool.call(self.worker, process, method, said)
        if refused == GONE:
            raise ProcessLost(self.worker)
        if refused:
            raise Refusal(refused)
        return answer

    def hosted(self, key: str) -> HostedStack | None:
        """It is in another process."""
        return None


class RpcServer:
    """Where a worker process answers."""

    def __init__(self) -> None:
        self.stack_host = StackHost()
        self._number, self._refused = NO_CALL, ""
        self._answer: Any = None  # to the question with that number

    def _do(self, number: int, method: str, said: Callable[[], Any]) -> None:
        """Do what is asked, unless it was done before."""
        if number == self._number:
            return
        self._refused, self._answer = "", None
        try:
            self._answer = self.stack_host.dispatch(method, said())
        except Exception as error:  # of somebody's component, or data that no payload holds
            self._refused = _words(error)
        self._number = number

    def handle(self, question: Message) -> list[bytes]:
        """What there is to say through the mailbox."""
        number, payload = question.data["number"], b""
        self._do(number, question.data["method"], lambda: _from_payload(question.payload))
        if not self._refused:
            try:
                payload = _as_payload(self._answer)
            except ModelError as error:
                self._refused = _words(error)
        if len(payload) > question.data["most"]:
            self._refused, payload = oversized("answer", payload, question.data["most"]), b""
        return encode_message("answer", {"number": number, "refused": self._refused}, payload)

    def serve(self, line: CallServer, *, wait: bool) -> None:
        """Answer along a line as long as somebody asks; raises LineLost."""
        until = time.monotonic() + SERVING_SECONDS
        while time.monotonic() < until and (asked := line.next(wait=wait)) is not None:
            number, method, said = asked
            self._do(number, method, lambda said=said: said)  # type: ignore[misc]
            try:
                line.say(number, self._refused, self._answer)
            except ModelError as error:  # data that nobody can say
                self._refused = _words(error)
                line.say(number, self._refused, None)


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[-MAX_ERROR_LENGTH:]


def _as_payload(said: Any) -> bytes:
    notes = Notes()
    return packed({"said": notes.put(said)}, notes.arrays)


def _from_payload(payload: bytes) -> Any:
    data, arrays = unpacked(payload, "what is said to a black box")
    return Notes(arrays).get(data["said"])
