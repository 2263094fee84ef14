"""Tables of terms: stacks and elements as kernels see them, with expressions in place of some of their numbers.

A stage: a model put together, on which its own loops are played over terms.

Bodies show their elements, joints write down their rows, forces what they exert: as in a step, but with symbols for coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from coordinator.equations.courses import ASKED, Led
from coordinator.equations.plain import plain
from coordinator.equations.terms import NOTES, Term, Undecided, tidy
from coordinator.events.bulk_add import begin, put_together
from coordinator.system import System
from modular.assembly import Assembly
from modular.elements import TIME
from modular.errors import ModelError
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


def assembled(model: Assembly) -> System:
    """The components of a model around one table of elements, where they begin; nothing is compiled for what is as described."""
    system = System(model.gravity, model.bodies)
    system.dry_run = True
    put_together(system, model)
    if model.begin:
        begin(system, model.begin)
    return system


class SymbolicSystem:
    """Twins of the tables of a system; each of its parts is told by name where it has no formula."""

    def __init__(self, system: System) -> None:
        self.system, self.led = system, Led()
        self.bodies = [TableTwin(stack) for stack in system.bodies]  # type: ignore[arg-type]
        self.elements = TableTwin(system.elements)
        self.joints = [TableTwin(stack) for stack in system.joints]
        self.forces = [TableTwin(stack) for stack in system.forces]  # type: ignore[arg-type]
        self.notes: dict[str, list[Any]] = {}  # what is not to be zero, by component

    def at(self, time: Any) -> None:
        """The time, in seconds or as a symbol."""
        self.elements.clock[TIME] = time

    def show(self) -> None:
        """Let all bodies show their elements."""
        for stack in self.bodies:
            with self.told("body", ", ".join(stack.names[:3])):
                stack.play("show", self.elements)
        self.elements.current_velocity[...] = self.elements.velocity

    def as_terms(self) -> None:
        """Numbers of elements that no body moves become terms: those of the ground."""
        for name in ("position", "velocity", "current_velocity"):
            array = getattr(self.elements, name)
            for place, value in np.ndenumerate(array):
                if not isinstance(value, Term):
                    array[place] = tidy(float(value))

    @contextmanager
    def told(self, kind: str, name: str) -> Iterator[None]:
        """What goes wrong inside is told with the name of a component; what is taken for granted is kept under it."""
        ASKED.led, self.led.owner, NOTES.nonzero = self.led, name, []
        try:
            yield
        except Undecided as undecided:
            raise NoFormula(
                f"{kind} '{name}' has no single formula: it distinguishes cases, here whether "
                f"{shortened(str(undecided.condition))}. "
                "Leave it out, or replace it by a component without cases."
            ) from undecided
        finally:
            if NOTES.nonzero:
                self.notes[name] = NOTES.nonzero


def shortened(text: str, most: int = 100) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else f"{text[:most].rstrip()} …"


class NoFormula(ModelError):
    """A component does something that is written by no formula; the message names it."""
