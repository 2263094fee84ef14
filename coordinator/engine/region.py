"""What an event touches: some bodies, and the joints and forces on them.

Everything else keeps its state, its forces and its ledgers, so an event costs the same in a system of any size. Where
a component is plain Python its stack can only be asked as a whole; then the region is the whole system, and what others wrote is
put back.

Around the touched bodies lie *rings*. In ring 0 are they themselves, with the joints and forces on them; in ring 1 the bodies
on the other sides of those, with what else is on them; in ring 2 the bodies on the other sides of that. Of the elements, ring 0 are
those on touched bodies or the ground, ring 1 those on the other sides, where forces stay as they were, ring 2 those of what is
beyond. An event works on ring 0, and asks bodies in ring 1 what they have to say; margins look one ring further.

Programs of events: operations made ready to be played over any region.

What an event plays is the same from event to event, only the rows differ. So loops and sheets are looked up once for the
stacks that take part, and every region brings its own rows. Whatever is compiled is played by one call; what is Python has its
turn in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np

from coordinator.building import Taken
from coordinator.engine.program import ARGUMENTS, compiled
from coordinator.system import System
from modular.elements import ASKING, EITHER_SIDE, OTHER_SIDE, Array, Elements, Indices
from modular.joints import Joints
from modular.kernel import kernel
from modular.ledger import STORED, Booked, open_loop
from modular.loop import call
from modular.port import GROUND
from modular.table import Table

NEIGHBOURS_TOO = frozenset({"respond", "respond_freely", "show"})  # what bodies in ring 1 have to say as well
RINGS = 3
# for whom an operation is meant: what is touched, one ring further, a row that was chosen
HERE, WIDER, CHOSEN = range(3)
Rings = tuple[Sequence[int], Sequence[int], Sequence[int]]  # rows of a stack, ring by ring


@dataclass
class StackRegistry:
    """The stacks that there are, as long as none comes or goes, and the programs that were written for them."""

    turnover: int
    stacks: list[Any]
    index: dict[int, int]  # of a stack among them, by its identity
    needs_whole_stacks: bool  # whether one of them can only be asked as a whole
    programs: dict[Any, dict[Any, EventProgram]] = field(default_factory=dict)

    @classmethod
    def of(cls, system: System) -> StackRegistry:
        """That of a system now."""
        known = system.cache.get("stack registry")
        if known is None or known.turnover != system.turnover:
            stacks = [*system.bodies, *system.joints, *system.forces, system.elements]
            needs_whole_stacks = not all(
                isinstance(stack, Table) or getattr(stack, "by_rows", False) for stack in stacks
            )
            known = cls(system.turnover, stacks, {id(stack): k for k, stack in enumerate(stacks)}, needs_whole_stacks)
            system.cache["stack registry"] = known
        return cast(StackRegistry, known)

    def forget(self) -> None:
        """Let programs be written anew."""
        for known in self.programs.values():
            known.clear()


class Region:
    """Touched bodies, their joints and forces, and what is around them."""

    def __init__(self, system: System, touched: Iterable[str]) -> None:
        self.system = system
        self.elements: Elements = system.elements
        homes = system.body_home
        self.names = [*homes] if touched is homes else [name for name in dict.fromkeys(touched) if name in homes]
        self.everything = len(self.names) == len(homes)
        self.registry = StackRegistry.of(system)
        self.stacks, self._index = self.registry.stacks, self.registry.index
        self.restricted = not (self.everything or self.registry.needs_whole_stacks)
        self.uses: set[str] = set()  # touched joints and forces
        self._rings: list[Rings] = [((), (), ())] * len(self.stacks)
        if not self.everything:
            self._look_around()
        if not self.restricted:
            self._ask_all()
        self._lay_out()
        self._programs = self.registry.programs.setdefault((self.everything, *self._forces_as_they_are()), {})
        self._saved_ledgers: list[tuple[Any, Array, Array]] = []
        self.remarks: dict[int, list[float]] = {}  # of stacks that are Python, about their rows

    def _look_around(self) -> None:
        """Find the rows in each ring."""
        system, homes, index = self.system, self.system.body_home, self._index
        rings: list[tuple[list[int], list[int], list[int]]] = [([], [], []) for _ in self.stacks]
        self._rings = list(rings)
        mine, others, outer = rings[-1]
        found = dict.fromkeys(self.names, 0)  # bodies, and their rings
        seen: set[str] = set()
        here = self.names
        for ring in (0, 1):
            beyond: list[str] = []
            for name in here:
                for use in system.uses[name]:
                    if use in seen:
                        continue
                    seen.add(use)
                    stack, row, sides = _reach(system, use)
                    rings[index[id(stack)]][ring].append(row)
                    for owner, start, count in sides:
                        if owner not in found and owner != GROUND:
                            found[owner] = ring + 1
                            beyond.append(owner)
                        rows = outer if ring else others if found.get(owner) else mine
                        rows += (start,) if count == 1 else range(start, start + count)
            if not ring:
                self.uses = seen.copy()
            here = beyond
        for name, ring in found.items():
            bodies = homes[name]
            rings[index[id(bodies)]][ring].append(bodies.row[name])

    def _ask_all(self) -> None:
        """Stacks as wholes; of the elements, those that are not touched keep their forces."""
        touched = self._rings[-1][0]
        counts = [stack.count if isinstance(stack, Table) else len(stack.names) for stack in self.stacks]
        self._rings = [(range(count), (), ()) for count in counts]
        if not self.everything:
            self._rings[-1] = (range(counts[-1]), sorted(set(range(counts[-1])).difference(touched)), ())

    def _lay_out(self) -> None:
        """Ring after ring of every stack as ranges of rows, first row and beyond the last, in one list of whole numbers.

        Before them stand four places in that list for every stack: where its rings begin, and where each of them ends. In the
        end there is a row that may be chosen.
        """
        places: list[int] = []
        ranges: list[int] = []
        end = (1 + RINGS) * len(self.stacks) + 2
        for rings in self._rings:
            places.append(end)
            for rows in rings:
                if isinstance(rows, range):
                    ranges += (0, len(rows))
                    end += 2
                elif rows:
                    last = -1
                    for row in rows:
                        if row == last:
                            ranges[-1] = last = row + 1
                        else:
                            last = row + 1
                            ranges += (row, last)
                            end += 2
                places.append(end)
        places += (end, end + 2)
        self.layout = np.array([*places, *ranges, 0, 0], np.int64)

    @classmethod
    def of(cls, system: System, touched: Iterable[str]) -> Region:
        """The region of some bodies; the last ones are kept as long as the topology stays."""
        if touched is system.described:
            touched = system.body_home
        key = None if touched is system.body_home else tuple(touched)  # None: all, whose names are many
        version, known = system.cache.get("regions", (-1, {}))
        if version != system.version:
            known = {}
            system.cache["regions"] = (system.version, known)
        if key not in known:
            known[key] = cls(system, system.body_home if key is None else key)
        return cast(Region, known[key])

    # --- as a coupling sees a system -----------------------------------------------------------------------------

    @property
    def bodies(self) -> Iterator[Any]:
        """All stacks of bodies; those without touched rows have nothing to do."""
        return self.system.bodies

    @property
    def joints(self) -> Iterator[Joints]:
        """All stacks of joints."""
        return self.system.joints

    @property
    def forces(self) -> Iterator[Any]:
        """Stacks with touched forces: others may be Python, and would be asked as a whole."""
        return iter(self.forces_within(0))

    def forces_within(self, last: int) -> list[Any]:
        """Stacks of forces that have rows up to a ring."""
        index, rings = self._index, self._rings
        return [s for s in self.system.forces if not self.restricted or any(rings[index[id(s)]][: last + 1])]

    # --- playing operations on what is touched -------------------------------------------------------------------

    def play(self, name: Any, operations: Callable[[Region], Sequence[EventOperation]]) -> None:
        """Play what `operations` writes down; asked once for all regions in which the same stacks take part."""
        program = self._programs.get(name)
        if program is None:
            program = self._programs[name] = EventProgram(self, operations(self))
        program.play(self)

    def perform(self, operations: Sequence[EventOperation]) -> None:
        """Play operations once."""
        EventProgram(self, operations).play(self)

    def choose(self, row: int) -> None:
        """Let operations that are meant for it be played on one row alone."""
        self.layout[-2:] = row, row + 1

    def compiles(self, stack: Any, verb: str) -> bool:
        """Whether an operation is a loop; where a stack is asked as a whole, only a method knows for whom to re-evaluate."""
        return compiled((stack, verb)) and (verb != "reevaluate" or self.restricted or self.everything)

    def group(self, stack: Any, verb: str, meant: int = HERE) -> tuple[int, int]:
        """The places in the layout that say where the rows for an operation begin and end."""
        if meant == CHOSEN:
            last = (1 + RINGS) * len(self.stacks)
            return last, last + 1
        first = (1 + RINGS) * self._index[id(stack)]
        if stack is self.elements:
            return first + (verb in OTHER_SIDE), first + 1 + (verb in EITHER_SIDE or verb in OTHER_SIDE) + meant
        return first, first + 1 + (verb in NEIGHBOURS_TOO) + meant

    def _forces_as_they_are(self) -> list[Any]:
        """Which of them are touched, and what they do as loops: that changes as laws come and go."""
        if not self.system.force_home:
            return []
        rings = [self._rings[self._index[id(stack)]] for stack in self.system.forces]
        loops = [stack.loops if isinstance(stack, Table) else () for stack in self.system.forces]
        return [(*map(bool, rows), *verbs) for rows, verbs in zip(rings, loops, strict=True)]

    # --- ledgers --------------------------------------------------------------------------------------------------

    def rows(self, stack: Booked) -> list[int]:
        """Touched rows of a stack of joints or forces."""
        return sorted(self.rows_in_rings(stack)[0])

    def rows_in_rings(self, stack: Any) -> Rings:
        """Rows of a stack that an event works on, and of those around them."""
        return self._rings[self._index[id(stack)]]

    def save_forces(self) -> list[EventOperation]:
        """Others keep their forces; where stacks are asked as a whole, also their energies and powers."""
        return [(self.elements, "save_forces"), *([] if self.restricted or self.everything else [_save_ledgers])]

    def restore_forces(self) -> list[EventOperation]:
        """Others keep their forces and ledgers; from here on energies and powers of what was touched count."""
        operations: list[EventOperation] = [(self.elements, "restore_forces"), (self.elements, "save_previous")]
        if not (self.restricted or self.everything):
            operations.append(_restore_ledgers)
        for stack in (*self.joints, *self.forces):
            if isinstance(stack, Booked):
                stack.loops["open"] = open_loop
                operations.append((stack, "open"))
            else:
                operations.append(partial(_open_ledgers, stack))
        return operations


def _reach(system: System, use: str) -> tuple[Any, int, Iterable[Taken]]:
    """The stack of a joint or force and its row there, and what it takes hold of on each side."""
    home = system.force_home.get(use)
    if home is None:
        return system.joint_home.reach(use)
    return home.stack, home.stack.row[use], zip(home.owners, home.starts, home.counts, strict=True)


def _open_ledgers(stack: Any, region: Region) -> None:
    stack.open_ledgers()


def _save_ledgers(region: Region) -> None:
    region._saved_ledgers = [
        (stack, stack.ledger[: stack.count, STORED].copy(), stack.power[: stack.count].copy())
        for stack in region.system.booked
    ]


def _restore_ledgers(region: Region) -> None:
    for stack, stored, power in region._saved_ledgers:
        stack.keep_ledgers(stored, power, region.uses)
    region._saved_ledgers = []


ADDRESS, SHEET, START, STOP = range(4)  # columns of a batch: a loop, its stack, and where a region says on which rows
# a stack and a verb, perhaps for whom; or what is done in Python
EventOperation = tuple[Any, ...] | Callable[["Region"], None]
Batch = Indices | Callable[["Region"], None]


class EventProgram:
    """Batches of compiled operations, and between them what is Python."""

    def __init__(self, region: Region, operations: Sequence[EventOperation]) -> None:
        self._folding: dict[int, Table] = {}  # tables with columns that are there only while stiffness is being chosen
        self.batches: list[Batch] = []
        waiting: list[tuple[int, int, int, int]] = []

        def flush() -> None:
            if waiting:
                self.batches.append(np.array(waiting, np.int64))
                waiting.clear()

        for operation in operations:
            if not callable(operation):
                stack, verb = operation[:2]
                if verb in ASKING:
                    self._folding |= {
                        id(table): table for table in (region.elements, stack) if isinstance(table, Table)
                    }
                if region.compiles(stack, verb):
                    address = stack.loops[verb].address(stack, region.elements)
                    waiting.append((address, stack.sheet, *region.group(*operation)))
                    continue
            flush()
            if callable(operation):
                self.batches.append(operation)
            elif getattr(operation[0], "by_rows", False) and (
                operation[1] != "reevaluate" or region.restricted or region.everything
            ):
                self.batches.append(_by_rows(operation[0], operation[1], region.group(*operation)))
            else:
                self.batches.append(_by_method(*operation[:2]))
        flush()

    def play(self, region: Region) -> None:
        """Play it on the rows of a region."""
        elements = region.elements
        for table in self._folding.values():
            table.prepare("request_demand")
        for batch in self.batches:
            if isinstance(batch, np.ndarray):
                play_over(batch, region.layout, elements.sheet)
            else:
                batch(region)


def _by_method(stack: Any, verb: str) -> Callable[[Region], None]:
    """An operation for which a stack has no loop: its method knows no rows, or the names of bodies."""

    def act(region: Region) -> None:
        elements = region.elements
        if verb == "reevaluate":
            stack.reevaluate(elements, region.names)
        else:
            getattr(stack, verb)(elements, *([float(elements.clock[ARGUMENTS[verb]])] if verb in ARGUMENTS else []))

    return act


def _by_rows(stack: Any, verb: str, group: tuple[int, int]) -> Callable[[Region], None]:
    """An operation of a stack that is compiled elsewhere: `play_rows` takes ranges of rows."""

    def act(region: Region) -> None:
        first, last = (region.layout[place] for place in group)
        rows = region.layout[first:last].reshape(-1, 2)
        if len(rows):
            stack.play_rows(verb, region.elements, rows)

    return act


@kernel
def play_over(batch: Indices, layout: Indices, elements: int) -> None:
    """Play loops over the rows of a region (`Region.layout`)."""
    for k in range(batch.shape[0]):
        for at in range(layout[batch[k, START]], layout[batch[k, STOP]], 2):
            call(batch[k, ADDRESS], layout[at], layout[at + 1], batch[k, SHEET], elements)
