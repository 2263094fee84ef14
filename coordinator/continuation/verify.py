"""How far a run from a folder is off."""

from __future__ import annotations

from coordinator.checks import verification
from coordinator.checks.verification import Verification
from coordinator.record.run import Run
from coordinator.simulation import Progress, Simulation


def verify(run: Run, *, progress: Progress | None = None) -> Verification:
    """How far a run is off, by one more at half the step, and the order of its error by another at twice the step."""
    return verification.verify(Simulation, run, progress=progress)
