"""The energy ledger of joints and forces: named lines whose sum is zero.

work_first, work_second   done on the bodies at its sides
stored                    elastic energy it holds now
dissipated                taken by its damper
supplied                  minus what it brought from outside (loads, moments)
released                  elastic energy that went with a cut; negative: that came when it was made under tension
impact                    lost when it was made between moving points
leaked                    what the others leave open: the work of the scheme
"""

from __future__ import annotations

import numpy as np

from modular.elements import Array, Elements, Indices
from modular.kernel import kernel
from modular.stack import Stack

LEDGER = ("work_first", "work_second", "stored", "dissipated", "supplied", "released", "impact", "leaked")
WORK_FIRST, WORK_SECOND, STORED, DISSIPATED, SUPPLIED, RELEASED, IMPACT, LEAKED = range(len(LEDGER))


class Booked(Stack):
    """A stack whose rows keep a ledger."""

    first: Indices  # first element row on either side
    second: Indices
    power: Array  # what dampers take [W], now and one tick ago
    power_before: Array
    ledger: Array  # (n, lines) [J]
    fresh: Indices  # 1 until the books of a row are opened

    def __init__(self) -> None:
        super().__init__()
        for name in ("first", "second", "fresh"):
            self.column(name, dtype=np.int64)
        for name in ("power", "power_before"):
            self.column(name)
        self.column("ledger", len(LEDGER))

    def add_row(self, name: str) -> int:
        """A fresh row whose books are still to be opened."""
        row = super().add_row(name)
        self.fresh[row] = 1
        return row

    def bounds(self, elements: Elements) -> Array:
        """The larger of the two bodies' answers to what the rows ask of them, per row."""
        n = self.count
        return np.maximum(elements.bound[self.first[:n]], elements.bound[self.second[:n]])

    def demands(self) -> tuple[Array, Array]:
        """What a row asks of the step, dt^2 K and 4 dt C; nothing unless a subclass says otherwise."""
        return np.zeros((self.count, 1, 1)), np.zeros((self.count, 1, 1))

    def keep_books(self, held: Array, power: Array, touched: set[str]) -> None:
        """After a re-evaluation: rows that the event did not touch hold and take what they did before."""
        still = np.array([name not in touched for name in self.names], bool) & (self.fresh[: self.count] == 0)
        self.ledger[: self.count, STORED][still] = held[still]
        self.power[: self.count][still] = power[still]

    def open_books(self) -> None:
        """After an event: what a new member holds from its start came with it, and powers count from now."""
        new = self.fresh[: self.count].astype(bool)
        self.ledger[: self.count][new, RELEASED] -= self.ledger[: self.count][new, STORED]
        self.fresh[:] = 0
        close_loop(self.count, self.ledger)
        self.power_before[:] = self.power


@kernel
def work_of(
    start: int, number: int, dt: float, force: Array, force_before: Array, velocity: Array, velocity_before: Array
) -> float:
    """Work of the forces on some elements during a tick; remembers them for the next.

    Mean force times mean velocity times dt: with gamma = 1/2 the work of all forces on a body is then exactly the
    change of its kinetic energy, because v' - v = dt/2 (a + a').
    """
    work = 0.0
    for k in range(start, start + number):
        for c in range(force.shape[1]):
            work += 0.25 * dt * (force[k, c] + force_before[k, c]) * (velocity[k, c] + velocity_before[k, c])
            force_before[k, c] = force[k, c]
            velocity_before[k, c] = velocity[k, c]
    return work


@kernel
def account_loop(
    count: int,
    first: Indices,
    second: Indices,
    on_first: int,
    on_second: int,
    dt: float,
    force: Array,
    force_before: Array,
    velocity: Array,
    velocity_before: Array,
    power: Array,
    power_before: Array,
    ledger: Array,
) -> None:
    """What each row did to its sides, holds, took, and what is left without a name."""
    for n in range(count):
        book = ledger[n]
        book[WORK_FIRST] += work_of(first[n], on_first, dt, force, force_before, velocity, velocity_before)
        book[WORK_SECOND] += work_of(second[n], on_second, dt, force, force_before, velocity, velocity_before)
        book[DISSIPATED] += 0.5 * dt * (power[n] + power_before[n])
        power_before[n] = power[n]
        close(book)


@kernel
def supply_loop(
    count: int,
    first: Indices,
    number: int,
    dt: float,
    force: Array,
    force_before: Array,
    velocity: Array,
    velocity_before: Array,
    ledger: Array,
) -> None:
    """A force from outside: what it does to its side it brings along."""
    for n in range(count):
        book = ledger[n]
        work = work_of(first[n], number, dt, force, force_before, velocity, velocity_before)
        book[WORK_FIRST] += work
        book[SUPPLIED] -= work
        close(book)


@kernel
def close_loop(count: int, ledger: Array) -> None:
    """Close every book."""
    for n in range(count):
        close(ledger[n])


@kernel
def close(book: Array) -> None:
    """Whatever the named lines leave open is the leak."""
    total = 0.0
    for line in range(LEAKED):
        total += book[line]
    book[LEAKED] = -total
