"""Black boxes in other processes: remote procedure calls over the connection between a worker and its coordinator.

A question has a number. Whoever has asked asks again until the answer with its number comes; a worker that is asked the same once
more has done it, and only says again what came of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from coordinator.distributed.workers.channel import ProcessLost
from coordinator.distributed.workers.hosted_stack import GONE, HostedStack, Refusal, StackHost
from coordinator.distributed.workers.messages import Message, encode_message, oversized
from coordinator.record.checkpoints.notes import Notes
from modular.payload import packed, unpacked

if TYPE_CHECKING:
    from coordinator.distributed.workers.process_pool import ProcessPool

MAX_ERROR_LENGTH = 8192  # letters of what a component has raised
NO_CALL = -1


class RemoteChannel:
    """To the black boxes of a worker process."""

    persistent = False

    def __init__(self, pool: ProcessPool, worker: str) -> None:
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
