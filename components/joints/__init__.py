"""Joints, one type per file."""

from components.joints.coupler import Coupler
from components.joints.cylindrical import Cylindrical
from components.joints.distance import Distance
from components.joints.driven_distance import DrivenDistance
from components.joints.driven_place import DrivenPlace
from components.joints.driven_rotation import DrivenRotation
from components.joints.driven_translation import DrivenTranslation
from components.joints.ellipsoid_on_plane import EllipsoidOnPlane
from components.joints.fixed import Fixed
from components.joints.gear import Gear
from components.joints.knife_edge import KnifeEdge
from components.joints.line_on_plane import LineOnPlane
from components.joints.planar import Planar
from components.joints.point_on_line import PointOnLine
from components.joints.point_on_plane import PointOnPlane
from components.joints.prismatic import Prismatic
from components.joints.rack import Rack
from components.joints.revolute import Revolute
from components.joints.rolling import Rolling
from components.joints.screw import Screw
from components.joints.spherical import Spherical
from components.joints.spherical_with_pin import SphericalWithPin
from components.joints.universal import Universal

__all__ = [
    "Coupler",
    "Cylindrical",
    "Distance",
    "DrivenDistance",
    "DrivenPlace",
    "DrivenRotation",
    "DrivenTranslation",
    "EllipsoidOnPlane",
    "Fixed",
    "Gear",
    "KnifeEdge",
    "LineOnPlane",
    "Planar",
    "PointOnLine",
    "PointOnPlane",
    "Prismatic",
    "Rack",
    "Revolute",
    "Rolling",
    "Screw",
    "Spherical",
    "SphericalWithPin",
    "Universal",
]
