"""The energy ledger of joints and forces: named lines whose sum is zero.

work_first, work_second   done on the bodies at its sides
stored                    elastic energy it holds now
dissipated                taken by its damper
supplied                  minus what it brought from outside (loads, moments, drives, bodies that are led)
released                  elastic energy that went with a cut; negative: that came when it was made under tension
impact                    lost when it was made between moving points
leaked                    the remainder of the other lines: the energy error of the scheme
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from modular.blocks import like
from modular.elements import STEP, Array, Elements, Indices
from modular.kernel import kernel
from modular.lane_rows import RowIndices, fetch, fetch_one, gather, indices, scatter, store, store_one
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, loop
from modular.stack import Stack
from modular.views import View

LEDGER = ("work_first", "work_second", "stored", "dissipated", "supplied", "released", "impact", "leaked")
WORK_FIRST, WORK_SECOND, STORED, DISSIPATED, SUPPLIED, RELEASED, IMPACT, LEAKED = range(len(LEDGER))


def brought(ledger: Array, led: Sequence[bool]) -> Array:
    """A ledger for people, (..., lines): work on bodies that are led along is no work on anything that has energy; minus that is
    what comes from outside. `led`: which sides are on such bodies."""
    if not any(led):
        return ledger
    split = ledger.copy()
    for line, at in zip((WORK_FIRST, WORK_SECOND), led, strict=False):
        if at:
            split[..., SUPPLIED] += split[..., line]
            split[..., line] = 0.0
    return split


def ledger_columns(row: Array, led: Sequence[bool] = ()) -> dict[str, float]:
    """One line of a ledger by name; `led`: which sides are on bodies that are led."""
    return dict(zip(LEDGER, brought(row, led).tolist(), strict=True))


class Booked(Stack):
    """A stack whose rows keep a ledger."""

    pointing: ClassVar[tuple[str, ...]] = ("first", "second")
    remembered: ClassVar[tuple[str, ...]] = ("drawn",)
    recorded: ClassVar[tuple[str, ...]] = ()  # columns without which a sample does not tell what its rows exert
    error_columns: ClassVar[tuple[str, ...]] = ()  # columns of a sample that tell of its errors
    first: Indices  # first element row on either side
    second: Indices
    power: Array  # what dampers take [W], now and one tick ago
    power_before: Array
    drawn: Array  # minus what its drive brings from outside [W], now and one tick ago; empty where there is none
    ledger: Array  # (n, lines) [J]
    first_side: Array
    second_side: Array
    fresh: Indices  # 1 until the ledgers of a row are opened
    rung: Indices  # 1 once the alarm has rung for a row

    def __init__(self, first: int, second: int, dimension: int, *, driven: bool = False) -> None:
        super().__init__()
        for name in ("first", "second", "fresh", "rung"):
            self.column(name, dtype=np.int64)
        for name in ("power", "power_before"):
            self.column(name)
        self.column("ledger", len(LEDGER))
        self.column("drawn", 2 if driven else 0)
        self.fixed("first_side", first, dimension)  # shapes of what it reads and writes on either side
        self.fixed("second_side", second, dimension)

    def limits(self, elements: int) -> Iterator[tuple[str, Any]]:
        """Every element of a side lies behind its first one."""
        yield "first", elements - len(self.first_side)
        yield "second", elements - len(self.second_side)

    def add_rows(self, names: Sequence[str]) -> slice:
        """Fresh rows whose ledgers are still to be opened."""
        rows = super().add_rows(names)
        self.fresh[rows] = 1
        return rows

    def bounds(self, elements: Elements) -> Array:
        """The larger of the two bodies' answers to what the rows ask of them, per row."""
        n = self.count
        return np.maximum(elements.bound[self.first[:n]], elements.bound[self.second[:n]])

    def requested_demand(self) -> tuple[Array, Array]:
        """What a row asks of the step, dt^2 K and 4 dt C; nothing unless a subclass says otherwise."""
        return np.zeros((self.count, 1, 1)), np.zeros((self.count, 1, 1))

    def keep_ledgers(self, held: Array, power: Array, touched: set[str]) -> None:
        """After a re-evaluation: rows that the event did not touch hold and take what they did before."""
        still = np.array([name not in touched for name in self.names], bool) & (self.fresh[: self.count] == 0)
        self.ledger[: self.count, STORED][still] = held[still]
        self.power[: self.count][still] = power[still]
        self.drawn[: self.count, :1][still] = self.drawn[: self.count, 1:][still]

    def open_ledgers(self) -> None:
        """After an event: what a new member holds from its start came with it, and powers count from now."""
        open_rows(0, self.count, self.ledger, self.power, self.power_before, self.fresh)
        self.drawn[: self.count, 1:] = self.drawn[: self.count, :1]


@kernel
def open_rows(start: int, stop: int, ledger: Array, power: Array, power_before: Array, fresh: Indices) -> None:
    """What new members hold from their start came with them, and powers count from now."""
    for n in range(start, stop):
        if fresh[n] == 1:
            ledger[n, RELEASED] -= ledger[n, STORED]
            fresh[n] = 0
        power_before[n] = power[n]
        total = ledger[n, 0]
        for line in range(1, LEAKED):
            total += ledger[n, line]
        ledger[n, LEAKED] = -total


@kernel
def work_of(force: Array, force_before: Array, velocity: Array, velocity_before: Array, dt: float) -> Any:
    """Work of the forces on some elements during a tick.

    Mean force times mean velocity times dt: with gamma = 1/2 the work of all forces on a body is then exactly the
    change of its kinetic energy, because v' - v = dt/2 (a + a').
    """
    work = 0.0
    for k in range(force.shape[0]):
        for c in range(force.shape[1]):
            work += 0.25 * dt * (force[k, c] + force_before[k, c]) * (velocity[k, c] + velocity_before[k, c])
    return work


