"""Forces, one type per file."""

from components.forces.air_drag import AirDrag
from components.forces.hand import Hand
from components.forces.load import Load
from components.forces.moment import Moment
from components.forces.spring_damper import SpringDamper
from components.forces.values import Law, Table

__all__ = ["AirDrag", "Hand", "Law", "Load", "Moment", "SpringDamper", "Table"]
