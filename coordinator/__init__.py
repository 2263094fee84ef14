"""The step, the couplings and the record: drives components through their contract and knows none of them by name."""

from coordinator.alarm import LeakWarning
from coordinator.couplings import Coupling, Penalty
from coordinator.diagnosis import beyond
from coordinator.examination import Examination, examine
from coordinator.rules import Shannon, Stable, StiffnessRule
from coordinator.run import Run
from coordinator.simulation import Simulation

__all__ = [
    "Coupling",
    "Examination",
    "LeakWarning",
    "Penalty",
    "Run",
    "Shannon",
    "Simulation",
    "Stable",
    "StiffnessRule",
    "beyond",
    "examine",
]
