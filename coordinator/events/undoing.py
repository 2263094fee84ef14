"""A joint or a force that cannot settle leaves nothing behind.

What is compiled does not fail. A law, or a component in plain Python, may: it can raise while an event settles; and among workers
a force may turn out to be too stiff to be shared. Where one of these
takes part, all that an event can write to is kept before it, and given back when it fails; that takes about as long as a tick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.engine.program import compiled
from coordinator.events.context import EventContext
from coordinator.system import System
from modular.body import SavesAndRestores
from modular.table import Table

Restoring = Callable[[], None]


def restoring(simulation: EventContext, *, always: bool = False) -> Restoring | None:
    """What makes everything be as it is now, but for what was added meanwhile, to be taken out before; None where nothing fails."""
    system, breakage = simulation.system, simulation.breakage
    if not (always or simulation.has_workers or fallible(system)):
        return None
    ways = [_restoring_of(table) for table in (*system.bodies, *system.joints, *system.forces, system.elements)]
    memory, closed, just_cut = system.memory, dict(system.closed), list(system.just_cut)
    gone = dict(breakage.gone)

    def go_back() -> None:
        for way in ways:
            way()
        system.memory, system.closed, system.just_cut = memory, closed, just_cut
        breakage.gone = gone
        simulation.coupling.configure(system, simulation.dt)

    return go_back


def fallible(system: System) -> bool:
    """Whether anything in Python takes part when an event settles."""
    for bodies in system.body_stacks.values():
        if not isinstance(bodies, Table):
            return True
    for joints in system.joint_stacks.values():
        if "linearise" not in joints.loops:
            return True
    return any(not compiled((forces, "exert")) for forces in system.force_stacks.values())


def _restoring_of(stack: Any) -> Restoring:
    if isinstance(stack, Table):
        rows = stack.copy_rows()
        return lambda: stack.return_rows(rows)
    if isinstance(stack, SavesAndRestores):
        memory = stack.save()
        return lambda: stack.restore(memory)
    return lambda: None
