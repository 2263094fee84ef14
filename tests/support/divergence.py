"""Where runs begin to diverge: the default rule at its bound and beyond, and whether a run stays bounded under it."""

from dataclasses import dataclass

import numpy as np

from coordinator import Penalty, Simulation, Stable
from coordinator.couplings.rules.rule import StiffnessRule
from modular import Diverged


@dataclass(frozen=True)
class Scaled(StiffnessRule):
    """The default rule at its bound, as it would be with a step `growth` times as long at the same stiffness."""

    growth: float = 1.0
    damping: float = 0.05

    def refresh(self, system, dt):
        Stable(safety=1.0, damping=self.damping).refresh(system, dt)
        for joints in system.joints:
            joints.stiffness *= self.growth**2
            joints.damping *= self.growth

    def remedy(self, margin, dt):
        return "none: for tests", None


def stays_bounded(model, growth, damping, dt=1e-3, ticks=500):
    """Free of gravity, kicked by 1e-9 m/s everywhere: a stable scheme keeps the gaps below any growth."""
    with Simulation(model, dt, Penalty(rule=Scaled(growth, damping)), record_every=50) as simulation:
        rng = np.random.default_rng(2)
        for bodies in simulation.system.bodies:
            bodies.v[: bodies.count] += 1e-9 * rng.normal(size=bodies.v[: bodies.count].shape)
        try:
            run = simulation.run(ticks * dt)
        except Diverged:
            return False
    return max(np.abs(run.violation(joint)).max() for joint in run.joints) < 1e-7


def unit_rows(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)
