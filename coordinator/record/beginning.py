"""The beginning of a list that only grows: as long as it was when somebody looked, and nothing is copied before somebody does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Generic, TypeVar, overload

Entry = TypeVar("Entry")


class Beginning(Sequence[Entry]):
    """The first entries of a list to which others are only added, and what follows them here alone."""

    __slots__ = ("_after", "_count", "_entries")

    def __init__(self, entries: list[Entry], count: int, after: Sequence[Entry] = ()) -> None:
        self._entries, self._count, self._after = entries, count, after

    def __len__(self) -> int:
        return self._count + len(self._after)

    def __iter__(self) -> Iterator[Entry]:
        return chain(islice(self._entries, self._count), self._after)

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> list[Entry]: ...
    def __getitem__(self, place: int | slice) -> Entry | list[Entry]:
        if isinstance(place, slice):
            return list(self)[place]
        k = place + len(self) if place < 0 else place
        if not 0 <= k < len(self):
            raise IndexError(place)
        return self._entries[k] if k < self._count else self._after[k - self._count]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | Beginning) and list(self) == list(other)

    def __repr__(self) -> str:
        return repr(list(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has entries of its own, and no others."""
        return list, (list(self),)

    __hash__ = None  # type: ignore[assignment]


class Listed(Generic[Entry]):
    """A field that may be given a beginning: a list of its own from when it is read."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: object, kind: type) -> list[Entry]:
        if owner is None:
            return ()  # type: ignore[return-value]  # what a dataclass takes for the default
        entries = vars(owner)[self._name]
        if not isinstance(entries, list):
            entries = vars(owner)[self._name] = list(entries)
        return entries

    def __set__(self, owner: object, entries: Sequence[Entry]) -> None:
        vars(owner)[self._name] = entries
