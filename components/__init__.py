"""Everything that can be put into an assembly: bodies, joints and forces, one type per file."""

from typing import Any

from components import bodies, forces, joints
from components.bodies import *
from components.courses import Ramp, Sine, Smooth
from components.forces import *
from components.joints import *
from components.sensors import (
    Accelerometer,
    AngleBetween,
    DistanceBetween,
    ForceIn,
    OutputOf,
    TurningBetween,
    WayBetween,
)
from components.solids import Solid

__all__ = [
    "Accelerometer",
    "AngleBetween",
    "DistanceBetween",
    "ForceIn",
    "OutputOf",
    "Ramp",
    "Sine",
    "Smooth",
    "Solid",
    "TurningBetween",
    "WayBetween",
]
__all__ += bodies.__all__
__all__ += forces.__all__
__all__ += joints.__all__

HAND = "components:Hand"  # the force by which a body is held and drawn about (coordinator/laboratory/hand.py)

# of components/fmi, for those who need them (extra `fmi`)
ELSEWHERE = frozenset({"Command", "Fmu", "FmuNetwork", "PowerPort"})


def __getattr__(name: str) -> Any:
    if name in ELSEWHERE:
        from components import fmi

        return getattr(fmi, name)
    raise AttributeError(f"module 'components' has no attribute {name!r}")
