"""What an event touches: some bodies, and the joints and forces on them.

Everything else keeps its state, its forces and its books, so an event costs the same in a system of any size. Where
a component is plain Python its stack can only be asked as a whole; then the region is the whole system, and what others wrote is
put back.

Of each stack a region has two groups of rows. *Near* are touched bodies, joints and forces; *far* are, of bodies, the touched
ones and those beyond the touched joints. Of the elements, near are those on touched bodies or the ground, far those on the other
sides, where forces stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np

from coordinator.passage import Passage, Step
from coordinator.score import compiled
from coordinator.system import System
from modular.elements import EITHER_SIDE, OTHER_SIDE, Array, Elements
from modular.joints import Joints
from modular.ledger import STORED, Booked, open_loop
from modular.port import GROUND
from modular.table import Table

NEIGHBOURS_TOO = frozenset({"respond", "respond_freely", "show"})  # what bodies beyond touched joints have to say as well
MOST = 64  # kinds of regions whose passages are kept at hand
Rows = dict[int, list[int]]  # by the identity of a stack


class Region:
    """Touched bodies, their joints and forces, and the bodies beyond those."""

    def __init__(self, system: System, touched: Iterable[str]) -> None:
        self.system = system
        self.elements: Elements = system.elements
        homes = system.body_home
        self.names = [name for name in dict.fromkeys(touched) if name in homes]
        self.everything = len(self.names) == len(homes)
        kinds: list[Any] = [system.body_stacks, system.joint_stacks, system.force_stacks]
        self.local = not self.everything and all([isinstance(s, Table) for kind in kinds for s in kind.values()])
        self.uses: dict[str, None] = {}  # touched joints and forces, in order
        self.beyond: dict[str, None] = {}  # bodies on the other sides
        self._near: Rows = {}
        self._far: Rows = {}
        if not self.everything:
            self._look_around()
        near, far, local = self._near, self._far, self.local
        self._bodies, self._joints, self._forces = (
            [s for s in kind.values() if not local or id(s) in near or id(s) in far] for kind in kinds
        )
        self.stacks: list[Any] = [*self._bodies, *self._joints, *self._forces]  # that take part
        self._lay_out()
        self._passages = self._known_passages()
        self._held: list[tuple[Any, Array, Array]] = []

    def _look_around(self) -> None:
        """Find what is on the touched bodies, and who is beyond."""
        system, homes, names = self.system, self.system.body_home, self.names
        uses, beyond, near, far = self.uses, self.beyond, self._near, self._far
        mine: list[int] = []
        others: list[int] = []
        for name in names:
            for use in system.uses[name]:
                if use in uses:
                    continue
                uses[use] = None
                home = system.home(use)
                _note(near, home.stack, use)
                for owner, start, count in zip(home.owners, home.starts, home.counts, strict=True):
                    touched = owner == GROUND or owner in names
                    rows = mine if touched else others
                    rows += (start,) if count == 1 else range(start, start + count)
                    if not touched:
                        beyond[owner] = None
        for name in names:
            _note(near, homes[name], name)
        for name in beyond:
            _note(far, homes[name], name)
        near[id(system.elements)], far[id(system.elements)] = mine, others

    def _lay_out(self) -> None:
        """Near and far rows of the stacks and the elements, group after group, and a group for a row alone.

        One list of whole numbers: where each group begins in it, and then for each group its ranges, first row and beyond the last.
        """
        starts: list[int] = []
        ranges: list[int] = []
        at = 2 * len(self.stacks) + 4  # where the first group begins
        for stack in self.stacks:
            starts.append(at + len(ranges))
            if self.local:
                near, far = self._near.get(id(stack), []), self._far.get(id(stack))
                ranges += stretches(near)
                starts.append(at + len(ranges))
                ranges += stretches(near if far is None else near + far)
            else:
                whole = (0, stack.count if isinstance(stack, Table) else len(stack.names))
                ranges += whole
                starts.append(at + len(ranges))
                ranges += whole
        starts.append(at + len(ranges))
        near, far = self._near.get(id(self.elements), []), self._far.get(id(self.elements), [])
        ranges += stretches(near) if self.local else (0, self.elements.count)
        starts.append(at + len(ranges))
        if self.local:
            ranges += stretches(far)
        elif not self.everything:  # what is not touched keeps its force
            ranges += gaps(stretches(near), self.elements.count)
        starts += (at + len(ranges), at + len(ranges) + 2)
        self.layout = np.array((*starts, *ranges, 0, 0), np.int64)

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

    # --- as a coupling sees a system -----------------------------------------------------------------------------

    @property
    def bodies(self) -> Iterator[Any]:
        """Stacks with touched bodies, or bodies beyond their joints."""
        return iter(self._bodies)

    @property
    def joints(self) -> Iterator[Joints]:
        """Stacks with touched joints."""
        return iter(self._joints)

    @property
    def forces(self) -> Iterator[Any]:
        """Stacks with touched forces."""
        return iter(self._forces)

    # --- playing parts on what is touched ------------------------------------------------------------------------

    def play(self, name: Any, steps: Callable[[Region], Sequence[Step]]) -> None:
        """Play what `steps` writes down; asked once for all regions in which the same stacks take part."""
        passage = self._passages.get(name)
        if passage is None:
            passage = self._passages[name] = Passage(self, steps(self))
        passage.play(self)

    def perform(self, steps: Sequence[Step]) -> None:
        """Play parts once."""
        Passage(self, steps).play(self)

    def choose(self, row: int) -> None:
        """Let parts that say so be played on one row alone."""
        self.layout[-2:] = row, row + 1

    def compiles(self, stack: Any, verb: str) -> bool:
        """Whether a part is a loop; where a stack is asked as a whole, only a method knows for whom to re-evaluate."""
        return compiled((stack, verb)) and (verb != "reevaluate" or self.local or self.everything)

    def groups(self, stack: Any, verb: str, chosen: bool = False) -> list[int]:
        """The groups of rows for which a part is meant."""
        if chosen:
            return [2 * len(self.stacks) + 2]
        if stack is self.elements:
            near = 2 * len(self.stacks)
            return [near, near + 1] if verb in EITHER_SIDE else [near + (verb in OTHER_SIDE)]
        place = next(k for k, mine in enumerate(self.stacks) if mine is stack)
        return [2 * place + (verb in NEIGHBOURS_TOO)]

    def _known_passages(self) -> dict[Any, Passage]:
        """Those for regions like this one."""
        kinds = [(id(stack), *stack.loops) if isinstance(stack, Table) else (id(stack),) for stack in self.stacks]
        key = (self.local, self.everything, bool(self.system.force_home), *kinds)
        known = self.system.workshop.setdefault("passages", {})
        if key not in known:
            if len(known) == MOST:
                known.clear()
            known[key] = (self.stacks, {})  # which must not go, for others could then be taken for them
        return cast("dict[Any, Passage]", known[key][1])

    # --- books -----------------------------------------------------------------------------------------------------

    def rows(self, stack: Booked) -> list[int]:
        """Touched rows of a stack of joints or forces."""
        return sorted(self._near.get(id(stack), ())) if self.local else list(range(stack.count))

    def hold_books(self) -> list[Step]:
        """Where stacks are asked as a whole, energies and powers are remembered."""
        return [] if self.local or self.everything else [_hold_books]

    def put_back(self) -> list[Step]:
        """Others keep their forces and books; from here on energies and powers of what was touched count."""
        steps: list[Step] = [(self.elements, "put_back"), (self.elements, "remember")]
        if not (self.local or self.everything):
            steps.append(_give_back_books)
        for stack in (*self._joints, *self._forces):
            if isinstance(stack, Booked):
                stack.loops["open"] = open_loop
                steps.append((stack, "open"))
            else:
                steps.append(lambda _, stack=stack: stack.open_books())
        return steps


def _hold_books(region: Region) -> None:
    region._held = [
        (stack, stack.ledger[: stack.count, STORED].copy(), stack.power[: stack.count].copy())
        for stack in region.system.booked
    ]


def _give_back_books(region: Region) -> None:
    for stack, held, power in region._held:
        stack.keep_books(held, power, set(region.uses))
    region._held = []


def _note(rows: Rows, stack: Any, name: str) -> None:
    known = rows.get(id(stack))
    if known is None:
        rows[id(stack)] = [stack.row[name]]
    else:
        known.append(stack.row[name])


def stretches(rows: Sequence[int]) -> Sequence[int]:
    """Different rows as stretches without gaps: first row and beyond the last, first row and beyond the last."""
    if len(rows) < 2:
        return (rows[0], rows[0] + 1) if rows else ()
    rows = sorted(rows)
    if rows[-1] - rows[0] < len(rows):
        return (rows[0], rows[-1] + 1)
    found = [rows[0]]
    for before, row in pairwise(rows):
        if row != before + 1:
            found += (before + 1, row)
    return [*found, rows[-1] + 1]


def gaps(taken: Sequence[int], count: int) -> list[int]:
    """What stretches leave of `count` rows."""
    edges = [0, *taken, count]
    return [edge for pair in zip(edges[::2], edges[1::2], strict=True) if pair[0] < pair[1] for edge in pair]
