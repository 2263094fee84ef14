"""A part of a system is a system: some bodies with the joints and forces on them, in tables of their own.

Of a joint to a body that is moved elsewhere a part has everything, and of that body nothing but the elements the joint reads: those
rows are filled by what the neighbour says. Both neighbours work the joint out, from the same numbers, and so to the same bits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.seats import COUNTED, MATRICES, NOBODY, VECTORS, Elsewhere, Seats, numbers_of
from coordinator.distributed.workers.black_boxes import BlackBoxes
from coordinator.distributed.workers.border import Border
from coordinator.distributed.workers.piece import Piece
from coordinator.distributed.workers.places import Places
from coordinator.distributed.workers.stages import Stages
from coordinator.engine.guards import Aims, Guards, guards_among
from coordinator.engine.score import Part as Verb
from coordinator.events.breakage import Watched
from coordinator.system import System
from modular.elements import Array, Indices
from modular.ledger import LEAKED, WORK_SECOND, Booked

if TYPE_CHECKING:
    from coordinator.simulation import Simulation


@dataclass
class Share:
    """What a part has of a table."""

    whole: Any
    part: Any
    rows: Indices  # of the whole, in the order of the part; those at a border come first
    border: int  # how many those are
    home: Any  # which rows are this part's to give back
    second: Any  # of which rows this part alone knows the work on the second side


class Part:
    """What one worker moves."""

    def __init__(
        self, system: System, places: Places, me: int, watched: Watched, face: Interface | None = None
    ) -> None:
        """`face`: the interface of the whole, where its joints are glued."""
        self.me, self.whole, self.places = me, system, places
        self.face = face
        self.seated: tuple[Seats, Elsewhere] | None = None
        self.system = System(system.gravity, grouped=system.grouped)
        self.system.tick = system.tick
        self.shares: dict[int, Share] = {}  # by the identity of the whole table
        for key, bodies in system.body_stacks.items():
            if self._take(bodies, lambda name: places.part_of[name] == me, places.at_border.__contains__):
                self.system.body_stacks[key] = self.table_of(bodies)
        for key, joints in system.joint_stacks.items():
            if self._take(joints, lambda name: places.needs(me, name), places.crosses):
                self.system.joint_stacks[key] = self.table_of(joints)
        for key, forces in system.force_stacks.items():
            if self._take(forces, lambda name: places.needs(me, name), places.crosses):
                self.system.force_stacks[key] = self.table_of(forces)
        known = {name for joints in self.system.joints for name in joints.names}
        self._take(watched, known.__contains__, lambda name: False)
        self.watched: Watched | None = self.table_of(watched)
        self.guards: Guards | None = None
        self.telling, self.hearing = self._borders()
        self._take_elements()
        self.seated = None if face is None else seated(face, self)

    def table_of(self, whole: Any) -> Any:
        """The table that stands for one of the whole system, or None."""
        if self.seated is not None and whole is self.face:
            return self.seated[0]
        share = self.shares.get(id(whole))
        return None if share is None else share.part

    def _take(self, stack: Any, mine: Callable[[str], bool], at_border: Callable[[str], bool]) -> bool:
        """Choose the rows that are mine, if any are; those at the border come first."""
        names: list[str] = stack.names
        known = [row for row, name in enumerate(names) if mine(name)]
        if not known:
            return False
        sides = self.places.sides if isinstance(stack, Booked) else {}  # a body may be called as a joint is
        whole = isinstance(stack, BlackBoxes)  # which is not divided, neither among workers nor at a border
        rows = known if whole else sorted(known, key=lambda row: not at_border(names[row]))
        border = 0 if whole else sum(at_border(names[row]) for row in rows)
        me = self.me
        uses = [names[row] for row in rows]
        home = np.array([name not in sides or self.places.home(name) == me for name in uses])
        second = np.array([isinstance(stack, Booked) and sides[name][1] == me for name in uses]) & ~home
        self.shares[id(stack)] = Share(stack, stack.chosen(rows), np.array(rows, np.int64), border, home, second)
        return True

    def _borders(self) -> tuple[dict[int, Border], dict[int, Border]]:
        """What is told to and heard from every neighbour; elements still have the numbers of the whole."""
        telling: dict[int, list[int]] = {}
        hearing: dict[int, list[int]] = {}
        for element, side, reader in self.places.across:
            if side == self.me:
                telling.setdefault(reader, []).append(element)
            elif reader == self.me:
                hearing.setdefault(side, []).append(element)

        if self.places.together:  # everybody talks with all others, also where nothing goes across
            for other in range(self.places.count):
                if other != self.me:
                    telling.setdefault(other, [])
                    hearing.setdefault(other, [])

        def borders(found: dict[int, list[int]]) -> dict[int, Border]:
            foreseen, dimension = self.places.foreseen, len(self.whole.gravity)
            motions = self.whole.elements.motions
            return {other: Border(found[other], foreseen[found[other]], dimension, motions) for other in sorted(found)}

        return borders(telling), borders(hearing)

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
            *(share.part for share in self.shares.values()), *self.telling.values(), *self.hearing.values()
        ):  # fmt: skip
            table.renumber(numbers)
        self.elements_here = numbers
        mine = np.ones(len(rows), bool)
        mine[0] = False
        for border in self.hearing.values():
            mine[border.element] = False
        self.shares[id(whole)] = Share(whole, elements, rows, 0, mine, np.zeros(len(rows), bool))

    def piece(self, stages: Stages, simulation: Simulation, leaks: list[Verb], guards: Guards | None) -> Piece:
        """What the worker is given."""

        def mine(parts: list[Verb]) -> list[Verb]:
            return [(table, verb) for stack, verb in parts if (table := self.table_of(stack)) is not None]

        aims = Aims()
        if guards is not None:
            self.guards, aims = guards_among(guards, simulation, self.system)
        return Piece(
            self.system, self.watched, self.telling, self.hearing,
            {id(share.part): share.border for share in self.shares.values()}, stages.for_tables(self.table_of),
            simulation.dt, simulation.recorder.every, mine(leaks),
            self.guards, aims, bool(leaks) or guards is not None, self.seated,
        )  # fmt: skip

    # --- the way back ------------------------------------------------------------------------------------------------

    def give_back(self) -> None:
        """What this part is at home with becomes the rows of the whole."""
        for share in self.shares.values():
            home = np.flatnonzero(share.home)
            share.whole.put_back(share.rows[home], share.part, home)

    def give_back_seconds(self) -> None:
        """When all parts have given back: the work on second sides that were moved here, and what ledgers leave open."""
        for share in self.shares.values():
            second = np.flatnonzero(share.second)
            if len(second):
                rows = share.rows[second]
                share.whole.ledger[rows, WORK_SECOND] = share.part.ledger[second, WORK_SECOND]
                leave_open(share.whole.ledger, rows)


def seated(face: Interface, part: Part) -> tuple[Seats, Elsewhere]:
    """All joints of the whole as a part knows them, and what those show that it has not."""
    whole, places = part.whole, part.places
    bodies = {name: k for k, name in enumerate(whole.body_home)}
    stacks = {id(stack): k for k, stack in enumerate(part.system.joints)}
    held = Counter(owner for home in whole.joint_home.values() for owner in home.owners)
    watched = part.elements_here[face.watched]
    told = {
        "me": part.me, "stages": face.stages.tolist(), "local": face.local, "watched": watched[watched > 0].tolist(),
        "anywhere": len(face.watched), "apart": face.apart,
    }  # fmt: skip
    seats = Seats(len(whole.joint_home), told)
    numbers: list[Array] = []
    place = 0
    for k, home in enumerate(whole.joint_home.values()):
        form, row, here = home.stack.form, home.stack.row[home.name], part.table_of(home.stack)
        seats.rows[k], seats.translations[k], seats.glides[k] = form.rows, form.translations, not form.holonomic
        seats.repeated[k] = form.rows - form.locks
        seats.first_body[k], seats.second_body[k] = (bodies.get(owner, NOBODY) for owner in home.owners)
        seats.first_part[k], seats.second_part[k] = places.sides[home.name]
        seats.first_held[k], seats.second_held[k] = (held.get(owner, 0) for owner in home.owners)
        seats.teller[k] = NOBODY if places.crosses(home.name) else places.home(home.name)
        if here is not None and home.name in here.row:
            seats.stack[k], seats.place[k] = stacks[id(here)], here.row[home.name]
            continue
        seats.stack[k], seats.place[k] = NOBODY, place
        if face.apart:
            continue
        numbers += [getattr(home.stack, column)[row].ravel() for column in (*VECTORS, *MATRICES)]
        place += numbers_of(form.rows, whole.elements.motions)
    elsewhere = Elsewhere(place + COUNTED)
    elsewhere.numbers[:] = np.concatenate([*numbers, face.counted])
    return seats, elsewhere


def leave_open(ledger: Array, rows: Indices) -> None:
    """What the named lines leave open is the leak, summed in the order of `modular.ledger.close`."""
    total = ledger[..., rows, 0].copy()
    for line in range(1, LEAKED):
        total += ledger[..., rows, line]
    ledger[..., rows, LEAKED] = -total
