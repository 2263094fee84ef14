"""Opens a server of viser that only the page of this run gets into.

A plain viser server takes commands from every page that the browser has open, and the next port where the one asked for
is taken. This one asks who comes (`admission.py`), hears only what its page may say (`message_filter.py`), and is tried from
outside before anybody is told of it: where a stranger is not turned away, it is closed again.

What it does not do: encrypt. On the loopback nobody listens; with `anywhere=True` the token crosses the network as it is.
"""

from __future__ import annotations

import atexit
import errno
import http.client
import ipaddress
import re
import secrets
import socket
import sys
import threading
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Self

import psutil

from modular.errors import ModelError
from scenarios.laboratory.admission import Admission
from scenarios.laboratory.invitation import Invitation

if TYPE_CHECKING:
    from scenarios.laboratory.guarded_server import Unshared

STRANGER = "http://stranger.example"
RESPONSE_TIMEOUT_SECONDS = 5.0  # [s] within which our own server answers us


class Gated:
    """A running server: `server` is viser's, `url` opens its page (it holds the token: whoever has it is let in)."""

    def __init__(self, server: Unshared, name: str, port: int, admission: Admission) -> None:
        self.server = server
        self.url = f"http://{name}:{port}/?token={admission.token}"
        self.port = port
        self._once = f"http://{name}:{port}/?invitation="
        self._admission = admission
        self._invitations: list[Invitation] = []
        self._closing = threading.Lock()
        self._open = True
        atexit.register(self.close)

    def open_browser(self) -> bool:
        """Whether the user's browser could be started with the page; no list of processes shows how to get in."""
        invitation = Invitation.written(lambda used: self._once + self._admission.invite(used))
        if invitation is None:
            return False
        self._invitations.append(invitation)
        return invitation.open()

    def close(self) -> None:
        """Says goodbye to all pages, ends the threads and frees the port, within a second; once is enough.

        A callback that is still running in a thread goes on until it returns. Not for `async` callbacks, which run in the
        very thread that would be waited for.
        """
        from scenarios.laboratory import guarded_server

        with self._closing:
            if self._open:
                self._open = False
                atexit.unregister(self.close)
                for invitation in self._invitations:
                    invitation.close()
                guarded_server.stop(self.server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def check_host(host: str, *, anywhere: bool) -> None:
    """Refuse an address that other machines reach, unless that is meant."""
    if not anywhere and not _is_loopback(host):
        raise ModelError(
            f"the live view would be open to other machines at host {host!r}; take 127.0.0.1, or say anywhere=True "
            "if others may control this simulation (its token then crosses the network unencrypted)"
        )


def open_server(
    *, host: str = "127.0.0.1", port: int = 0, token: str | None = None, label: str = "modular", anywhere: bool = False
) -> Gated:
    """A viser server behind the gate, on exactly this port (0: one that is free), with `label` above its buttons.

    `token` is 16 to 128 letters, digits, `-` and `_`; left out, it is drawn for this run. `anywhere=True` admits a host that
    others reach; for all addresses of this machine (0.0.0.0) others write its name or address for the 127.0.0.1 of `url`.
    """
    try:
        from scenarios.laboratory import guarded_server
    except ImportError as error:
        raise ModelError(
            f"the live view needs viser ({error}); get it with: python -m pip install 'modular-multibody[live]'"
        ) from error
    check_host(host, anywhere=anywhere)
    token = secrets.token_urlsafe(32) if token is None else token
    if not re.fullmatch(r"[A-Za-z0-9_-]{16,128}", token):
        raise ModelError(
            f"the token of the live view has {len(token)} characters or some that an address cannot hold; "
            "take 16 to 128 letters, digits, - and _, or leave it out"
        )
    listening = _listening(host, port)
    try:
        address, port = listening.getsockname()[:2]
        names = _names(host, address)
        admission = Admission(
            names=frozenset(name for each in names for name in _with_port(each, port)),
            cookie=f"modular-{port}",
            token=token,
        )
        server = guarded_server.guarded_server(listening, host, label, admission)
    except BaseException:
        listening.close()
        raise
    gated = Gated(server, names[0], port, admission)
    try:
        _try_the_gate(_reached_at(address), port, f"{names[0]}:{port}", admission)
    except BaseException:
        gated.close()
        raise
    return gated


def _listening(host: str, port: int) -> socket.socket:
    """The open port, ours before viser knows of it, so that nobody can be given another one."""
    if not 0 <= port <= 65535:
        raise ModelError(f"the live view cannot have port {port}; take one from 1 to 65535, or 0 for one that is free")
    listening = None
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(family, kind)
        if sys.platform == "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:  # a port that was closed a moment ago is free; there, this shares none that is open
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(where)
        listening.listen(100)
    except (OSError, UnicodeError) as error:
        if listening is not None:
            listening.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise ModelError(
                f"port {port} of {host} is taken, perhaps by a live view that still runs; close it, take another port, "
                "or 0 for one that is free"
            ) from error
        raise ModelError(
            f"port {port} of {host!r} cannot be opened ({error}); take 127.0.0.1 and port 0 for one that is free"
        ) from error
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _names(host: str, address: str) -> list[str]:
    """What a browser may call this server, without the port; the first is the one to print."""
    bound = ipaddress.ip_address(address)
    if bound.is_unspecified:
        others = [each.address for card in psutil.net_if_addrs().values() for each in card if each.family in _INTERNET]
        local = ["127.0.0.1" if bound.version == 4 else "::1", "127.0.0.1", "localhost", socket.gethostname(), *others]
        names = [name.partition("%")[0] for name in local]
    else:
        names = [host, address, *(["localhost"] if address in ("127.0.0.1", "::1") else [])]
    return list(dict.fromkeys(f"[{name}]" if ":" in name else name.lower() for name in names))


def _with_port(name: str, port: int) -> list[str]:
    return [f"{name}:{port}", *([name] if port == 80 else [])]  # browsers leave out the usual one


def _reached_at(address: str) -> str:
    bound = ipaddress.ip_address(address)
    return {4: "127.0.0.1", 6: "::1"}[bound.version] if bound.is_unspecified else address


def _try_the_gate(address: str, port: int, name: str, admission: Admission) -> None:
    """Comes as four strangers, each right in all but one thing; raises unless all are turned away."""
    knows = {"Cookie": f"{admission.cookie}={admission.token}"}
    socket_from = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "bW9kdWxhci1tdWx0aWJvZA==",
    }
    strangers = {
        "a page of another origin": {"Host": name, **knows, **socket_from, "Origin": STRANGER},
        "a page without token": {"Host": name, **socket_from, "Origin": f"http://{name}"},
        "a visitor without token": {"Host": name},
        "a name that is not ours": {"Host": "stranger.example", **knows},
    }
    for who, headers in strangers.items():
        status = _status(address, port, headers)
        if status != HTTPStatus.FORBIDDEN:
            raise ModelError(
                f"the access check of the live view failed: {who} got {status or 'no answer'} instead of 403, so "
                "it was closed; "
                "install the version of viser that it is made for: python -m pip install 'modular-multibody[live]'"
            )


def _status(address: str, port: int, headers: dict[str, str]) -> int | None:
    """The status of the answer to one request for the page; None where none came."""
    connection = http.client.HTTPConnection(address, port, timeout=RESPONSE_TIMEOUT_SECONDS)
    try:
        connection.putrequest("GET", "/", skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


_INTERNET = (socket.AF_INET, socket.AF_INET6)
