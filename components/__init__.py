"""Everything that can be put into an assembly: bodies, joints and forces, one type per file."""

from typing import Any

from components.bodies import Beam, LedBody, ModalBody, NewtonEulerBody, PointMassRod, RigidBody, Rod, Subassembly
from components.courses import Ramp, Sine, Smooth
from components.forces import (
    AirDrag,
    Box,
    Bushing,
    Capsule,
    Clearance,
    Contact,
    Controller,
    Friction,
    HalfSpace,
    Hand,
    Law,
    Load,
    Moment,
    Motor,
    Regulator,
    Sphere,
    SpringDamper,
    Stop,
    Surface,
    Table,
    TableSpring,
    TorsionSpring,
)
from components.joints import (
    Coupler,
    Cylindrical,
    Distance,
    DrivenDistance,
    DrivenPlace,
    DrivenRotation,
    DrivenTranslation,
    EllipsoidOnPlane,
    Fixed,
    Gear,
    KnifeEdge,
    LineOnPlane,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Rack,
    Revolute,
    Rolling,
    Screw,
    Spherical,
    SphericalWithPin,
    Universal,
)
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
    "AirDrag",
    "AngleBetween",
    "Beam",
    "Box",
    "Bushing",
    "Capsule",
    "Clearance",
    "Contact",
    "Controller",
    "Coupler",
    "Cylindrical",
    "Distance",
    "DistanceBetween",
    "DrivenDistance",
    "DrivenPlace",
    "DrivenRotation",
    "DrivenTranslation",
    "EllipsoidOnPlane",
    "Fixed",
    "ForceIn",
    "Friction",
    "Gear",
    "HalfSpace",
    "Hand",
    "KnifeEdge",
    "Law",
    "LedBody",
    "LineOnPlane",
    "Load",
    "ModalBody",
    "Moment",
    "Motor",
    "NewtonEulerBody",
    "OutputOf",
    "Planar",
    "PointMassRod",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Rack",
    "Ramp",
    "Regulator",
    "Revolute",
    "RigidBody",
    "Rod",
    "Rolling",
    "Screw",
    "Sine",
    "Smooth",
    "Solid",
    "Sphere",
    "Spherical",
    "SphericalWithPin",
    "SpringDamper",
    "Stop",
    "Subassembly",
    "Surface",
    "Table",
    "TableSpring",
    "TorsionSpring",
    "TurningBetween",
    "Universal",
    "WayBetween",
]

HAND = "components:Hand"  # the force by which a body is held and drawn about (coordinator/laboratory/hand.py)

ELSEWHERE = frozenset({"Fmu", "FmuNetwork", "PowerPort"})  # of components/fmi, for those who need them (extra `fmi`)


def __getattr__(name: str) -> Any:
    if name in ELSEWHERE:
        from components import fmi

        return getattr(fmi, name)
    raise AttributeError(f"module 'components' has no attribute {name!r}")
