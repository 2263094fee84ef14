"""Black boxes in other processes: remote procedure calls over the connection between a worker and its coordinator.

A question has a number. Whoever has asked asks again until the answer with its number comes; a worker that is asked the same once
more has done it, and only says again what came of it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol

from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers.capped_clock import CappedClock
from coordinator.distributed.workers.hosted_stack import (
    GONE,
    Channel,
    HostedStack,
    ProcessLost,
    Refusal,
    StackHost,
    Unreachable,
)
from coordinator.distributed.workers.messages import Message, encode_message, oversized
from coordinator.distributed.workers.process_supervision import MAX_NAP_SECONDS, STALL_NOTICE_SECONDS
from coordinator.distributed.workers.worker_handle import RETRY_INTERVAL, WorkerHandle
from coordinator.record.checkpoints.notes import Notes
from modular.payload import packed, unpacked

_log = logging.getLogger("modular")
MAX_ERROR_LENGTH = 8192  # letters of what a component has raised
NO_CALL = -1


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

    def process_of(self, name: str) -> Hashable:
        """The process that has the place of a worker."""

    def call(self, name: str, process: Hashable, method: str, payload: bytes) -> Message:
        """Ask a process about a black box."""

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

    def call(self: Calling, name: str, process: Hashable, method: str, payload: bytes) -> Message:
        """Ask a process about a black box, and again until it answers; raises ProcessLost when it is gone."""
        handle, now = self.handles.get(name), self._clock.now()
        self._number += 1
        self._answers.clear()
        question = encode_message(
            "call", {"number": self._number, "method": method, "most": self._max_message_bytes}, payload
        )
        ask_at, patience, slow_at = now, RETRY_INTERVAL, now + STALL_NOTICE_SECONDS
        while self._number not in self._answers:
            if self._closed or handle is None or (handle.launched, handle.identity) != process:
                raise ProcessLost(self.deaths[-1] if self.deaths else f"'{name}' has gone")
            if now >= ask_at:
                self.mailbox.answer(handle.identity, *question)
                ask_at, patience = now + patience, 2.0 * patience
            if now >= slow_at:
                slow_at = now + STALL_NOTICE_SECONDS
                _log.warning(
                    "workers: '%s' has been busy with '%s' of a black box for %.0f s",
                    name,
                    method,
                    STALL_NOTICE_SECONDS,
                )
            self.mailbox.wait(MAX_NAP_SECONDS)
            now = self._clock.now()
            self._look_after(now)
        return self._answers[self._number]


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
        answer = self.pool.call(self.worker, process, method, _as_payload(said))
        if answer.data["refused"] == GONE:
            raise ProcessLost(self.worker)
        if answer.data["refused"]:
            raise Refusal(answer.data["refused"])
        return _from_payload(answer.payload)

    def hosted(self, key: str) -> HostedStack | None:
        """It is in another process."""
        return None


class RpcServer:
    """Where a worker process answers."""

    def __init__(self) -> None:
        self.stack_host = StackHost()
        self._number, self._said = NO_CALL, list[bytes]()

    def handle(self, question: Message) -> list[bytes]:
        """Do what is asked, unless it was done before; what there is to say."""
        number = question.data["number"]
        if number != self._number:
            refused, payload = "", b""
            try:
                payload = _as_payload(
                    self.stack_host.dispatch(question.data["method"], _from_payload(question.payload))
                )
            except Exception as error:  # of somebody's component, or data that no payload holds
                refused = (str(error) or type(error).__name__)[-MAX_ERROR_LENGTH:]
            if len(payload) > question.data["most"]:
                refused, payload = oversized("answer", payload, question.data["most"]), b""
            self._number, self._said = number, encode_message("answer", {"number": number, "refused": refused}, payload)
        return self._said


def _as_payload(said: Any) -> bytes:
    notes = Notes()
    return packed({"said": notes.put(said)}, notes.arrays)


def _from_payload(payload: bytes) -> Any:
    data, arrays = unpacked(payload, "what is said to a black box")
    return Notes(arrays).get(data["said"])
