"""Couplings, one per file."""

from coordinator.couplings.coupling import Coupling
from coordinator.couplings.penalty import Penalty

__all__ = ["Coupling", "Penalty"]
