"""A tick in as many steps as the accounts of the joints ask for; a tick that leaks too much is refused, and taken again in halves.

After S. Sadjina, L. T. Kyllingstad, S. Skjong, E. Pedersen, "Energy conservation and power bonds in co-simulations: non-iterative
adaptive step size control and error estimation", Engineering with Computers 33 (2017) 607-620 (ECCO): what a coupling makes or
loses, its residual energy, is the measure of its error, and needs no second solution. Theirs never goes back; here components can.

Stiffness and gains stay those of the whole tick. Tied to the shorter step they would grow by four with every halving, and springs
and bodies that stand as the softer ones left them would swing: tried, that swinging asked for more halvings, and never ended.

The two forms are one algorithm: `advance_adaptively` calls Python, `Halving` is one operation of a program, which the engine plays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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


def energy_about(system: System) -> float:
    """Kinetic energy of all bodies, and what their weight does over the extent of the system [J]."""
    total, weight, extent = 0.0, 0.0, 0.0
    pull = float(np.linalg.norm(system.gravity))
    for stack in system.bodies:
        state = stack.state()
        extent = max(extent, float(np.abs(state["q"]).max(initial=0.0)))
        for row, name in enumerate(stack.names):
            body = system.described[name]
            total += float(body.kinetic_energy(state["q"][row], state["v"][row]))
            weight += 0.0 if body.led else body.total_mass * pull
    return total + weight * extent or 1.0


MAX_HALVINGS = 7  # halvings of a tick
COARSEN_BELOW = 0.1  # of what is allowed: below, the next tick is tried with half as many steps
HALVINGS, REFUSED, BEYOND, DEEPEST, TAKEN, ABOUT = range(6)  # places in what is remembered
Step = Callable[[float, float], str | None]  # takes a step that ends at a time


def state_of(system: System) -> Array:
    """What ticks remember: how often they are halved; how many were refused; how many leaked too much all the same.

    The most halvings, the steps that were taken; and the energy that was about when the topology last changed.
    """
    state = system.memory.get("adaptive")
    if state is None or state.shape != (6,) or not 0.0 <= state[HALVINGS] <= MAX_HALVINGS:  # none, or none of ours
        state = system.memory["adaptive"] = np.zeros(6)
    return state


def look_about(system: System) -> None:
    """After an event: the energy by which leaks are measured from here on."""
    state_of(system)[ABOUT] = energy_about(system)


def advance_adaptively(system: System, span: float, end: float, share: float, step: Step) -> str | None:
    """A tick or a part of it, `span` long; who went wrong with the shortest steps too, if anybody.

    `share`: what joints may leak in a second, of the energy that is about.
    `Halving` does the same in the engine, where all is compiled.
    """
    refused, taken = 0.0, 0.0
    while True:
        kept, ledgers, state = system.save(), _leaks(system), state_of(system)
        allowed, count, wrong = share * state[ABOUT] * span, 1 << int(state[HALVINGS]), None
        for k in range(count):
            if wrong is None:
                taken += 1.0
                wrong = step(span / count, end - (1.0 - (k + 1.0) / count) * span)
        leaked = 0.0
        for now, before in zip(_leaks(system), ledgers, strict=True):
            leaked += abs(now - before)
        good = wrong is None and leaked <= allowed
        if good or state[HALVINGS] >= MAX_HALVINGS:
            state[[REFUSED, TAKEN]] += refused, taken
            state[BEYOND] += not good
            state[DEEPEST] = max(state[DEEPEST], state[HALVINGS])
            if good and leaked <= COARSEN_BELOW * allowed and state[HALVINGS] > 0:
                state[HALVINGS] -= 1
            return wrong
        system.restore(kept)
        refused += 1.0
        state_of(system)[HALVINGS] += 1


def _leaks(system: System) -> list[float]:
    return [float(leak) for joints in system.joints for leak in joints.ledger[: joints.count, LEAKED]]


ADDRESS, SHEET, ROWS, WHO = range(4)  # columns of the program
SOURCE, BYTES, TARGET = range(3)  # of what is kept
WHOLE_NUMBERS = ("operation_count", "elements_sheet", "kept_count", "ledger_count")


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
        self.common("ledgers", dtype=np.int64)
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
        ledgers = [
            int(joints.ledger.ctypes.data + row * joints.ledger.strides[0] + 8 * LEAKED)
            for joints in self.system.joints
            for row in range(joints.count)
        ]
        self._place("program", np.array(program, np.int64).reshape(-1, 4))
        self._place("kept", kept)
        self._place("ledgers", np.array(ledgers, np.int64))
        self._place("noted", np.zeros(len(ledgers)))
        self.operation_count, self.kept_count, self.ledger_count = len(program), len(kept), len(ledgers)
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
        for k in range(halving.ledger_count):
            halving.noted[k] = numbers_at(halving.ledgers[k])[0]
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
        for k in range(halving.ledger_count):
            leaked += abs(numbers_at(halving.ledgers[k])[0] - halving.noted[k])
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
