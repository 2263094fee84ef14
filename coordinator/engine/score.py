"""The score of a tick: who does what, in order.

A coupling writes it down as parts: a stack and the name of what the stack does, for all its rows or for stretches of them.
Stacks that are compiled have a loop of that name; others have a method. `perform` plays a score once; the engine
(coordinator/engine) plays one that is all loops for thousands of ticks without coming back. Both call the same machine code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from coordinator.engine.driver import play
from modular.elements import GAIN_STEP, STEP, TIME, Elements
from modular.table import Table

Ranges = list[tuple[int, int]]
Part = tuple[Any, str]  # for all rows
Stretches = tuple[Any, str, Ranges]  # for some


class Stacks(Protocol):
    """Who can take part in a score: a whole system, or the region of it that an event touches."""

    @property
    def elements(self) -> Elements:
        """The exchange."""

    @property
    def bodies(self) -> Iterator[Any]:
        """Stacks of bodies."""

    @property
    def joints(self) -> Iterator[Any]:
        """Stacks of joints."""

    @property
    def forces(self) -> Iterator[Any]:
        """Stacks of forces."""


@dataclass
class Rounds:
    """Ticks for the engine: `begin`, `first`, then `again` and `again`, and `end`, after which everything is settled.

    Where ticks are taken one by one all of it is in `first`, and `again` is the same.
    """

    first: list[Part]
    again: list[Part]
    begin: list[Part] = field(default_factory=list)
    end: list[Part] = field(default_factory=list)
    evaluations: int = 1  # of all forces, per tick

    @property
    def parts(self) -> list[Part]:
        """All of them."""
        return [*self.begin, *self.first, *self.again, *self.end]


ARGUMENTS = {
    "predict": STEP,
    "correct": STEP,
    "drift": STEP,
    "kick": STEP,
    "account": STEP,
    "exert": TIME,
    "ask": GAIN_STEP,
}  # what methods are told
ALONE = np.zeros(3, np.int64)  # nobody to meet


def compiled(part: Part) -> bool:
    """Whether a part is a loop."""
    return isinstance(part[0], Table) and part[1] in part[0].loops


def perform(elements: Elements, parts: Iterable[Part | Stretches]) -> str | None:
    """Play parts one after the other; the name of a body that went wrong, if any."""
    wrong = None
    waiting: list[tuple[int, int, int, int, int]] = []
    stacks: list[Any] = []

    def flush() -> str | None:
        if not waiting:
            return None
        part, row = play(np.array(waiting, np.int64), elements.sheet, ALONE, 1)
        name = stacks[part].names[row] if part >= 0 else None
        waiting.clear()
        stacks.clear()
        return name

    for stack, verb, *ranges in parts:
        elements.prepare(verb)
        if compiled((stack, verb)):
            stack.prepare(verb)
            address = stack.loops[verb].address(stack, elements)
            for start, stop in ranges[0] if ranges else ((0, stack.count),):
                waiting.append((address, stack.sheet, start, stop, 0))
                stacks.append(stack)
            continue
        wrong = flush() or wrong
        told = [float(elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []
        answer = getattr(stack, verb)(elements, *told)
        wrong = answer if isinstance(answer, str) else wrong
    return flush() or wrong
