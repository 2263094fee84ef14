"""Where numbers of components lie among those of all: slices by name, worked out when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coordinator.system import System
from modular.elements import Indices


class Slices(Mapping[str, slice]):
    """Of each stack so many numbers for each row, from some place on."""

    def __init__(self) -> None:
        self._parts: list[tuple[dict[str, int], int, int]] = []

    def add(self, rows: Mapping[str, int], first: int, each: int) -> None:
        """A stack, as its rows are now."""
        self._parts.append((dict(rows), first, each))

    def kept(self, system: System) -> Mapping[str, slice]:
        """As a table, unless there are many models, of which few are asked for by name."""
        return self if system.parted is not None else dict(self.items())

    def several(self, names: Sequence[str]) -> Indices:
        """Numbers of components that have equally many, (names, numbers)."""
        for rows, first, each in self._parts:
            if names[0] in rows:
                starts = first + each * np.array([rows[name] for name in names], np.int64)
                return np.asarray(starts[:, None] + np.arange(each))
        raise KeyError(names[0])

    def __getitem__(self, name: str) -> slice:
        for rows, first, each in self._parts:
            if name in rows:
                return slice(first + rows[name] * each, first + (rows[name] + 1) * each)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(name in rows for rows, _, _ in self._parts)

    def __iter__(self) -> Iterator[str]:
        for rows, _, _ in self._parts:
            yield from rows

    def __len__(self) -> int:
        return sum(len(rows) for rows, _, _ in self._parts)
