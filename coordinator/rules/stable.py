"""The default stiffness rule: as stiff as the local coupled bound allows, with a safety factor.

With W = J M_c^-1 J^T over all joints the scheme is stable iff lambda_max(W (dt^2 K + 2 dt C)) < 4 (docs/method.md). Nobody
knows all joints; but if every joint block E = dt^2 K + 2 dt C is shared between its two bodies in the proportions
theta of their compliances, each body can bound its part alone: lambda_b = lambda_max(M_c^-1 sum_j J^T (E_j/theta) J)
over its own joints. Joint j is then scaled by 4 / max(lambda_a, lambda_b). Only neighbours talk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coordinator.rules.rule import StiffnessRule
from coordinator.system import System
from modular.errors import ModelError

LEAST = 0.05  # share of the bound that joints keep beside forces too stiff for the step; the margins then name those


@dataclass(frozen=True)
class Stable(StiffnessRule):
    """Stiffness from the local coupled bound; `safety` divides the frequency, `damping` is epsilon of (IV.15).

    epsilon holds in directions that see exactly the mass of the rule; where a joint sees kappa times its inverse, the
    frequency is sqrt(kappa) and the damping ratio epsilon sqrt(kappa) times the nominal one.
    """

    safety: float = 1.25
    damping: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1.0 <= self.safety <= 100.0:
            raise ModelError(
                f"Stable: safety = {self.safety}; give a factor from 1 (at the limit) to 100; 1.25 is usual."
            )
        if not 0.0 <= self.damping <= 1.0:
            raise ModelError(f"Stable: damping = {self.damping}; give a ratio from 0 to 1; 0.05 to 0.1 is usual.")

    def refresh(self, system: System, dt: float) -> None:
        """Seen masses, their loads on the bodies, the bodies' bounds, stiffness and damping."""
        system.respond()
        taken = system.force_bounds(dt) if system.force_home else None
        for joints in system.joints:
            joints.see(system.elements)
            joints.weigh()
            joints.ask(joints.shape, system.elements)
        system.tighten()
        if taken is not None:  # springs and dampers of forces keep their share of the four; joints get the rest
            system.elements.bound[:] /= np.maximum(1.0 - 0.25 * taken, LEAST)
        for joints in system.joints:
            n = joints.count
            shape = joints.shape[:n]
            if not joints.form.holonomic:
                # E = 2 dt C: half of what is allowed takes a forbidden velocity away within one tick
                joints.damping[:n] = (0.25 * 4.0 / joints.bounds(system.elements) / dt)[:, None, None] * shape
                continue
            # E = (w^2 + 4 eps w) S with w = omega dt; the largest allowed E is 4 S / lambda
            allowed = 4.0 / joints.bounds(system.elements)
            limit = 2.0 * (np.sqrt(self.damping**2 + 0.25 * allowed) - self.damping)
            omega = limit / (self.safety * dt)
            joints.stiffness[:n] = (omega**2)[:, None, None] * shape  # (IV.19)
            joints.damping[:n] = (2.0 * self.damping * omega)[:, None, None] * shape  # (IV.20)

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """More safety."""
        return (
            f"raise the safety factor, as in Stable(safety={self.safety / max(margin, 0.1) * 1.2:.2g})",
            None,
        )
