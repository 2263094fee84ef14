"""The step, the couplings and the record: drives components through their contract and knows none of them by name.

Names are imported on first use: a worker process needs few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from modular.errors import LeakWarning, RunWarning, StabilityWarning, StartWarning, UnseenWarning, VerdictWarning

if TYPE_CHECKING:
    from coordinator.checks.diagnosis import beyond
    from coordinator.checks.examination import Examination, examine
    from coordinator.checks.verification import Verification
    from coordinator.continuation.rerun import rerun, verify
    from coordinator.continuation.resume import resume
    from coordinator.couplings import Centralized, Coupling, Glued, Merged, Mixed, Penalty, Relaxed
    from coordinator.couplings.centralized import (
        GGL,
        HHT,
        AugmentedLagrangian,
        Baumgarte,
        GlobalPenalty,
        MinimalCoordinates,
        Solver,
        Substitution,
    )
    from coordinator.couplings.rules import Shannon, Stable, StiffnessRule
    from coordinator.distributed.protocol.deadlines import Deadlines
    from coordinator.distributed.workers.black_box import BlackBox
    from coordinator.distributed.workers.distributed_run import LaunchConfig
    from coordinator.ensemble.ensemble import Ensemble
    from coordinator.ensemble.gradients import Gradient, Objective, gradient
    from coordinator.ensemble.identification import Identified, Recording, identify
    from coordinator.equations.generated import Generated
    from coordinator.record.checkpoints.folder import Checkpoints, CheckpointWarning
    from coordinator.record.difference import Difference, first_difference, why_different
    from coordinator.record.run import Run
    from coordinator.simulation import Simulation

_HOMES = {
    "GGL": "couplings.centralized",
    "HHT": "couplings.centralized",
    "AugmentedLagrangian": "couplings.centralized",
    "Baumgarte": "couplings.centralized",
    "BlackBox": "distributed.workers.black_box",
    "Centralized": "couplings",
    "CheckpointWarning": "record.checkpoints.folder",
    "Checkpoints": "record.checkpoints.folder",
    "Coupling": "couplings",
    "Deadlines": "distributed.protocol.deadlines",
    "Difference": "record.difference",
    "Ensemble": "ensemble.ensemble",
    "Examination": "checks.examination",
    "Formulas": "equations.formulas",
    "Generated": "equations.generated",
    "GlobalPenalty": "couplings.centralized",
    "Glued": "couplings",
    "Gradient": "ensemble.gradients",
    "Identified": "ensemble.identification",
    "LaunchConfig": "distributed.workers.distributed_run",
    "Merged": "couplings",
    "MinimalCoordinates": "couplings.centralized",
    "Mixed": "couplings",
    "Objective": "ensemble.gradients",
    "Penalty": "couplings",
    "Recording": "ensemble.identification",
    "Relaxed": "couplings",
    "Run": "record.run",
    "Shannon": "couplings.rules",
    "Simulation": "simulation",
    "Solver": "couplings.centralized",
    "Stable": "couplings.rules",
    "StiffnessRule": "couplings.rules",
    "Substitution": "couplings.centralized",
    "Verification": "checks.verification",
    "beyond": "checks.diagnosis",
    "examine": "checks.examination",
    "first_difference": "record.difference",
    "gradient": "ensemble.gradients",
    "identify": "ensemble.identification",
    "rerun": "continuation.rerun",
    "resume": "continuation.resume",
    "verify": "continuation.rerun",
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
    "Deadlines",
    "Difference",
    "Ensemble",
    "Examination",
    "Formulas",
    "Generated",
    "GlobalPenalty",
    "Glued",
    "Gradient",
    "Identified",
    "LaunchConfig",
    "LeakWarning",
    "Merged",
    "MinimalCoordinates",
    "Mixed",
    "Objective",
    "Penalty",
    "Recording",
    "Relaxed",
    "Run",
    "RunWarning",
    "Shannon",
    "Simulation",
    "Solver",
    "StabilityWarning",
    "Stable",
    "StartWarning",
    "StiffnessRule",
    "Substitution",
    "UnseenWarning",
    "VerdictWarning",
    "Verification",
    "beyond",
    "examine",
    "first_difference",
    "gradient",
    "identify",
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
