"""Shared constants: what components that were made alike have in common is kept once.

Most bodies of a large model are as like as cars of one make. Their constants would fill two thirds of the memory, and every
step would have to fetch them anew; kept once per make they stay in the nearest cache. Loops look them up by the column `make`:

    makes = indices(bodies.make, n, stop)
    gather(bodies.gram, makes, gram)

Whether two components share a make changes no bit of any result. The column is in checkpoints, and keeps its name for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.stack import Stack
from modular.table import spared


class SharedConstantsStack(Stack):
    """A stack with columns that have one row per make (`Table.common`)."""

    constant: ClassVar[tuple[str, ...]] = ("make",)

    make: Indices  # of each component: its row in the common columns

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.column("make", dtype=np.int64)
        self._users: Indices = np.zeros(0, np.int64)  # components of each make
        self._vacant: list[int] = []  # makes that nobody is of any more

    def add_shared_rows(self, numbers: Indices) -> Indices:
        """Rows of common columns for fresh makes, of which there will be so many components each."""
        count = len(numbers)
        again, new = self._vacant[:count], max(0, count - len(self._vacant))
        del self._vacant[:count]
        first = len(self._users)
        if new:
            self._users = np.concatenate([self._users, np.zeros(new, np.int64)])
            for name in self._common:
                held = len(getattr(self, name))
                if first + new > held:
                    self._lengthen(name, max(first + new, 2 * held))
        makes = np.arange(first, first + new)
        makes = np.concatenate([np.array(again, np.int64), makes]) if again else makes
        self._users[makes] = numbers
        return makes

    def remove_row(self, name: str) -> None:
        """Let a component go; the row of a make that nobody is of any more is free for another."""
        make = int(self.make[self.row[name]])
        super().remove_row(name)
        self._users[make] -= 1
        if not self._users[make]:
            self._vacant.append(make)

    def chosen(self, rows: Any) -> Self:
        """A stack of its own, with copies of some rows and of what they have in common."""
        made = super().chosen(rows)
        makes, made.make[:] = np.unique(made.make, return_inverse=True)
        for name in self._common:
            made._place(name, spared(getattr(self, name)[makes]))
        made._users, made._vacant = np.bincount(made.make, minlength=len(makes)), []
        return made

    def recall(self, details: Mapping[str, Any]) -> None:
        """Names, and how many components there are of each make."""
        super().recall(details)
        made, held = self.make[: self.count], {len(getattr(self, name)) for name in self._common}
        if len(held) != 1 or (made.size and not 0 <= made.min() <= made.max() < min(held)):
            raise ModelError(
                f"{type(self).__name__}: its column 'make' refers to rows of shared constants that are not there."
            )
        self._users = np.bincount(made, minlength=min(held))
        self._vacant = np.flatnonzero(self._users == 0).tolist()

    def each(self, column: str) -> Array:
        """A common column with a row for every component."""
        rows: Array = getattr(self, column)[self.make[: self.count]]
        return rows


def group_equal(keys: Sequence[object]) -> tuple[Indices, Indices]:
    """Places of the first of each kind of key, and for every key the number of its kind."""
    kinds: dict[object, int] = {}
    which = np.fromiter((kinds.setdefault(key, len(kinds)) for key in keys), np.int64, len(keys))
    firsts = np.unique(which, return_index=True)[1] if len(keys) else np.empty(0, np.int64)
    return firsts, which
