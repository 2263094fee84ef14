"""A table: columns of numbers that compiled loops work on, with one row per component and spare rows.

Loops do not receive arrays but the address of the table's *sheet*, which says where each column starts (modular/views.py);
so one driver can call the loops of all classes, also of those that it has never heard of (modular/loop.py).
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.kernel import kernel
from modular.loop import Loop
from modular.memory import clear_bytes, copy_bytes
from modular.views import Field, ViewType, view_of

if TYPE_CHECKING:
    from modular.elements import Elements

FIELDS = 40  # most that a table can have
OURS: dict[str, Any] = {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}  # not a forked process's too
SPARE = 4  # numbers behind the last row: four rows are read four numbers at a time


class Table:
    """Columns with names, and the compiled loops that work on them; a subclass declares both once."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._columns: dict[str, tuple[int, Any]] = {}  # per column its place in the sheet and the type of its numbers
        self._fields: list[Field] = []
        self._shared: set[str] = set()
        self._sheet = np.zeros(2 * FIELDS, np.int64)
        self.sheet = self._sheet.ctypes.data  # its address
        self._bytes = np.zeros(FIELDS, np.int64)  # in a row of each column; 0 where there are no rows
        self._view: ViewType | None = None
        self.loops: dict[str, Loop] = {}  # by the name of the method that each one stands for

    @property
    def count(self) -> int:
        """Number of rows in use."""
        return self._capacity

    def play(self, verb: str, elements: Elements, start: int = 0, stop: int | None = None) -> int:
        """Run one of the loops over all rows, or over some."""
        elements.prepare(verb)
        return self.loops[verb](self, elements, start, self.count if stop is None else stop)

    @property
    def view(self) -> ViewType:
        """How loops see it."""
        if self._view is None:
            self._view = view_of(tuple(self._fields))
        return self._view

    def column(self, name: str, *shape: int, dtype: Any = np.float64, listed: bool = False) -> None:
        """Declare an array with one row per component; `listed`: the first size of its rows may grow (`widen`)."""
        self._columns[name] = (len(self._fields), dtype)
        self._declare(name, True, dtype, (0, *shape[1:]) if listed else shape)
        self._place(name, fresh((self._capacity, *shape), dtype))

    def fixed(self, name: str, *shape: int) -> None:
        """Declare an array that all components share."""
        self._declare(name, False, np.float64, shape)
        array = fresh(shape, np.float64)
        self._sheet[2 * (len(self._fields) - 1)] = array.ctypes.data
        self._shared.add(name)
        self.__dict__[name] = array

    def __setattr__(self, name: str, value: Any) -> None:
        """What all components share is written into its place, where loops look for it."""
        if name in self.__dict__.get("_shared", ()):
            self.__dict__[name][...] = value
        else:
            self.__dict__[name] = value

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy of a table has memory of its own, and a sheet that says where."""
        self.__dict__.update(state)
        self._sheet, self._bytes, self._view = self._sheet.copy(), self._bytes.copy(), None
        self.sheet = self._sheet.ctypes.data
        for name in self._columns:
            self._place(name, spared(getattr(self, name)))
        for place, (name, *_) in enumerate(self._fields):
            if name in self._shared:
                self.__dict__[name] = array = spared(self.__dict__[name])
                self._sheet[2 * place] = array.ctypes.data

    def _declare(self, name: str, rows: bool, dtype: Any, shape: tuple[int, ...]) -> None:
        assert len(self._fields) < FIELDS
        self._fields.append((name, rows, np.dtype(dtype).name, shape))
        self._view = None

    def _place(self, name: str, array: Any) -> None:
        """Put an array in place of a column."""
        place = self._columns[name][0]
        setattr(self, name, array)
        self._sheet[2 * place] = array.ctypes.data
        self._sheet[2 * place + 1] = array.strides[0] // array.itemsize
        self._bytes[place] = array[:1].nbytes

    def clear(self, first: int, last: int) -> None:
        """Make rows zero, all columns of them."""
        clear_rows(self._sheet, self._bytes, first, last)

    def move(self, source: int, target: int) -> None:
        """Let one row become what another is."""
        move_row(self._sheet, self._bytes, source, target)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        for name, (_, dtype) in self._columns.items():
            old = getattr(self, name)
            if len(old) < self._capacity:
                continue  # folded
            new = fresh((capacity, *old.shape[1:]), dtype)
            new[: len(old)] = old
            self._place(name, new)
        self._capacity = capacity

    def fold(self, *names: str) -> None:
        """Let the memory of columns go that nobody needs for now; nobody may read them before `unfold`."""
        for name in names:
            array = getattr(self, name)
            self._place(name, fresh((0, *array.shape[1:]), self._columns[name][1]))

    def unfold(self, *names: str) -> None:
        """Columns that were folded, all zero; only what is written to takes memory."""
        for name in names:
            array, dtype = getattr(self, name), self._columns[name][1]
            if len(array) < self._capacity:
                self._place(name, airy((self._capacity, *array.shape[1:]), dtype))

    def widen(self, name: str, width: int) -> None:
        """Make the lists of a column longer."""
        old = getattr(self, name)
        new = fresh((len(old), width, *old.shape[2:]), self._columns[name][1])
        new[:, : old.shape[1]] = old
        self._place(name, new)

    def look_at(self, table: Table, row: int) -> None:
        """Be a view of one row of another table of the same class: the same arrays, with a sheet of its own."""
        self._sheet, self._bytes = table._sheet.copy(), table._bytes.copy()
        self.sheet = self._sheet.ctypes.data
        self._capacity = 1
        for name in self._columns:
            self._place(name, getattr(table, name)[row : row + 1])


@kernel
def clear_rows(sheet: Any, widths: Any, first: int, last: int) -> None:
    """Make rows of all columns zero."""
    for k in range(widths.shape[0]):
        if widths[k] > 0:
            clear_bytes(sheet[2 * k] + first * widths[k], (last - first) * widths[k])


@kernel
def move_row(sheet: Any, widths: Any, source: int, target: int) -> None:
    """Copy a row of all columns."""
    for k in range(widths.shape[0]):
        if widths[k] > 0:
            copy_bytes(sheet[2 * k] + target * widths[k], sheet[2 * k] + source * widths[k], widths[k])


def airy(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros that take no memory, and no time, before they are written to."""
    size = int(np.prod(shape)) + SPARE
    return np.frombuffer(mmap.mmap(-1, size * np.dtype(dtype).itemsize, **OURS), dtype)[: size - SPARE].reshape(shape)


def fresh(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros with a few numbers to spare behind the last."""
    size = int(np.prod(shape))
    return np.zeros(size + SPARE, dtype)[:size].reshape(shape)


def spared(array: Any) -> Any:
    """The same numbers in memory of their own, with a few to spare behind the last."""
    copy = fresh(array.shape, array.dtype)
    copy[...] = array
    return copy
