"""Solvers that see the whole system at once: the references that modular runs are held against.

Séguy 2003, II.4 and II.5. They are assembled from the same contracts as the modular step: bodies write down their
equations, joints their rows, forces what they exert; nothing is described twice.
"""

from coordinator.couplings.centralized.augmented_lagrangian import AugmentedLagrangian
from coordinator.couplings.centralized.ggl import GGL
from coordinator.couplings.centralized.global_penalty import GlobalPenalty
from coordinator.couplings.centralized.hht import HHT
from coordinator.couplings.centralized.minimal_coordinates import MinimalCoordinates
from coordinator.couplings.centralized.solver import Solver
from coordinator.couplings.centralized.substitution import Baumgarte, Substitution

__all__ = [
    "GGL",
    "HHT",
    "AugmentedLagrangian",
    "Baumgarte",
    "GlobalPenalty",
    "MinimalCoordinates",
    "Solver",
    "Substitution",
]
