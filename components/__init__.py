"""Everything that can be put into an assembly: bodies, joints and forces, one type per file."""

from components.bodies import PointMassRod, RigidBody, Rod
from components.forces import Load
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
    "KnifeEdge",
    "Load",
    "Planar",
    "PointMassRod",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "RigidBody",
    "Rod",
    "Spherical",
    "Universal",
]
