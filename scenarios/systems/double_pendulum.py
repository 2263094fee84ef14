"""The planar double pendulum of the thesis: two massless rods, two point masses, released at rest.

Séguy 2003, VI.2, Figures VI-1 to VI-12. Angles are counted from the downward vertical, the second relative to the
first: (pi/2, -pi/2), or (pi/10, 0) with `start="small"`. The joint between the rods splits the first mass in halves,
as the mass matrices (VI.3) do.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

from components import PointMassRod, Revolute
from modular import Assembly, ModelError
from modular.numbers import number

GROUP = "The thesis"

STARTS = {"thesis": (pi / 2, -pi / 2), "small": (pi / 10, 0.0)}


def build(
    start: str = "thesis", lengths: tuple[float, float] = (1.0, 1.0), masses: tuple[float, float] = (1.0, 1.0)
) -> Assembly:
    """Released at rest from `start`, "thesis" (the first rod level, the second hanging) or "small" (both at 18 degrees).

    lengths: of the rods [m]; masses: at the elbow and at the tip [kg].
    """
    if start not in STARTS:
        raise ModelError(f"double-pendulum: start = {start!r}; give one of {', '.join(STARTS)}.")
    long, heavy = two_numbers("lengths", lengths, "m"), two_numbers("masses", masses, "kg")
    first, second = STARTS[start]
    tip = (long[0] * sin(first), -long[0] * cos(first))
    end = (tip[0] + long[1] * sin(first + second), tip[1] - long[1] * cos(first + second))

    pendulum = Assembly(gravity=(0.0, -9.81), title="double-pendulum")
    pendulum.add("upper", PointMassRod(start=(0.0, 0.0), end=tip, masses=(heavy[0], heavy[0] / 2)))
    pendulum.add("lower", PointMassRod(start=tip, end=end, masses=(heavy[0] / 2, heavy[1])))
    pendulum.join("pivot", Revolute(), "ground", "upper.start")
    pendulum.join("elbow", Revolute(), "upper.end", "lower.start")
    pendulum.suggested = {"dt": 1e-4, "until": 5.0}
    return pendulum


def two_numbers(name: str, values: Any, unit: str) -> tuple[float, float]:
    """One for each rod."""
    if not isinstance(values, list | tuple) or len(values) != 2:
        raise ModelError(f"double-pendulum: {name} = {values!r}; give two, such as (1, 0.5) {unit}.")
    first, second = (number(value, f"double-pendulum: {name}", unit) for value in values)
    if not (first > 0.0 and second > 0.0):
        raise ModelError(f"double-pendulum: {name} = {values!r} {unit}; both must be positive.")
    return first, second
