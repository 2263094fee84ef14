"""The engine: from a score that is all loops to many ticks in one call."""

from __future__ import annotations

import logging
import os
import threading
import time as clock
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.crew import crew_for, giving_way, share_out
from coordinator.engine.driver import (
    BROKEN,
    EVERY,
    LAST,
    NEXT,
    PART,
    ROOM,
    ROW,
    STATUS,
    TICK,
    TRUE,
    USED,
    WRONG,
    YIELD,
    drive,
)  # fmt: skip
from coordinator.engine.guards import guards_of, kept_by, tell
from coordinator.engine.score import Part, Rounds, compiled
from coordinator.system import System
from modular.elements import Elements, Indices

if TYPE_CHECKING:
    from coordinator.simulation import Simulation

Programs = tuple[Indices, Indices, Indices, Indices]  # begin, first, again, end
GUESS = 1e-6  # of the time that a component takes per tick, before it has been seen [s]
AGAIN = 64  # slices after which other sizes of crew are tried again
SLICE = 0.03  # how long one call may take before Python looks after interrupts and progress [s]
AT_ONCE = 25  # ticks that it takes at least: its first and its last one cost more than those between

_log = logging.getLogger("modular")


class Engine:
    """Runs whole ticks of a simulation between two events, wherever all that takes part is compiled."""

    def __init__(self, threads: int | None) -> None:
        self.threads = threads
        self._version = -1
        self._program: Rounds | None = None
        self._shares: dict[int, list[Programs]] = {}  # the programs of every thread, for each size of crew
        self._pace: dict[int, float] = {}  # seconds per tick, as last seen with so many threads
        self._slices = 0
        self._pool: ThreadPoolExecutor | None = None
        self._team = (0, 0)  # the process whose threads those are, and for how large a crew

    def __getstate__(self) -> dict[str, Any]:
        """A copy of a simulation finds programs and threads of its own."""
        return Engine(self.threads).__dict__

    def run(self, simulation: Simulation, last: int) -> str | None:
        """Go on to tick `last`, or to where something has to be looked at; the name of a body that went wrong, if any.

        Returns early where a joint breaks (before the tick), a body goes wrong (in it) or an alarm rings (after it), and does
        nothing where a component, a rule or a condition is Python. The state is that of a whole number of ticks.
        """
        system, recorder = simulation.system, simulation.recorder
        if simulation.breakage.asked == system.tick or not self._ready(simulation):
            return None
        assert self._program is not None
        guards = guards_of(simulation) if simulation.schedule.watches else None
        if simulation.schedule.watches and guards is None:
            return None
        crew = self._choose() if guards is None else 1
        if crew > 1 and not self._gathered(crew):
            self._shares = {1: self._shares[1]}
            crew = 1
        shares = self._shares[crew]
        guess = GUESS * (1 + sum(len(stack.names) for stack in (*system.bodies, *system.booked)))
        reach = system.tick + max(AT_ONCE, int(SLICE / self._pace.get(crew, guess)))
        state = np.zeros(9, np.int64)
        state[[TICK, LAST, EVERY]] = system.tick, min(last, reach), recorder.every
        state[NEXT] = (system.tick // recorder.every + 1) * recorder.every
        segment, copies = None, []
        if state[NEXT] <= state[LAST]:
            segment = recorder.prepare(system)
            found = recorder.copies(system)
            if found is None:
                return None
            copies = [*found, (state.ctypes.data + 8 * TICK, 8, segment.ticks.ctypes.data, 8)]
            state[[USED, ROOM]] = segment.used, segment.capacity
        state[[PART, ROW]] = -1
        elements = system.elements
        elements.clock[:] = simulation.dt, 0.0, simulation.dt
        before, sample, after = (
            share_out(parts, elements, 1)[0]
            for parts in (
                simulation.breakage.score(),
                [*shown(system), *recorder.score(system)],
                simulation.alarm.score(system),
            )
        )
        guard, kept = np.zeros((0, 5), np.int64), np.zeros((0, 4), np.int64)
        if guards is not None and guards.count:
            guard = share_out([(guards, "guard")], elements, 1)[0]
            kept, _memory = kept_by(system)  # which lives as long as this call
        meeting, blame = np.zeros(YIELD + 8, np.int64), np.full((crew, 2), -1, np.int64)
        meeting[YIELD] = giving_way()
        (_, mine), *others = enumerate(shares)
        rest: list[Any] = [
            before, sample, np.array(copies, np.int64).reshape(-1, 4), after, guard, kept, elements.sheet, elements.clock,
            simulation.dt, state, meeting, blame,
        ]  # fmt: skip
        started, first, taken, pool = clock.perf_counter(), system.tick, int(state[USED]), self._pool
        try:
            helpers = [pool.submit(play_on, share, rest, me) for me, share in others] if pool is not None else []
            play_on(mine, rest, 0)
            for helper in helpers:
                helper.result()
        finally:
            system.tick = int(state[TICK])
            if segment is not None:
                segment.used = int(state[USED])
            system.evaluations += self._program.evaluations * (system.tick - first)
            recorder.took(int(state[USED]) - taken)
        if system.tick > first:
            self._pace[crew] = max((clock.perf_counter() - started) / (system.tick - first), 1e-8)
        for stack, verb in shown(system):
            stack.play(verb, elements)
        if state[STATUS] in (BROKEN, TRUE):
            simulation.breakage.asked = system.tick  # the step takes this tick, and need not ask again
        if guards is not None:
            tell(simulation, guards)
        if state[STATUS] != WRONG:
            return None
        system.evaluations += self._program.evaluations
        return str(self._program.first[state[PART]][0].names[state[ROW]])  # the same places as in `again`

    def _ready(self, simulation: Simulation) -> bool:
        """Whether everything that takes part in a tick is compiled, and its program is at hand."""
        system = simulation.system
        if self._version != system.version:
            self._version = system.version
            rounds = simulation.coupling.score(system)
            self._program = None
            if rounds is not None and all(
                map(compiled, [*rounds.parts, *simulation.recorder.score(system), *shown(system)])
            ):
                self._program = rounds
                most = crew_for(sum(len(stack.names) for stack in system.bodies), self.threads)
                crews = {1, most}
                self._shares = {crew: _programs(rounds, system.elements, crew) for crew in crews}
                self._pace = {crew: pace for crew, pace in self._pace.items() if crew in crews}
        return self._program is not None

    def _choose(self) -> int:
        """The size of crew that was the fastest of late: other programs may want the cores too. The bits are the same."""
        if self.threads is not None:
            return max(self._shares)
        self._slices += 1
        if self._slices % AGAIN == 0:
            self._pace = {
                crew: pace for crew, pace in self._pace.items() if crew == min(self._pace, key=self._pace.__getitem__)
            }
        untried = [crew for crew in self._shares if crew not in self._pace]
        return untried[0] if untried else min(self._pace, key=self._pace.__getitem__)

    def _gathered(self, crew: int) -> bool:
        """Whether threads enough for the whole crew are there, since they wait for each other; a forked process starts its own."""
        if self._pool is not None and self._team == (os.getpid(), crew):
            return True
        if self._team[0] == os.getpid():
            self.close()
        pool, gate = ThreadPoolExecutor(crew - 1, thread_name_prefix="modular"), threading.Barrier(crew)
        try:
            for _ in range(crew - 1):
                pool.submit(gate.wait)
            gate.wait()
        except RuntimeError as error:
            gate.abort()
            pool.shutdown()
            _log.warning("no %d threads can be had here (%s); one does all", crew, error)
            return False
        self._pool, self._team = pool, (os.getpid(), crew)
        return True

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def play_on(programs: Programs, rest: list[Any], me: int) -> None:
    """What each thread does."""
    everything: list[Any] = [*programs, *rest, me]
    drive(*everything)


def _programs(rounds: Rounds, elements: Elements, crew: int) -> list[Programs]:
    """The four programs of each thread."""
    begin, first, again, end = (
        share_out(parts, elements, crew) for parts in (rounds.begin, rounds.first, rounds.again, rounds.end)
    )
    return list(zip(begin, first, again, end, strict=True))


def shown(system: System) -> list[Part]:
    """What lets joints and forces see the corrected state."""
    return [(bodies, "show") for bodies in system.bodies]
