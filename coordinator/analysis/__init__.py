"""What a mechanism answers beside its motion: what it can do, where it rests, what it carries, how it swings."""

from coordinator.analysis.assembling import Assembled, Moved, assemble, branches
from coordinator.analysis.conditioning import Along, Singular, mobility_along
from coordinator.analysis.counting import Count, Sharing, count_now
from coordinator.analysis.inverse import Efforts, inverse_dynamics
from coordinator.analysis.kinematics import Workspace, inverse_kinematics, kinematics, workspace
from coordinator.analysis.linear import Linear
from coordinator.analysis.linearise import linearise
from coordinator.analysis.locus import Change, Locus, root_locus
from coordinator.analysis.mobility import Mobility, Motion, mobility
from coordinator.analysis.modes import Modes, modes, modes_of
from coordinator.analysis.result import Result, load_result
from coordinator.analysis.statics import Equilibrium, Statics, equilibrium, statics

__all__ = [
    "Along", "Assembled", "Change", "Count", "Efforts", "Equilibrium", "Linear", "Locus", "Mobility", "Modes", "Motion", "Moved",
    "Result", "Sharing", "Singular", "Statics", "Workspace", "assemble", "branches", "count_now", "equilibrium",
    "inverse_dynamics", "inverse_kinematics", "kinematics", "linearise", "load_result", "mobility", "mobility_along", "modes",
    "modes_of", "root_locus", "statics", "workspace",
]  # fmt: skip
