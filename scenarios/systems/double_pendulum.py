"""The planar double pendulum of the thesis: two massless rods, two point masses, released at rest.

Séguy 2003, VI.2, Figures VI-1 to VI-12. Angles are counted from the downward vertical, the second relative to the
first: (pi/2, -pi/2), or (pi/10, 0) with `start="small"`. The joint between the rods splits the first mass in halves,
as the mass matrices (VI.3) do.
"""

from __future__ import annotations

from math import cos, pi, sin

from components import PointMassRod, Revolute
from modular import Assembly, ModelError

STARTS = {"thesis": (pi / 2, -pi / 2), "small": (pi / 10, 0.0)}


def build(start: str = "thesis") -> Assembly:
    """start: "thesis" (the first rod level, the second hanging) or "small" (both at 18 degrees)."""
    if start not in STARTS:
        raise ModelError(f"double-pendulum: start = {start!r}; give one of {', '.join(STARTS)}.")
    mass = 1.0  # [kg]
    length = 1.0  # [m]
    first, second = STARTS[start]
    tip = (length * sin(first), -length * cos(first))
    end = (tip[0] + length * sin(first + second), tip[1] - length * cos(first + second))

    pendulum = Assembly(gravity=(0.0, -9.81), title="double-pendulum")
    pendulum.add("upper", PointMassRod(start=(0.0, 0.0), end=tip, masses=(mass, mass / 2)))
    pendulum.add("lower", PointMassRod(start=tip, end=end, masses=(mass / 2, mass)))
    pendulum.join("pivot", Revolute(), "ground", "upper.start")
    pendulum.join("elbow", Revolute(), "upper.end", "lower.start")
    pendulum.suggested = {"dt": 1e-4, "until": 5.0}
    return pendulum
