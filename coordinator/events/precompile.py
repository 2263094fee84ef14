"""Ahead: what a run will play is compiled before its first tick, while the state of the simulation is whole.

So compiling is not part of the time of the run, and Ctrl-C while it lasts leaves a simulation that can go on.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.driver import DONE, STATUS, YIELD, drive
from coordinator.engine.engine import shown
from coordinator.engine.guards import Guards
from coordinator.engine.program import Operation, compiled, watching
from coordinator.events.context import EventContext
from coordinator.events.dry_run import dry_run
from modular.compile_pool import Job, jobs_of, pool
from modular.first_use import expect
from modular.kernel import own_store
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.couplings.coupling import Coupling
    from coordinator.system import System

    Ringing = Callable[[System], list[Operation]]  # what stops a run of many ticks where an alarm has to ring


def expect_loops(system: System, coupling: Coupling, coming: Sequence[Table] = ()) -> None:
    """Should a loop have to be compiled, the others of this system are known, and other processes begin with the last of them.

    `coming`: empty stacks of what events will bring.
    """
    seen = partial(_to_come, weakref.ref(system), coupling.verbs, coming)
    pool.foreseen = seen if own_store() is not None else None


def _to_come(known: weakref.ref[System], verbs: tuple[str, ...], coming: Sequence[Table]) -> list[Job]:
    system = known()
    if system is None:
        return []
    tables: list[Any] = [system.elements, *system.bodies, *system.joints, *system.forces, *coming]
    tables = [
        table for table in [*tables, *system.cache.values()] if isinstance(table, Table)
    ]  # not those in plain Python
    loops = [
        (table.loops[verb], table.view, system.elements.view)
        for verb in verbs
        for table in tables
        if verb in table.loops
    ]
    return [*jobs_of(loops), *([Job.calling(_compile_driver)] if verbs and not compiled_driver.ready else [])]


def precompile(simulation: EventContext) -> bool:
    """Compile what a tick needs, and what the events of the model will need; whether a tick is all loops."""
    all_loops = _compile_tick(simulation, simulation.alarm.program)
    if not simulation.schedule.dry_run_done:
        simulation.schedule.dry_run_done = True
        dry_run(simulation, partial(_look_at, alarm=simulation.alarm.program))
        expect_loops(simulation.system, simulation.coupling)
        if simulation.schedule.watches:
            Guards().loops["guard"].address(Guards(), simulation.system.elements)
    return all_loops


def _look_at(small: EventContext, coming: list[Table], *, alarm: Ringing) -> None:
    """Compile a tick as things stand after an event: as the engine plays it, and on its own as around an instant in it."""
    expect_loops(small.system, small.coupling, coming)
    _compile_tick(small, alarm)
    small.coupling.advance(small.system, small.dt)


def _compile_tick(simulation: EventContext, alarm: Ringing) -> bool:
    """Compile the loops of a tick, and the driver where it can play them; whether a tick is all loops."""
    system = simulation.system
    program = simulation.coupling.program(system)
    kept = [
        *(program.operations if program is not None else []),
        *simulation.recorder.program(system),
        *shown(system),
        *simulation.breakage.program(),
        *watching(system),
        *alarm(system),
    ]
    all_loops = program is not None and all(map(compiled, kept))
    if all_loops:
        expect([drive])
    for stack, verb in kept:
        if compiled((stack, verb)):
            stack.loops[verb].address(stack, system.elements)
    if all_loops and not compiled_driver.ready:
        pool.claim(Job.calling(_compile_driver))
        _compile_driver()
    return all_loops


compiled_driver: Any = drive


def _compile_driver() -> None:
    """Let the driver see that it is done."""
    nothing, state = np.zeros((0, 5), np.int64), np.zeros(9, np.int64)
    state[STATUS] = DONE
    barrier, faults = np.zeros(YIELD + 8, np.int64), np.full((1, 2), -1, np.int64)
    copies = np.zeros((0, 4), np.int64)
    programs, tables = [nothing] * 6, [copies, nothing, nothing, copies]
    everything: list[Any] = [*programs, *tables, 0, np.zeros(3), 0.0, state, barrier, faults, 0]
    drive(*everything)
