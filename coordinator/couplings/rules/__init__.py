"""Stiffness rules, one per file."""

from coordinator.couplings.rules.rule import StiffnessRule
from coordinator.couplings.rules.shannon import Shannon
from coordinator.couplings.rules.stable import Stable

__all__ = ["Shannon", "Stable", "StiffnessRule"]
