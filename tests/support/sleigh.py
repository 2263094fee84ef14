"""The Chaplygin sleigh: a body on a skate (A. M. Bloch, "Nonholonomic Mechanics and Control", Springer 2003, 1.7).

v' = a w^2, w' = -m a v w / (I + m a^2), with v along the blade and the mass centre a ahead of it.
"""

import numpy as np

from components import Beam, KnifeEdge, Revolute, RigidBody
from modular import Assembly

MASS, INERTIA, AHEAD = 1.3, 0.2, 0.25
SPEED, SPIN = 0.4, 1.5


def sleigh():
    model = Assembly(gravity=(0.0, 0.0))
    velocity = (SPEED, SPIN * AHEAD)
    model.add(
        "sleigh",
        RigidBody(
            mass=MASS,
            inertia=INERTIA,
            centre=(AHEAD, 0),
            ports={"blade": (0, 0)},
            velocity=velocity,
            angular_velocity=SPIN,
        ),
    )
    model.join("skate", KnifeEdge(normal=(0, 1)), "sleigh.blade", "ground")
    return model


def rates(t, y):
    angle, v, w = y[2:]
    return [v * np.cos(angle), v * np.sin(angle), w, AHEAD * w**2, -MASS * AHEAD * v * w / (INERTIA + MASS * AHEAD**2)]


def pole():
    """A blade under one end of a pole that hardly bends, a load on the other."""
    model = Assembly(gravity=(0.4, -9.81))
    section = {"width": 0.03, "height": 0.03, "density": 1e3}
    model.add("pole", Beam.of_rectangle((0, 0), (0.5, 0.1), young=1e10, elements=3, **section))
    load = RigidBody(mass=20.0, inertia=0.3, centre=(0.7, 0.2), ports={"grip": (0.5, 0.1), "G": (0.7, 0.2)})
    model.add("load", load)
    model.join("blade", KnifeEdge(normal=(0.6, 0.8)), "pole.start", "ground")
    model.join("grip", Revolute(), "pole.end", "load.grip")
    return model
