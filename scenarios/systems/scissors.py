"""Four solids crossed like scissors, which a spring between their lower ends drives apart.

Renaud and Dion 2024, "Programmer un logiciel multicorps en 2D", 10.2 (exercise 12), Figure 6 and Table 1: solids of 1 kg and
1e-2 kg m^2 (printed kg m^-2). 1 holds A, B, G1 and C, 2 holds D, B, G2 and E, 3 holds E, F, G3 and H, 4 holds C, F, G4 and I.
Hinges at B between 1, 2 and the frame, at C between 1 and 4, at E between 2 and 3, at F between 3 and 4; between I and H a spring
with a damper, k = 1000 N/m, c = 100 N s/m, L0 = 4 m, over 2 m at the start. From rest, for 5 s. Coordinates are (x, z), z upwards.

The hinge at B is two here, B1 and B2, one for each solid. The text puts "I and H on solids 3 and 4": H is on 3, I on 4. It does not
say that the start is at rest (the default of its class Solid), nor that two motions are left: the scissors open, and swing about B.
The swing never begins, because all is alike on both sides. Every G is half way from the middle hinge of its solid to the lower end,
so no solid is balanced.
The spring never comes to its 4 m: the arms above are level where H and I are 2.83 m apart.
"""

from __future__ import annotations

from components import Revolute, RigidBody, SpringDamper
from modular import Assembly

GROUP = "Exercises"

GRAVITY = 9.81  # [m/s^2]

# Table 1 [m]
POINTS = {
    "A": (-1.0, 1.0), "B": (0.0, 0.0), "C": (1.0, -1.0), "D": (1.0, 1.0), "E": (-1.0, -1.0), "F": (0.0, -3.0),
    "H": (1.0, -5.0), "I": (-1.0, -5.0), "G1": (0.5, -0.5), "G2": (-0.5, -0.5), "G3": (0.5, -4.0), "G4": (-0.5, -4.0),
}  # fmt: skip
SOLIDS = {1: "ABC", 2: "DBE", 3: "EFH", 4: "CFI"}


def build() -> Assembly:
    """Nothing to set: the data are those of the text."""
    scissors = Assembly(gravity=(0.0, -GRAVITY), title="scissors")
    for number, points in SOLIDS.items():
        centre = POINTS[f"G{number}"]
        ports = {"G": centre, **{point: POINTS[point] for point in points}}
        scissors.add(f"solid{number}", RigidBody(mass=1.0, inertia=1e-2, centre=centre, ports=ports))
    scissors.join("B1", Revolute(), "ground", "solid1.B")
    scissors.join("B2", Revolute(), "ground", "solid2.B")
    scissors.join("C", Revolute(), "solid1.C", "solid4.C")
    scissors.join("E", Revolute(), "solid2.E", "solid3.E")
    scissors.join("F", Revolute(), "solid3.F", "solid4.F")
    scissors.apply("spring", SpringDamper(stiffness=1000.0, damping=100.0, length=4.0), "solid4.I", "solid3.H")
    scissors.suggested = {"dt": 2e-5, "until": 5.0, "record_every": 50}
    return scissors
