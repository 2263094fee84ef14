"""Solvers that see the whole system at once: the references that modular runs are held against.

Séguy 2003, II.4 and II.5. They are assembled from the same contracts as the modular step: bodies write down their
equations, joints their rows, forces what they exert; nothing is described twice.
"""

from coordinator.centralized.augmented_lagrangian import AugmentedLagrangian
from coordinator.centralized.baumgarte import Baumgarte
from coordinator.centralized.ggl import GGL
from coordinator.centralized.global_penalty import GlobalPenalty
from coordinator.centralized.hht import HHT
from coordinator.centralized.minimal_coordinates import MinimalCoordinates
from coordinator.centralized.solver import Solver
from coordinator.centralized.substitution import Substitution

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
