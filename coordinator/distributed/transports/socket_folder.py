"""Where processes of one machine meet: sockets in a folder that only their owner may enter.

Whoever gets there is a process of the same user, so that no keys are needed; every other address of this machine is open to all its
users.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from pathlib import Path

import zmq

MAX_PATH_LENGTH = 90  # letters of a path; systems take a hundred and some
IPC = "ipc://"
POSSIBLE = os.name == "posix" and zmq.has(
    "ipc"
)  # elsewhere the rights of a folder do not say who may use a socket in it


class SocketFolder:
    """A folder for sockets; it goes with whoever has made it."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="modular-")  # 0700
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @classmethod
    def on_this_machine(cls) -> SocketFolder | None:
        """One, where such sockets are known and their paths are short enough."""
        if not POSSIBLE:
            return None
        place = cls()
        if len(place._folder) <= MAX_PATH_LENGTH:
            return place
        place.close()
        return None

    def address(self, name: str) -> str:
        """Where a mailbox with this name, a short one, can be bound."""
        return f"{IPC}{self._folder}/{name}"

    def close(self) -> None:
        """Remove it."""
        self._remove()


def is_private(address: str) -> bool:
    """Whether a mailbox there can be reached by processes of this user alone: its folder is his, and nobody else may enter it."""
    path = address.removeprefix(IPC)
    if path == address or not POSSIBLE or not path.startswith("/"):
        return False
    try:
        folder = Path(path).parent.stat()
    except (OSError, ValueError):
        return False
    return folder.st_uid == os.geteuid() and not stat.S_IMODE(folder.st_mode) & 0o077


def sibling_address(address: str) -> str:
    """Another address in the same folder, which nobody has yet."""
    return f"{IPC}{Path(address.removeprefix(IPC)).parent}/{os.urandom(4).hex()}"
