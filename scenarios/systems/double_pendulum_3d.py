"""The spatial double pendulum of the thesis: a hinged rod that carries a second rod on a ball joint.

Séguy 2003, VI.4, Figures VI-19 to VI-26. Two uniform slender rods of 1 kg, the first from the origin to (1, 1, 0), hinged to
the ground about z, the second from there to (1, 1, -1); gravity along -y. Sensitive to every detail after about 2 s.
"""

from __future__ import annotations

from components import Revolute, Rod, Spherical
from modular import Assembly

GROUP = "The thesis"


def build(mass: float = 1.0) -> Assembly:
    """mass: of each rod [kg]."""
    pendulum = Assembly(gravity=(0.0, -9.81, 0.0), title="double-pendulum-3d")
    pendulum.add("first", Rod(start=(0.0, 0.0, 0.0), end=(1.0, 1.0, 0.0), mass=mass))
    pendulum.add("second", Rod(start=(1.0, 1.0, 0.0), end=(1.0, 1.0, -1.0), mass=mass))
    pendulum.join("hinge", Revolute(axis=(0.0, 0.0, 1.0)), "ground", "first.start")
    pendulum.join("ball", Spherical(), "first.end", "second.start")
    pendulum.suggested = {"dt": 1e-4, "until": 5.0}
    return pendulum
