"""Joints, one type per file."""

from components.joints.fixed import Fixed
from components.joints.prismatic import Prismatic
from components.joints.revolute import Revolute
from components.joints.spherical import Spherical

__all__ = ["Fixed", "Prismatic", "Revolute", "Spherical"]
