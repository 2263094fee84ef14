"""The program of a tick: which stack does what, in order.

A coupling writes it down as operations: a stack and the name of what the stack does, for all its rows or for ranges of them.
Stacks that are compiled have a loop of that name; others have a method. `perform` plays a program once; the engine
(coordinator/engine) plays one that is all loops for thousands of ticks without coming back. Both call the same machine code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from coordinator.engine.driver import play
from modular.elements import GAIN_STEP, STEP, TIME, Elements
from modular.force import Encounters
from modular.table import Table

Ranges = list[tuple[int, int]]
Operation = tuple[Any, str]  # for all rows
RangedOperation = tuple[Any, str, Ranges]  # for some


class Stacks(Protocol):
    """Who can take part in a program: a whole system, or the region of it that an event touches."""

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
class TickProgram:
    """Ticks for the engine: `prologue`, `first_tick`, then `next_ticks` over and over, and `epilogue`, which settles everything.

    Where ticks are taken one by one all of it is in `first_tick`, and `next_ticks` is the same.
    """

    first_tick: list[Operation]
    next_ticks: list[Operation]
    prologue: list[Operation] = field(default_factory=list)
    epilogue: list[Operation] = field(default_factory=list)
    evaluations: int = 1  # of all forces, per tick
    begin: Callable[[], None] | None = None  # called before ticks are played, for what is remembered may lie elsewhere
    end: Callable[[], None] | None = None  # and after them, to tell what was counted
    left_to_step: bool = False  # a tick that went wrong has been taken back by itself: the step takes it in another way

    @property
    def operations(self) -> list[Operation]:
        """All of them."""
        return [*self.prologue, *self.first_tick, *self.next_ticks, *self.epilogue]


ARGUMENTS = {
    "predict": STEP,
    "correct": STEP,
    "drift": STEP,
    "kick": STEP,
    "account": STEP,
    "exert": TIME,
    "request_demand": GAIN_STEP,
}  # the argument that a method is given
TOGETHER, STRUCK, ENDED = "strike_together", "exert_struck", "end_strikes"  # see modular/force.py
STRAY = "stray"  # see modular/force.py, Encounters
STRIKES, ON_ONE_THREAD = (TOGETHER, STRUCK, ENDED), (TOGETHER, ENDED)
NO_BARRIER = np.zeros(3, np.int64)  # for one thread alone


def compiled(operation: Operation) -> bool:
    """Whether an operation is a loop."""
    return isinstance(operation[0], Table) and operation[1] in operation[0].loops


def encountering(stacks: Stacks) -> list[Encounters]:
    """Those of the forces that meet whatever comes near."""
    return [stack for stack in stacks.forces if compiled((stack, STRAY))]


def watching(stacks: Stacks) -> list[Operation]:
    """What stops a run of many ticks where a surface has strayed (coordinator/events/encounters.py)."""
    return [(stack, STRAY) for stack in encountering(stacks)]


def exerting(stacks: Iterable[Any]) -> list[Operation]:
    """Forces and springs act; then those whose blows reach others find them together."""
    each = list(stacks)
    acting: list[Operation] = [(stack, "exert") for stack in each]
    return acting + [(stack, verb) for verb in STRIKES for stack in each if compiled((stack, verb))]


def exerting_some(rows: Iterable[tuple[Any, Ranges]]) -> list[RangedOperation]:
    """The same for some rows of each."""
    each = list(rows)
    acting: list[RangedOperation] = [(stack, "exert", ranges) for stack, ranges in each]
    return acting + [(stack, verb, ranges) for verb in STRIKES for stack, ranges in each if compiled((stack, verb))]


def perform(elements: Elements, operations: Iterable[Operation | RangedOperation]) -> str | None:
    """Play operations one after the other; the name of a body that went wrong, if any."""
    wrong = None
    waiting: list[tuple[int, int, int, int, int]] = []
    stacks: list[Any] = []

    def flush() -> str | None:
        if not waiting:
            return None
        operation, row = play(np.array(waiting, np.int64), elements.sheet, NO_BARRIER, 1)
        name = stacks[operation].names[row] if operation >= 0 else None
        waiting.clear()
        stacks.clear()
        return name

    for stack, verb, *ranges in operations:
        elements.prepare(verb)
        if compiled((stack, verb)):
            stack.prepare(verb)
            address = stack.loops[verb].address(stack, elements)
            for start, stop in ranges[0] if ranges else ((0, stack.count),):
                waiting.append((address, stack.sheet, start, stop, 0))
                stacks.append(stack)
            continue
        wrong = flush() or wrong
        arguments = [float(elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []
        answer = getattr(stack, verb)(elements, *arguments)
        wrong = answer if isinstance(answer, str) else wrong
    return flush() or wrong
