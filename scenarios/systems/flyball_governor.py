"""A flyball governor whose rods are held by stiff spring-dampers: problem A05 of the IFToMM library of benchmarks.

M. González, F. González, A. Luaces, J. Cuadrado, "A collaborative benchmarking framework for multibody system dynamics",
Engineering with Computers 26 (2010) 1-9. Shaft and rods 1 x 0.01 x 0.01 m, slider a cube of 0.1 m, all of 3 000 kg/m^3; 5 kg at
the end of each rod; springs of 8e5 N/m and 4e4 N s/m from the slider to the middle of the rods, 0.5 m long, as they are at the
start; rods 30 degrees below the horizontal. All turns at 2 pi rad/s, and nothing drives it. Exerted as they stand the springs
would let steps of 2 microseconds.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from components import Prismatic, Revolute, RigidBody, SpringDamper
from modular import Assembly

GROUP = "Mechanisms"

LENGTH, WIDTH, CUBE, DENSITY, BALL = 1.0, 0.01, 0.1, 3000.0, 5.0  # [m], [kg/m^3], [kg]
HALF_SPAN, HEIGHT = 0.05, 0.5  # of the hinges from the axis, of the slider [m]


def build(speed: float = 2.0 * pi, stiffness: float = 8e5, damping: float = 4e4) -> Assembly:
    """`speed` of the shaft [rad/s], `stiffness` [N/m] and `damping` [N s/m] of the springs."""
    turn = np.array([0.0, 0.0, speed])
    governor = Assembly(gravity=(0.0, 0.0, -9.81), title="flyball-governor")

    def add(name: str, mass: float, centre: np.ndarray, inertia: np.ndarray, **ports: np.ndarray) -> None:
        places = {port: tuple(place) for port, place in ports.items()}
        governor.add(
            name,
            RigidBody(
                mass=mass, inertia=inertia, centre=tuple(centre), ports=places, velocity=tuple(np.cross(turn, centre)),
                angular_velocity=tuple(turn),
            ),
        )  # fmt: skip

    up, out = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    slim = DENSITY * LENGTH * WIDTH**2
    hinges = {side: LENGTH * up + sign * HALF_SPAN * out for side, sign in (("right", 1.0), ("left", -1.0))}
    add("shaft", slim, 0.5 * LENGTH * up, box(slim, WIDTH, WIDTH, LENGTH), foot=0.0 * up, **hinges)
    cube, middle = DENSITY * CUBE**3, HEIGHT * up
    grips = {side: middle + sign * HALF_SPAN * out for side, sign in (("right", 1.0), ("left", -1.0))}
    add("slider", cube, middle, box(cube, CUBE, CUBE, CUBE), middle=middle, **grips)
    for side, sign in (("right", 1.0), ("left", -1.0)):
        along = np.array([sign * cos(pi / 6), 0.0, -sin(pi / 6)])
        hinge = hinges[side]
        mass, reach = slim + BALL, (0.5 * slim + BALL) / (slim + BALL) * LENGTH  # of the mass centre from the hinge
        across = (
            slim * (LENGTH**2 + WIDTH**2) / 12.0 + slim * (reach - 0.5 * LENGTH) ** 2 + BALL * (LENGTH - reach) ** 2
        )
        about = slim * WIDTH**2 / 6.0
        inertia = across * np.eye(3) + (about - across) * np.outer(along, along)
        places = {"hinge": hinge, "middle": hinge + 0.5 * LENGTH * along, "ball": hinge + LENGTH * along}
        add(side, mass, hinge + reach * along, inertia, **places)
    governor.join("bearing", Revolute(axis=(0, 0, 1)), "ground", "shaft.foot")
    governor.join("guide", Prismatic(axis=(0, 0, 1)), "shaft.foot", "slider.middle")
    for side in ("right", "left"):
        governor.join(f"hinge-{side}", Revolute(axis=(0, 1, 0)), f"shaft.{side}", f"{side}.hinge")
        spring = SpringDamper(stiffness, damping, 0.5)
        governor.apply(f"spring-{side}", spring, f"slider.{side}", f"{side}.middle")
    governor.suggested = {"dt": 2e-3, "until": 10.0, "coupling": "glued"}  # which finds springs that no step resolves
    return governor


def box(mass: float, x: float, y: float, z: float) -> np.ndarray:
    """Of a box, about its centre [kg m^2]."""
    return mass / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
