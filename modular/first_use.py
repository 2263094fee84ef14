"""First use: progress of the compiler for those who wait for it.

Machine code is made where a kernel is first needed, and kept on disk (modular/kept_code.py). Where it is found there nobody
is told anything. Where it has to be made, those who listen hear the name of every kernel; where nobody listens one line goes
to the log, once the wait can be felt.

Ctrl-C waits until a kernel is done, a second one does not: in the middle of its work the compiler loses an interrupt, and then
fails for want of the code that was to come.
"""

from __future__ import annotations

import logging
import signal
import threading
import time as clock
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from numba.core import event

from modular.kept_code import KeptCode

COMPILE_NOTICE_SECONDS = 0.5  # how long the compiler may be at work before the log says so [s]
COMPILE_NOTICE_SECONDS_UNCOUNTED = 3.0  # the same, where nobody knows yet how many kernels there will be [s]

# name of a kernel that is now compiled, loops that are ready, loops in sight
Listener = Callable[[str, int, int], None]

_listeners: list[Listener] = []
_waiting: list[Callable[[], None]] = []  # for the end of it
_sight: dict[int, Any] = {}  # loops that will be needed, as far as one can see
_log = logging.getLogger("modular")


@contextmanager
def listening(listener: Listener, done: Callable[[], None] | None = None) -> Iterator[None]:
    """Let somebody hear of every kernel that is compiled while this lasts, and of `finish`."""
    _listeners.append(listener)
    if done is not None:
        _waiting.append(done)
    try:
        yield
    finally:
        _listeners.remove(listener)
        if done is not None:
            _waiting.remove(done)


def finish() -> None:
    """What is to be played is compiled, as far as one can see: those who heard that it began hear that it is over."""
    for done in list(_waiting):
        done()
    _compile_listener.finish()


def up_to(ready: int, sight: int) -> str:
    """How many kernels are still to be compiled at most, in words."""
    return f"up to {sight - ready} kernels" if sight - ready > 1 else "kernels"


def expect(loops: Iterable[Any]) -> None:
    """These will be needed soon, or are likely to; `ready` says whether they are there."""
    _sight.update((id(loop), loop) for loop in loops)


def expected() -> tuple[int, int]:
    """How many of the loops in sight are ready, and how many there are."""
    return sum(loop.ready for loop in _sight.values()), len(_sight)


def seconds_spent() -> float:
    """How long this thread has been compiling, or waiting for a process that compiles, since it began [s]."""
    return _own.spent


@contextmanager
def counted() -> Iterator[None]:
    """What happens inside is compiling, or waiting for it; of what is nested, the whole counts once."""
    _begin()
    try:
        yield
    finally:
        _end()


class _Own(threading.local):
    """What a thread has spent, and since when it compiles."""

    spent, depth, began = 0.0, 0, 0.0


_own = _Own()


def _begin() -> None:
    if _own.depth == 0:
        _own.began = clock.perf_counter()
    _own.depth += 1


def _end() -> None:
    _own.depth = max(_own.depth - 1, 0)
    if _own.depth == 0:
        _own.spent += clock.perf_counter() - _own.began


class _CompileListener(event.Listener):  # type: ignore[misc]
    """Hears numba begin to compile, which it does not where it finds the machine code on disk."""

    def __init__(self) -> None:
        self.began: float | None = None
        self.logged = False
        self.depth = 0  # kernels that are being compiled, one for the sake of the other
        self.holding, self.interrupted = False, False

    def on_start(self, event: Any) -> None:
        """Tell those who listen, or the log; let Ctrl-C wait."""
        _begin()
        if threading.current_thread() is threading.main_thread():
            self.depth += 1
            if self.depth == 1 and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self.note)
                self.holding, self.interrupted = True, False
        dispatcher = event.data["dispatcher"]
        if not isinstance(getattr(dispatcher, "_cache", None), KeptCode):
            return  # a function of numba's own, or of somebody else
        name = dispatcher.py_func.__name__.removeprefix("_")
        for listener in list(_listeners):
            listener(name, *expected())
            self.logged = True  # who has seen it once need not hear it again
        if self.logged:
            return
        self.began = self.began or clock.perf_counter()
        ready, sight = expected()
        if clock.perf_counter() - self.began > (
            COMPILE_NOTICE_SECONDS if sight > ready else COMPILE_NOTICE_SECONDS_UNCOUNTED
        ):
            self.logged = True
            _log.warning(
                "compiling %s; this takes some seconds, once for every kind of component on this machine",
                up_to(ready, sight),
            )

    def finish(self) -> None:
        """Tell the log, where it was told that it began."""
        if self.logged and self.began is not None:
            _log.warning("compiled in %.0f s, and cached for later runs", clock.perf_counter() - self.began)
        self.began = None

    def note(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C waits, the second does not."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.holding, self.interrupted = False, True

    def on_end(self, event: Any) -> None:
        """Obey a Ctrl-C that waits."""
        _end()
        if threading.current_thread() is not threading.main_thread():
            return
        self.depth -= 1
        if self.depth:
            return
        if self.holding:
            self.holding = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt


_compile_listener = _CompileListener()
event.register("numba:compile", _compile_listener)
