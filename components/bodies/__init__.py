"""Bodies, one type per file."""

from components.bodies.beam import Beam
from components.bodies.led_body import LedBody
from components.bodies.modal_body import ModalBody
from components.bodies.newton_euler import NewtonEulerBody
from components.bodies.point_mass_rod import PointMassRod
from components.bodies.rigid_body import RigidBody
from components.bodies.rod import Rod
from components.bodies.subassembly import Subassembly

__all__ = ["Beam", "LedBody", "ModalBody", "NewtonEulerBody", "PointMassRod", "RigidBody", "Rod", "Subassembly"]
