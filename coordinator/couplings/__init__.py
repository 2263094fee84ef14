"""Couplings, one per file."""

from coordinator.couplings.centralized import Centralized
from coordinator.couplings.coupling import Coupling
from coordinator.couplings.penalty import Penalty

__all__ = ["Centralized", "Coupling", "Penalty"]
