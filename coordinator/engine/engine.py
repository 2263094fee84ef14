"""The engine: from a program that is all loops to many ticks in one call."""

from __future__ import annotations

import logging
import os
import threading
import time as clock
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from coordinator.engine.context import EngineContext
from coordinator.engine.driver import (
    BROKEN,
    EVERY,
    LAST,
    NEXT,
    OPERATION,
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
from coordinator.engine.program import Operation, TickProgram, compiled, watching
from coordinator.engine.threads import divide_among_threads, thread_count_for, yield_address
from coordinator.system import System
from modular.elements import Elements, Indices

ThreadProgram = tuple[Indices, Indices, Indices, Indices]  # prologue, first tick, next ticks, epilogue
INITIAL_SECONDS_PER_COMPONENT = 1e-6  # of the time that a component takes per tick, before it has been seen [s]
RETRY_SLICES = 64  # slices after which other numbers of threads are tried again
SLICE_SECONDS = 0.03  # how long one call may take before Python looks after interrupts and progress [s]
MIN_SLICE_TICKS = 25  # ticks that it takes at least: its first and its last one cost more than those between

_log = logging.getLogger("modular")


class Engine:
    """Runs whole ticks of a simulation between two events, wherever all that takes part is compiled."""

    def __init__(self, threads: int | None) -> None:
        self.threads = threads
        self._version = -1
        self._tick_program: TickProgram | None = None
        self._programs: dict[int, list[ThreadProgram]] = {}  # the programs of every thread, for each number of threads
        self._tick_seconds: dict[int, float] = {}  # seconds per tick, as last seen with so many threads
        self._slices = 0
        self._pool: ThreadPoolExecutor | None = None
        self._pool_owner = (0, 0)  # the process whose threads those are, and how many there are

    def __getstate__(self) -> dict[str, Any]:
        """A copy of a simulation finds programs and threads of its own."""
        return Engine(self.threads).__dict__

    def run(self, simulation: EngineContext, last: int) -> str | None:
        """Go on to tick `last`, or to where something has to be looked at; the name of a body that went wrong, if any.

        Returns early where a joint breaks (before the tick), a body goes wrong (in it) or an alarm rings (after it), and does
        nothing where a component, a rule or a condition is Python. The state is that of a whole number of ticks.
        """
        system, recorder = simulation.system, simulation.recorder
        if simulation.breakage.asked == system.tick or not self._ready(simulation):
            return None
        assert self._tick_program is not None
        if self._tick_program.begin is not None:
            self._tick_program.begin()
        guards = guards_of(simulation) if simulation.schedule.watches else None
        if simulation.schedule.watches and guards is None:
            return None
        thread_count = self._choose_thread_count() if guards is None else 1
        if thread_count > 1 and not self._start_pool(thread_count):
            self._programs = {1: self._programs[1]}
            thread_count = 1
        programs = self._programs[thread_count]
        guess = INITIAL_SECONDS_PER_COMPONENT * (
            1 + sum(len(stack.names) for stack in (*system.bodies, *system.booked))
        )
        reach = system.tick + max(MIN_SLICE_TICKS, int(SLICE_SECONDS / self._tick_seconds.get(thread_count, guess)))
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
        state[[OPERATION, ROW]] = -1
        elements = system.elements
        elements.clock[:] = simulation.dt, 0.0, simulation.dt
        before, sample, after = (
            divide_among_threads(operations, elements, 1)[0]
            for operations in (
                [*simulation.breakage.program(), *watching(system)],
                [*shown(system), *recorder.program(system)],
                simulation.alarm.program(system),
            )
        )
        guard, kept = np.zeros((0, 5), np.int64), np.zeros((0, 4), np.int64)
        if guards is not None and guards.count:
            guard = divide_among_threads([(guards, "guard")], elements, 1)[0]
            kept, _memory = kept_by(system)  # which lives as long as this call
        barrier, faults = np.zeros(YIELD + 8, np.int64), np.full((thread_count, 2), -1, np.int64)
        barrier[YIELD] = yield_address()
        (_, mine), *others = enumerate(programs)
        rest: list[Any] = [
            before, sample, np.array(copies, np.int64).reshape(-1, 4), after, guard, kept, elements.sheet, elements.clock,
            simulation.dt, state, barrier, faults,
        ]  # fmt: skip
        started, first, taken, pool = clock.perf_counter(), system.tick, int(state[USED]), self._pool
        try:
            helpers = (
                [pool.submit(play_on, program, rest, thread) for thread, program in others] if pool is not None else []
            )
            play_on(mine, rest, 0)
            for helper in helpers:
                helper.result()
        finally:
            system.tick = int(state[TICK])
            if segment is not None:
                segment.used = int(state[USED])
            system.evaluations += self._tick_program.evaluations * (system.tick - first)
            recorder.took(int(state[USED]) - taken)
            if self._tick_program.end is not None:
                self._tick_program.end()
        if system.tick > first:
            self._tick_seconds[thread_count] = max((clock.perf_counter() - started) / (system.tick - first), 1e-8)
        for stack, verb in shown(system):
            stack.play(verb, elements)
        given_up = state[STATUS] == WRONG and self._tick_program.left_to_step
        if given_up or state[STATUS] in (BROKEN, TRUE):
            simulation.breakage.asked = system.tick  # the step takes this tick, and need not ask again
        if guards is not None:
            tell(simulation, guards)
        if given_up or state[STATUS] != WRONG:
            return None
        system.evaluations += self._tick_program.evaluations
        # the same places as in `next_ticks`
        return str(self._tick_program.first_tick[state[OPERATION]][0].names[state[ROW]])

    def _ready(self, simulation: EngineContext) -> bool:
        """Whether everything that takes part in a tick is compiled, and its program is at hand."""
        system = simulation.system
        if self._version != system.version:
            self._version = system.version
            tick_program = simulation.coupling.program(system)
            self._tick_program = None
            if tick_program is not None and all(
                map(compiled, [*tick_program.operations, *simulation.recorder.program(system), *shown(system)])
            ):
                self._tick_program = tick_program
                most = thread_count_for(sum(len(stack.names) for stack in system.bodies), self.threads)
                thread_counts = {1, most}
                self._programs = {n: _thread_programs(tick_program, system.elements, n) for n in thread_counts}
                self._tick_seconds = {n: seconds for n, seconds in self._tick_seconds.items() if n in thread_counts}
        return self._tick_program is not None

    def _choose_thread_count(self) -> int:
        """The number of threads that was the fastest of late: other programs may want the cores too. The bits are the same."""
        if self.threads is not None:
            return max(self._programs)
        self._slices += 1
        if self._slices % RETRY_SLICES == 0:
            self._tick_seconds = {
                n: seconds
                for n, seconds in self._tick_seconds.items()
                if n == min(self._tick_seconds, key=self._tick_seconds.__getitem__)
            }
        untried = [n for n in self._programs if n not in self._tick_seconds]
        return untried[0] if untried else min(self._tick_seconds, key=self._tick_seconds.__getitem__)

    def _start_pool(self, thread_count: int) -> bool:
        """Whether there are so many threads, since they wait for each other; a forked process starts its own."""
        if self._pool is not None and self._pool_owner == (os.getpid(), thread_count):
            return True
        if self._pool_owner[0] == os.getpid():
            self.close()
        pool, gate = ThreadPoolExecutor(thread_count - 1, thread_name_prefix="modular"), threading.Barrier(thread_count)
        try:
            for _ in range(thread_count - 1):
                pool.submit(gate.wait)
            gate.wait()
        except RuntimeError as error:
            gate.abort()
            pool.shutdown()
            _log.warning("%d threads cannot be started here (%s); using one", thread_count, error)
            return False
        self._pool, self._pool_owner = pool, (os.getpid(), thread_count)
        return True

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def play_on(programs: ThreadProgram, rest: list[Any], thread: int) -> None:
    """What each thread does."""
    everything: list[Any] = [*programs, *rest, thread]
    drive(*everything)


def _thread_programs(tick_program: TickProgram, elements: Elements, thread_count: int) -> list[ThreadProgram]:
    """The four programs of each thread."""
    sections = tick_program.prologue, tick_program.first_tick, tick_program.next_ticks, tick_program.epilogue
    prologue, first_tick, next_ticks, epilogue = (
        divide_among_threads(operations, elements, thread_count) for operations in sections
    )
    return list(zip(prologue, first_tick, next_ticks, epilogue, strict=True))


def shown(system: System) -> list[Operation]:
    """What lets joints and forces see the corrected state."""
    return [(bodies, "show") for bodies in system.bodies]
