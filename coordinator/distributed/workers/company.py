"""A company of workers moves one mechanism: the simulation lends it out between two events and takes it back to look at it.

Nobody has to be asked in a tick but neighbours. The company goes on in slices. Where a joint breaks, a condition comes true or
a body goes wrong in a slice, all workers go back to its beginning and on to the tick before, and that tick is the
simulation's, taken in one piece as always: so an event is the same code, and the same bits, however the mechanism was moved.
"""

from __future__ import annotations

import logging
import os
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from coordinator.couplings.coupling import Coupling
from coordinator.couplings.interface.interface import Interface
from coordinator.distributed.launchers import Launcher, Subprocess
from coordinator.distributed.protocol.deadlines import Deadlines
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.workers.balance import fair_shares
from coordinator.distributed.workers.black_box import BlackBox
from coordinator.distributed.workers.black_boxes import BlackBoxes
from coordinator.distributed.workers.lines import Line
from coordinator.distributed.workers.part import Part
from coordinator.distributed.workers.partition import as_wanted, partition
from coordinator.distributed.workers.places import Places
from coordinator.distributed.workers.samples import absorb
from coordinator.distributed.workers.stages import Stages
from coordinator.distributed.workers.team import Here, Member, Team
from coordinator.distributed.workers.whose import black_boxes_in, check_homes, divided
from coordinator.engine.engine import shown
from coordinator.engine.guards import guards_of, tell
from coordinator.engine.score import Part as Verb
from coordinator.engine.score import Rounds, perform
from coordinator.system import System
from modular.assembly import Assembly
from modular.component import class_name
from modular.errors import ModelError
from modular.names import LONGEST, missing, unfit
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.simulation import Simulation

_log = logging.getLogger("modular")
LARGEST = 1 << 28  # bytes of what a worker says at once
GUESS = 16  # ticks of the first slice, and of the shortest
NEVER = -1
PATIENCE, HASTE = 60.0, 0.5  # seconds to give back what was lent, at the end, and where something went wrong


@dataclass(frozen=True)
class Site:
    """Where workers come from and how they find their way: see the pages on workers and on clusters.

    `where`: the mailbox that they turn to; left out, one that the launcher thinks fit. `keys`: those of the coordinator, by which
    workers know it; left out, none in a folder that only you may enter, and fresh ones elsewhere, of which the launcher tells
    workers. Workers that are started by hand find those of this user by themselves, on this machine; others must be given some.
    `guests`: names of workers by their public keys; left out, a launcher gives each process a pair of its own.
    `deadlines`: how long everybody waits for everything, such as Deadlines(silence=20.0) for workers that hang.
    `welcoming`: whoever comes with another name than those of the workers takes part from the next slice on.
    `largest`: bytes that a worker may say at once; more is refused by its name.
    """

    launcher: Launcher = field(default_factory=Subprocess)
    where: str = ""
    keys: Keys | None = None
    guests: Mapping[bytes, str] | None = None
    deadlines: Deadlines | None = None
    welcoming: bool = False
    largest: int = LARGEST


