"""Forces that grow stiffer as things move, such as the drag of the air with its speed: how far they are from their limit now.

What a margin says when a run begins holds for springs and dampers, whose gains stay as they are. A ball that is let go has no drag
at all; at its last velocity the same step may be too long. Then accelerations change their sign from tick to tick, while nothing
diverges, and what is found between such velocities is not the drag at their mean.
"""

from __future__ import annotations

import numpy as np

from coordinator.checks.carrying import answers_kept
from coordinator.checks.context import CheckContext


def hardened(simulation: CheckContext) -> dict[str, float]:
    """Their margins as they are now, of those that are beyond their limit and were not when that was last looked at.

    At the faster of the velocities that are shown and that were read: beyond the limit one is far from the other.
    """
    if simulation.is_distributed:  # to ask for the system would call the mechanism home
        return {}
    system = simulation.system
    names = [name for stack in system.forces if getattr(stack, "hardens", False) for name in stack.names]
    if not names:
        return {}
    elements = system.elements
    shown, read = elements.velocity.copy(), elements.current_velocity
    faster = np.square(read).sum(axis=-1) > np.square(shown).sum(axis=-1)
    with answers_kept(system):
        try:
            elements.velocity[faster] = read[faster]
            margins = simulation.coupling.margins(system, simulation.dt)
        finally:
            elements.velocity[:] = shown
    known = simulation.past.latest_margins()
    return {name: margins[name] for name in names if name in margins and margins[name] < 1.0 <= known.get(name, 1.0)}
