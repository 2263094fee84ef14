"""Forces, one type per file."""

from components.forces.air_drag import AirDrag
from components.forces.contact import Contact
from components.forces.hand import Hand
from components.forces.load import Load
from components.forces.moment import Moment
from components.forces.shapes import Box, Capsule, HalfSpace, Sphere
from components.forces.spring_damper import SpringDamper
from components.forces.values import Law, Table

__all__ = [
    "AirDrag",
    "Box",
    "Capsule",
    "Contact",
    "HalfSpace",
    "Hand",
    "Law",
    "Load",
    "Moment",
    "Sphere",
    "SpringDamper",
    "Table",
]
