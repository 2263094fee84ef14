"""Energies to measure others by."""

from __future__ import annotations

import numpy as np

from coordinator.system import System


def energy_about(system: System) -> float:
    """Kinetic energy of all bodies, and what their weight does over the extent of the system [J]."""
    total, weight, extent = 0.0, 0.0, 0.0
    pull = float(np.linalg.norm(system.gravity))
    for stack in system.bodies:
        state = stack.state()
        extent = max(extent, float(np.abs(state["q"]).max(initial=0.0)))
        for row, name in enumerate(stack.names):
            body = system.described[name]
            total += float(body.kinetic_energy(state["q"][row], state["v"][row]))
            weight += 0.0 if body.led else body.total_mass * pull
    return total + weight * extent or 1.0
