"""Everything that can be put into an assembly: bodies, joints and forces, one type per file."""

from components.bodies import PointMassRod, RigidBody, Rod
from components.forces import Load
from components.joints import Fixed, Prismatic, Revolute, Spherical

__all__ = ["Fixed", "Load", "PointMassRod", "Prismatic", "Revolute", "RigidBody", "Rod", "Spherical"]
