"""A cardan shaft: two universal joints in a row, whose unevenness adds up or cancels with the phase of their forks.

The joint of the course text "Systèmes multi-corps et paramétrage cartésien": two points stay together, and the arms of the cross
stay across. A shaft that is driven evenly turns the next one, bent by an angle b, by tan(a') = tan(a) / cos(b). With the forks of
the middle shaft in line (`phase=0`) the second joint takes back what the first has done; across (`phase=pi / 2`) it doubles it.
"""

from __future__ import annotations

from math import cos, pi, sin

from components import DrivenRotation, Ramp, Revolute, RigidBody, Universal
from modular import Assembly

GROUP = "Mechanisms"


def build(bend: float = pi / 6, phase: float = 0.0, turns: float = 2.0) -> Assembly:
    """bend: between one shaft and the next [rad]; phase: of the forks of the middle shaft [rad]; turns: of the drive [1/s]."""
    length, radius, mass = 0.4, 0.05, 1.0  # [m], [m], [kg]
    across = (
        mass * radius**2 / 2,
        mass * (radius**2 / 4 + length**2 / 12),
    )  # moments of inertia about and across a shaft
    speed = 2 * pi * turns

    shafts = Assembly(gravity=(0.0, 0.0, -9.81), title="cardan shaft")
    lines = [(1.0, 0.0, 0.0), (cos(bend), sin(bend), 0.0), (1.0, 0.0, 0.0)]
    # a shaft whose fork lies in the plane of bending turns the next one faster by 1 / cos(bend), one with it upright slower
    middle = speed / cos(bend)
    spins = [speed, middle, middle / cos(bend) if phase else speed]
    place: tuple[float, ...] = (0.0, 0.0, 0.0)
    for name, line, spin in zip(("drive", "middle", "driven"), lines, spins, strict=True):
        end = tuple(p + length * x for p, x in zip(place, line, strict=True))
        about, beside = across
        inertia = [[beside * (i == j) + (about - beside) * line[i] * line[j] for j in range(3)] for i in range(3)]
        centre = tuple(0.5 * (p + q) for p, q in zip(place, end, strict=True))
        turning = tuple(spin * x for x in line)
        shafts.add(
            name,
            RigidBody(
                mass=mass, inertia=inertia, centre=centre, ports={"start": place, "end": end}, angular_velocity=turning
            ),
        )
        place = end
    up, side = (0.0, 0.0, 1.0), (-sin(bend), cos(bend), 0.0)
    shafts.join("bearing", Revolute(lines[0]), "ground", "drive.start")
    shafts.join("motor", DrivenRotation(Ramp(speed), lines[0]), "ground", "drive.start")
    shafts.join("first", Universal(axis=(0.0, 1.0, 0.0), cross=up), "drive.end", "middle.start")
    fork = (up, (0.0, 1.0, 0.0)) if not phase else (side, up)
    shafts.join("second", Universal(axis=fork[0], cross=fork[1]), "middle.end", "driven.start")
    shafts.join("end-bearing", Revolute(lines[2]), "ground", "driven.end")
    shafts.suggested = {"dt": 5e-4, "until": 2.0}
    return shafts
