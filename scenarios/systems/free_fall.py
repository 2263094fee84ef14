"""A solid that is thrown and falls: the first exercise of a French course on multibody programs in the plane.

Renaud and Dion 2024, "Programmer un logiciel multicorps en 2D", 7.4.1 (exercises 2 and 4): m = 1 kg, I_y = 1 kg m^2, from the
origin with 1 m/s along x and 1 m/s upwards, without spin, for 0.25 s. Coordinates are (x, z), z upwards. The closed form of the
text is x = t, z = t - g t^2 / 2, theta = 0; it calls this the reference for a "modèle numérique Matlab", and means Python.
"""

from __future__ import annotations

from components import RigidBody
from modular import Assembly

GROUP = "Exercises"

GRAVITY = 9.81  # [m/s^2], class Param of 7.5.1


def build() -> Assembly:
    """Nothing to set: the data are those of the text."""
    fall = Assembly(gravity=(0.0, -GRAVITY), title="free-fall")
    fall.add("solid", RigidBody(mass=1.0, inertia=1.0, centre=(0.0, 0.0), ports={"G": (0.0, 0.0)}, velocity=(1.0, 1.0)))
    fall.suggested = {"dt": 5e-3, "until": 0.25}
    return fall
