"""Black boxes in other processes: questions and answers over the line between a worker and its coordinator.

A question has a number. Whoever has asked asks again until the answer with its number comes; a worker that is asked the same once
more has done it, and only says again what came of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from coordinator.distributed.workers.lines import Lost
from coordinator.distributed.workers.messages import Message, too_much, written
from coordinator.distributed.workers.resident import GONE, Refusal, Resident, Residents
from coordinator.record.checkpoints.notes import Notes
from modular.parcel import packed, unpacked

if TYPE_CHECKING:
    from coordinator.distributed.workers.away import Away

LONGEST = 8192  # letters of what a component has raised
NOBODY = -1


class FarLine:
    """To the black boxes of a worker process."""

    lasting = False

    def __init__(self, team: Away, worker: str) -> None:
        self.team, self.worker = team, worker

    def process(self) -> Hashable:
        """The process that is there now; waits until one is."""
        return self.team.who(self.worker)

    def ask(self, process: Hashable, method: str, said: Mapping[str, Any]) -> Any:
        """A question, and the answer to it."""
        answer = self.team.call(self.worker, process, method, _as_parcel(said))
        if answer.data["refused"] == GONE:
            raise Lost(self.worker)
        if answer.data["refused"]:
            raise Refusal(answer.data["refused"])
        return _from_parcel(answer.parcel)

    def resident(self, key: str) -> Resident | None:
        """It is in another process."""
        return None


class Desk:
    """Where a worker process answers."""

    def __init__(self) -> None:
        self.residents = Residents()
        self._number, self._said = NOBODY, list[bytes]()

    def answer(self, question: Message) -> list[bytes]:
        """Do what is asked, unless it was done before; what there is to say."""
        number = question.data["number"]
        if number != self._number:
            refused, parcel = "", b""
            try:
                parcel = _as_parcel(self.residents.obey(question.data["method"], _from_parcel(question.parcel)))
            except Exception as error:  # of somebody's component, or data that no parcel holds
                refused = (str(error) or type(error).__name__)[-LONGEST:]
            if len(parcel) > question.data["most"]:
                refused, parcel = too_much("answer", parcel, question.data["most"]), b""
            self._number, self._said = number, written("answer", {"number": number, "refused": refused}, parcel)
        return self._said


def _as_parcel(said: Any) -> bytes:
    notes = Notes()
    return packed({"said": notes.put(said)}, notes.arrays)


def _from_parcel(parcel: bytes) -> Any:
    data, arrays = unpacked(parcel, "what is said to a black box")
    return Notes(arrays).get(data["said"])
