"""Questions about black boxes, and their answers, along a direct line: what `call` and `answer` say, in fewer bytes and less time.

    question   8 bytes its number, then method and what is said (forms.py)
    answer     8 bytes the number, 8 bytes DONE, REFUSED or ELSEWHERE, then what comes of it

ELSEWHERE: it is too long for a line; whoever asks again through the mailbox gets it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any

from coordinator.distributed.transports.direct_line import MAX_LINE_BYTES, DirectLine, LineListener, LineLost
from coordinator.distributed.workers.forms import Listener, Sender
from modular.errors import ModelError

DONE, REFUSED, ELSEWHERE = range(3)
ASKED, ANSWERED = Struct("<Q"), Struct("<QQ")


class CallClient:
    """The end of those who ask."""

    def __init__(self, line: DirectLine) -> None:
        self.line = line
        self._sender, self._listener = Sender(), Listener()

    def ask(self, number: int, method: str, said: Mapping[str, Any]) -> bool:
        """Whether it could be asked along the line; raises LineLost."""
        packed = self._sender.packed([method, said], MAX_LINE_BYTES - ASKED.size)
        if packed is not None:
            self.line.send(ASKED.pack(number) + packed)
        return packed is not None

    def answer(self, number: int) -> tuple[int, Any] | None:
        """How the question with this number was answered, if it was by now; raises LineLost."""
        frame = self.line.receive()
        if frame is None:
            return None
        if len(frame) < ANSWERED.size:
            raise LineLost("an answer is cut off")
        to, how = ANSWERED.unpack_from(frame)
        try:
            return (how, self._listener.unpacked(frame[ANSWERED.size :])) if to == number else None
        except ModelError as error:
            raise LineLost(str(error)) from error

    def close(self) -> None:
        """Hang up."""
        self.line.close()


class Lines:
    """Those of a pool, by the processes that have come by one."""

    def __init__(self, mailbox: str, seconds: float) -> None:
        """`seconds`: how long an answer is waited for before others are looked after."""
        self._listener = LineListener(mailbox, seconds)
        self._lines: dict[bytes, CallClient] = {}
        self.looked_at = 0.0  # when others were, last [s]

    def to(self, identity: bytes) -> CallClient | None:
        """The line to a process, if it has come by one."""
        if identity not in self._lines:
            self._lines |= {who: CallClient(line) for who, line in self._listener.comers().items()}
        return self._lines.get(identity)

    def hang_up(self, identity: bytes) -> None:
        """A process is gone, or its line is broken."""
        line = self._lines.pop(identity, None)
        if line is not None:
            line.close()

    def close(self) -> None:
        """Hang up everywhere."""
        for identity in list(self._lines):
            self.hang_up(identity)
        self._listener.close()


class CallServer:
    """The end of those who are asked."""

    def __init__(self, line: DirectLine) -> None:
        self.line = line
        self._sender, self._listener = Sender(), Listener()

    def next(self, *, wait: bool) -> tuple[int, str, dict[str, Any]] | None:
        """The next question, if there is one; raises LineLost."""
        frame = self.line.receive(wait=wait)
        if frame is None:
            return None
        try:
            number = ASKED.unpack_from(frame)[0]
            method, said = self._listener.unpacked(frame[ASKED.size :])
            if isinstance(method, str) and isinstance(said, dict):
                return number, method, said
        except (ModelError, ValueError, TypeError) as error:
            raise LineLost(str(error)) from error
        raise LineLost("this is no question")

    def say(self, number: int, refused: str, answer: Any) -> None:
        """What came of a question; raises LineLost."""
        how = REFUSED if refused else DONE
        packed = self._sender.packed(refused or answer, MAX_LINE_BYTES - ANSWERED.size)
        if packed is None:
            how, packed = ELSEWHERE, self._sender.packed(None, MAX_LINE_BYTES) or b""
        self.line.send(ANSWERED.pack(number, how) + packed)
