"""The default stiffness rule: as stiff as the local coupled bound allows, with a safety factor.

With W = J M_c^-1 J^T over all joints the scheme is stable iff lambda_max(W (dt^2 K + 2 dt C)) < 4 (docs/method.md). No component
knows all joints; but if every joint block E = dt^2 K + 2 dt C is shared between its two bodies in the proportions
theta of their compliances, each body can bound its part alone: lambda_b = lambda_max(M_c^-1 sum_j J^T (E_j/theta) J)
over its own joints. Joint j is then scaled by 4 / max(lambda_a, lambda_b). Only neighbours exchange data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coordinator.couplings.rules.rule import StiffnessRule
from coordinator.engine.program import Operation, Stacks, compiled
from modular.blocks import like
from modular.elements import GAIN_STEP, Array
from modular.errors import ModelError
from modular.force import requests_demand
from modular.kernel import kernel
from modular.lane_rows import fetch, gather_one, indices, store
from modular.lanes import LANES, larger
from modular.loop import NO_FAILED_ROW, loop
from modular.views import View

# share of the bound that joints keep beside forces too stiff for the step; the margins then name those
MIN_STIFFNESS_SHARE = 0.05


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

    def program(self, system: Stacks) -> list[Operation]:
        """Seen masses, their loads on the bodies, the bodies' bounds, stiffness and damping."""
        bodies, joints, forces = list(system.bodies), list(system.joints), list(system.forces)
        for stack in joints:
            stack.rule[:2] = self.safety, self.damping
            stack.loops["stiffen"] = stiffen_loop
        operations: list[Operation] = [(stack, "respond") for stack in bodies]
        if forces:  # springs and dampers of forces keep their share of the four; joints get the rest
            operations += [(system.elements, "clear_demands")]
            operations += [(stack, "request_demand") for stack in forces if requests_demand(stack)]
            operations += [(stack, "bound_demands") for stack in bodies]
            operations += [(system.elements, "save_force_bounds")]
        for stack in joints:
            uneven = ("find_uneven",) if compiled((stack, "find_uneven")) else ()
            operations += [
                (stack, verb) for verb in ("compute_compliance", *uneven, "compute_seen_mass", "request_demand")
            ]
        operations += [(stack, "bound_demands") for stack in bodies]
        return operations + [(stack, verb) for stack in joints for verb in ("stiffen", "compute_parting")]

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """More safety."""
        return (
            f"raise the safety factor, as in Stable(safety={self.safety / max(margin, 0.1) * 1.2:.2g})",
            None,
        )


@kernel
def scale(block: Array, factor: float) -> None:
    """block *= factor."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            block[i, j] = factor * block[i, j]


@loop
def stiffen_loop(start: int, stop: int, joints: View, elements: View) -> int:
    """K and C of every joint from what it asked and what its two bodies answered."""
    block = like(joints.block)
    dt, safety, damping = elements.clock[GAIN_STEP], joints.rule[0], joints.rule[1]
    for n in range(start, stop, LANES):
        first, second = indices(joints.first, n, stop), indices(joints.second, n, stop)
        on_first = gather_one(elements.bound, first) / larger(
            1.0 - 0.25 * gather_one(elements.taken, first), MIN_STIFFNESS_SHARE
        )
        on_second = gather_one(elements.bound, second) / larger(
            1.0 - 0.25 * gather_one(elements.taken, second), MIN_STIFFNESS_SHARE
        )
        allowed = 4.0 / larger(on_first, on_second)
        spring, damper = 0.0 * allowed, 0.25 * allowed / dt
        if joints.holonomic.shape[0] == 1:
            # E = (w^2 + 4 eps w) S with w = omega dt; the largest allowed E is 4 S / lambda
            limit = 2.0 * (np.sqrt(damping * damping + 0.25 * allowed) - damping)
            omega = limit / (safety * dt)
            spring, damper = omega * omega, 2.0 * damping * omega  # (IV.19), (IV.20)
        # else E = 2 dt C: half of what is allowed takes a forbidden velocity away within one tick
        fetch(joints.block, n, stop, block)
        scale(block, spring)
        store(block, joints.stiffness, n, stop)
        fetch(joints.block, n, stop, block)
        scale(block, damper)
        store(block, joints.damping, n, stop)
    return NO_FAILED_ROW
