"""Bodies become one component, or fall apart again, while the mechanism moves.

Séguy 2003, second perspective of his conclusion and Figure I-9. Joints between bodies of one component have no play; its outer
ports stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.couplings.grouping import check_group, describe
from coordinator.events.context import EventContext
from modular.errors import ModelError
from modular.port import GROUND


def merge(simulation: EventContext, bodies: Sequence[str]) -> list[str]:
    """Let neighbours be one component; the bodies that it has. Settling is left to the simulation."""
    system = simulation.system
    check_group(system, bodies, "merge")
    for body in bodies:
        reason = None if body == GROUND else simulation.coupling.why_not_merge(system, body)
        if reason is not None:
            raise ModelError(f"merge: body '{body}' {reason}.")
    before = list(system.groups)
    system.merge(bodies)
    try:
        simulation.check_divisible()
    except ModelError:
        system.groups = before
        system.version += 1
        raise
    return [body for body in system.groups[-1] if body != GROUND]


def unmerge(simulation: EventContext, bodies: Sequence[str]) -> list[str]:
    """Let the components fall apart to which bodies belong; all their bodies."""
    system = simulation.system
    for body in bodies:
        if not any(body in group for group in system.groups):
            merged = "; ".join(map(describe, system.groups)) or "none"
            raise ModelError(f"unmerge: body '{body}' is not merged; merged bodies: {merged}.")
    simulation.coupling.ways(system)  # who is glued until now is to be known
    return [body for body in system.unmerge(bodies) if body != GROUND]
