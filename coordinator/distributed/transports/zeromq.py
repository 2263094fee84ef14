"""ZeroMQ, which no other folder knows: mailboxes that are bound, and connections to mailboxes.

Neighbours exchange over a mailbox and one connection each ("Harmony" of the ZeroMQ guide); workers talk with the coordinator
over a connection to its mailbox, which answers on it. Sending never waits: where a connection is full or nobody listens the bytes
are lost, and whoever misses them asks again. The defaults of ZeroMQ that wait or grow without limit are all changed here.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import Any

import zmq
from zmq.auth.thread import ThreadAuthenticator

from coordinator.distributed.transports.addresses import IPC_ANY, LOOPBACK_ANY, SocketFolder, is_private
from coordinator.distributed.transports.by_address import Wire, library
from coordinator.distributed.transports.keys import Keys, secret_of_this_user
from modular.errors import ModelError

MIN_LIBZMQ_VERSION = (4, 3, 5)  # of libzmq: before, strangers could keep a guarded mailbox busy, or worse
DOMAIN = "modular"
ANYONE = "*"  # the name of a key that opens every place
MAX_FRAME_BYTES = 1 << 26  # bytes of a part of a message, unless more was asked for
Bytes = bytes | bytearray | memoryview


@dataclass(frozen=True)
class Timings:
    """How soon a broken connection is noticed and made again [ms]."""

    heartbeat: int = 1000
    timeout: int = 3000
    lifetime: int = 5000
    handshake: int = 5000
    again: int = 50
    again_most: int = 2000
    linger: int = 500


def fresh_keys() -> Keys:
    """A pair that nobody else has."""
    return Keys(*zmq.curve_keypair())


def keys_of_this_user() -> Keys:
    """The pair by which processes of one user know each other where all users of a machine can knock."""
    secret = secret_of_this_user(lambda: fresh_keys().secret)
    return Keys(zmq.curve_public(secret), secret)


class AuthorizedKeys:
    """Who may send to a mailbox, by public keys; ZeroMQ asks before it takes a byte from anybody."""

    def __init__(self) -> None:
        self.keys: dict[bytes, str] = {}  # names by keys
        self.refused = 0

    def callback(self, domain: str, key: bytes) -> bool:
        """Whether a key may come in."""
        known = key in self.keys
        self.refused += not known
        return known


class Mailbox:
    """A bound socket that others send to. `address` says where: in a folder that nobody else may enter, or anywhere with keys.

    `most` bytes are in a part of a message that it takes; whoever sends more loses the connection.
    """

    def __init__(
        self,
        where: str = IPC_ANY,
        *,
        keys: Keys | None = None,
        timings: Timings = Timings(),
        most: int = MAX_FRAME_BYTES,
    ) -> None:
        self.socket_folder = SocketFolder.on_this_machine() if where == IPC_ANY else None  # of its own
        if where == IPC_ANY:
            where = LOOPBACK_ANY if self.socket_folder is None else self.socket_folder.address("0")
        if keys is None and not is_private(where):
            raise ModelError(
                f"a mailbox at {where} can be reached by others, so it needs keys: make some with 'modular keys "
                "new', or leave the address out to use a socket in a folder that only you can access."
            )
        self._context, self._timings, self.keys = context(), timings, keys
        self.authorized = AuthorizedKeys()
        self._authenticator: ThreadAuthenticator | None = None
        self._socket = _socket(self._context, zmq.ROUTER, timings, most)
        # connections ask whether their mailbox is there, and say how soon they are to be missed; where a mailbox asks as well,
        # libzmq aborts (4.3.5, stream_engine_base.cpp) if somebody fills its queue and goes before it is read
        self._socket.setsockopt(zmq.HEARTBEAT_IVL, 0)
        if keys is not None:
            self._authenticator = ThreadAuthenticator(self._context)
            self._authenticator.start()
            _asking.add(self._authenticator)
            self._authenticator.configure_curve_callback(DOMAIN, self.authorized)
            self._socket.curve_server = True
            self._socket.curve_publickey, self._socket.curve_secretkey = keys.public, keys.secret
            self._socket.setsockopt_string(zmq.ZAP_DOMAIN, DOMAIN)
            self._socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)  # where nobody answers for keys nobody comes in
        self._socket.setsockopt(zmq.ROUTER_MANDATORY, 1)
        self._socket.setsockopt(zmq.ROUTER_HANDOVER, 1)
        try:
            self._socket.bind(where)
        except zmq.ZMQError as error:
            self._socket.close(0)
            self._let_go()
            raise ModelError(f"no mailbox can be bound at {where}: {error}; give another address or port.") from error
        self.address = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        self._connections: dict[str, zmq.Socket[bytes]] = {}
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._ready: list[Any] = []
        self._patience = -1  # [ms]
        self._wires: list[Wire] = []
        self.lost = 0  # what could not be sent

    # --- connections to other mailboxes --------------------------------------------------------------------------------

    def connect(self, name: str, address: str, *, key: bytes = b"", identity: str = "", most: int = -1) -> None:
        """From now on `name` is reached at this address; what is still on its way to an older one is dropped.

        `key`: the public key that whoever is there must own.
        """
        self.disconnect(name)
        connection = _socket(self._context, zmq.DEALER, self._timings, most)
        if key:
            assert self.keys is not None
            connection.curve_serverkey = key
            connection.curve_publickey, connection.curve_secretkey = self.keys.public, self.keys.secret
        if identity:
            connection.setsockopt_string(zmq.IDENTITY, identity)
        try:
            connection.connect(address)
        except zmq.ZMQError as error:
            connection.close(0)
            raise ModelError(
                f"{address!r} is not an address ({error}); give one such as tcp://127.0.0.1:5555."
            ) from error
        self._connections[name] = connection
        if identity:  # others never answer along a connection
            self._poller.register(connection, zmq.POLLIN)

    def disconnect(self, name: str) -> None:
        """Let a connection go."""
        connection = self._connections.pop(name, None)
        if connection is not None:
            with suppress(KeyError):
                self._poller.unregister(connection)
            connection.close(0)

    def send(self, name: str, *parts: Bytes) -> bool:
        """Along a connection; False where it cannot be."""
        connection = self._connections.get(name)
        try:
            if connection is None:
                self.lost += 1
                return False
            connection.send_multipart(parts, zmq.DONTWAIT)
        except zmq.ZMQError:
            self.lost += 1
            return False
        return True

    def answer(self, sender: bytes, *parts: Bytes) -> bool:
        """To somebody who has sent something here; False where he is gone. One who does not listen loses it, and is there."""
        try:
            self._socket.send_multipart([sender, *parts], zmq.DONTWAIT)
        except zmq.ZMQError as error:
            self.lost += 1
            return error.errno == zmq.EAGAIN
        return True

    # --- what comes in -------------------------------------------------------------------------------------------------

    def wait(self, seconds: float) -> bool:
        """Until something comes in, at most so long; whether `mail` or `heard` have something."""
        self._ready = [socket for socket, _ in self._poller.poll(ceil(1000.0 * seconds) if seconds > 0.0 else 0)]
        return bool(self._ready)

    def watch(self, descriptor: int, *, off: bool = False) -> None:
        """From now on `wait` ends too when something comes in there; or no longer."""
        if off:
            self._poller.unregister(descriptor)
        else:
            self._poller.register(descriptor, zmq.POLLIN)

    def rings(self, descriptor: int) -> bool:
        """Whether `wait` has found something there."""
        return descriptor in self._ready

    def mail(self) -> Iterator[tuple[bytes, list[bytes], str]]:
        """From where, what, and whose key it came with: one message to this mailbox, if `wait` has found any."""
        if self._socket not in self._ready:
            return
        if self.keys is None:
            sender, *parts = self._socket.recv_multipart(zmq.DONTWAIT)
            yield sender, parts, ""
        else:
            frames = self._socket.recv_multipart(zmq.DONTWAIT, copy=False)
            sender, *parts = (frame.bytes for frame in frames)
            yield sender, parts, self.authorized.keys.get(str(frames[-1].get("User-Id")).encode(), "")

    def next_mail(self, milliseconds: int) -> list[bytes] | None:
        """The next message to this mailbox, whoever sent it; waits for it at most so long. The fastest way to hear."""
        if milliseconds != self._patience:
            self._patience = milliseconds
            self._socket.setsockopt(zmq.RCVTIMEO, milliseconds)
        try:
            return self._socket.recv_multipart()[1:]
        except zmq.Again:
            return None

    def wire(self, milliseconds: int, looks: int = 0, give_way: int = 0) -> Wire | None:
        """This mailbox for compiled code, where that can be; it waits at most so long. It ends with the mailbox."""
        found = library()
        if found is None:
            return None
        self._patience = milliseconds
        self._socket.setsockopt(zmq.RCVTIMEO, milliseconds)
        self._wires.append(Wire(found, int(self._socket.underlying), give_way, looks))
        return self._wires[-1]

    def connection_handle(self, name: str) -> int:
        """The socket of a connection, as a wire knows it, 0 where there is none; until it is connected anew."""
        connection = self._connections.get(name)
        return 0 if connection is None else int(connection.underlying)

    def heard(self, name: str) -> Iterator[list[bytes]]:
        """What has come back along a connection: one message, if `wait` has found any."""
        connection = self._connections.get(name)
        if connection is not None and connection in self._ready:
            yield connection.recv_multipart(zmq.DONTWAIT)

    def next_heard(self, name: str) -> list[bytes] | None:
        """The next message that has come back along a connection, if there is one; does not wait."""
        connection = self._connections.get(name)
        try:
            return None if connection is None else connection.recv_multipart(zmq.DONTWAIT)
        except zmq.Again:
            return None

    def close(self) -> None:
        """Let all go; what is on its way has half a second."""
        for wire in self._wires:
            wire.close()
        for name in list(self._connections):
            connection = self._connections.pop(name)
            with suppress(KeyError):
                self._poller.unregister(connection)
            connection.close(self._timings.linger)
        with suppress(KeyError):
            self._poller.unregister(self._socket)
        self._socket.close(self._timings.linger)
        self._let_go()

    def _let_go(self) -> None:
        if self._authenticator is not None:
            self._authenticator.stop()
            _asking.discard(self._authenticator)
        self._context.term()
        if self.socket_folder is not None:
            self.socket_folder.close()


# threads that ask for keys, until their mailbox is closed
_asking: weakref.WeakSet[ThreadAuthenticator] = weakref.WeakSet()


@atexit.register
def _ask_no_more() -> None:
    """A program that ends without closing its mailboxes leaves no thread inside of ZeroMQ.

    Where Python ends such a thread by force, the whole program may abort.
    """
    for authenticator in list(_asking):
        with suppress(zmq.ZMQError):
            authenticator.stop()


def context() -> zmq.Context[zmq.Socket[bytes]]:
    """A context of its own, so that letting it go touches nobody else."""
    if zmq.zmq_version_info() < MIN_LIBZMQ_VERSION:
        raise ModelError(
            f"ZeroMQ {zmq.zmq_version()} is too old to be safe; "
            f"install pyzmq with libzmq {'.'.join(map(str, MIN_LIBZMQ_VERSION))} or newer."
        )
    return zmq.Context(1)


def _socket(context: zmq.Context[zmq.Socket[bytes]], kind: int, timings: Timings, most: int) -> zmq.Socket[bytes]:
    """A socket that neither waits nor grows without limit."""
    socket = context.socket(kind)
    for option, value in {
        zmq.LINGER: timings.linger, zmq.HEARTBEAT_IVL: timings.heartbeat, zmq.HEARTBEAT_TIMEOUT: timings.timeout,
        zmq.HEARTBEAT_TTL: timings.lifetime, zmq.HANDSHAKE_IVL: timings.handshake, zmq.RECONNECT_IVL: timings.again,
        zmq.RECONNECT_IVL_MAX: timings.again_most, zmq.SNDHWM: 1000, zmq.RCVHWM: 1000, zmq.MAXMSGSIZE: most,
        zmq.BACKLOG: 1024,
    }.items():  # fmt: skip
        socket.setsockopt(option, value)
    return socket