@kernel
def work_on(elements: View, now: Array, where: RowIndices, side: Array) -> Any:
    """Work of four rows of a stack on the elements of one side; the elements remember force and velocity for the next tick."""
    force, force_before, velocity, velocity_before = like(side), like(side), like(side), like(side)
    gather(elements.force, where, force)
    gather(elements.force_before, where, force_before)
    gather(now, where, velocity)
    gather(elements.velocity_before, where, velocity_before)
    scatter(force, elements.force_before, where)
    scatter(velocity, elements.velocity_before, where)
    return work_of(force, force_before, velocity, velocity_before, elements.clock[STEP])


@kernel
def close(ledger: Array) -> None:
    """Whatever the named lines leave open is the leak."""
    total = 0.0
    for line in range(LEAKED):
        total += ledger[line]
    ledger[LEAKED] = -total


@kernel
def book_rows(stack: View, elements: View, now: Array, n: int, stop: int, ledger: Array) -> None:
    """What four rows did to their sides, hold, took, and what is left without a name; `now`: corrected velocities."""
    fetch(stack.ledger, n, stop, ledger)
    ledger[WORK_FIRST] += work_on(elements, now, indices(stack.first, n, stop), stack.first_side)
    ledger[WORK_SECOND] += work_on(elements, now, indices(stack.second, n, stop), stack.second_side)
    power = fetch_one(stack.power, n, stop)
    ledger[DISSIPATED] += 0.5 * elements.clock[STEP] * (power + fetch_one(stack.power_before, n, stop))
    store_one(power, stack.power_before, n, stop)
    if stack.drawn.shape[0] > 0:
        drawn = like(stack.drawn)
        fetch(stack.drawn, n, stop, drawn)
        ledger[SUPPLIED] += 0.5 * elements.clock[STEP] * (drawn[0] + drawn[1])
        drawn[1] = drawn[0]
        store(drawn, stack.drawn, n, stop)
    close(ledger)


@loop
def account_loop(start: int, stop: int, stack: View, elements: View) -> int:
    """Book the tick that has just passed."""
    ledger = like(stack.ledger)
    for n in range(start, stop, LANES):
        book_rows(stack, elements, elements.velocity, n, stop, ledger)
        store(ledger, stack.ledger, n, stop)
    return NO_FAILED_ROW


@kernel
def settle_rows(start: int, stop: int, stack: View, elements: View) -> None:
    """Book the tick that has just passed from the works that the elements have gathered, kick by kick."""
    dt = elements.clock[STEP]
    for n in range(start, stop):
        ledger = stack.ledger[n]
        for k in range(stack.first_side.shape[0]):
            ledger[WORK_FIRST] += elements.work[stack.first[n] + k]
            elements.work[stack.first[n] + k] = 0.0
        for k in range(stack.second_side.shape[0]):
            ledger[WORK_SECOND] += elements.work[stack.second[n] + k]
            elements.work[stack.second[n] + k] = 0.0
        ledger[DISSIPATED] += 0.5 * dt * (stack.power[n] + stack.power_before[n])
        stack.power_before[n] = stack.power[n]
        if stack.drawn.shape[0] > 0:
            ledger[SUPPLIED] += 0.5 * dt * (stack.drawn[n, 0] + stack.drawn[n, 1])
            stack.drawn[n, 1] = stack.drawn[n, 0]
        close(ledger)


@loop
def settle_up_loop(start: int, stop: int, stack: View, elements: View) -> int:
    """The same for a whole stack."""
    settle_rows(start, stop, stack, elements)
    return NO_FAILED_ROW


@loop
def supply_loop(start: int, stop: int, stack: View, elements: View) -> int:
    """A force from outside: what it does to its sides it brings along."""
    ledger = like(stack.ledger)
    for n in range(start, stop, LANES):
        fetch(stack.ledger, n, stop, ledger)
        work = work_on(elements, elements.velocity, indices(stack.first, n, stop), stack.first_side)
        ledger[WORK_FIRST] += work
        if stack.second_side.shape[0] > 0:
            other = work_on(elements, elements.velocity, indices(stack.second, n, stop), stack.second_side)
            ledger[WORK_SECOND] += other
            work += other
        ledger[SUPPLIED] -= work
        close(ledger)
        store(ledger, stack.ledger, n, stop)
    return NO_FAILED_ROW


@loop
def open_loop(start: int, stop: int, stack: View, elements: View) -> int:
    """Open ledgers."""
    open_rows(start, stop, stack.ledger, stack.power, stack.power_before, stack.fresh)
    if stack.drawn.shape[0] > 0:
        for n in range(start, stop):
            stack.drawn[n, 1] = stack.drawn[n, 0]
    return NO_FAILED_ROW


@loop
def leak_loop(start: int, stop: int, stack: View, elements: View) -> int:
    """The first row that leaks more than the alarm allows and has not been told yet, or -1."""
    for n in range(start, stop):
        if stack.rung[n] == 0 and abs(stack.ledger[n, LEAKED]) > elements.alarm[0]:
            return n
    return NO_FAILED_ROW


@loop
def steady_loop(start: int, stop: int, stack: View, elements: View) -> int:
    """Dampers take now what they took before: forces stay as they are while this is booked."""
    for n in range(start, stop):
        stack.power_before[n] = stack.power[n]
        if stack.drawn.shape[0] > 0:
            stack.drawn[n, 1] = stack.drawn[n, 0]
    return NO_FAILED_ROW
