"""A server of viser whose requests all pass an `Admission`, and whose messages all pass a `MessageFilter`.

viser 1.1 opens its port, hands out its page and accepts WebSockets from anywhere in one call of `websockets`, and offers
no place to ask questions. So while a server of ours is being made, that call is ours: it gets a port that is already open,
asks the questions, and hears the messages before viser does. Afterwards everything is as it was. A call that is not for
our server (`_Host` tells) passes through, so servers that others make at the same time are what they would have been.

Everything here fails closed, but what says so is not this file: `gate.py` tries the door from outside.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import socket
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import rich
import viser
from websockets.asyncio import server as websockets_server
from websockets.asyncio.server import Server, ServerConnection
from websockets.exceptions import ConnectionClosedError
from websockets.http11 import Request, Response
from websockets.protocol import State

from modular.errors import ModelError
from scenarios.laboratory.admission import RETRY_PATH, Admission, Answer
from scenarios.laboratory.message_filter import LARGEST_MESSAGE, Field, InvalidMessage, MessageFilter

CLOSING_TIMEOUT_SECONDS = 0.3  # [s] in which a page may say goodbye when the server closes
TURNED_AWAY = "403: open the address that was printed when this server started.\n"
ONCE_MORE = f'<!doctype html><meta http-equiv="refresh" content="0;url={RETRY_PATH}"><title>403</title><p>{TURNED_AWAY}'

_one_at_a_time = threading.Lock()  # whoever holds it has put something in the place of something of another library


class Unshared(viser.ViserServer):
    """A server that never asks for a public address; viser's own would open a tunnel from the internet."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """No address: this server is for this machine."""
        return None

    def disconnect_share_url(self) -> None:
        """Nothing: there is no tunnel."""


def guarded_server(listening: socket.socket, host: str, label: str, admission: Admission) -> Unshared:
    """A server of viser on an open port, behind the gate; viser's banner, which names an address without token, is left out."""
    server = Unshared.__new__(Unshared)  # in hand before it starts, so that one that fails on the way can be stopped
    with _one_at_a_time, _silent(threading.current_thread()):
        door = _ServeHook(server, listening, _Host(host), admission)
        with _in_place_of(websockets_server, "serve", door.serve):
            try:
                server.__init__(door.host, listening.getsockname()[1], label=label, verbose=False)  # type: ignore[misc]
            except BaseException:
                if (started := vars(server).get("_websock_server")) is not None and started._server_thread is not None:
                    atexit.unregister(server.stop)
                    with _silent(started._server_thread):
                        started.stop()
                raise
    if door.failure is not None or not door.opened:
        stop(server)
        raise ModelError(
            f"the live view cannot install its access check in viser {viser.__version__} "
            f"({door.failure or 'it opened another server'}); install the version that it is made for: python -m "
            "pip install 'modular-multibody[live]'"
        ) from door.failure
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server


def stop(server: Unshared) -> None:
    """Closes all connections and ends the threads of a server, without viser's word on it."""
    thread = server._websock_server._server_thread
    with _one_at_a_time, _silent(thread):
        server.stop()


class _Host(str):
    """The host of a server of ours; recognised by identity."""

    __slots__ = ()


