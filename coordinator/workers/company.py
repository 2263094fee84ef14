"""A company of workers moves one mechanism: the simulation lends it out between two events and takes it back to look at it.

Nobody has to be asked in a tick but neighbours. The company goes on in slices. Where a joint breaks, a condition comes true or
a body goes wrong in a slice, all workers go back to its beginning and on to the tick before, and that tick is the
simulation's, taken in one piece as always: so an event is the same code, and the same bits, however the mechanism was moved.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from coordinator.couplings.coupling import Coupling
from coordinator.engine.engine import shown
from coordinator.engine.guards import guards_among, guards_of, tell
from coordinator.system import System
from coordinator.workers.part import Part
from coordinator.workers.partition import as_wanted, partition
from coordinator.workers.places import Places
from coordinator.workers.samples import absorb
from coordinator.workers.stages import Stages
from coordinator.workers.worker import Worker
from modular.assembly import Assembly
from modular.component import class_name
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.simulation import Simulation

SLICE = 0.03  # how long a slice should take [s]
GUESS = 16  # ticks of the first


class Company:
    """Workers in this process, one after the other; the same as in many."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self.parts = parts
        self.workers: list[Worker] = []
        self._lent = False
        self._ticks = GUESS

    def run(self, simulation: Simulation, last: int) -> bool:
        """A slice of ticks, to `last` at most; False where the next tick has to be taken in one piece."""
        system = simulation.lent_system
        if simulation.breakage.asked == system.tick or not self._lend(simulation):
            return False
        first, started = system.tick, clock.perf_counter()
        reach = min(last, first + self._ticks)
        if not together(self.workers, reach):
            stood = min(worker.tick for worker in self.workers)
            for worker in self.workers:
                worker.go_back()
            together(self.workers, stood)
            reach = stood
        system.tick = reach
        absorb(simulation.recorder, system, self.workers)
        for worker in self.workers:
            worker.keep()
        system.evaluations += reach - first
        taken = clock.perf_counter() - started
        if reach > first:
            self._ticks = max(1, int(SLICE * (reach - first) / max(taken, 1e-9)))
        return reach > first

    def _lend(self, simulation: Simulation) -> bool:
        """Give every worker its part, where it does not have it; False where a condition can only be asked in one piece."""
        if self._lent:
            return True
        guards = guards_of(simulation) if simulation.schedule.watches else None
        if simulation.schedule.watches and guards is None:
            return False
        system = simulation.lent_system
        leaks = simulation.alarm.score(system)
        stages = stages_of(simulation.coupling, system, books=bool(leaks))
        self.parts = with_newcomers(self.parts, system)
        places = Places(system, self.parts)
        for me in range(len(self.parts)):
            part = Part(system, places, me, simulation.breakage.watched)
            mine = [(table, verb) for stack, verb in leaks if (table := part.table_of(stack)) is not None]
            watched = guards_among(guards, simulation, part.system) if guards is not None else None
            worker = Worker(part, stages, simulation.dt, simulation.recorder.every, mine, watched)
            worker.must_look = bool(leaks) or guards is not None
            self.workers.append(worker)
        self._lent = True
        return True

    def take_back(self, simulation: Simulation) -> None:
        """Let the simulation have everything, with the samples taken on the way."""
        if not self._lent:
            return
        for worker in self.workers:
            worker.part.give_back()
        for worker in self.workers:
            worker.part.give_back_seconds()
            if worker.guards is not None:
                tell(simulation, worker.guards)
        self._lent = False
        self.workers = []
        system = simulation.lent_system
        for stack, verb in shown(system):
            stack.play(verb, system.elements)


def with_newcomers(parts: Sequence[Sequence[str]], system: System) -> list[list[str]]:
    """The bodies of each part as they are now: one that has come goes where it is joined to, or where there is the least to do."""
    found = [[name for name in names if name in system.body_home] for names in parts]
    part_of = {name: part for part in found for name in part}
    for name in system.body_home:
        if name not in part_of:
            mates = [owner for use in system.uses[name] for owner in system.home(use).owners if owner in part_of]
            part_of[name] = part_of[mates[0]] if mates else min(found, key=len)
            part_of[name].append(name)
    return found


def stages_of(coupling: Coupling, system: System, *, books: bool) -> Stages:
    """What workers play, or why they cannot."""
    rounds = coupling.score(system)
    if rounds is None:
        raise ModelError(
            f"workers: the coupling {class_name(type(coupling))} sees the whole system at once, or has a rule in Python; take "
            "Penalty with one of the rules of coordinator.rules, or run in one process."
        )
    return Stages.of(rounds, shown(system), books=books)


def together(workers: Sequence[Worker], last: int) -> bool:
    """Let workers of one process go on to a tick, stage by stage; False where one of them stopped before."""
    for worker in workers:
        worker.recorder.expect(worker.part.system, last - worker.tick)
    running = [worker.ticks(last) for worker in workers]
    while True:
        waiting = [next(ticks, None) for ticks in running]
        if None in waiting:
            return all(worker.stopped is None for worker in workers)
        ferry(workers, waiting[0])


def ferry(workers: Sequence[Worker], kind: str | None) -> None:
    """Carry what was said across the borders."""
    if kind:
        for me, worker in enumerate(workers):
            for other, border in worker.part.telling.items():
                workers[other].part.hearing[me].frame(kind)[...] = border.frame(kind)


def parts_for(assembly: Assembly, workers: int | Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The bodies of each worker: as wanted, or so that all have the same to do and few joints go across."""
    if isinstance(workers, Mapping):
        return list(as_wanted(workers, tuple(assembly.bodies)).values())
    if isinstance(workers, bool) or not isinstance(workers, int):
        raise ModelError(
            f"Simulation: workers = {workers!r}; give a number of workers, or the names of the bodies of each, as in "
            "{'left': ['rod0', 'rod1'], 'right': ['rod2']}."
        )
    return partition(assembly.graph, workers)
