"""What an event touches: some bodies, and the joints and forces on them.

Everything else keeps its state, its forces and its books, so an event costs the same in a system of any size. Where
a component is plain Python its stack can only be asked as a whole; then the region is the whole system, and what others wrote is
put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from coordinator.score import Part, Ranges, Stretches, perform
from coordinator.system import System
from modular.elements import Elements, Indices
from modular.joints import Joints
from modular.ledger import STORED, Booked
from modular.port import GROUND
from modular.table import Table

NEIGHBOURS_TOO = ("respond", "respond_freely", "show")  # what the other sides of touched joints have to say as well


class Region:
    """Touched bodies, their joints and forces, and the bodies beyond those."""

    def __init__(self, system: System, touched: Iterable[str]) -> None:
        self.system = system
        self.names = [name for name in dict.fromkeys(touched) if name in system.body_home]
        stacks = [*system.bodies, *system.booked]
        self.everything = len(self.names) == len(system.body_home)
        self.local = not self.everything and all(isinstance(stack, Table) for stack in stacks)
        self._rows: dict[int, set[int]] = {}
        self._beyond: dict[int, set[int]] = {}
        self.mine: Indices = np.empty(0, np.int64)  # element rows on touched bodies or the ground
        self.others: Indices = np.empty(0, np.int64)  # on the other sides of what is touched
        self.uses: set[str] = set()
        if not self.everything:
            self._look_around()

    def _look_around(self) -> None:
        system = self.system
        uses = dict.fromkeys(use for name in self.names for use in system.uses[name])
        mine: list[int] = []
        others: list[int] = []
        mine_too = {*self.names, GROUND}
        for use in uses:
            home = system.home(use)
            self._rows.setdefault(id(home.stack), set()).add(home.stack.row[use])
            for owner, start, count in zip(home.owners, home.starts, home.counts, strict=True):
                (mine if owner in mine_too else others).extend(range(start, start + count))
                if owner not in mine_too:
                    stack = system.body_home[owner]
                    self._beyond.setdefault(id(stack), set()).add(stack.row[owner])
        for name in self.names:
            stack = system.body_home[name]
            self._rows.setdefault(id(stack), set()).add(stack.row[name])
        self.mine, self.others = np.array(mine, np.int64), np.array(others, np.int64)
        self.uses.update(uses)

    @classmethod
    def of(cls, system: System, touched: Iterable[str]) -> Region:
        """The region of some bodies; the last ones are kept as long as the topology stays."""
        key = tuple(touched)
        version, known = system.workshop.get("regions", (-1, {}))
        if version != system.version:
            known = {}
            system.workshop["regions"] = (system.version, known)
        if key not in known:
            known[key] = cls(system, key)
        return cast(Region, known[key])

    def widened(self) -> Region:
        """With the bodies beyond its joints and forces."""
        system = self.system
        beyond = [owner for use in self.uses for owner in system.home(use).owners if owner != GROUND]
        return Region.of(system, [*self.names, *beyond])

    @property
    def all_rows(self) -> Any:
        """Element rows on either side of what is touched."""
        return np.concatenate([self.mine, self.others]) if self.local else slice(None)

    # --- as a coupling sees a system -----------------------------------------------------------------------------

    @property
    def elements(self) -> Elements:
        """The exchange."""
        return self.system.elements

    @property
    def bodies(self) -> Iterator[Any]:
        """Stacks with touched bodies, or bodies beyond their joints."""
        return (stack for stack in self.system.bodies if self._ranges(stack, "respond"))

    @property
    def joints(self) -> Iterator[Joints]:
        """Stacks with touched joints."""
        return (stack for stack in self.system.joints if self._ranges(stack, ""))

    @property
    def forces(self) -> Iterator[Any]:
        """Stacks with touched forces."""
        return (stack for stack in self.system.forces if self._ranges(stack, ""))

    def perform(self, parts: Iterable[Part]) -> None:
        """Play parts on what is touched."""
        perform(self.elements, self.over(parts))

    def over(self, parts: Iterable[Part]) -> list[Stretches]:
        """Parts with the rows that are touched."""
        return [(stack, verb, self._ranges(stack, verb)) for stack, verb in parts]

    def _ranges(self, stack: Any, verb: str) -> Ranges:
        if not self.local:
            return [(0, stack.count if isinstance(stack, Table) else len(stack.names))]
        if stack is self.system.elements:
            return stretches(self.mine.tolist())
        rows = self._rows.get(id(stack), set())
        if verb in NEIGHBOURS_TOO:
            rows = rows | self._beyond.get(id(stack), set())
        return stretches(rows)

    # --- books -----------------------------------------------------------------------------------------------------

    def rows(self, stack: Booked) -> Any:
        """Touched rows of a stack of joints or forces."""
        if not self.local:
            return slice(0, stack.count)
        return np.array(sorted(self._rows.get(id(stack), ())), np.int64)


def stretches(rows: Iterable[int]) -> Ranges:
    """Rows as stretches (first, beyond the last) that follow each other without gaps."""
    found: Ranges = []
    for row in sorted(rows):
        if found and found[-1][1] == row:
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row, row + 1))
    return found


class Kept:
    """Forces and books of what an event does not touch, as they were before it."""

    def __init__(self, region: Region) -> None:
        self.region = region
        elements = region.elements
        self._rows = region.others
        if not region.local and not region.everything:
            self._rows = np.setdiff1d(np.arange(len(elements.force)), region.mine)
        self._force = elements.force[self._rows].copy()
        self._books = []
        if not region.local and not region.everything:
            for stack in region.system.booked:
                n = stack.count
                self._books.append((stack, stack.ledger[:n, STORED].copy(), stack.power[:n].copy()))

    def put_back(self) -> None:
        """Put them back, and open the books of what is new: from here on energies and powers count."""
        elements, region = self.region.elements, self.region
        elements.force[self._rows] = self._force
        rows = region.mine if region.local else slice(None)
        elements.force_before[rows] = elements.force[rows]
        elements.velocity_before[rows] = elements.velocity[rows]
        for stack, held, power in self._books:
            stack.keep_books(held, power, region.uses)
        for stack in region.system.booked:
            if isinstance(stack, Booked):
                stack.open_books(region.rows(stack))
            else:
                stack.open_books()
