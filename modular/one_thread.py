"""Linear algebra on one thread: of small matrices several threads take longer to meet than to work, and round otherwise.

A library of linear algebra takes as many threads as there are cores unless the environment says otherwise, as `modular` itself
does. So a program of one's own would have other bits than the command, and take forty times as long where matrices are of a
hundred rows: each product of them waits until all threads have come. What is written for this package is done on one; what else
the program does meanwhile is as it was.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

SETTINGS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")  # what libraries read where they are loaded
Function = TypeVar("Function", bound=Callable[..., Any])

_lock = threading.Lock()
_inside = 0  # how many are at it, in all threads of this process
_before: list[int] = []  # how many threads libraries took that have one number for the whole process


@contextmanager
def one_thread() -> Iterator[None]:
    """Until the last who asked for it has left."""
    global _inside
    if _limited_from_outside():
        yield
        return
    shared, own = _libraries()
    with _lock:
        mine = _limit(own)
        if _inside == 0:
            _before[:] = _limit(shared)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            _give(own, mine)
            if _inside == 0:
                _give(shared, _before)


def on_one_thread(function: Function) -> Function:
    """A function whose linear algebra is done on one thread."""

    @functools.wraps(function)
    def alone(*arguments: Any, **more: Any) -> Any:
        with one_thread():
            return function(*arguments, **more)

    return cast("Function", alone)


@functools.cache
def _limited_from_outside() -> bool:
    """Whether the environment has done it already."""
    return all(os.environ.get(name) == "1" for name in SETTINGS)


@functools.cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Those that are loaded, numpy's and scipy's: with one number for all threads that call them, and with one for each."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    of_each = [getattr(library, "threading_layer", "") == "openmp" for library in found]
    shared = [library for library, each in zip(found, of_each, strict=True) if not each]
    return shared, [library for library, each in zip(found, of_each, strict=True) if each]


def _limit(libraries: list[Any]) -> list[int]:
    """Let them take one thread; how many they took."""
    before = [int(library.get_num_threads()) for library in libraries]
    _give(libraries, [1] * len(libraries))
    return before


def _give(libraries: list[Any], numbers: list[int]) -> None:
    """Let them take so many. Of OpenBLAS threadpoolctl hears the thread alone that was first to say so, unless it forgets who."""
    for library, number in zip(libraries, numbers, strict=True):
        _forget(library)
        library.set_num_threads(number)
        _forget(library)


def _forget(library: Any) -> None:
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)