class Company:
    """Who moves which bodies, and where the mechanism is."""

    def __init__(self, parts: Mapping[str, Sequence[str]], team: Team, *, fixed: bool = False) -> None:
        """`fixed`: bodies stay with the workers that they were given to."""
        self.fixed = fixed
        self.bodies = [list(part) for part in parts.values()]
        self.team = team
        self._parts: list[Part] = []  # while it is lent
        self._lent_at = NEVER  # the tick at which it was
        self._process = os.getpid()  # to which workers answer
        self.stopped = False  # whether the last slice ended where the simulation has to look at something
        self._whole = NEVER  # the tick from which on one tick is the simulation's
        self._warned = False
        self.failure = ""  # why the mechanism was lost with its workers
        self._ticks = GUESS
        self._evaluations = 1  # of all forces, per tick
        self._ending: list[Verb] = []  # what is played before anybody looks, where that needs the whole

    def run(self, simulation: Simulation, last: int) -> bool:
        """A slice of ticks, to `last` at most; False where the next tick has to be taken in one piece."""
        if self.failure:
            raise ModelError(f"{self.failure} This run cannot go on; what was recorded is in `recorded`.")
        self._check_process()
        self._let_come_and_go(simulation)
        if not self.bodies:
            return False
        try:
            return self._run(simulation, last)
        except KeyboardInterrupt as error:
            if simulation.lent_system.tick != self._lent_at:
                self._lose(error)
            elif self._parts:  # workers were starting: what they were lent still stands here as it was
                self._parts = []
                self.team.abandon()
            raise
        except BaseException as error:
            self._lose(error)
            raise

    def _run(self, simulation: Simulation, last: int) -> bool:
        system = simulation.lent_system
        if system.tick in (self._whole, simulation.breakage.asked) or not self._lend(simulation):
            return False
        first, started = system.tick, clock.perf_counter()
        reach = min(last, first + min(self._ticks, self.team.longest))
        stood = self.team.go(reach)
        self.stopped, self._whole = any(one.why for one in stood), NEVER
        if self.stopped:
            reach = self._whole = min(one.tick for one in stood)
            self.team.go_back()
            self.team.go(reach)
        system.tick = reach
        system.evaluations += self._evaluations * (reach - first)
        absorb(simulation.recorder, system, self._parts, self.team.samples())
        if reach > first:
            pace = (clock.perf_counter() - started) / (reach - first)
            wanted = max(GUESS, int(self.team.slice / max(pace, 1e-9)))
            self._ticks = min(wanted, 8 * self._ticks, self.team.longest)
        return reach > first

    @property
    def has_it(self) -> bool:
        """Whether the mechanism is with the workers now."""
        return bool(self._parts)

    def members(self) -> list[Member]:
        """The workers with their bodies."""
        return [
            replace(member, bodies=tuple(bodies))
            for member, bodies in zip(self.team.members(), self.bodies, strict=True)
        ]

    # --- workers come and go -----------------------------------------------------------------------------------------

    def enlist(self, simulation: Simulation, name: str, bodies: Sequence[str] = ()) -> None:
        """One more worker, with some bodies that others have had, or with its share of all."""
        self._check_process()
        names = [member.name for member in self.team.members()]
        check_name(name)
        if name in names:
            raise ModelError(f"worker '{name}' is there already; workers are {', '.join(names)}.")
        if self.fixed and not bodies:
            raise ModelError(f"worker '{name}': bodies were given to workers by hand; say which ones it is to have.")
        self.take_back(simulation)
        if bodies:
            mine = set(bodies)
            left = {old: [b for b in part if b not in mine] for old, part in zip(names, self.bodies, strict=True)}
            wanted = as_wanted({**left, name: list(bodies)}, tuple(simulation.assembly.bodies))
            check_homes(black_boxes_in(simulation.assembly.bodies), wanted)
            self.fixed, parts = True, list(wanted.values())
        else:
            parts = partition(simulation.assembly.graph, len(names) + 1)
        self.team.enlist(name)
        self.team.forget()
        self.bodies = parts
        _log.info("worker '%s' has come and takes %d bodies", name, len(parts[-1]))

    def retire(self, simulation: Simulation, name: str) -> None:
        """A worker goes; the others take its bodies over. When the last has gone the simulation moves them itself."""
        self._check_process()
        names = [member.name for member in self.team.members()]
        if name not in names:
            raise ModelError(missing("worker", name, names))
        living = [body for body, box in black_boxes_in(simulation.assembly.bodies).items() if box.worker == name]
        if living:
            raise ModelError(f"worker '{name}' cannot go: body '{living[0]}' is a black box that lives there alone.")
        self.take_back(simulation)
        self.team.dismiss(name)
        self.team.forget()
        del self.bodies[names.index(name)]
        if self.bodies and not self.fixed:
            self.bodies = partition(simulation.assembly.graph, len(self.bodies))
        elif self.bodies:
            self.bodies = self._with_newcomers(simulation.lent_system)
        _log.info("worker '%s' has gone", name)

    def _let_come_and_go(self, simulation: Simulation) -> None:
        """Those who have come by themselves, and those who want to go."""
        comers, goers = self.team.comings()
        for name in comers:
            if not self.fixed and len(self.bodies) < len(simulation.assembly.bodies):
                self.enlist(simulation, name)
        living = {box.worker for box in black_boxes_in(simulation.assembly.bodies).values()} if goers else set()
        for name in goers:
            if name in living:
                _log.warning("worker '%s' wants to go, and black boxes live there: it is to be replaced", name)
            else:
                self.retire(simulation, name)

    # --- the mechanism -----------------------------------------------------------------------------------------------

    def _lend(self, simulation: Simulation) -> bool:
        """Give every worker its piece, where it does not have it; False where a condition can only be asked in one piece."""
        if self._parts:
            return True
        guards = guards_of(simulation) if simulation.schedule.watches else None
        if simulation.schedule.watches and guards is None:
            if not self._warned:
                _log.warning("a condition of the model can only be asked in one piece; until it is over workers rest")
                self._warned = True
            return False
        system = simulation.lent_system
        if (kept := next((b for b in system.bodies if isinstance(b, BlackBoxes) and not b.saves), None)) is not None:
            if not self._warned:
                whose = f"'{kept.names[0]}' ({kept.what})"
                _log.warning("%s does not save what it remembers; every tick is taken in one piece", whose)
                self._warned = True
            return False
        leaks = simulation.alarm.score(system)
        rounds = rounds_of(simulation.coupling, system)
        stages, self._evaluations = (
            Stages.of(rounds, shown(system), books=bool(leaks) or _read_in_a_tick(rounds)),
            rounds.evaluations,
        )
        face = interface_in(rounds)
        if face is not None:
            face.prepare("advance")  # joints meet before they part
        if not self.fixed and (shares := fair_shares(simulation.assembly.graph, self.members())) is not None:
            self.bodies = shares
            self.team.forget()
        self.bodies = self._with_newcomers(system)
        places, watched = Places(system, self.bodies, together=face is not None), simulation.breakage.watched
        self._ending = rounds.end if face is not None else []
        self._parts = [Part(system, places, me, watched, face) for me in range(len(self.bodies))]
        self._lent_at = system.tick
        self.team.begin([part.piece(stages, simulation, leaks, guards) for part in self._parts])
        return True

    def take_back(self, simulation: Simulation) -> None:
        """Let the simulation have everything again."""
        if not self._parts:
            return
        self._check_process()
        try:
            self.team.give_back()
        except BaseException as error:
            self._lose(error)
            raise
        parts, self._parts = self._parts, []
        for part in parts:
            part.give_back()
        for part in parts:
            part.give_back_seconds()
            if part.guards is not None:
                tell(simulation, part.guards)
        system = simulation.lent_system
        perform(system.elements, shown(system))
        face = parts[0].face
        if face is not None and parts[0].seated is not None:
            face.take_back(parts[0].seated[1].counted, self._ending)

    def line(self, name: str, box: BlackBox) -> Line:
        """To the worker that a black box names."""
        names = [member.name for member in self.team.members()]
        check_homes({name: box}, {worker: [name] for worker in names})
        return self.team.line(box.worker)

    def _with_newcomers(self, system: System) -> list[list[str]]:
        self.fixed = self.fixed or any(isinstance(bodies, BlackBoxes) for bodies in system.bodies)
        return with_newcomers(self.bodies, system, [member.name for member in self.team.members()])

    def close(self, simulation: Simulation, within: float) -> None:
        """Take everything back and let the workers go, whatever happens; nobody is waited for longer than so long [s].

        A forked process has none to let go.
        """
        if self._process != os.getpid():
            return
        try:
            if self._parts:
                self.team.hurry(within)
                self.take_back(simulation)
        except ModelError as error:
            self._lose(error)
            _log.warning("%s The simulation stays as it was when the mechanism was last lent out.", error)
        finally:
            self.team.close()

    @contextmanager
    def in_haste(self) -> Iterator[None]:
        """Meanwhile nobody is waited for longer than a moment."""
        self.team.hurry(HASTE)
        try:
            yield
        finally:
            self.team.hurry(inf)

    def _check_process(self) -> None:
        """Refuse what only the process can do to which workers answer."""
        if self._process != os.getpid():
            raise ModelError(
                "this process was forked from the one that has the workers of this simulation, and they answer that one alone; "
                "make the simulation here, or fork before it has workers."
            )

    def _lose(self, error: BaseException) -> None:
        """The mechanism is lost if it was lent: how it stands now only the workers knew."""
        if self._parts:
            lost = f"the mechanism was lost in the middle of a slice ({type(error).__name__})."
            self.failure, self._parts = str(error) if isinstance(error, ModelError) else lost, []


