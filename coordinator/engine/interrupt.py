"""Ctrl-C between two ticks: a run that is stopped stands at a whole tick, with everything recorded kept.

SIGTERM is treated in the same way where somebody has given it Python's own handler of Ctrl-C, as the command `modular` does.

Python raises KeyboardInterrupt wherever it happens to be, also in the middle of a tick, when some bodies have moved and
others have not. While a run goes on the first Ctrl-C is therefore only noted, and obeyed at the end of the slice or the
tick; a second one is obeyed at once, wherever that is. Whoever waits for others meanwhile calls `obey_late`, so that nobody
waits for long for somebody who is never going to answer.

One at a time: a simulation is moved, changed and asked by one thread. Compiled code runs beside Python: two would mix ticks.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, TypeVar, cast

from modular.errors import ModelError
from modular.keywords import check_call, check_keywords

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPT_GRACE_SECONDS = 0.7  # seconds that Ctrl-C waits for others
_held: list[Interrupt] = []  # where it waits now


class Interrupt:
    """What Ctrl-C has asked for so far."""

    def __init__(self) -> None:
        self._asked = False
        self._asked_at = 0.0

    def note(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C waits, the second does not."""
        if self._asked:
            self.obey()
        self._asked, self._asked_at = True, time.monotonic()

    @property
    def late(self) -> bool:
        """Whether somebody has asked and waits for too long."""
        return self._asked and time.monotonic() - self._asked_at > INTERRUPT_GRACE_SECONDS

    def obey(self) -> None:
        """Raise KeyboardInterrupt, once, where Ctrl-C was noted."""
        if self._asked:
            self._asked = False
            raise KeyboardInterrupt


@contextmanager
def held_interrupts() -> Iterator[Interrupt]:
    """Ctrl-C waits until `obey` is called, or until the end.

    Only Python has a handler of its own in the main thread; where somebody else handles Ctrl-C, or in another thread, nothing
    is changed.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    held = [number for number in SIGNALS if signal.getsignal(number) is signal.default_int_handler]
    with ExitStack() as at_the_end:
        at_the_end.callback(interrupt.obey)
        for number in held:
            at_the_end.callback(signal.signal, number, signal.default_int_handler)
            signal.signal(number, interrupt.note)
        _held.append(interrupt)
        at_the_end.callback(_held.remove, interrupt)
        yield interrupt


def obey_late() -> None:
    """Obey a Ctrl-C that waits for too long already; for the main thread, where it waits for others."""
    if _held and _held[-1].late and threading.current_thread() is threading.main_thread():
        _held[-1].obey()


Method = TypeVar("Method", bound=Callable[..., Any])


class Turn:
    """Whose turn it is; the same thread may take it again, as where an event changes the model in a run."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock, self._process, self._taken_by = threading.RLock(), os.getpid(), ""

    def __enter__(self) -> None:
        if self._process != os.getpid():  # forked: the threads of the other process are not here
            self._begin()
        if not self._lock.acquire(blocking=False):
            raise ModelError(
                f"this simulation is in use by thread '{self._taken_by}', and thread "
                f"'{threading.current_thread().name}' called it meanwhile; use it from one thread at a time: wait "
                "until the other is done, or make a simulation for each."
            )
        self._taken_by = threading.current_thread().name

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy of a simulation has turns of its own."""
        return Turn, ()


def one_at_a_time(method: Method) -> Method:
    """A method, of something that has a `turn`, that is refused while another thread is in one of these, or if called wrongly."""

    @functools.wraps(method)
    def alone(self: Any, *arguments: Any, **more: Any) -> Any:
        called = f"{type(self).__name__}.{method.__name__}"
        if more:
            check_keywords(method, more, called)
        check_call(method, len(arguments), more, called)
        with self.turn:
            return method(self, *arguments, **more)

    return cast("Method", alone)
