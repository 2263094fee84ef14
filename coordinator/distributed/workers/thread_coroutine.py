"""Something that is done turn by turn: it pauses in its middle, wherever that is, and goes on when it is told to.

A compiled step cannot yield. It is played in a thread of its own, which runs while the one that called it waits, and the other
way round; so never do both at once, and everything is as if it had yielded.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any


class Thread:
    """One that does what it is given, again and again."""

    def __init__(self) -> None:
        self.mine, self.theirs = threading.Lock(), threading.Lock()
        self.mine.acquire()
        self.theirs.acquire()
        self.act: Callable[[], None] = lambda: None
        threading.Thread(target=self._serve, name="modular-turns", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.theirs.acquire()
            self.act()
            self.act = _nothing
            self.mine.release()


def _nothing() -> None:
    pass


_idle: list[Thread] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # threads stay behind


class ThreadCoroutine:
    """One thing that is being done."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.result: Any = None
        self._act = act
        self._said: Any = None
        self._error: BaseException | None = None
        self._given_up = self._over = False
        self._thread = _idle.pop() if _idle else Thread()
        self._thread.act = self._do

    def _do(self) -> None:
        try:
            self.result = self._act()
        except BaseException as error:
            self._error = error
        self._over = True

    def pause(self, said: Any) -> bool:
        """From within: let the others go on; whether it was told to go on, and not to come to an end."""
        if self._given_up:
            return False
        self._said = said
        self._thread.mine.release()
        self._thread.theirs.acquire()
        return not self._given_up

    def resume(self) -> Any:
        """To the next pause, and what was said there; None where it is over. What it has raised is raised."""
        self._switch()
        if not self._over:
            return self._said
        error, self._error = self._error, None
        if error is not None:
            raise error
        return None

    def close(self) -> None:
        """Let it come to an end, where it has not."""
        self._given_up = True
        if not self._over:
            self._switch()
        _idle.append(self._thread)

    def _switch(self) -> None:
        thread = self._thread
        thread.theirs.release()
        try:
            thread.mine.acquire()
        except BaseException:  # somebody interrupts: only where it pauses is it known how things stand
            thread.mine.acquire()
            raise
