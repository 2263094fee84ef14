"""Bricard's mechanism: six links and six hinges along edges of a cube, which count no freedom and move all the same.

Benchmark A04 of the IFToMM library of multibody problems (González, Dopico, Lugrís and Cuadrado 2006, Multibody System
Dynamics 16, 179): five rods of 1 m and 1 kg, 0.1 m square, the ground is the sixth link; gravity along -y, let go from rest.
Each hinge stands square to its two rods, and to the next hinge. Six hinges of five rows each on five bodies leave 30 - 30 = 0 by
Grübler's count; one row says nothing new, so one freedom is left (Bricard 1897).
"""

from __future__ import annotations

from components import Revolute, RigidBody
from modular import Assembly

GROUP = "Mechanisms"


def build(length: float = 1.0, mass: float = 1.0, width: float = 0.1) -> Assembly:
    """length, mass and width of each rod [m], [kg], [m]."""
    a = length
    corners = [(0.0, 0.0, 0.0), (a, 0.0, 0.0), (a, -a, 0.0), (a, -a, a), (0.0, -a, a), (0.0, 0.0, a)]
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    along = [x, y, z, x, y]  # the edges on which the rods lie
    about, across = mass * width**2 / 6, mass * (length**2 + width**2) / 12  # moments of inertia of a square rod

    mechanism = Assembly(gravity=(0.0, -9.81, 0.0), title="bricard")
    for k, (start, end, edge) in enumerate(zip(corners[:-1], corners[1:], along, strict=True)):
        rod = RigidBody(
            mass=mass,
            inertia=tuple(about if lies else across for lies in edge),
            centre=tuple((p + q) / 2 for p, q in zip(start, end, strict=True)),
            ports={"start": start, "end": end},
        )
        mechanism.add(f"rod{k + 1}", rod)
    mechanism.join("hinge1", Revolute(axis=y), "ground", "rod1.start")
    mechanism.join("hinge2", Revolute(axis=z), "rod1.end", "rod2.start")
    mechanism.join("hinge3", Revolute(axis=x), "rod2.end", "rod3.start")
    mechanism.join("hinge4", Revolute(axis=y), "rod3.end", "rod4.start")
    mechanism.join("hinge5", Revolute(axis=z), "rod4.end", "rod5.start")
    mechanism.join("hinge6", Revolute(axis=x), "rod5.end", "ground")
    mechanism.suggested = {"dt": 1e-3, "until": 10.0, "coupling": "glued"}  # springs: off by 0.02 of it
    return mechanism
