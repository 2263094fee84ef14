"""A thread of its own for calls that may never come back: whoever waits for one goes on without it after a while."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any


class CallThread:
    """Makes one call after the other; after one that did not come back in time it is left to itself, with all that it uses."""

    def __init__(self, limit: float) -> None:
        self.limit = limit  # [s]
        self.left = False
        self._asked: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._answered: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        threading.Thread(target=_work, args=(self._asked, self._answered), name="FMU", daemon=True).start()

    def call(self, act: Callable[[], Any]) -> Any:
        """What it answers or raises; TimeoutError where it does not come back."""
        self._asked.put(act)
        try:
            answer, error = self._answered.get(timeout=self.limit)
        except Empty:
            self.left = True
            raise TimeoutError from None
        if error is not None:
            raise error
        return answer

    def end(self) -> None:
        """No call will follow."""
        self._asked.put(None)


def _work(
    asked: SimpleQueue[Callable[[], Any] | None], answered: SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    while (act := asked.get()) is not None:
        try:
            answered.put((act(), None))
        except BaseException as error:  # it belongs to whoever waits
            answered.put((None, error))
        del act
