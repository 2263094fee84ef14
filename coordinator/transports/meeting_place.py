"""Where processes of one machine meet: sockets in a folder that only their owner may enter."""

from __future__ import annotations

import shutil
import tempfile
import weakref

import zmq

LONGEST = 90  # letters of a path; systems take a hundred and some
HERE = ("tcp://127.", "tcp://localhost:", "tcp://[::1]:", "ipc://")


class MeetingPlace:
    """A folder for sockets; it goes with whoever has made it."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="modular-")  # 0700
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @classmethod
    def on_this_machine(cls, hub: str) -> MeetingPlace | None:
        """One for workers that turn to this address, if it says that all are on one machine and such sockets are known there."""
        if not hub.startswith(HERE) or not zmq.has("ipc"):
            return None
        place = cls()
        if len(place._folder) <= LONGEST:
            return place
        place.close()
        return None

    def address(self, name: str) -> str:
        """Where a mailbox with this name, a short one, can be bound."""
        return f"ipc://{self._folder}/{name}"

    def close(self) -> None:
        """Remove it."""
        self._remove()