def with_newcomers(parts: Sequence[Sequence[str]], system: System, workers: Sequence[str]) -> list[list[str]]:
    """The bodies of each part as they are now: one that has come goes where it lives or is joined to, or where little is to do."""
    found = [[name for name in names if name in system.body_home] for names in parts]
    part_of = {name: part for part in found for name in part}
    for name, stack in system.body_home.items():
        if name not in part_of and isinstance(stack, BlackBoxes):
            part_of[name] = found[list(workers).index(stack.worker)]
            part_of[name].append(name)
    for name in system.body_home:
        if name not in part_of:
            mates = [owner for use in system.uses[name] for owner in system.home(use).owners if owner in part_of]
            part_of[name] = part_of[mates[0]] if mates else min(found, key=len)
            part_of[name].append(name)
    return found


def rounds_of(coupling: Coupling, system: System) -> Rounds:
    """What workers play, or why they cannot."""
    rounds = coupling.divided(system)
    known = {id(stack) for stack in (*system.bodies, *system.booked, system.elements)}
    if rounds is None or not all(id(s) in known or isinstance(s, Interface) for s, _ in rounds.parts):
        raise ModelError(
            f"workers: the coupling {class_name(type(coupling))} sees the whole system at once, or has a rule in Python; take "
            "Penalty with one of the rules of coordinator.couplings.rules, Glued or Relaxed, or run in one process."
        )
    return rounds


