"""A part of a system is a system: some bodies with the joints and forces on them, in tables of their own.

Of a joint to a body that is moved elsewhere a subsystem has everything, and of that body nothing but the elements the joint
reads: those rows (its halo) are filled by what the neighbour says. Both neighbours work the joint out, from the same numbers,
and so to the same bits.

Who moves which body, and what joints across a boundary read from elsewhere.

Samples that workers took become samples of the simulation, as if it had taken them itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.members import (
    COUNTER_COUNT,
    FOUND,
    MATRICES,
    NOBODY,
    VECTORS,
    InterfaceJoints,
    RemoteJoints,
    numbers_of,
)
from coordinator.distributed.workers.black_boxes import BlackBoxes
from coordinator.distributed.workers.context import WorkerContext
from coordinator.distributed.workers.halo import Halo
from coordinator.distributed.workers.shard import Shard, Stages
from coordinator.engine.guards import Aims, Guards, guards_among
from coordinator.engine.program import TOGETHER, Operation, compiled
from coordinator.events.breakage import Watched
from coordinator.record.recorder import Recorder, Segment
from coordinator.system import System
from modular.elements import Array, Indices
from modular.joint import JointForm
from modular.ledger import LEAKED, WORK_SECOND, Booked
from modular.port import GROUND

NO_WORKER = -1  # moves the ground


class Ownership:
    """The parts at both sides of every joint and force."""

    def __init__(
        self, system: System, parts: Sequence[Iterable[str]], *, together: bool = False, found: Iterable[str] = ()
    ) -> None:
        """`together`: joints and forces that go across are worked out by all parts, not by the two that they join alone; `found`:
        forces that are, wherever they act.
        """
        self.together, self.count = together, len(parts)
        self.part_of = {name: k for k, names in enumerate(parts) for name in names}
        self.sides: dict[str, tuple[int, ...]] = {}  # of every joint and force; a force on one body has it twice
        self.across: list[tuple[int, int, int]] = []  # element, the part of its body, the part that reads it too
        self.boundary_bodies: set[str] = set()  # bodies that show such an element
        # 1 where a force reads the velocity v + dt a
        self.reads_end_velocity = np.zeros(system.elements.count, np.int64)
        self.found = frozenset(found)
        everybody = set(range(len(parts)))
        self.evaluating_parts = self._evaluating_parts(system) | dict.fromkeys(self.found, everybody)
        for homes in (system.joint_home, system.force_home):
            for name, home in homes.items():
                sides = [NO_WORKER if owner == GROUND else self.part_of[owner] for owner in home.owners]
                self.sides[name] = tuple(sides) if len(sides) > 1 else (sides[0], sides[0])
                if not self.crosses(name):
                    continue
                self.boundary_bodies.update(owner for owner in home.owners if owner != GROUND)
                for side, start, count in zip(sides, home.starts, home.counts, strict=True):
                    if side == NO_WORKER:
                        continue
                    others = range(len(parts)) if together else sorted(self.parts_with(name))
                    readers = [k for k in others if k != side]
                    self.across += [(k, side, reader) for k in range(start, start + count) for reader in readers]
                    self.reads_end_velocity[start : start + count] = int(
                        homes is system.force_home and getattr(home.stack, "reads_end_velocity", True)
                    )
        self.across.sort()

    def _evaluating_parts(self, system: System) -> dict[str, set[int]]:
        """Of forces that are found together: the parts of all bodies that they join, over others too, and over glued joints.

        Each of these parts works all of them out, from the same numbers.
        """
        joining = [
            (name, [owner for owner in home.owners if owner != GROUND])
            for name, home in system.force_home.items()
            if compiled((home.stack, TOGETHER))
        ]
        if not joining:
            return {}
        import networkx as nx  # a tenth of a second, for those who need it

        graph = nx.Graph()
        for _, owners in joining:
            nx.add_path(graph, owners)
        for home in system.joint_home.values() if self.together else ():
            nx.add_path(graph, [owner for owner in home.owners if owner != GROUND])
        joined = [(bodies, {self.part_of[body] for body in bodies}) for bodies in nx.connected_components(graph)]
        found = {body: parts for bodies, parts in joined for body in bodies}
        return {name: found[owners[0]] for name, owners in joining if owners}

    def parts_with(self, use: str) -> set[int]:
        """The parts that work a joint or force out, if nobody else does."""
        return self.evaluating_parts.get(use, {*self.sides[use]} - {NO_WORKER})

    def crosses(self, use: str) -> bool:
        """Whether a joint or force takes numbers from several parts."""
        return len(self.parts_with(use)) > 1

    def needs(self, me: int, use: str) -> bool:
        """Whether a part works a joint or force out."""
        return me in self.parts_with(use) or (self.together and self.crosses(use))

    def owner(self, use: str) -> int:
        """The part that gives the row of a joint or force back: that of its first body."""
        return next((side for side in self.sides[use] if side != NO_WORKER), NO_WORKER)


@dataclass
class TableSlice:
    """What a subsystem has of a table."""

    whole: Any
    part: Any
    rows: Indices  # of the whole, in the order of the subsystem; those at a boundary come first
    boundary: int  # how many those are
    owned: Any  # which rows this subsystem owns and writes back
    second: Any  # of which rows this subsystem alone knows the work on the second side


class Subsystem:
    """What one worker moves."""

    def __init__(
        self, system: System, ownership: Ownership, me: int, watched: Watched, interface: Interface | None = None
    ) -> None:
        """`face`: the interface of the whole, where its joints are glued."""
        self.me, self.whole, self.ownership = me, system, ownership
        self.interface = interface
        self.glued_joints: tuple[InterfaceJoints, RemoteJoints] | None = None
        self.system = System(system.gravity, grouped=system.grouped)
        self.system.tick = system.tick
        self.slices: dict[int, TableSlice] = {}  # by the identity of the whole table
        for key, bodies in system.body_stacks.items():
            if self._take(bodies, lambda name: ownership.part_of[name] == me, ownership.boundary_bodies.__contains__):
                self.system.body_stacks[key] = self.table_of(bodies)
        for key, joints in system.joint_stacks.items():
            if self._take(joints, lambda name: ownership.needs(me, name), ownership.crosses):
                self.system.joint_stacks[key] = self.table_of(joints)
        for key, forces in system.force_stacks.items():
            if self._take(forces, lambda name: ownership.needs(me, name), ownership.crosses):
                self.system.force_stacks[key] = self.table_of(forces)
        known = {name for joints in self.system.joints for name in joints.names}
        self._take(watched, known.__contains__, lambda name: False)
        self.watched: Watched | None = self.table_of(watched)
        self.guards: Guards | None = None
        self.outgoing, self.incoming = self._halos()
        self._take_elements()
        self.glued_joints = None if interface is None else interface_joints_of(interface, self)

    def table_of(self, whole: Any) -> Any:
        """The table that stands for one of the whole system, or None."""
        if self.glued_joints is not None and whole is self.interface:
            return self.glued_joints[0]
        table_slice = self.slices.get(id(whole))
        return None if table_slice is None else table_slice.part

    def _take(self, stack: Any, mine: Callable[[str], bool], at_boundary: Callable[[str], bool]) -> bool:
        """Choose the rows that are mine, if any are; those at the boundary come first."""
        names: list[str] = stack.names
        known = [row for row, name in enumerate(names) if mine(name)]
        if not known:
            return False
        sides = self.ownership.sides if isinstance(stack, Booked) else {}  # a body may be called as a joint is
        whole = isinstance(stack, BlackBoxes)  # which is not divided, neither among workers nor at a boundary
        rows = known if whole else sorted(known, key=lambda row: not at_boundary(names[row]))
        boundary = 0 if whole else sum(at_boundary(names[row]) for row in rows)
        me = self.me
        uses = [names[row] for row in rows]
        home = np.array([name not in sides or self.ownership.owner(name) == me for name in uses])
        found = self.ownership.found  # of these every part keeps whole books
        second = np.array([name in sides and name not in found and sides[name][1] == me for name in uses]) & ~home
        self.slices[id(stack)] = TableSlice(stack, stack.chosen(rows), np.array(rows, np.int64), boundary, home, second)
        return True

    def _halos(self) -> tuple[dict[int, Halo], dict[int, Halo]]:
        """What is told to and heard from every neighbour; elements still have the numbers of the whole."""
        outgoing: dict[int, list[int]] = {}
        incoming: dict[int, list[int]] = {}
        for element, side, reader in self.ownership.across:
            if side == self.me:
                outgoing.setdefault(reader, []).append(element)
            elif reader == self.me:
                incoming.setdefault(side, []).append(element)

        if self.ownership.together:  # everybody talks with all others, also where nothing goes across
            for other in range(self.ownership.count):
                if other != self.me:
                    outgoing.setdefault(other, [])
                    incoming.setdefault(other, [])

        def halos(found: dict[int, list[int]]) -> dict[int, Halo]:
            reads_end_velocity, dimension = self.ownership.reads_end_velocity, len(self.whole.gravity)
            motions = self.whole.elements.motions
            return {
                other: Halo(found[other], reads_end_velocity[found[other]], dimension, motions)
                for other in sorted(found)
            }

        return halos(outgoing), halos(incoming)

    def _take_elements(self) -> None:
        """The elements that are read here, with numbers of their own."""
        whole = self.whole.elements
        used = np.zeros(whole.count, bool)
        used[0] = True
        for stack in self.system.booked:
            for home in map(self.whole.home, stack.names):
                for start, count in zip(home.starts, home.counts, strict=True):
                    used[start : start + count] = True
        rows = np.flatnonzero(used)
        numbers = np.zeros(whole.count, np.int64)
        numbers[rows] = np.arange(len(rows))
        elements = self.system.elements = whole.chosen(rows)
        for table in (
            *(table_slice.part for table_slice in self.slices.values()), *self.outgoing.values(), *self.incoming.values()
        ):  # fmt: skip
            table.renumber(numbers)
        self.elements_here = numbers
        mine = np.ones(len(rows), bool)
        mine[0] = False
        for halo in self.incoming.values():
            mine[halo.element] = False
        self.slices[id(whole)] = TableSlice(whole, elements, rows, 0, mine, np.zeros(len(rows), bool))

    def shard(self, stages: Stages, simulation: WorkerContext, leaks: list[Operation], guards: Guards | None) -> Shard:
        """What the worker is given."""

        def mine(operations: list[Operation]) -> list[Operation]:
            return [(table, verb) for stack, verb in operations if (table := self.table_of(stack)) is not None]

        aims = Aims()
        if guards is not None:
            self.guards, aims = guards_among(guards, simulation, self.system)
        return Shard(
            self.system, self.watched, self.outgoing, self.incoming,
            {id(table_slice.part): table_slice.boundary for table_slice in self.slices.values()}, stages.for_tables(self.table_of),
            simulation.dt, simulation.recorder.every, mine(leaks),
            self.guards, aims, bool(leaks) or guards is not None, self.glued_joints,
        )  # fmt: skip

    # --- the way back ------------------------------------------------------------------------------------------------

    def write_back(self) -> None:
        """The rows that this subsystem owns become those of the whole."""
        for table_slice in self.slices.values():
            home = np.flatnonzero(table_slice.owned)
            table_slice.whole.put_back(table_slice.rows[home], table_slice.part, home)

    def write_back_second_sides(self) -> None:
        """When all subsystems have written back: the work on second sides that were moved here, and what ledgers leave open."""
        for table_slice in self.slices.values():
            second = np.flatnonzero(table_slice.second)
            if len(second):
                rows = table_slice.rows[second]
                table_slice.whole.ledger[rows, WORK_SECOND] = table_slice.part.ledger[second, WORK_SECOND]
                leave_open(table_slice.whole.ledger, rows)


def interface_joints_of(interface: Interface, part: Subsystem) -> tuple[InterfaceJoints, RemoteJoints]:
    """All joints of the whole as a subsystem knows them, and what those show that it has not."""
    whole, ownership = part.whole, part.ownership
    bodies = {name: k for k, name in enumerate(whole.body_home)}
    stacks = {id(stack): k for k, stack in enumerate(part.system.joints)}
    found, names = interface.found_forces, interface.found_forces.names
    places = found.as_made(whole)
    count = len(whole.joint_home)
    degrees = Counter(owner for home in whole.joint_home.values() for owner in home.owners)
    degrees.update(owner for name in names for owner in whole.force_home[name].owners[:2])
    watched = part.elements_here[interface.watched]
    settings = {
        "me": part.me, "stages": interface.stages.tolist(), "local": interface.local, "watched": watched[watched > 0].tolist(),
        "anywhere": len(interface.watched), "apart": interface.apart, "walls": int(interface.watches_walls),
        "undivided": int(interface.undivided),
    }  # fmt: skip
    interface_joints = InterfaceJoints(count + len(places), settings)

    def describe(k: int, name: str, owners: Sequence[str], form: JointForm) -> None:
        """What all parts know of it alike."""
        of = interface_joints
        of.rows[k], of.translations[k], of.glides[k] = form.rows, form.translations, not form.holonomic
        of.repeated[k] = form.rows - form.locks
        of.first_body[k], of.second_body[k] = (bodies.get(owner, NOBODY) for owner in owners)
        of.first_part[k], of.second_part[k] = ownership.sides[name][:2]
        of.first_degree[k], of.second_degree[k] = (degrees.get(owner, 0) for owner in owners)

    numbers: list[Array] = []
    place = 0
    for k, home in enumerate(whole.joint_home.values()):
        form, row, here = home.stack.form, home.stack.row[home.name], part.table_of(home.stack)
        describe(k, home.name, home.owners, form)
        interface_joints.sender[k] = NOBODY if ownership.crosses(home.name) else ownership.owner(home.name)
        if here is not None and home.name in here.row:
            interface_joints.stack[k], interface_joints.place[k] = stacks[id(here)], here.row[home.name]
            continue
        interface_joints.stack[k], interface_joints.place[k] = NOBODY, place
        if interface.apart:
            continue
        numbers += [getattr(home.stack, column)[row].ravel() for column in (*VECTORS, *MATRICES)]
        place += numbers_of(form.rows, whole.elements.motions)
    for k, at in enumerate(places, count):
        describe(k, names[at], whole.force_home[names[at]].owners[:2], found.at(at)[0].form)
        interface_joints.stack[k], interface_joints.place[k], interface_joints.sender[k] = FOUND, at, NOBODY
    state = found.state
    remote = RemoteJoints(place + sum(array.size for array in state) + COUNTER_COUNT)
    remote.numbers[:] = np.concatenate([*numbers, *(array.ravel() for array in state), interface.counter_values])
    return interface_joints, remote


def leave_open(ledger: Array, rows: Indices) -> None:
    """What the named lines leave open is the leak, summed in the order of `modular.ledger.close`."""
    total = ledger[..., rows, 0].copy()
    for line in range(1, LEAKED):
        total += ledger[..., rows, line]
    ledger[..., rows, LEAKED] = -total


def merge_samples(
    recorder: Recorder, system: System, subsystems: Sequence[Subsystem], taken: Sequence[list[Segment]]
) -> None:
    """Put the samples of all workers together; they took them at the same ticks."""
    for pieces in zip(*taken, strict=True):
        done = 0
        while done < pieces[0].used:
            segment = recorder.prepare(system)
            count = min(segment.capacity - segment.used, pieces[0].used - done)
            rows = slice(segment.used, segment.used + count)
            segment.ticks[rows] = pieces[0].ticks[done : done + count]
            _copy_rest(system, segment, subsystems, rows)
            for subsystem, piece in zip(subsystems, pieces, strict=True):
                _each(subsystem, system, segment, piece, rows, slice(done, done + count), _copy)
            for subsystem, piece in zip(subsystems, pieces, strict=True):
                _each(subsystem, system, segment, piece, rows, slice(done, done + count), _complete)
            segment.used += count
            recorder.took(count)
            done += count


def _copy_rest(system: System, segment: Segment, subsystems: Sequence[Subsystem], to: slice) -> None:
    """Forces that are on the ground alone belong to nobody: they are what they were."""
    for stack, (names, series) in zip(system.forces, segment.forces, strict=True):
        rest = np.ones(len(names), np.bool_)
        for subsystem in subsystems:
            table_slice = subsystem.slices.get(id(stack))
            if table_slice is not None:
                rest[table_slice.rows[np.flatnonzero(table_slice.owned)]] = False
        if rest.any():
            for key, array in series.items():
                array[to, rest] = getattr(stack, key)[: len(names)][rest]


def _each(
    subsystem: Subsystem, system: System, segment: Segment, piece: Segment, to: slice, of: slice, do: Any
) -> None:
    """Every stack of a part with its series, in the whole and in the part."""
    stacks = [*system.bodies, *system.joints, *system.forces]
    whole = [*segment.bodies, *segment.joints, *segment.forces]
    mine = iter([*piece.bodies, *piece.joints, *piece.forces])
    for stack, (_, series) in zip(stacks, whole, strict=True):
        table_slice = subsystem.slices.get(id(stack))
        if table_slice is not None:
            _, own = next(mine)
            for key, array in series.items():
                do(table_slice, key, array[to], own[key][of])


def _copy(table_slice: TableSlice, key: str, target: Any, source: Any) -> None:
    """What a worker is at home with."""
    home = np.flatnonzero(table_slice.owned)
    target[:, table_slice.rows[home]] = source[:, home]


def _complete(table_slice: TableSlice, key: str, target: Any, source: Any) -> None:
    """The work on second sides, and what ledgers leave open."""
    second = np.flatnonzero(table_slice.second)
    if key == "ledger" and len(second):
        rows = table_slice.rows[second]
        target[:, rows, WORK_SECOND] = source[:, second, WORK_SECOND]
        leave_open(target, rows)
