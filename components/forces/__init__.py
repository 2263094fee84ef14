"""Forces, one type per file."""

from components.forces.air_drag import AirDrag
from components.forces.bushing import Bushing
from components.forces.clearance import Clearance
from components.forces.contact import Contact
from components.forces.controller import Controller
from components.forces.friction import Friction
from components.forces.hand import Hand
from components.forces.load import Load
from components.forces.moment import Moment
from components.forces.motor import Motor
from components.forces.regulator import Regulator
from components.forces.shapes import Box, Capsule, HalfSpace, Sphere
from components.forces.spring_damper import SpringDamper
from components.forces.stop import Stop
from components.forces.surface import Surface
from components.forces.torsion_spring import TableSpring, TorsionSpring
from components.forces.values import Law, Table

__all__ = [
    "AirDrag",
    "Box",
    "Bushing",
    "Capsule",
    "Clearance",
    "Contact",
    "Controller",
    "Friction",
    "HalfSpace",
    "Hand",
    "Law",
    "Load",
    "Moment",
    "Motor",
    "Regulator",
    "Sphere",
    "SpringDamper",
    "Stop",
    "Surface",
    "Table",
    "TableSpring",
    "TorsionSpring",
]
