"""Direct lines between two processes of one machine, for questions that wait for their answers.

ZeroMQ hands every message to a thread of its own on either side, so that a question and its answer wake four of them. Along a
stream socket they wake two. It lies beside a mailbox in a folder that this user alone may enter, and nowhere else: whoever gets
there is a process of the same user, and says by the name that its mailbox knows which one it is. A line that breaks is not mended;
the mailbox is there, and whoever misses an answer asks there.

Frames: their length as four bytes, little-endian, and so many bytes.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress
from pathlib import Path

from coordinator.distributed.transports.addresses import IPC, is_private

MAX_LINE_BYTES = 1 << 16  # of a frame: what is longer goes through the mailbox
LENGTH_BYTES = 4
BESIDE = "-line"  # behind the address of a mailbox
SEND_SECONDS = 1.0  # after which somebody does not listen any more
MAX_WAITING = 64  # who have come in and not said who they are


class LineLost(Exception):
    """Nobody is at the other end, or what came is no frame."""


def beside(mailbox: str) -> str:
    """The path of the door beside a mailbox; nothing where other users might come to it."""
    return f"{mailbox.removeprefix(IPC)}{BESIDE}" if hasattr(socket, "AF_UNIX") and is_private(mailbox) else ""


class DirectLine:
    """One end of a line."""

    def __init__(self, end: socket.socket, seconds: float) -> None:
        """`seconds`: how long `receive` waits."""
        self._end = end
        # the system waits, no longer than it is told here: one call for a frame, one for its answer
        end.setblocking(True)
        for option, limit in ((socket.SO_RCVTIMEO, seconds), (socket.SO_SNDTIMEO, SEND_SECONDS)):
            end.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(limit), int(1e6 * (limit % 1.0))))
        self._room = bytearray(2 * (MAX_LINE_BYTES + LENGTH_BYTES))
        self._view, self._used = memoryview(self._room), 0

    @classmethod
    def towards(cls, mailbox: str, identity: str, seconds: float) -> DirectLine | None:
        """To the door beside a mailbox, if there is one."""
        path = beside(mailbox)
        if not path or not Path(path).exists():
            return None
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            end.connect(path)
            line = cls(end, seconds)
            line.send(identity.encode())
        except (OSError, LineLost):
            end.close()
            return None
        return line

    def fileno(self) -> int:
        """For those who wait for several."""
        return self._end.fileno()

    def send(self, frame: bytes) -> None:
        """A frame, whole; raises LineLost."""
        assert len(frame) <= MAX_LINE_BYTES
        try:
            self._end.sendall(len(frame).to_bytes(LENGTH_BYTES, "little") + frame)
        except OSError as error:
            raise LineLost(str(error)) from error

    def receive(self, *, wait: bool = True) -> bytearray | None:
        """The next frame; None if none comes in time. Raises LineLost."""
        while True:
            size = (
                int.from_bytes(self._room[:LENGTH_BYTES], "little") + LENGTH_BYTES if self._used >= LENGTH_BYTES else 0
            )
            if size > MAX_LINE_BYTES + LENGTH_BYTES:
                raise LineLost(f"a frame of {size} bytes")
            if 0 < size <= self._used:
                frame = self._room[LENGTH_BYTES:size]
                self._used -= size
                self._view[: self._used] = self._room[size : size + self._used]
                return frame
            try:
                flags = 0 if wait else socket.MSG_DONTWAIT
                count = self._end.recv_into(self._view[self._used :], 0, flags)
            except (TimeoutError, BlockingIOError):
                return None
            except OSError as error:
                raise LineLost(str(error)) from error
            if not count:
                raise LineLost("closed")
            self._used += count

    def close(self) -> None:
        """Hang up."""
        self._end.close()


class LineListener:
    """Where lines come in, beside a mailbox."""

    def __init__(self, mailbox: str, seconds: float) -> None:
        """`seconds`: how long those who are answered are waited for at a time."""
        self._seconds, self._path = seconds, beside(mailbox)
        self._waiting: list[DirectLine] = []
        self._listener: socket.socket | None = None
        if self._path:
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self._listener.bind(self._path)
                self._listener.listen()
                self._listener.setblocking(False)
            except OSError:  # as where the path is too long: there is the mailbox
                self.close()

    def comers(self) -> dict[bytes, DirectLine]:
        """Who has come in since, by the names that mailboxes know."""
        if self._listener is None:
            return {}
        found: dict[bytes, DirectLine] = {}
        with suppress(OSError):  # nobody more
            while len(self._waiting) < MAX_WAITING:
                self._waiting.append(DirectLine(self._listener.accept()[0], self._seconds))
        for line in list(self._waiting):
            try:
                said = line.receive(wait=False)
            except LineLost:
                said = bytearray()
            if said is not None:
                self._waiting.remove(line)
                if said:
                    found[bytes(said)] = line
                else:
                    line.close()
        return found

    def close(self) -> None:
        """Nobody comes in any more."""
        for line in self._waiting:
            line.close()
        self._waiting = []
        if self._listener is not None:
            self._listener.close()
            self._listener = None
            with suppress(OSError):
                Path(self._path).unlink()
