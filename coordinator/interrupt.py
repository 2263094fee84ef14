"""Ctrl-C between two ticks: a run that is stopped stands at a whole tick, with everything recorded kept.

Python raises KeyboardInterrupt wherever it happens to be, also in the middle of a tick, when some bodies have moved and
others have not. While a run goes on the first Ctrl-C is therefore only noted, and obeyed at the end of the slice or the
tick; a second one is obeyed at once, wherever that is.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """What Ctrl-C has asked for so far."""

    def __init__(self) -> None:
        self._asked = False

    def note(self, number: int, frame: FrameType | None) -> None:
        """The first Ctrl-C waits, the second does not."""
        if self._asked:
            self.obey()
        self._asked = True

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
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield interrupt
        return
    signal.signal(signal.SIGINT, interrupt.note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt.obey()
