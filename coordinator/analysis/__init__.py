"""What a mechanism answers beside its motion: what it can do, where it rests, and how it moves near such a place."""

from coordinator.analysis.linear import Linear, linearise
from coordinator.analysis.mobility import Mobility, Motion, Sharing, mobility
from coordinator.analysis.modes import Modes, modes, modes_of

__all__ = ["Linear", "Mobility", "Modes", "Motion", "Sharing", "linearise", "mobility", "modes", "modes_of"]
