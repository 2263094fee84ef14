"""Many copies of the members of a model by names of their own, without an object for each: one is made when somebody asks for it.

Copies stand variant after variant, in each in the order of the model. What differs between them in numbers of plain fields is
held as columns: (variants, numbers), which stacks take in as they are. `originals` are the members of the model; what hangs on
no number of theirs is asked of these (`kinds_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from modular.elements import Array, Indices

Member = TypeVar("Member")
MARK = "~"  # between a name of the model and the number of the variant
Columns = Mapping[str, Mapping[str, Array]]  # by member, and by field, what differs between the variants, one row each


def name_in(name: str, k: int) -> str:
    """What a member of the model is called in variant k."""
    return f"{name}{MARK}{k}"


def parted(name: str) -> tuple[str, int]:
    """The name in the model, and the variant."""
    name, _, number = name.rpartition(MARK)
    return name, int(number)


class Which(Sequence[int]):
    """Numbers of variants that stand side by side, and what members are called in each, which all that is theirs shares."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = tuple(numbers)
        self._called: dict[str, list[str]] = {}
        self._in_rows: dict[tuple[str, ...], list[str]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        return self._numbers[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __contains__(self, k: object) -> bool:
        return k in self._known

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self._numbers)

    @cached_property
    def _endings(self) -> list[str]:
        return [f"{MARK}{k}" for k in self._numbers]

    def called(self, name: str) -> list[str]:
        """What a member of the model is called in each of them."""
        found = self._called.get(name)
        if found is None:
            found = self._called[name] = list(map(name.__add__, self._endings))
        return found

    def in_rows(self, members: tuple[str, ...]) -> list[str]:
        """What several are called, variant after variant."""
        if len(members) == 1:
            return self.called(members[0])
        found = self._in_rows.get(members)
        if found is None:
            every = zip(*map(self.called, members), strict=True)
            found = self._in_rows[members] = list(chain.from_iterable(every))
        return found

    def laid_out(self, names: list[str]) -> tuple[str, ...] | None:
        """Members of the model that these are, variant after variant; None where they stand in another way."""
        size, left = divmod(len(names), len(self))
        if left or not size or not all(MARK in name for name in names[:size]):
            return None
        own = tuple(parted(name)[0] for name in names[:size])
        return own if names == self.in_rows(own) else None


class Tiles(MutableMapping[str, Member]):
    """Members of several variants by their names; some may leave, and others come."""

    def __init__(
        self, originals: Mapping[str, Member], which: Which, make: Callable[[str, int], Member], columns: Columns,
        loose: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """`make`: a member as a variant has it; `columns`: what differs in plain fields alone; `loose`: who differs otherwise."""
        self.originals, self.which, self.make, self.columns = dict(originals), which, make, columns
        self.loose = frozenset(loose)
        self._other: dict[str, Member] = {}  # that came, or took the place of one
        self._gone: set[str] = set()

    @property
    def alike(self) -> bool:
        """Whether all are there, nobody else, and none differs in more than columns say."""
        return not (self._other or self._gone or self.loose)

    @property
    def there(self) -> bool:
        """Whether all are there, and nobody else."""
        return not (self._other or self._gone)

    def names_of(self, members: Iterable[str]) -> list[str]:
        """Names of these members of the model in all variants, variant after variant."""
        return self.which.in_rows(tuple(members))

    def rows_of(self, members: Sequence[str]) -> TileRows:
        """Some members of the model in all variants, in this order."""
        return TileRows(self, list(members))

    def part(self, members: Sequence[str]) -> Tiles[Member]:
        """The same of some members of the model."""
        return Tiles({name: self.originals[name] for name in members}, self.which, self.make, self.columns, self.loose)

    def __copy__(self) -> Tiles[Member]:
        found = Tiles(self.originals, self.which, self.make, self.columns, self.loose)
        found._other, found._gone = dict(self._other), set(self._gone)
        return found

    def _is_tile(self, name: object) -> bool:
        if not isinstance(name, str) or name in self._gone:
            return False
        original, _, number = name.rpartition(MARK)
        return original in self.originals and number.isdigit() and int(number) in self.which

    def __contains__(self, name: object) -> bool:
        return name in self._other or self._is_tile(name)

    def __getitem__(self, name: str) -> Member:
        if name in self._other:
            return self._other[name]
        if not self._is_tile(name):
            raise KeyError(name)
        return self.make(*parted(name))

    def __setitem__(self, name: str, member: Member) -> None:
        self._other[name] = member

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._other.pop(name, None)
        if self._is_tile(name):
            self._gone.add(name)

    def __iter__(self) -> Iterator[str]:
        tiles = self.names_of(self.originals)
        if self.there:
            return iter(tiles)
        left = [name for name in tiles if name not in self._gone]
        return iter([*left, *(name for name in self._other if not self._is_tile(name))])

    def __len__(self) -> int:
        new = sum(not self._is_tile(name) for name in self._other)
        return len(self.originals) * len(self.which) - len(self._gone) + new


class TileRows(Sequence[Any]):
    """Members of the model in all variants, one after the other: `variants` times `members`."""

    def __init__(self, tiles: Tiles[Any], members: list[str]) -> None:
        self.tiles, self.members = tiles, members
        self.originals = [tiles.originals[name] for name in members]
        self.derived: Any = None  # what follows from all of them at once

    def __len__(self) -> int:
        return len(self.members) * len(self.tiles.which)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        variant, member = divmod(place % len(self), len(self.members))
        return self.tiles.make(self.members[member], self.tiles.which[variant])

    def __iter__(self) -> Iterator[Any]:
        make = self.tiles.make
        return (make(name, k) for k in self.tiles.which for name in self.members)

    def varied(self, field: str) -> bool:
        """Whether a field differs."""
        return any(field in self.tiles.columns.get(name, ()) for name in self.members)

    def given(self, field: str) -> bool:
        """Whether some have one that is not None."""
        return self.varied(field) or any(getattr(original, field) is not None for original in self.originals)

    def column(self, field: str) -> Array:
        """A field of all of them, (rows, numbers)."""
        own = [
            np.atleast_2d(np.asarray(getattr(original, field), float))
            if (rows := self.tiles.columns.get(name, {}).get(field)) is None
            else rows.reshape(len(rows), -1)
            for name, original in zip(self.members, self.originals, strict=True)
        ]
        variants = len(self.tiles.which)
        found = np.empty((variants, len(own), own[0].shape[1]))
        for k, rows in enumerate(own):
            found[:, k] = rows
        return found.reshape(len(self), -1)


def makes_of(members: TileRows) -> tuple[Indices, Indices]:
    """Places of the first of each make, and for every one the number of its make: what varies is one of its own in each variant."""
    variants, count = len(members.tiles.which), len(members.members)
    places = np.arange(variants * count).reshape(variants, count)
    varied = [name in members.tiles.columns or name in members.tiles.loose for name in members.members]
    if all(varied):
        return places.ravel(), places.ravel()
    for k in range(count):
        if not varied[k]:
            places[:, k] = places[0, k]
    firsts, which = np.unique(places, return_inverse=True)
    return firsts, which.ravel().astype(np.int64)


def kinds_of(members: Mapping[str, Member]) -> Iterable[Member]:
    """All members of a model; of copies side by side one for all: for what hangs on no number."""
    if isinstance(members, Tiles) and members.alike:
        return list(members.originals.values())
    return members.values()


def column_of(members: Sequence[Any], field: str) -> Array:
    """Numbers of a field of many members, (members, numbers); one column where it is a number."""
    if isinstance(members, TileRows):
        return members.column(field)
    values = [getattr(member, field) for member in members]
    if values and isinstance(values[0], int | float):
        return np.array(values, float)[:, None]
    return np.fromiter(chain.from_iterable(values), float).reshape(len(values), -1)
