"""The slider-crank of the thesis: the double pendulum with its tip held on the x axis.

Séguy 2003, VI.3.1, Figures VI-13 to VI-16: a closed chain that passes the singular position with both bars folded on
each other, at 1.163 s and 3.489 s, and stays on the regular branch. The crank starts 45 degrees above the axis, at rest.
"""

from __future__ import annotations

from math import cos, pi, sin

from components import PointMassRod, PointOnLine, Revolute
from modular import Assembly

GROUP = "The thesis"


def build(angle: float = pi / 4) -> Assembly:
    """angle: of the crank above the x axis at the start [rad]."""
    mass = 1.0  # [kg]
    length = 1.0  # [m]
    pin = (length * cos(angle), length * sin(angle))
    tip = (2 * length * cos(angle), 0.0)

    mechanism = Assembly(gravity=(0.0, -9.81), title="slider-crank")
    mechanism.add("crank", PointMassRod(start=(0.0, 0.0), end=pin, masses=(mass, mass / 2)))
    mechanism.add("rod", PointMassRod(start=pin, end=tip, masses=(mass / 2, mass)))
    mechanism.join("pivot", Revolute(), "ground", "crank.start")
    mechanism.join("elbow", Revolute(), "crank.end", "rod.start")
    mechanism.join("slide", PointOnLine(axis=(1.0, 0.0)), "ground", "rod.end")
    mechanism.suggested = {"dt": 1e-4, "until": 5.0}
    return mechanism
