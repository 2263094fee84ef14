"""Stiffness rules, one per file."""

from coordinator.rules.rule import StiffnessRule
from coordinator.rules.shannon import Shannon
from coordinator.rules.stable import Stable

__all__ = ["Shannon", "Stable", "StiffnessRule"]
