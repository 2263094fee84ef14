"""A solid on one hinge, let go from the level: the pendulum at which a French course looks at joint forces.

Renaud and Dion 2024, "Programmer un logiciel multicorps en 2D", 10.1 (exercise 11): m = 1 kg, I_y = 1e-2 kg m^2, hinged to the
ground at P = (0, 0), G at (1, 0), for 5 s. Coordinates are (x, z), z upwards. What it asks for are the acceleration of G and the
force of the hinge in axes of the solid (9.3), X_S along PG and Z_S upwards at the start.

The text prints the inertia in kg m^-2, which must be kg m^2; that the pendulum starts at rest it does not say, but it is the
default of its class Solid.
"""

from __future__ import annotations

from components import Revolute, RigidBody
from modular import Assembly

GROUP = "Exercises"

GRAVITY = 9.81  # [m/s^2]


def build() -> Assembly:
    """Nothing to set: the data are those of the text."""
    g, p = (1.0, 0.0), (0.0, 0.0)  # [m]

    pendulum = Assembly(gravity=(0.0, -GRAVITY), title="simple-pendulum")
    pendulum.add("solid", RigidBody(mass=1.0, inertia=1e-2, centre=g, ports={"G": g, "P": p}))
    pendulum.join("hinge", Revolute(), "ground", "solid.P")
    pendulum.suggested = {"dt": 1e-4, "until": 5.0}
    return pendulum
