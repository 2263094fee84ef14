"""Contacts that begin with their shapes in each other: what is to be rigid can only throw them apart.

A joint that does not close is refused when it is made. Shapes in each other are a mistake of the model as well, but one that runs:
their springs, as stiff as the step allows, throw them out, about as fast as they are deep by the step. So it is said before the
run; how it looks at the end says nothing of the mechanism. What weight or approach bring about within a few ticks is none.
"""

from __future__ import annotations

import numpy as np

from coordinator.checks.context import CheckContext
from modular.force import BeginsAtRest, Overlap
from modular.port import GROUND

SETTLING_STEPS = 20.0  # the depth that gravity brings in one tick, so many times, is what springs under weight have
APPROACH_STEPS = 2.0  # the same for how fast they meet


def overlaps(simulation: CheckContext) -> list[Overlap]:
    """Those of new contacts that nothing explains, the deepest first."""
    dt, pull = simulation.dt, float(np.linalg.norm(simulation.assembly.gravity))
    stacks = [stack for stack in simulation.system.forces if isinstance(stack, BeginsAtRest)]
    found = [overlap for stack in stacks for overlap in stack.overlaps()]
    approach = APPROACH_STEPS * dt if simulation.tick > 0 else 0.0
    unexplained = [each for each in found if each.depth > SETTLING_STEPS * pull * dt**2 + approach * each.speed]
    return sorted(unexplained, key=lambda each: (-each.depth, each.name))


def overlap_words(simulation: CheckContext, found: list[Overlap]) -> str:
    """What is wrong with the deepest of them, and how it is mended."""
    worst = found[0]
    owners, way = simulation.system.force_home[worst.name].owners, np.array(worst.way)
    mover, other = owners[worst.mover], owners[1 - worst.mover]
    if mover == GROUND or simulation.system.described[mover].led:
        mover, other, way = other, mover, -way
    line = ", ".join(f"{number:.3g}" for number in way + 0.0)
    more = f" {len(found) - 1} more contacts begin so." if len(found) > 1 else ""
    return (
        f"contact '{worst.name}': '{mover}' begins {worst.depth:.4g} m inside '{other}' and will be thrown out.{more} Remedy: move "
        f"'{mover}' by {worst.depth:.4g} m along ({line}), or give the contact a stiffness of its own."
    )
