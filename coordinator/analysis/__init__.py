"""What a mechanism answers beside its motion: where it rests, and how it moves near such a place."""

from coordinator.analysis.linear import Linear, linearise
from coordinator.analysis.modes import Modes, modes, modes_of

__all__ = ["Linear", "Modes", "linearise", "modes", "modes_of"]
