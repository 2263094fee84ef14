"""The step, the couplings and the record: drives components through their contract and knows none of them by name."""

from coordinator.alarm import LeakWarning
from coordinator.centralized import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Baumgarte,
    GlobalPenalty,
    MinimalCoordinates,
    Solver,
    Substitution,
)
from coordinator.checkpoints.folder import Checkpoints, CheckpointWarning
from coordinator.checkpoints.resume import resume
from coordinator.couplings import Centralized, Coupling, Penalty
from coordinator.diagnosis import beyond
from coordinator.examination import Examination, examine
from coordinator.record.difference import Difference, first_difference, why_different
from coordinator.record.repetition import rerun
from coordinator.record.run import Run
from coordinator.rules import Shannon, Stable, StiffnessRule
from coordinator.simulation import Simulation
from coordinator.workers.black_box import BlackBox
from coordinator.workers.company import Site

__all__ = [
    "GGL",
    "HHT",
    "AugmentedLagrangian",
    "Baumgarte",
    "BlackBox",
    "Centralized",
    "CheckpointWarning",
    "Checkpoints",
    "Coupling",
    "Difference",
    "Examination",
    "GlobalPenalty",
    "LeakWarning",
    "MinimalCoordinates",
    "Penalty",
    "Run",
    "Shannon",
    "Simulation",
    "Site",
    "Solver",
    "Stable",
    "StiffnessRule",
    "Substitution",
    "beyond",
    "examine",
    "first_difference",
    "rerun",
    "resume",
    "why_different",
]
