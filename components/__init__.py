"""Everything that can be put into an assembly: bodies, joints and forces, one type per file."""

from components.bodies import PointMassRod, RigidBody, Rod
from components.forces import Hand, Law, Load, Moment, SpringDamper, Table
from components.joints import (
    Cylindrical,
    Distance,
    Fixed,
    KnifeEdge,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

__all__ = [
    "Cylindrical",
    "Distance",
    "Fixed",
    "Hand",
    "KnifeEdge",
    "Law",
    "Load",
    "Moment",
    "Planar",
    "PointMassRod",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "RigidBody",
    "Rod",
    "Spherical",
    "SpringDamper",
    "Table",
    "Universal",
]

HAND = "components:Hand"  # the force by which a body is held and drawn about (coordinator/laboratory/hand.py)
