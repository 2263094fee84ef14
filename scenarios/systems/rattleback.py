"""A rattleback: a stone, half an ellipsoid, that turns willingly one way about, and the other way begins to rattle and turns back.

Its mass does not lie along the axes of its surface but is turned against them by a small angle, so that rolling about the long
axis and pitching about the short one exchange spin about the vertical. G. T. Walker, "On a dynamical top", Quart. J. Pure Appl.
Math. 28 (1896) 175-184; A. Garcia, M. Hubbard, "Spin reversal of the rattleback: theory and experiment", Proc. R. Soc. Lond. A
418 (1988) 165-197. Without friction but for rolling it goes on for ever and keeps its energy: with glued joints, `--coupling
"glued(order=4)"`. With springs what rolls is held by dampers (Séguy 2003, IV.27), which take some of it, the less the shorter
the step.
"""

from __future__ import annotations

import numpy as np

from components import EllipsoidOnPlane, RigidBody, Rolling
from modular import Assembly

GROUP = "Spinning and rolling"

UP = (0.0, 0.0, 1.0)


def build(*, spin: float = -6.0, askew: float = 0.09, rattle: float = 0.02) -> Assembly:
    """`spin` about the vertical [rad/s]; `askew`: the angle from the axes of the surface to those of the mass [rad]; `rattle`: how
    fast it is pushed about its long axis at the start [rad/s].
    """
    half = (0.10, 0.02, 0.015)  # of the surface [m]
    sunk = 0.004  # the mass centre below the centre of the ellipsoid [m]
    mass, principal = 0.1, (1.5e-5, 2.4e-4, 2.5e-4)  # [kg], [kg m^2]
    c, s = np.cos(askew), np.sin(askew)
    axes = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    inertia = tuple(map(tuple, axes @ np.diag(principal) @ axes.T))
    place = (0.0, 0.0, half[2] - sunk)
    turning = np.array([rattle, 0.0, spin])
    velocity = np.cross(turning, np.array(place))  # it rolls about the point where it touches
    stone = RigidBody(
        mass=mass,
        inertia=inertia,
        centre=place,
        ports={"middle": (0.0, 0.0, half[2]), "nose": (half[0], 0.0, half[2]), "side": (0.0, half[1], half[2])},
        velocity=tuple(velocity),
        angular_velocity=tuple(turning),
    )
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="rattleback")
    model.add("stone", stone)
    model.join("stands", EllipsoidOnPlane(half, normal=UP), "ground", "stone.middle")
    model.join("rolls", Rolling(half, normal=UP), "ground", "stone.middle")
    model.suggested = {"dt": 1e-3, "until": 5.0, "coupling": "glued"}  # springs let it slide, at first order
    return model
