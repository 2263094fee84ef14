"""Addresses: which of them others can reach, and by which one of its own a machine reaches somebody else.

Processes of one machine meet at sockets in a folder that only their owner may enter. Whoever gets there is a process of the same
user, so that no keys are needed; every other address of this machine is open to all its users.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import weakref
from pathlib import Path

import zmq

from modular.errors import ModelError
from modular.temporary import folder_for_a_while, let_go

MAX_PATH_LENGTH = 90  # letters of a path; systems take a hundred and some
IPC = "ipc://"
# elsewhere the rights of a folder do not say who may use a socket in it
POSSIBLE = os.name == "posix" and zmq.has("ipc")


class SocketFolder:
    """A folder for sockets; it goes with whoever has made it."""

    def __init__(self) -> None:
        folder = folder_for_a_while("modular-sockets-")
        self._folder = str(folder)
        self._remove = weakref.finalize(self, let_go, folder)

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


IPC_ANY = (
    "ipc://*"  # a mailbox in a folder that this user alone may enter, where there are such; else as LOCAL, with keys
)
LOOPBACK_ANY = "tcp://127.0.0.1:*"  # a mailbox for this machine alone, and all its users
TEST_NET = "192.0.2.1"  # nobody's, kept for documents (RFC 5737): the way there is the way out
TCP = re.compile(r"tcp://(?P<host>[^\s/:\[\]]+|\[[0-9A-Fa-f:.]+\]):(?P<port>\d+|\*)")


def host_of(address: str) -> str:
    """The host in an address such as tcp://10.0.0.7:5555; nothing where there is none."""
    found = TCP.fullmatch(address)
    return "" if found is None else found["host"].strip("[]")


def is_this_machine(host: str) -> bool:
    """Whether a host is a name that every machine has for itself."""
    return host == "localhost" or host.startswith("127.") or host == "::1"


def is_local(address: str) -> bool:
    """Whether only processes of this machine reach an address."""
    return not address.startswith("tcp://") or is_this_machine(host_of(address))


def is_everywhere(address: str) -> bool:
    """Whether a mailbox is bound to all networks of its machine, so that its address says nothing to others."""
    return host_of(address) in ("0.0.0.0", "*", "::")


def with_host(address: str, host: str) -> str:
    """The same port elsewhere."""
    return f"tcp://{host}:{address.rpartition(':')[2]}"


def route_to(host: str) -> str:
    """The address of this machine from which it speaks to a host: the one that the host reaches it by."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, 9))  # sends nothing: it only looks up the way
            return str(probe.getsockname()[0])
    except (OSError, UnicodeError) as error:
        raise ModelError(f"this machine has no route to '{host}' ({error}).") from error


def outbound_address() -> str:
    """The address of this machine on its way to all others, by which most of them reach it; its name where it knows no way."""
    try:
        return route_to(TEST_NET)
    except ModelError:
        return socket.gethostname()


def reached_at(mailbox: str, hub: str) -> str:
    """What others are told of a mailbox: one on all networks is found at the address that this machine speaks to them from."""
    return with_host(mailbox, route_to(host_of(hub))) if is_everywhere(mailbox) and host_of(hub) else mailbox


def check_announced(address: str) -> None:
    """Whether others can turn to it."""
    if not host_of(address) or is_everywhere(address) or address.endswith(":*"):
        raise ModelError(
            f"--announce {address}: give the address at which others reach this worker, with its port, such as "
            "tcp://gate.example.org:6000."
        )


def mailbox_towards(address: str) -> str:
    """Where a mailbox is found by those who are where somebody with this address is."""
    if not host_of(address):
        return sibling_address(address) if is_private(address) else IPC_ANY
    if is_local(address):
        return LOOPBACK_ANY
    try:
        return f"tcp://{route_to(host_of(address))}:*"
    except ModelError:
        return LOOPBACK_ANY  # whoever connects to that address will say what is wrong with it
