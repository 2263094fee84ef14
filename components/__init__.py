"""Everything that can be put into an assembly: bodies, joints and forces, one type per file."""

from components.bodies import NewtonEulerBody, PointMassRod, RigidBody, Rod
from components.forces import AirDrag, Hand, Law, Load, Moment, SpringDamper, Table
from components.joints import (
    Cylindrical,
    Distance,
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

__all__ = [
    "AirDrag",
    "Cylindrical",
    "Distance",
    "EllipsoidOnPlane",
    "Fixed",
    "Gear",
    "Hand",
    "KnifeEdge",
    "Law",
    "LineOnPlane",
    "Load",
    "Moment",
    "NewtonEulerBody",
    "Planar",
    "PointMassRod",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Rack",
    "Revolute",
    "RigidBody",
    "Rod",
    "Rolling",
    "Screw",
    "Spherical",
    "SphericalWithPin",
    "SpringDamper",
    "Table",
    "Universal",
]

HAND = "components:Hand"  # the force by which a body is held and drawn about (coordinator/laboratory/hand.py)
