"""A slider-crank with a worn elbow: the pin of the rod has play in its bush, and knocks where its load changes sides.

The crank is driven at a constant speed. Without play (`play=0`) the elbow is a hinge; with play the pin flies from one side of the
bush to the other when the slider is braked, and meets the wall with a knock. `gap.png` of other programs is here the distance of
rod.start and crank.end.
"""

from __future__ import annotations

from math import cos, pi, sin

from components import Clearance, DrivenRotation, PointOnLine, Ramp, Revolute, RigidBody, Rod
from modular import Assembly

GROUP = "Mechanisms"


def build(play: float = 1e-3, turns: float = 5.0, crank: float = 0.1, rod: float = 0.35) -> Assembly:
    """play: half the difference of the diameters [m]; turns: of the crank [1/s]; crank, rod: lengths [m]."""
    angle = pi / 3  # of the crank at the start
    speed = 2 * pi * turns
    pin = (crank * cos(angle), crank * sin(angle))
    tip = (pin[0] + (rod**2 - pin[1] ** 2) ** 0.5, 0.0)
    # velocities that all joints allow: the pin goes round, the slider along its line
    pin_rate = (-speed * pin[1], speed * pin[0])
    spin = pin_rate[1] / -(tip[0] - pin[0])
    tip_rate = pin_rate[0] - spin * (tip[1] - pin[1])

    mechanism = Assembly(gravity=(0.0, -9.81), title="worn crank")
    mechanism.add(
        "crank",
        RigidBody(mass=1.0, inertia=0.004, centre=(0, 0), ports={"start": (0, 0), "end": pin}, angular_velocity=speed),
    )
    mechanism.add(
        "rod",
        Rod(
            start=pin,
            end=tip,
            mass=0.5,
            velocity=(0.5 * (pin_rate[0] + tip_rate), 0.5 * pin_rate[1]),
            angular_velocity=spin,
        ),
    )
    mechanism.join("pivot", Revolute(), "ground", "crank.start")
    mechanism.join("drive", DrivenRotation(Ramp(speed)), "ground", "crank.start")
    mechanism.join("slide", PointOnLine(axis=(1.0, 0.0)), "ground", "rod.end")
    if play > 0.0:
        mechanism.apply("elbow", Clearance(play), "crank.end", "rod.start")
    else:
        mechanism.join("elbow", Revolute(), "crank.end", "rod.start")
    mechanism.suggested = {"dt": 5e-5, "until": 0.6, "record_every": 4}
    return mechanism
