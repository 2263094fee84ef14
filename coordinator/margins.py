"""How far every joint is from the stability limit, whatever rule chose its stiffness."""

from __future__ import annotations

import numpy as np

from coordinator.system import System


def stability_margins(system: System, dt: float) -> dict[str, float]:
    """Per joint, the factor by which the step could grow at this stiffness before the local bound is reached.

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
        joints.ask(springs[-1] + dampers[-1], system.elements)
    system.tighten()
    margins: dict[str, float] = {}
    for joints, spring, damper in zip(system.joints, springs, dampers, strict=True):
        x, y = (np.einsum("nii->n", block) for block in (spring, damper))
        room = (x + y) * 4.0 / joints.bounds(system.elements)
        # mu^2 x + mu y = room, written so that joints without stiffness (x = 0) fit in
        mu = 2.0 * room / (y + np.sqrt(y**2 + 4.0 * x * room))
        margins.update(zip(joints.names, mu.tolist(), strict=True))
    return {name: margins[name] for name in system.joint_home}


def tightest(margins: dict[str, float]) -> tuple[str, float] | None:
    """The joint with the smallest margin."""
    return min(margins.items(), key=lambda item: item[1]) if margins else None
