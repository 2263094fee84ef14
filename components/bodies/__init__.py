"""Bodies, one type per file."""

from components.bodies.beam.description import Beam
from components.bodies.led.description import LedBody
from components.bodies.modal.description import ModalBody
from components.bodies.natural.point_mass_rod import PointMassRod
from components.bodies.natural.rigid_body import RigidBody
from components.bodies.natural.rod import Rod
from components.bodies.posed.newton_euler import NewtonEulerBody
from components.bodies.subassembly.description import Subassembly

__all__ = ["Beam", "LedBody", "ModalBody", "NewtonEulerBody", "PointMassRod", "RigidBody", "Rod", "Subassembly"]
