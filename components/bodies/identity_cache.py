"""What was worked out for the bodies last asked for, kept at hand without keeping it for good."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from modular.elements import Array

MAX_CACHED_BODIES = 256  # bodies whose arrays are kept, a few kilobytes each
MAX_CACHED_GROUPS = 32  # of bodies that are asked for together
MAX_KEPT_INVERSES = 1024  # of a tenth of a kilobyte each

Given = TypeVar("Given")
Found = TypeVar("Found")


def pseudo_inverse(vectors: Array) -> Array:
    """Of a few vectors, (n, d) to (d, n), for reading only: joints and forces on bodies that stand alike ask for the same."""
    return _pseudo_inverse(np.asarray(vectors, float).tobytes(), *vectors.shape)


@lru_cache(maxsize=MAX_KEPT_INVERSES)
def _pseudo_inverse(vectors: bytes, count: int, dimension: int) -> Array:
    found: Array = np.asarray(np.linalg.pinv(np.frombuffer(vectors).reshape(count, dimension)), float)
    found.flags.writeable = False
    return found


class _Itself(NamedTuple):
    """An object as a key: the very object, whatever equals it."""

    value: Any

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value


def cached_by_identity(function: Callable[[Given], Found]) -> Callable[[Given], Found]:
    """Keep what `function` gave for the objects last asked for; an object never changes, so what is kept stays true."""

    @lru_cache(maxsize=MAX_CACHED_BODIES)
    def lookup(itself: _Itself) -> Found:
        return function(itself.value)

    @wraps(function)
    def cached(value: Given) -> Found:
        return lookup(_Itself(value))

    return cached


class GroupCache(Generic[Given, Found]):
    """The same for several objects that are asked for together, in their order; the groups last found are kept."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, ...], tuple[tuple[Given, ...], Found]] = OrderedDict()

    def find(self, values: Sequence[Given], find: Callable[[Sequence[Given]], Found]) -> Found:
        """What was kept for them, or what `find` finds now."""
        known = self._known.get(tuple(map(id, values)))  # of objects that are kept alive with it
        if known is not None:
            return known[1]
        found = find(values)
        self.keep(values, found)
        return found

    def keep(self, values: Sequence[Given], found: Found) -> None:
        """Somebody has found it."""
        self._known[tuple(map(id, values))] = tuple(values), found
        if len(self._known) > MAX_CACHED_GROUPS:
            self._known.popitem(last=False)
