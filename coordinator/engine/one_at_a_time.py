"""One at a time: a simulation is moved, changed and asked by one thread. Compiled code runs beside Python: two would mix ticks."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

from modular.errors import ModelError
from modular.keywords import check_call, check_keywords

Method = TypeVar("Method", bound=Callable[..., Any])


class Turn:
    """Whose turn it is; the same thread may take it again, as where an event changes the model in a run."""

    def __init__(self) -> None:
        self._lock, self._process, self._taken_by = threading.RLock(), os.getpid(), ""

    def __enter__(self) -> None:
        if self._process != os.getpid():  # forked: the threads of the other process are not here
            self.__init__()  # type: ignore[misc]
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
