"""Ahead: what a run will play is compiled before its first tick, while the state of the simulation is whole.

So compiling is not part of the time of the run, and Ctrl-C while it lasts leaves a simulation that can go on.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.engine.driver import DONE, STATUS, YIELD, drive
from coordinator.engine.engine import shown
from coordinator.score import compiled
from modular.first_use import expect

if TYPE_CHECKING:
    from coordinator.simulation import Simulation


def compile_ahead(simulation: Simulation) -> bool:
    """Compile the loops of a tick, and the driver where it can play them; whether a tick is all loops."""
    system = simulation.system
    rounds = simulation.coupling.score(system)
    kept = [
        *(rounds.parts if rounds is not None else []),
        *simulation.recorder.score(system),
        *shown(system),
        *simulation.breakage.score(),
        *simulation.alarm.score(system),
    ]
    whole = rounds is not None and all(map(compiled, kept))
    if whole:
        expect([drive])
    for stack, verb in kept:
        if compiled((stack, verb)):
            stack.loops[verb].address(stack, system.elements)
    if whole:
        _compile_driver()
    return whole


@cache
def _compile_driver() -> None:
    """Let the driver see that it is done."""
    nothing, state = np.zeros((0, 5), np.int64), np.zeros(9, np.int64)
    state[STATUS] = DONE
    meeting, blame = np.zeros(YIELD + 8, np.int64), np.full((1, 2), -1, np.int64)
    copies = np.zeros((0, 4), np.int64)
    programs, tables = [nothing] * 6, [copies, nothing, nothing, copies]
    everything: list[Any] = [*programs, *tables, 0, np.zeros(3), 0.0, state, meeting, blame, 0]
    drive(*everything)
