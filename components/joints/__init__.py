"""Joints, one type per file."""

from components.joints.cylindrical import Cylindrical
from components.joints.distance import Distance
from components.joints.fixed import Fixed
from components.joints.knife_edge import KnifeEdge
from components.joints.planar import Planar
from components.joints.point_on_line import PointOnLine
from components.joints.point_on_plane import PointOnPlane
from components.joints.prismatic import Prismatic
from components.joints.revolute import Revolute
from components.joints.spherical import Spherical
from components.joints.universal import Universal

__all__ = [
    "Cylindrical",
    "Distance",
    "Fixed",
    "KnifeEdge",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
