"""Ticks that are taken in halves (adapting.py) as one operation of a program, for the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.couplings.adapting import (
    ABOUT,
    BEYOND,
    COARSEN_BELOW,
    DEEPEST,
    HALVINGS,
    MAX_HALVINGS,
    REFUSED,
    TAKEN,
    state_of,
)
from coordinator.couplings.interface.fields import numbers_at
from coordinator.engine.guards import changed_by_a_tick, copies_of
from coordinator.engine.program import Operation, compiled
from coordinator.system import System
from modular.elements import STEP, TIME, Array
from modular.kernel import kernel
from modular.ledger import LEAKED
from modular.loop import NO_FAILED_ROW, call, loop
from modular.memory import copy_bytes
from modular.table import Table
from modular.views import View

ADDRESS, SHEET, ROWS, WHO = range(4)  # columns of the program
SOURCE, BYTES, TARGET = range(3)  # of what is kept
WHOLE_NUMBERS = ("operation_count", "elements_sheet", "kept_count", "book_count")


class Halving(Table):
    """A tick of a system in as many steps as its joints ask for."""

    state: Array  # system.memory["adaptive"]
    noted: Array  # leaks where the tick began

    def __init__(self, system: System, operations: Sequence[Operation], share: float) -> None:
        """`operations`: those of one step."""
        super().__init__(1)
        self.system, self._operations = system, list(operations)
        for name, columns in (("program", 4), ("kept", 4)):
            self.common(name, columns, dtype=np.int64)
        self.common("books", dtype=np.int64)
        for name in WHOLE_NUMBERS:
            self.fixed(name, dtype=np.int64)
        for name in ("state", "noted"):
            self.common(name)
        self.fixed("share")
        self.share = share
        self.loops = {"advance": halving_loop}
        stacks: list[Any] = [*system.bodies, *system.booked]
        self.compiled = all(map(compiled, self._operations)) and all(isinstance(stack, Table) for stack in stacks)
        if self.compiled:
            self._write()

    def _write(self) -> None:
        elements = self.system.elements
        self.names = [name for bodies in self.system.bodies for name in bodies.names]
        begin, count = {}, 0
        for bodies in self.system.bodies:
            begin[id(bodies)] = count
            count += len(bodies.names)
        self.prepare("")
        program = [
            (stack.loops[verb].address(stack, elements), stack.sheet, stack.count, begin.get(id(stack), 0))
            for stack, verb in self._operations
        ]
        kept, self._backups = copies_of(changed_by_a_tick(self.system))
        books = [
            int(joints.ledger.ctypes.data + row * joints.ledger.strides[0] + 8 * LEAKED)
            for joints in self.system.joints
            for row in range(joints.count)
        ]
        self._place("program", np.array(program, np.int64).reshape(-1, 4))
        self._place("kept", kept)
        self._place("books", np.array(books, np.int64))
        self._place("noted", np.zeros(len(books)))
        self.operation_count, self.kept_count, self.book_count = len(program), len(kept), len(books)
        self.elements_sheet = elements.sheet

    def prepare(self, verb: str) -> None:
        """What takes part unfolds what it needs; the memory of the system may be another array by now."""
        for stack, operation in self._operations:
            self.system.elements.prepare(operation)
            stack.prepare(operation)
        self._place("state", state_of(self.system))


@kernel
def step(halving: View) -> int:
    """One step; the first body that went wrong, or -1."""
    wrong = NO_FAILED_ROW
    for k in range(halving.operation_count):
        found = call(
            halving.program[k, ADDRESS], 0, halving.program[k, ROWS], halving.program[k, SHEET], halving.elements_sheet
        )
        if found >= 0:
            wrong = halving.program[k, WHO] + found
    return wrong


@loop
def halving_loop(start: int, stop: int, halving: View, elements: View) -> int:
    """One tick, or the part of it that the clock says; who went wrong with the shortest steps too, or -1."""
    span, end = elements.clock[STEP], elements.clock[TIME]
    allowed, refused = halving.share * halving.state[ABOUT] * span, 0.0
    while True:
        for k in range(halving.kept_count):
            copy_bytes(halving.kept[k, TARGET], halving.kept[k, SOURCE], halving.kept[k, BYTES])
        for k in range(halving.book_count):
            halving.noted[k] = numbers_at(halving.books[k])[0]
        count = 1 << int(halving.state[HALVINGS])
        wrong = NO_FAILED_ROW
        for k in range(count):
            if wrong < 0:
                elements.clock[STEP] = span / count
                elements.clock[TIME] = end - (1.0 - (k + 1.0) / count) * span
                halving.state[TAKEN] += 1.0
                wrong = step(halving)
        elements.clock[STEP], elements.clock[TIME] = span, end
        leaked = 0.0
        for k in range(halving.book_count):
            leaked += abs(numbers_at(halving.books[k])[0] - halving.noted[k])
        good = wrong < 0 and leaked <= allowed
        if good or halving.state[HALVINGS] >= MAX_HALVINGS:
            halving.state[REFUSED] += refused
            halving.state[BEYOND] += 0.0 if good else 1.0
            halving.state[DEEPEST] = max(halving.state[DEEPEST], halving.state[HALVINGS])
            if good and leaked <= COARSEN_BELOW * allowed and halving.state[HALVINGS] > 0.0:
                halving.state[HALVINGS] -= 1.0
            return wrong
        for k in range(halving.kept_count):
            copy_bytes(halving.kept[k, SOURCE], halving.kept[k, TARGET], halving.kept[k, BYTES])
        refused += 1.0
        halving.state[HALVINGS] += 1.0
