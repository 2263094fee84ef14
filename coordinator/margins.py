"""How far every joint and spring is from the stability limit, whatever rule chose its stiffness."""

from __future__ import annotations

import numpy as np

from coordinator.system import System
from modular.elements import Array


def stability_margins(system: System, dt: float) -> dict[str, float]:
    """Per joint and spring, the factor by which the step could grow at this stiffness before the local bound is reached.

    With E(mu) = mu^2 dt^2 K + 2 mu dt C the bound reads lambda(E(mu)) = 4; K and C of a joint are taken as proportional, as
    both rules make them. The local bound is safe: a margin below one need not diverge, one above does not.
    """
    system.respond()
    springs, dampers = [], []
    for joints in system.joints:
        joints.see(system.elements)
        n = joints.count
        springs.append(dt**2 * joints.stiffness[:n])
        dampers.append(2.0 * dt * joints.damping[:n])
        joints.block[:n] = springs[-1] + dampers[-1]
        joints.ask(system.elements)
    for forces in system.forces:
        forces.ask(system.elements, dt)
    system.tighten()
    margins: dict[str, float] = {}
    for joints, spring, damper in zip(system.joints, springs, dampers, strict=True):
        x, y = (np.einsum("nii->n", block) for block in (spring, damper))
        margins.update(zip(joints.names, growth(x, y, joints.bounds(system.elements)).tolist(), strict=True))
    for forces in system.forces:
        x, y = (np.einsum("nii->n", block) for block in forces.demands())
        room = growth(x, y, forces.bounds(system.elements))
        margins.update((name, mu) for name, mu in zip(forces.names, room.tolist(), strict=True) if np.isfinite(mu))
    return {name: margins[name] for name in (*system.joint_home, *system.force_home) if name in margins}


def growth(x: Array, y: Array, bound: Array) -> Array:
    """mu with mu^2 x + mu y = (x + y) 4 / bound, also where there is no stiffness (x = 0); infinite where neither is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        room = (x + y) * 4.0 / bound
        return np.asarray(np.where(x + y > 0.0, 2.0 * room / (y + np.sqrt(y**2 + 4.0 * x * room)), np.inf))


def tightest(margins: dict[str, float]) -> tuple[str, float] | None:
    """The joint or spring with the smallest margin."""
    return min(margins.items(), key=lambda item: item[1]) if margins else None