class _ServeHook:
    """What stands in the place of `websockets.serve` while one server is being made."""

    def __init__(self, server: Unshared, listening: socket.socket, host: _Host, admission: Admission) -> None:
        self.server = server
        self.host = host
        self.failure: Exception | None = None
        self.opened = False
        self._listening = listening
        self._admission = admission
        self._original: Any = websockets_server.serve
        self._present: WeakSet[_FilteredConnection] = WeakSet()
        self._log = logging.Logger("laboratory", level=logging.CRITICAL + 1)  # what strangers send is nobody's news

    def serve(self, handler: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        """As `websockets.serve`; ours alone passes the gate."""
        if host is not self.host:
            return self._original(handler, host, port, **options)
        self.opened = True
        return self._open(handler, options)

    @asynccontextmanager
    async def _open(self, handler: Any, options: dict[str, Any]) -> AsyncIterator[Any]:
        asyncio.get_running_loop().set_exception_handler(_report)
        ours = {
            "process_request": self._asked(options.get("process_request")),
            "create_connection": self._connection,
            "max_size": LARGEST_MESSAGE,
            "logger": self._log,
            "sock": self._listening,
        }
        try:
            server = await self._original(_of_this_version(handler), **{**options, **ours})
        except Exception as failure:  # viser would wait for ever; it gets a server that nobody can reach
            self.failure = failure
            yield SimpleNamespace(server=SimpleNamespace(sockets=()))
            return
        try:
            yield server
        finally:
            await self._see_off(server)

    def _asked(self, files: Callable[[ServerConnection, Request], Response | None] | None) -> Any:
        """What becomes of a request before anything else looks at it; `files` is viser's page."""

        def asked(connection: ServerConnection, request: Request) -> Response | None:
            answer = self._admission.answer(request.path, request.headers.get_all)
            if answer is Answer.SOCKET:
                return None
            response = _said(connection, answer)
            if response is None and files is not None:
                response = files(connection, request)
            if response is None:
                return connection.respond(HTTPStatus.FORBIDDEN, TURNED_AWAY)
            if answer is not Answer.REFUSED:
                response.headers.update(self._admission.headers(answer, request.headers["Host"]))
            return response

        return asked

    def _connection(self, *given: Any, **options: Any) -> ServerConnection:
        connection = _FilteredConnection(*given, **options)
        connection.message_filter = MessageFilter(self._field)
        self._present.add(connection)
        return connection

    def _field(self, uuid: str) -> Field | None:
        """A field of the page by its number."""
        gui = vars(self.server).get("gui")  # the port is open a moment before it is there
        return None if gui is None else gui._gui_input_handle_from_uuid.get(uuid)

    async def _see_off(self, server: Server) -> None:
        """Closes the port and all connections: politely those that are open, for a while; the others at once.

        A browser keeps connections ready that have asked for nothing yet; websockets would wait ten seconds for each.
        """
        loop = asyncio.get_running_loop()
        server.close()
        closed = loop.create_task(server.wait_closed())
        until = loop.time() + CLOSING_TIMEOUT_SECONDS
        while not closed.done() and loop.time() < until + CLOSING_TIMEOUT_SECONDS:
            for connection in list(self._present):
                if loop.time() > until or connection.protocol.state is State.CONNECTING:
                    connection.leave()
            await asyncio.wait([closed], timeout=0.02)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=CLOSING_TIMEOUT_SECONDS)


class _FilteredConnection(ServerConnection):
    """A connection whose messages are read before viser gets them: what is not for it is left out, garbage ends the connection."""

    message_filter: MessageFilter

    async def recv(self, decode: bool | None = None) -> Any:
        """The next message that the page may send."""
        while True:
            frame = await super().recv(decode)
            try:
                if self.message_filter.is_for_viser(frame):
                    return frame
            except InvalidMessage:
                with suppress(TimeoutError):  # what is still in its queue may keep it from hearing the answer
                    async with asyncio.timeout(CLOSING_TIMEOUT_SECONDS):
                        await self.close(1008, "this is not a message of the page")
                self.leave()
                raise ConnectionClosedError(None, None) from None

    def leave(self) -> None:
        """Ends the connection without another word."""
        if (transport := getattr(self, "transport", None)) is not None:
            transport.abort()


def _said(connection: ServerConnection, answer: Answer) -> Response | None:
    """The whole answer to a request that is for no file."""
    match answer:
        case Answer.REFUSED:
            return connection.respond(HTTPStatus.FORBIDDEN, TURNED_AWAY)
        case Answer.ONCE_MORE:
            response = connection.respond(HTTPStatus.FORBIDDEN, ONCE_MORE)
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = "text/html; charset=utf-8"
            return response
        case Answer.ENTERED | Answer.LED:
            return connection.respond(HTTPStatus.SEE_OTHER, "")
    return None


def _of_this_version(handler: Any) -> Any:
    """As `handler`; a page of another version is told to reload, without a line on our screen."""

    async def handled(connection: ServerConnection) -> None:
        if connection.subprotocol != f"viser-v{viser.__version__}":
            await connection.close(1002, f"this server speaks viser {viser.__version__}; reload the page")
        else:
            await handler(connection)

    return handled


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Says what went wrong in a callback, as asyncio does; what viser itself could not make sense of is left out."""
    error = context.get("exception")
    frames = [] if error is None else [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or any(not frame.f_globals.get("__name__", "").startswith("viser.") for frame in frames):
        loop.default_exception_handler(context)


@contextmanager
def _in_place_of(owner: Any, name: str, ours: Any) -> Iterator[None]:
    """Something of ours under a name of another library, for a while."""
    theirs = getattr(owner, name)
    setattr(owner, name, ours)
    try:
        yield
    finally:
        setattr(owner, name, theirs)


@contextmanager
def _silent(thread: threading.Thread | None) -> Iterator[None]:
    """Leaves out what one thread prints by rich."""
    said = rich.print

    def unless_it_is_said_there(*text: Any, **options: Any) -> None:
        if threading.current_thread() is not thread:
            said(*text, **options)

    with _in_place_of(rich, "print", unless_it_is_said_there):
        yield
