"""A solid that hangs on a spring with a damper: the second exercise of a French course on multibody programs in the plane.

Renaud and Dion 2024, "Programmer un logiciel multicorps en 2D", 7.4.2 (exercises 3 and 5), Figures 4 and 5: m = 1 kg,
I_y = 1e-2 kg m^2, G at (1, 3), held at P (2, 4) by a spring to A (3, 2), which is fixed; l0 = 0.5 m, k = 1e3 N/m, c = 1e2 N s/m
(5.2); let go from rest, for 5 s. Coordinates are (x, z), z upwards.

P is 1.4 m from G where the radius of gyration is 0.1 m, so the damper sees as little as 5 g there: 1/201 of the mass. That makes
time constants of 50 microseconds, of which the text says nothing (its 7.2 warns of stiff problems in general).
"""

from __future__ import annotations

from components import RigidBody, SpringDamper
from modular import Assembly

GROUP = "Exercises"

GRAVITY = 9.81  # [m/s^2]


def build() -> Assembly:
    """Nothing to set: the data are those of the text."""
    a, g, p = (3.0, 2.0), (1.0, 3.0), (2.0, 4.0)  # [m]

    pendulum = Assembly(gravity=(0.0, -GRAVITY), title="spring-pendulum")
    pendulum.add("solid", RigidBody(mass=1.0, inertia=1e-2, centre=g, ports={"G": g, "P": p}))
    pendulum.apply("spring", SpringDamper(stiffness=1e3, damping=1e2, length=0.5), "ground", "solid.P", at=a)
    pendulum.suggested = {"dt": 2e-5, "until": 5.0, "record_every": 50}
    return pendulum
