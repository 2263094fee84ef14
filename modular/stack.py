"""A stack: components of one class side by side, one row each, in arrays with spare rows.

Rows keep the order in which components were added, also after others have gone, so that sums over a stack are
always taken in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Stack:
    """Rows with names; a subclass declares its columns once and kernels receive the whole arrays and `count`."""

    def __init__(self, capacity: int = 4) -> None:
        self.names: list[str] = []
        self.row: dict[str, int] = {}
        self._capacity = capacity
        self._columns: list[str] = []

    def __len__(self) -> int:
        return len(self.names)

    @property
    def count(self) -> int:
        """Number of rows in use."""
        return len(self.names)

    def column(self, name: str, *shape: int, dtype: Any = np.float64) -> None:
        """Declare an array with one row per component."""
        setattr(self, name, np.zeros((self._capacity, *shape), dtype))
        self._columns.append(name)

    def add_row(self, name: str) -> int:
        """A fresh row of zeros at the end."""
        if self.count == self._capacity:
            self._capacity *= 2
            for column in self._columns:
                array = getattr(self, column)
                setattr(self, column, np.concatenate([array, np.zeros_like(array)]))
        row = self.count
        for column in self._columns:
            getattr(self, column)[row] = 0
        self.names.append(name)
        self.row[name] = row
        return row

    def remove_row(self, name: str) -> None:
        """Close the gap that a leaving component makes; the order of the others stays."""
        gap = self.row[name]
        for column in self._columns:
            array = getattr(self, column)
            array[gap : self.count - 1] = array[gap + 1 : self.count].copy()
        del self.names[gap]
        self.row = {name: row for row, name in enumerate(self.names)}
