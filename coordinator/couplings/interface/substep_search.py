"""Which shorter step would hold: the tick that found no end is tried in several substeps, from where it began."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from coordinator.couplings.interface.interface import Interface
from coordinator.system import System
from modular.body import DriftsAndKicks, SavesAndRestores

TRIED_DIVISORS = (4, 16, 64, 256)  # of a tick


def can_repeat_a_tick(system: System) -> bool:
    """Whether everybody goes back to where a tick began."""
    return all(isinstance(bodies, SavesAndRestores) for bodies in system.bodies)


def divisions_that_converge(
    system: System, interface: Interface, advance: Callable[[float, float], str | None]
) -> int | None:
    """In how many substeps the tick comes to its end, if in any; all stands then where it stood.

    `advance` takes the part of the tick between two shares of it; who went wrong in it, if anybody.
    """
    elements, evaluations, counter_values = system.elements, system.evaluations, interface.counter_values
    clock = elements.clock.copy()
    _forget(system)
    kept = system.save()
    found = None
    for count in TRIED_DIVISORS:
        if all(advance(k / count, (k + 1) / count) is None for k in range(count)):
            found = count
        system.restore(kept)
        _forget(system)
        if found is not None:
            break
    elements.clock[:], system.evaluations = clock, evaluations
    interface.restore_counters(counter_values)
    return found


def _forget(system: System) -> None:
    """What bodies that were flung about have left beside their state: what closed their shapes, and accelerations."""
    for bodies in system.bodies:
        cast(DriftsAndKicks, bodies).invalidate(system.elements)
        accelerations = bodies.state()["a"]
        accelerations[~np.isfinite(accelerations)] = 0.0
