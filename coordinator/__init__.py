"""The step, the couplings and the record: drives components through their contract and knows none of them by name.

Names are imported on first use: a worker process needs few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coordinator.alarm import LeakWarning, RunWarning, StabilityWarning, VerdictWarning
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
    from coordinator.couplings import Centralized, Coupling, Glued, Merged, Mixed, Penalty, Relaxed
    from coordinator.diagnosis import beyond
    from coordinator.examination import Examination, examine
    from coordinator.record.difference import Difference, first_difference, why_different
    from coordinator.record.repetition import rerun
    from coordinator.record.run import Run
    from coordinator.rules import Shannon, Stable, StiffnessRule
    from coordinator.simulation import Simulation
    from coordinator.verification import Verification, verify
    from coordinator.workers.black_box import BlackBox
    from coordinator.workers.company import Site

_HOMES = {
    "GGL": "centralized",
    "HHT": "centralized",
    "AugmentedLagrangian": "centralized",
    "Baumgarte": "centralized",
    "BlackBox": "workers.black_box",
    "Centralized": "couplings",
    "CheckpointWarning": "checkpoints.folder",
    "Checkpoints": "checkpoints.folder",
    "Coupling": "couplings",
    "Difference": "record.difference",
    "Examination": "examination",
    "GlobalPenalty": "centralized",
    "Glued": "couplings",
    "LeakWarning": "alarm",
    "Merged": "couplings",
    "MinimalCoordinates": "centralized",
    "Mixed": "couplings",
    "Penalty": "couplings",
    "Relaxed": "couplings",
    "Run": "record.run",
    "RunWarning": "alarm",
    "Shannon": "rules",
    "Simulation": "simulation",
    "Site": "workers.company",
    "Solver": "centralized",
    "StabilityWarning": "alarm",
    "Stable": "rules",
    "StiffnessRule": "rules",
    "Substitution": "centralized",
    "VerdictWarning": "alarm",
    "Verification": "verification",
    "beyond": "diagnosis",
    "examine": "examination",
    "first_difference": "record.difference",
    "rerun": "record.repetition",
    "resume": "checkpoints.resume",
    "verify": "verification",
    "why_different": "record.difference",
}

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
    "Glued",
    "LeakWarning",
    "Merged",
    "MinimalCoordinates",
    "Mixed",
    "Penalty",
    "Relaxed",
    "Run",
    "RunWarning",
    "Shannon",
    "Simulation",
    "Site",
    "Solver",
    "StabilityWarning",
    "Stable",
    "StiffnessRule",
    "Substitution",
    "VerdictWarning",
    "Verification",
    "beyond",
    "examine",
    "first_difference",
    "rerun",
    "resume",
    "verify",
    "why_different",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coordinator' has no attribute {name!r}")
    return getattr(importlib.import_module(f"coordinator.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
