"""What was worked out for the bodies last asked for, kept at hand without keeping it for good."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

RECENT = 256  # bodies whose arrays are kept, a few kilobytes each

Given = TypeVar("Given")
Found = TypeVar("Found")


class _Itself(NamedTuple):
    """An object as a key: the very object, whatever equals it."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value


class Held(Generic[Given, Found]):
    """What was worked out for an object among many others: known as long as somebody keeps this."""

    __slots__ = ("__weakref__", "find", "value")

    def __init__(self, value: Given, find: Callable[[], Found]) -> None:
        self.value, self.find = value, find


class Recent(Generic[Given, Found]):
    """A question, with the answers for the objects last asked for; an object never changes, so what is kept stays true."""

    def __init__(self, function: Callable[[Given], Found]) -> None:
        @lru_cache(maxsize=RECENT)
        def keep(itself: _Itself) -> Found:
            return function(itself.value)

        self._keep = keep
        self._held: WeakValueDictionary[int, Held[Given, Found]] = WeakValueDictionary()

    def __call__(self, value: Given) -> Found:
        """The answer for an object."""
        held = self._held.get(id(value))
        return self._keep(_Itself(value)) if held is None else held.find()

    def hold(self, value: Given, find: Callable[[], Found]) -> Held[Given, Found]:
        """Answer with `find` for this object while what is returned is kept; that keeps the object too, and so its number."""
        held = self._held[id(value)] = Held(value, find)
        return held


def recently(function: Callable[[Given], Found]) -> Recent[Given, Found]:
    """Keep what `function` gave for the objects last asked for."""
    return Recent(function)
