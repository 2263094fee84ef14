"""A table: columns of numbers that compiled loops work on, with one row per component and spare rows.

Loops do not receive arrays but the address of the table's *sheet*, which says where each column starts (modular/views.py);
so one driver can call the loops of all classes, including those unknown when it was compiled (modular/loop.py).
"""

from __future__ import annotations

import functools
import math
import mmap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from modular.former_names import refuse_former_names
from modular.kernel import kernel
from modular.loop import Loop
from modular.memory import clear_bytes, copy_bytes
from modular.views import Field, ViewType, view_of

if TYPE_CHECKING:
    from modular.elements import Elements

# not a forked process's too
PRIVATE_MAPPING: dict[str, Any] = {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}
Number = Any  # what loops see as a number; outside it is an array without a shape, and is written by its name too
COLUMN, COMMON, ALIKE, FIXED = "column", "common", "alike", "fixed"  # kinds of fields
SPARE_NUMBERS = 4  # numbers behind the last row: four rows are read four numbers at a time


class Table:
    """Columns with names, and the compiled loops that work on them; a subclass declares both once."""

    # columns of whose rows loops do not know how long they are (`width_of` tells): tables that differ in that share machine code
    untold: ClassVar[tuple[str, ...]] = ()
    most_fields: ClassVar[int] = 48
    pointing: ClassVar[tuple[str, ...]] = ()  # columns that hold rows of the table of elements
    constant: ClassVar[tuple[str, ...]] = ()  # columns that no loop writes to
    remembered: ClassVar[
        tuple[str, ...]
    ] = ()  # columns that a tick leaves for the next one, beside what is shown or booked
    together: ClassVar[tuple[tuple[str, ...], ...]] = ()  # columns that are folded and unfolded together

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        refuse_former_names(cls, vars(cls))

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._columns: list[str] = []  # with a row of its own for every component
        self._common: list[str] = []  # with rows that several components have in common
        self._alike: list[str] = []  # with one row that stands for all
        self._places: dict[str, int] = {}  # of columns in the sheet
        self._fields: list[Field] = []
        self._place_of: dict[str, int] = {}  # of everything in the sheet
        self._shared: set[str] = set()
        self._sheet = np.zeros(2 * self.most_fields, np.int64)
        self.sheet = self._sheet.ctypes.data  # its address
        # in a row of each column; 0 where components have no rows of their own
        self._bytes = np.zeros(self.most_fields, np.int64)
        self._view: ViewType | None = None
        self.loops: dict[str, Loop] = {}  # by the name of the method that each one stands for

    @property
    def count(self) -> int:
        """Number of rows in use."""
        return self._capacity

    def play(self, verb: str, elements: Elements, start: int = 0, stop: int | None = None) -> int:
        """Run one of the loops over all rows, or over some."""
        elements.prepare(verb)
        self.prepare(verb)
        return self.loops[verb](self, elements, start, self.count if stop is None else stop)

    def prepare(self, verb: str) -> None:
        """Called before a loop is run, for tables with columns that are folded most of the time."""

    @property
    def view(self) -> ViewType:
        """How loops see it."""
        if self._view is None:
            refuse_former_names(type(self), self.loops)
            self._view = view_of(tuple(self._shown(*field) for field in self._fields))
        return self._view

    def _shown(self, name: str, rows: bool, dtype: str, shape: tuple[int, ...]) -> Field:
        return name, rows, dtype, (0, *shape[1:]) if name in self.untold else shape

    def column(self, name: str, *shape: int, dtype: Any = np.float64, listed: bool = False) -> None:
        """Declare an array with one row per component; `listed`: the first size of its rows may grow (`widen`)."""
        self._columns.append(name)
        self._declare(name, True, dtype, (0, *shape[1:]) if listed else shape)
        self._place(name, fresh((self._capacity, *shape), dtype))

    def common(self, name: str, *shape: int, dtype: Any = np.float64, listed: bool = False) -> None:
        """Declare an array with rows that several components have in common (modular/shared_constants.py); none yet."""
        self._common.append(name)
        self._declare(name, True, dtype, (0, *shape[1:]) if listed else shape)
        self._place(name, fresh((0, *shape), dtype))

    def alike(self, name: str, row: Any) -> None:
        """Declare an array whose rows are the same for all components: one in memory that stands for all."""
        self._alike.append(name)
        self._declare(name, True, np.float64, row.shape)
        self._place(name, repeated(row, self._capacity))

    def fixed(self, name: str, *shape: int, dtype: Any = np.float64) -> None:
        """Declare an array that all components share; without a shape it is a number, which loops read and write by its name."""
        self._declare(name, False, dtype, shape)
        self._shared.add(name)
        self.lay(name, fresh(shape, dtype))

    def stretch(self, name: str, dtype: Any = np.float64) -> None:
        """Declare numbers of which there are as many as are laid there."""
        self.fixed(name, 0, dtype=dtype)

    def lay(self, name: str, array: Any) -> None:
        """Put an array in place of what all components share; that of another table is shared with it."""
        place = self._place_of[name]
        self.__dict__[name] = array
        self._sheet[2 * place] = array.ctypes.data

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
        for name in (*self._columns, *self._common):
            self._place(name, spared(getattr(self, name)))
        self._part_from_others()

    def _declare(self, name: str, rows: bool, dtype: Any, shape: tuple[int, ...]) -> None:
        assert len(self._fields) < self.most_fields and name not in self.__dict__
        if rows:
            self._places[name] = len(self._fields)
        self._place_of[name] = len(self._fields)
        self._fields.append((name, rows, name_of(dtype), shape))
        self._view = None

    def _place(self, name: str, array: Any) -> None:
        """Put an array in place of a column."""
        place = self._places[name]
        self.__dict__[name] = array
        self._sheet[2 * place] = array.ctypes.data
        # rows of nothing are nothing apart, whatever numpy says of them
        self._sheet[2 * place + 1] = array.strides[0] // array.itemsize if math.prod(array.shape[1:]) else 0
        self._bytes[place] = array[:1].nbytes if name in self._columns else 0

    def clear(self, first: int, last: int) -> None:
        """Make rows zero, all columns of them."""
        clear_rows(self._sheet, self._bytes, first, last)

    def move(self, source: int, target: int) -> None:
        """Let one row become what another is."""
        move_row(self._sheet, self._bytes, source, target)

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        for name in self._columns:
            if len(getattr(self, name)) == self._capacity:  # not folded
                self._lengthen(name, capacity)
        for name in self._alike:
            self._place(name, repeated(getattr(self, name)[0], capacity))
        self._capacity = capacity

    def _lengthen(self, name: str, capacity: int) -> None:
        old = getattr(self, name)
        new = fresh((capacity, *old.shape[1:]), old.dtype)
        new[: len(old)] = old
        self._place(name, new)

    def fold(self, *names: str) -> None:
        """Let the memory of columns go that nobody needs for now; nobody may read them before `unfold`."""
        for name in names:
            if name in self._columns:
                array = getattr(self, name)
                self._place(name, fresh((0, *array.shape[1:]), array.dtype))

    def unfold(self, *names: str) -> None:
        """Columns that were folded, all zero; only what is written to takes memory."""
        for name in names:
            array = getattr(self, name)
            if len(array) < self._capacity and name in self._columns:
                self._place(name, airy((self._capacity, *array.shape[1:]), array.dtype))

    def widen(self, name: str, width: int) -> None:
        """Make the lists of a column longer."""
        old = getattr(self, name)
        new = fresh((len(old), width, *old.shape[2:]), old.dtype)
        new[:, : old.shape[1]] = old
        self._place(name, new)

    def reshape(self, name: str, *shape: int) -> None:
        """Rows of a column have another shape from here on, and nothing in them; loops are compiled anew for it."""
        place = self._places[name]
        kind, rows, dtype, _ = self._fields[place]
        self._fields[place] = (kind, rows, dtype, shape)
        self._view = None
        self._place(name, fresh((len(getattr(self, name)), *shape), dtype))

    def chosen(self, rows: Any) -> Self:
        """A table of its own, with copies of some rows in the order asked for; folded columns stay folded."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.loops, made._sheet, made._capacity = dict(self.loops), self._sheet.copy(), len(rows)
        made._bytes = self._bytes.copy()
        made.sheet = made._sheet.ctypes.data
        for name in self._columns:
            array = getattr(self, name)
            made._place(name, spared(array[rows] if len(array) >= self._capacity else array))
        for name in self._common:
            made._place(name, spared(getattr(self, name)))
        made._part_from_others()
        return made

    def changing(self) -> list[str]:
        """Columns that loops may write to, and that are not folded."""
        still = {*self.pointing, *self.constant}
        return [name for name in self._columns if name not in still and len(getattr(self, name)) >= self._capacity]

    def put_back(self, rows: Any, part: Table, theirs: Any = slice(None)) -> None:
        """Take over rows of a table that was chosen from this one; where elements lie here stays as it is."""
        there = part.changing()
        for name in self.changing():
            if name in there:
                getattr(self, name)[rows] = getattr(part, name)[theirs]

    def take_row(self, row: int, other: Table, theirs: int) -> None:
        """Take over what a row of another table of this class holds; where elements lie here stays as it is."""
        for name in set(self._columns).intersection(other._columns).difference(self.pointing):
            mine, there = getattr(self, name), getattr(other, name)
            if len(mine) < self._capacity or len(there) < other._capacity or mine.ndim != there.ndim:
                continue  # folded
            if mine.ndim > 1 and mine.shape[1] < there.shape[1]:
                self.widen(name, there.shape[1])
                mine = getattr(self, name)
            mine[(row, *map(slice, there.shape[1:]))] = there[theirs]

    def copy_rows(self) -> dict[str, Any]:
        """Copies of all rows in use, column by column."""
        columns = {name: getattr(self, name) for name in self._columns}
        return {name: array[: self.count].copy() for name, array in columns.items() if len(array) >= self._capacity}

    def return_rows(self, kept: dict[str, Any]) -> None:
        """Let them be as they were; there may be more rows by now, and longer lists in them."""
        for name, rows in kept.items():
            getattr(self, name)[tuple(map(slice, rows.shape))] = rows

    def renumber(self, numbers: Any) -> None:
        """Elements have other rows now: `numbers` says which."""
        for name in self.pointing:
            array = getattr(self, name)
            array[...] = numbers[array]

    def _part_from_others(self) -> None:
        """What all components of a copy share is its own."""
        for name in self._alike:
            self._place(name, repeated(getattr(self, name)[0], self._capacity))
        for name in self._shared:
            self.lay(name, spared(self.__dict__[name]))

    # --- as data (modular/tables_as_data.py) -------------------------------------------------------------------------

    @property
    def capacity(self) -> int:
        """Rows that there is room for."""
        return self._capacity

    def fields(self) -> Iterator[tuple[str, str, str, tuple[int, ...]]]:
        """Name, kind, type of numbers and shape of everything that loops see, in their order; 0: a size that may grow."""
        kinds = dict.fromkeys(self._columns, COLUMN) | dict.fromkeys(self._common, COMMON)
        kinds |= dict.fromkeys(self._alike, ALIKE) | dict.fromkeys(self._shared, FIXED)
        for name, _, dtype, shape in self._fields:
            yield name, kinds[name], dtype, shape

    def take_field(self, name: str, kind: str, dtype: str, shape: Sequence[int], array: Any) -> None:
        """Declare the next field, with its numbers; a column without any is folded."""
        if kind == FIXED:
            self.fixed(name, *shape, dtype=getattr(np, dtype))
            self.lay(name, spared(array))
            return
        {COLUMN: self._columns, COMMON: self._common, ALIKE: self._alike}[kind].append(name)
        self._declare(name, True, dtype, tuple(shape))
        if array is None:
            array = fresh((0, *shape), dtype)
        self._place(name, repeated(array[0], self._capacity) if kind == ALIKE else spared(array))

    def details(self) -> dict[str, Any]:
        """What a class keeps beside its columns, as data."""
        return {}

    def recall(self, details: Mapping[str, Any]) -> None:
        """Keep it again, in a table whose columns are there already and whose `__init__` was not called."""

    def folds(self, name: str) -> bool:
        """Whether a column is folded."""
        return len(getattr(self, name)) < self._capacity

    def memory(self) -> dict[str, Any]:
        """What a tick leaves for the next one in columns that are there, the rows in use."""
        return {name: getattr(self, name)[: self.count] for name in self.remembered if not self.folds(name)}

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """Columns by which loops find rows of this table or another, and the highest number that may stand there.

        `elements`: rows of the table of elements. Asked where numbers come from a file or from others.
        """
        for name in self.pointing:
            yield name, elements - 1

    def look_at(self, table: Table, row: int) -> None:
        """Be a view of one row of another table of the same class: the same arrays, with a sheet of its own."""
        self._sheet, self._bytes = table._sheet.copy(), table._bytes.copy()
        self.sheet = self._sheet.ctypes.data
        self._capacity = 1
        for name in self._columns:
            self._place(name, getattr(table, name)[row : row + 1])
        for name in (*self._common, *self._alike):
            self._place(name, getattr(table, name))


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


@functools.cache
def name_of(dtype: Any) -> str:
    """What numpy calls a type of numbers."""
    return str(np.dtype(dtype).name)


def airy(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros that take no memory, and no time, before they are written to."""
    size = math.prod(shape) + SPARE_NUMBERS
    return np.frombuffer(mmap.mmap(-1, size * np.dtype(dtype).itemsize, **PRIVATE_MAPPING), dtype)[
        : size - SPARE_NUMBERS
    ].reshape(shape)


def fresh(shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros with a few numbers to spare behind the last."""
    size = math.prod(shape)
    return np.zeros(size + SPARE_NUMBERS, dtype)[:size].reshape(shape)


def repeated(row: Any, count: int) -> Any:
    """So many rows that are one and the same place in memory."""
    one = spared(row)
    return np.lib.stride_tricks.as_strided(one, (count, *row.shape), (0, *one.strides))


def spared(array: Any) -> Any:
    """The same numbers in memory of their own, with a few to spare behind the last."""
    copy = fresh(array.shape, array.dtype)
    copy[...] = array
    return copy
