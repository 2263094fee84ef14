"""Two rods in a plane, as a French course solves them by hand: each with its own mass, length and moment of inertia.

"Pendule double" (course text on double pendulums and general methods, part 2): a rod hinged to the ground, a second one
hinged to its end, mass centres in the middle. The text counts angles from the downward vertical, each for itself, and takes
m = 1 kg, l = 1 m, J = 1 kg m^2 and, without saying so, g = 1 m/s^2. That J is twelve times the one of a uniform rod, so these
are neither uniform rods nor point masses. They start at rest at (1, 0) rad; its second run starts at (3, 2).

The same system solved by its two methods: `scenarios.handmade`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import Any

from components import Revolute, RigidBody
from modular import Assembly, ModelError
from modular.numbers import number

GROUP = "Exercises"

GRAVITY = 1.0  # [m/s^2]


def build(
    masses: Sequence[float] = (1.0, 1.0),
    lengths: Sequence[float] = (1.0, 1.0),
    inertias: Sequence[float] = (1.0, 1.0),
    angles: Sequence[float] = (1.0, 0.0),
    rates: Sequence[float] = (0.0, 0.0),
) -> Assembly:
    """masses [kg], lengths [m], inertias about the mass centres [kg m^2], angles [rad] and rates [rad/s], two of each."""
    (mass_1, mass_2), (length_1, length_2) = pair("masses", masses, "kg", 0), pair("lengths", lengths, "m", 0)
    inertia_1, inertia_2 = pair("inertias", inertias, "kg m^2", 0)
    (angle_1, angle_2), (rate_1, rate_2) = pair("angles", angles, "rad"), pair("rates", rates, "rad/s")

    # halves of the rods, from start to mass centre and from there to the end; a half turns at the rate of its rod
    x_1, y_1 = 0.5 * length_1 * sin(angle_1), -0.5 * length_1 * cos(angle_1)
    x_2, y_2 = 0.5 * length_2 * sin(angle_2), -0.5 * length_2 * cos(angle_2)
    vx_1, vy_1 = -rate_1 * y_1, rate_1 * x_1
    vx_2, vy_2 = -rate_2 * y_2, rate_2 * x_2

    upper = RigidBody(
        mass=mass_1,
        inertia=inertia_1,
        centre=(x_1, y_1),
        ports={"start": (0.0, 0.0), "end": (2 * x_1, 2 * y_1)},
        velocity=(vx_1, vy_1),
        angular_velocity=rate_1,
    )
    lower = RigidBody(
        mass=mass_2,
        inertia=inertia_2,
        centre=(2 * x_1 + x_2, 2 * y_1 + y_2),
        ports={"start": (2 * x_1, 2 * y_1), "end": (2 * x_1 + 2 * x_2, 2 * y_1 + 2 * y_2)},
        velocity=(2 * vx_1 + vx_2, 2 * vy_1 + vy_2),
        angular_velocity=rate_2,
    )
    pendulum = Assembly(gravity=(0.0, -GRAVITY), title="two-rods")
    pendulum.add("upper", upper)
    pendulum.add("lower", lower)
    pendulum.join("pivot", Revolute(), "ground", "upper.start")
    pendulum.join("elbow", Revolute(), "upper.end", "lower.start")
    pendulum.suggested = {"dt": 1e-3, "until": 50.0}
    return pendulum


def pair(name: str, values: Any, unit: str, above: float | None = None) -> tuple[float, float]:
    """Two finite numbers, each greater than `above` where that is given."""
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != 2:
        raise ModelError(f"two-rods: {name} = {values!r}; give two numbers [{unit}], one for each rod.")
    first, second = (number(value, f"two-rods: {name}", unit) for value in values)
    if above is not None and min(first, second) <= above:
        raise ModelError(f"two-rods: {name} = {values!r} [{unit}]; both must be greater than {above}.")
    return first, second
