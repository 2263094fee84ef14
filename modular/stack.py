"""A stack: components of one class side by side, one row each, in a table with spare rows.

A component that leaves makes room for the last one: rows are edited in place, in a time that does not depend on how many
there are. No result depends on the order of rows: forces are summed per body, in the order in which joints and forces
took hold of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from modular.table import Table

_known: list[int] = []


def _numbers(first: int, last: int) -> list[int]:
    """Whole numbers, as objects that all stacks of this process share: one of its own for every row would be 32 bytes."""
    _known.extend(range(len(_known), last))
    return _known[first:last]


class Stack(Table):
    """Rows with names."""

    def __init__(self, capacity: int = 4) -> None:
        super().__init__(capacity)
        self.names: list[str] = []
        self.row: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.names)

    @property
    def count(self) -> int:
        """Number of rows in use."""
        return len(self.names)

    def add_row(self, name: str) -> int:
        """A fresh row of zeros at the end."""
        return int(self.add_rows([name]).start)

    def add_rows(self, names: Sequence[str]) -> slice:
        """Fresh rows of zeros at the end."""
        first, last = self.count, self.count + len(names)
        if last > self._capacity:
            self.grow(max(last, 2 * self._capacity) if first else last)
        self.clear(first, last)
        self.names += names
        self.row.update(zip(names, _numbers(first, last), strict=True))
        return slice(first, last)

    def remove_row(self, name: str) -> None:
        """Let the last row take the place of a leaving one."""
        gap, last = self.row.pop(name), self.count - 1
        if gap != last:
            self.move(last, gap)
            self.names[gap] = self.names[last]
            self.row[self.names[gap]] = gap
        self.names.pop()

    def details(self) -> dict[str, Any]:
        """Names, in the order of the rows."""
        return {"names": list(self.names)}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep them again."""
        self.names = list(details["names"])
        self.row = {name: row for row, name in enumerate(self.names)}

    def chosen(self, rows: Any) -> Self:
        """A stack of its own, with copies of some rows in the order asked for."""
        made = super().chosen(rows)
        made.names = [self.names[row] for row in rows]
        made.row = {name: row for row, name in enumerate(made.names)}
        return made
