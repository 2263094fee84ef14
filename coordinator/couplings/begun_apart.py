"""Forces between surfaces that begin before these touch: they alone are settled, and nobody else notices.

An event settles the whole between glued joints, at the price of a tick. A force that touches nothing yet changes nothing of
others, and its elements are those of the two surfaces between which it is: they answer as these do. Where that does not
hold, as one pushes at once, or joints have to be solved for, the caller settles as after any other event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from coordinator.engine.program import compiled, perform
from coordinator.system import System
from modular.elements import STEP, Array, Indices
from modular.forces import ForceStack
from modular.ledger import open_loop

ANSWERED = ("current_velocity", "response")  # columns that bodies write beside where elements are and how they move
VERBS = ("compute_mobility", "request_demand", "exert", "open")


def settle_apart(system: System, dt: float, names: Sequence[str]) -> bool:
    """Settle encounters that have just begun, if they do nothing yet; whether that was so. Nothing is changed where it was not.

    Bodies must have shown all elements, and how those of surfaces answer must be of now.
    """
    stacks = _rows(system, names)
    if system.elements.folds("response") or not all(_is_compiled(stack) for stack, _ in stacks):
        return False
    elements, kept = system.elements, [_memory_of(stack, rows) for stack, rows in stacks]
    own, shown = _elements_of(system, names)
    for column in ANSWERED:
        array = getattr(elements, column)
        array[own] = array[shown]
    elements.clock[:] = 0.0, system.time(dt), dt
    for stack, rows in stacks:
        stack.loops["open"] = open_loop
        ranges = list(_ranges(rows))
        perform(elements, [(stack, verb, ranges) for verb in VERBS if compiled((stack, verb))])
    elements.clock[STEP] = 0.0
    if any(_does_something(stack, rows) for stack, rows in stacks) or elements.force[own].any():
        for (stack, rows), columns in zip(stacks, kept, strict=True):
            for name, array in columns.items():
                getattr(stack, name)[rows] = array
        elements.force[own] = 0.0
        return False
    elements.force_before[own], elements.velocity_before[own] = 0.0, elements.velocity[own]
    return True


def _is_compiled(stack: Any) -> bool:
    return isinstance(stack, ForceStack) and compiled((stack, "exert"))


def _rows(system: System, names: Iterable[str]) -> list[tuple[Any, Indices]]:
    """The stacks of forces, and their rows there in order."""
    found: dict[int, tuple[Any, list[int]]] = {}
    for name in names:
        stack: Any = system.force_home[name].stack
        found.setdefault(id(stack), (stack, []))[1].append(stack.row[name])
    return [(stack, np.array(sorted(rows), np.int64)) for stack, rows in found.values()]


def _ranges(rows: Indices) -> Iterator[tuple[int, int]]:
    """Rows in order as ranges, first row and beyond the last."""
    for _, run in groupby(enumerate(rows.tolist()), lambda each: each[1] - each[0]):
        each = [row for _, row in run]
        yield each[0], each[-1] + 1


def _memory_of(stack: Any, rows: Indices) -> Mapping[str, Array]:
    """What they remember, and their ledgers: all else is found anew when they are asked again."""
    return {name: getattr(stack, name)[rows] for name in {*stack.remembered, "ledger", "power", "fresh"}}


def _elements_of(system: System, names: Iterable[str]) -> tuple[Indices, Indices]:
    """Elements of encounters, and those of the surfaces that show the same."""
    own: list[int] = []
    shown: list[int] = []
    for name in names:
        home = system.force_home[name]
        for start, count, surface in zip(home.starts, home.counts, system.encounters[name], strict=True):
            own += range(start, start + count)
            first = system.force_home[surface].starts[0]
            shown += range(first, first + count)
    return np.array(own, np.int64), np.array(shown, np.int64)


def _does_something(stack: Any, rows: Indices) -> bool:
    """Whether one of them pushes, or touches, at once."""
    columns = [getattr(stack, name, None) for name in ("rests", "begins", "struck", "power", "did", "inside")]
    return any(column is not None and column[rows].any() for column in columns)
