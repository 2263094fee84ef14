"""Tables of terms: stacks and elements as kernels see them, with expressions in place of some of their numbers."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

import numpy as np

from coordinator.equations.plain import plain
from coordinator.equations.terms import Term
from modular.table import FIXED, Table


class Column:
    """A column as loops see it: rows, whose shape is that of the column."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a row."""
        return tuple(self.array.shape[1:])

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value

    def stretch(self, row: int, count: int) -> Any:
        """So many numbers from the beginning of a row on."""
        start = row * int(np.prod(self.shape, dtype=int))
        return self.array.reshape(-1)[start : start + count]


class Twin:
    """An object of ours whose methods are plain, with some things of it replaced.

    Methods are run anew, with the twin as `self`; what else it knows (properties, numbers) it asks the object for.
    """

    def __init__(self, of: Any, **replaced: Any) -> None:
        self.__dict__["_of"] = of
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        of = self.__dict__["_of"]
        found = getattr(type(of), name, None)
        if isinstance(found, FunctionType):
            return MethodType(plain(found), self)
        return getattr(of, name)


class TableTwin(Twin):
    """A table whose columns are arrays of anything: for its methods as they are, for its loops by `seen`."""

    def __init__(self, of: Table, **replaced: Any) -> None:
        arrays = {name: np.array(getattr(of, name), object) for name, _, item, _ in of.fields() if _is_real(of, name)}
        members = {"bodies": {name: Twin(body) for name, body in of.bodies.items()}} if hasattr(of, "bodies") else {}
        super().__init__(of, **(arrays | members | replaced))
        self.__dict__["seen"] = Seen(self, of)

    def play(self, verb: str, elements: Any, start: int = 0, stop: int | None = None) -> int:
        """Run one of its loops over terms."""
        elements = elements if isinstance(elements, TableTwin) else TableTwin(elements)
        loop = plain(self.__dict__["_of"].loops[verb])
        return int(loop(start, self.count if stop is None else stop, self.seen, elements.seen))


def _is_real(table: Table, name: str) -> bool:
    return bool(np.issubdtype(np.asarray(getattr(table, name)).dtype, np.floating))


class Seen:
    """The same table inside a loop."""

    def __init__(self, twin: TableTwin, of: Table) -> None:
        self.__dict__["_twin"] = twin
        self.__dict__["_kinds"] = {name: (kind, shape) for name, kind, _, shape in of.fields()}

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__["_kinds"]:
            raise AttributeError(name)
        kind, shape = self.__dict__["_kinds"][name]
        array = getattr(self.__dict__["_twin"], name)
        if kind == FIXED:
            return array if shape else array[()]
        return Column(array)

    def __setattr__(self, name: str, value: Any) -> None:
        getattr(self.__dict__["_twin"], name)[()] = value

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Of a row of a column, or of what all share."""
        kind, _ = self.__dict__["_kinds"][name]
        array = getattr(self.__dict__["_twin"], name)
        return tuple(array.shape if kind == FIXED else array.shape[1:])


def terms(values: Any) -> Any:
    """An array of terms from one of expressions."""
    given = np.asarray(values, object)
    found = np.empty(given.shape, object)
    for place, value in np.ndenumerate(given):
        found[place] = value if isinstance(value, Term) else Term(value)
    return found