def interface_in(rounds: Rounds) -> Interface | None:
    """The interface that takes part, if joints are glued."""
    return next((stack for stack, _ in rounds.parts if isinstance(stack, Interface)), None)


def company_for(assembly: Assembly, workers: int | Mapping[str, Sequence[str]], launcher: str | Site) -> Company:
    """Workers as asked for: parts of the bodies, or so many that all have the same to do and few joints go across."""
    wanted = divided(assembly, workers)
    for name in wanted:
        check_name(name)
    fixed = isinstance(workers, Mapping) or bool(black_boxes_in(assembly.bodies))
    return Company(wanted, team_for(list(wanted), launcher), fixed=fixed)


def _read_in_a_tick(rounds: Rounds) -> bool:
    """Whether joints read their own books while they act (modular/guarding.py)."""
    return any(verb == "guard" for _, verb in rounds.first)


def check_name(worker: str) -> None:
    """Refuse what is no name of a worker."""
    if wrong := unfit(worker):
        raise ModelError(f"worker {ascii(worker)[:LONGEST]}: {wrong}; choose a short name of letters that can be seen.")


def check_divisible(simulation: Simulation) -> None:
    """Refuse what can only be moved in one piece."""
    system = simulation.lent_system
    rounds_of(simulation.coupling, system)
    stacks: list[Any] = [*system.bodies, *system.joints, *system.forces]
    for stack in stacks:
        if not isinstance(stack, Table | BlackBoxes):
            raise ModelError(
                f"workers: '{stack.names[0]}' ({class_name(type(stack))}) is kept in one piece, in Python; derive its stack from "
                "modular.stack.Stack, or run in one process."
            )


def team_for(names: Sequence[str], launcher: str | Site) -> Team:
    """Where the workers are: "here", in "processes" on this machine, or wherever a site says."""
    from coordinator.distributed.workers.away import Away  # sockets, for those who want them

    if launcher == "here":
        return Here(names)
    if launcher == "processes":
        launcher = Site()
    if not isinstance(launcher, Site):
        raise ModelError(f"Simulation: launcher = {launcher!r}; give 'processes', 'here' or a Site(…) of your own.")
    return Away(
        names, launcher.launcher, where=launcher.where or launcher.launcher.mailbox(), keys=launcher.keys,
        guests=launcher.guests, deadlines=launcher.deadlines, welcoming=launcher.welcoming, largest=launcher.largest,
    )  # fmt: skip
