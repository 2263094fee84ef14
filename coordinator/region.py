"""What an event touches: some bodies, and the joints and forces on them.

Everything else keeps its state, its forces and its books, so an event costs the same in a system of any size. Where
a component is plain Python its stack can only be asked as a whole; then the region is the whole system, and what others wrote is
put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np

from coordinator.score import Part, Ranges, Stretches, compiled, perform
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
        homes = system.body_home
        self.names = [name for name in dict.fromkeys(touched) if name in homes]
        self.everything = len(self.names) == len(homes)
        self.local = not self.everything and all(isinstance(stack, Table) for stack in (*system.bodies, *system.booked))
        self.mine: Indices = np.empty(0, np.int64)  # element rows on touched bodies or the ground
        self.others: Indices = np.empty(0, np.int64)  # on the other sides of what is touched
        self.uses: dict[str, None] = {}  # touched joints and forces, in order
        self.beyond: list[str] = []  # bodies on the other sides
        self._near: dict[int, Ranges] = {}  # touched rows, by stack
        self._far: dict[int, Ranges] = {}  # with those beyond
        if not self.everything:
            self._look_around()

    def _look_around(self) -> None:
        system, homes = self.system, self.system.body_home
        self.uses = dict.fromkeys(use for name in self.names for use in system.uses[name])
        near: dict[int, list[int]] = {}
        mine: list[int] = []
        others: list[int] = []
        beyond: dict[str, None] = {}
        for use in self.uses:
            home = system.home(use)
            near.setdefault(id(home.stack), []).append(home.stack.row[use])
            for owner, start, count in zip(home.owners, home.starts, home.counts, strict=True):
                if owner == GROUND or owner in self.names:
                    mine += range(start, start + count)
                else:
                    others += range(start, start + count)
                    beyond[owner] = None
        for name in self.names:
            near.setdefault(id(homes[name]), []).append(homes[name].row[name])
        far: dict[int, list[int]] = {}
        for name in beyond:
            far.setdefault(id(homes[name]), []).append(homes[name].row[name])
        self._near = {key: stretches(rows) for key, rows in near.items()}
        self._far = {key: stretches(near.get(key, []) + rows) for key, rows in far.items()}
        near[id(system.elements)] = mine
        self._near[id(system.elements)] = stretches(mine)
        self.mine, self.others, self.beyond = np.array(mine, np.int64), np.array(others, np.int64), list(beyond)

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
        return Region(self.system, [*self.names, *self.beyond])

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

    def reevaluate(self) -> None:
        """Accelerations of the touched bodies at their unchanged state."""
        for stack in self.bodies:
            if (self.local or self.everything) and compiled((stack, "reevaluate")):
                self.perform([(stack, "reevaluate")])
            else:
                stack.reevaluate(self.elements, self.names)

    def over(self, parts: Iterable[Part]) -> list[Stretches]:
        """Parts with the rows that are touched."""
        return [(stack, verb, self._ranges(stack, verb)) for stack, verb in parts]

    def _ranges(self, stack: Any, verb: str) -> Ranges:
        if not self.local:
            return [(0, stack.count if isinstance(stack, Table) else len(stack.names))]
        near = self._near.get(id(stack), [])
        return self._far.get(id(stack), near) if verb in NEIGHBOURS_TOO else near

    # --- books -----------------------------------------------------------------------------------------------------

    def rows(self, stack: Booked) -> Any:
        """Touched rows of a stack of joints or forces."""
        if not self.local:
            return slice(0, stack.count)
        return np.array([row for first, last in self._near.get(id(stack), ()) for row in range(first, last)], np.int64)


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
            stack.keep_books(held, power, set(region.uses))
        for stack in region.system.booked:
            if isinstance(stack, Booked):
                stack.open_books(region.rows(stack))
            else:
                stack.open_books()
